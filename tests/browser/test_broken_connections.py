"""When the server or its event stream is gone, the panel says so; missed entries appear once they are back."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.lab import Folder

GONE = "The server cannot be reached."


def test_a_server_that_is_gone_is_said_and_nothing_is_missed_when_it_is_back(own_lab, open_lab):
    waits = Folder(own_lab, "waits")
    for file in ("a.py", "b.py"):
        waits.write(file, "x = 1\n")
    waits.change("a.py", "x", "y")
    window = open_lab(own_lab).open_panel()
    card = window.card(waits.path("a.py"))
    with window.complaining():
        own_lab.stop()
        # By its event: JupyterLab's own notice, which comes at a time of its own, may lie over the page.
        card.locator('[data-action="approve"]').dispatch_event("click")
        expect(card.get_by_role("alert")).to_contain_text(GONE)
        expect(window.panel.locator(".jp-fstools-Panel-problem")).to_contain_text(GONE)
        window.photograph("gone")
        own_lab.start()
        own_lab.wait()
        own_lab.call("POST", "/changes/reject", {"path": "."})
        waits.change("b.py", "x", "z")
        expect(window.card(waits.path("b.py"))).to_be_visible(timeout=90_000)
        expect(card).to_have_attribute("data-status", "rejected")
        expect(window.panel).not_to_contain_text(GONE)
        window.photograph("back")


def test_changes_are_shown_in_documents_though_the_server_was_busy_when_the_page_was_loaded(own_lab, open_lab, name):
    folder = Folder(own_lab, name)
    folder.write("a.py", "x = 1\n")
    folder.change("a.py", "x = 1", "x = 2")
    refused = []

    def refuse(route):
        refused.append(route)
        if len(refused) < 2:
            route.fulfill(status=503, body="busy")
        else:
            route.continue_()

    status = re.compile("/api/fstools/?([?]|$)")
    window = open_lab(own_lab, path=folder.path("a.py"), prepare=lambda page: page.route(status, refuse))
    expect(window.page.locator(".jp-fstools-Review-controls")).to_be_visible()
    assert all("status of 503" in complaint for complaint in window.complaints)
    window.complaints.clear()


def test_what_happens_while_the_event_stream_is_broken_appears(open_lab, folder):
    streams = []

    def between(stream):
        """Blocks the event stream: messages of the server do not reach the page."""
        streams.append(stream)
        stream.connect_to_server().on_message(lambda message: None)

    window = open_lab(prepare=lambda page: page.route_web_socket("**/api/events/subscribe*", between)).open_panel()
    assert streams
    folder.write("a.py", "x = 1\n")
    folder.change("a.py", "x", "y")
    expect(window.card(folder.path("a.py"))).to_be_visible()
