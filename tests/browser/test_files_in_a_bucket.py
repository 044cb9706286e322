"""JupyterLab with tools whose files are in an object store, which its file browser does not show."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import emulators
from tests.browser.lab import Lab, act, unfold


@pytest.fixture
def bucket_lab(tmp_path, monkeypatch):
    with emulators.s3(tmp_path) as environment:
        emulators.make_bucket(environment, "team")
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        lab = Lab(tmp_path, "--FsToolsConfig.root=s3://team/project")
        try:
            yield lab
        finally:
            lab.stop()


def test_changes_are_shown_and_decided_and_a_link_says_why_it_opens_nothing(bucket_lab, open_lab):
    status, made = bucket_lab.call("POST", "/tools/write_file", {"path": "waits/a.txt", "content": "one\n"})
    assert (status, made["change"]["status"]) == (202, "proposed")
    window = open_lab(bucket_lab).open_panel()
    card = window.card_of(made["change"])
    expect(unfold(card)).to_contain_text("one")
    act(card, "approve")
    expect(card).to_have_attribute("data-status", "applied")
    read = bucket_lab.call("POST", "/tools/read_file", {"path": "waits/a.txt"})[1]
    assert read["data"]["content"] == "one\n"
    # The read is listed above the change, and moves its buttons: press none before.
    expect(window.panel).to_contain_text("1 read")
    act(card, "open")
    expect(card.get_by_role("alert")).to_have_text("The file lies outside the folder that JupyterLab shows.")
