"""A page hangs, sleeps, is killed, or loses its server at the worst moment: nothing is lost, nothing lands late."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Error, expect

from tests.browser.lab import Folder
from tests.browser.open_documents.documents import (
    Assistant,
    Notebook,
    Text,
    hanging,
    holds,
    landed,
    notebook_text,
    refused,
    replace,
    sources_in,
)

EDIT = {"old_string": "y = 1", "new_string": "y = 2"}
BEFORE, AFTER = "x = 1\ny = 1\n", "x = 1\ny = 2\n"
TYPED_BEFORE, TYPED_AFTER = "x = 1  # typed\ny = 1\n", "x = 1  # typed\ny = 2\n"


def opened(window, folder, file="a.py", typed=""):
    """A document that the assistant has read."""
    window.open(folder.write(file, BEFORE))
    folder.call("read_file", file)
    document = Text(window)
    if typed:
        document.type(typed)
        window.wait_until_known(folder.path(file), saved=False)
    return document


def test_a_page_that_hangs_keeps_what_is_typed_and_takes_nothing_later(desk, folder):
    """A file with unsaved changes is left alone; one that is saved is edited, and shown once the page wakes up."""
    saved = opened(desk, folder, "saved.py")
    typing = opened(desk, folder, typed="  # typed")
    with hanging(desk.page):
        assert "does not answer" in refused(folder.call("edit_file", "a.py", **EDIT), "unsaved")["message"]
        landed(folder.call("edit_file", "saved.py", **EDIT))
        assert (folder.text("a.py"), folder.text("saved.py")) == (BEFORE, AFTER)
    typing.shows(TYPED_BEFORE)
    typing.expect_saved(False)
    assert folder.text("a.py") == BEFORE
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", **EDIT))
    typing.shows(TYPED_AFTER)
    desk.open(folder.path("saved.py"))
    saved.shows(AFTER)
    saved.type("  # typed")
    saved.save()
    assert folder.text("saved.py") == TYPED_AFTER


class Between:
    """Holds back messages between a page and its server. It keeps each message that contains one of some words."""

    def __init__(self):
        self.kept, self.words = [], ()

    def __call__(self, page):
        self._page = page
        page.route_web_socket("**/api/fstools/documents*", self._connect)

    def _connect(self, socket):
        server = socket.connect_to_server()
        self._ends = (socket, server)
        socket.on_message(lambda message: self._hand_on(message, server))
        server.on_message(lambda message: self._hand_on(message, socket))

    def _hand_on(self, message, to):
        if any(word in message for word in self.words):
            self.kept.append((message, to))
        else:
            to.send(message)

    def keep(self, *words):
        self.words = words

    def hand_on(self):
        """Deliver all messages that were kept, as a network does that recovers."""
        self.words = ()
        for message, to in self.kept:
            to.send(message)
        self.kept = []

    def cut(self):
        """Lose the connection and the messages that were kept."""
        self.words, self.kept = (), []
        for end in self._ends:
            end.close(code=3001)

    def wait(self):
        for _ in range(1500):
            if self.kept:
                return
            self._page.wait_for_timeout(20)
        raise AssertionError("nothing came")

    def call(self, folder, tool="edit_file", **arguments):
        """Make one call while messages pass both ways."""
        answers = []
        arguments = arguments or EDIT
        with Assistant([lambda: answers.append(folder.call(tool, "a.py", **arguments)) or (200, {})]) as assistant:
            while assistant.is_alive():
                self._page.wait_for_timeout(20)
        return answers[0]


EVERYTHING = "{"
ANSWER, SAVE, WRITTEN = '{"answer"', '"do":"save"', '"do":"written"'


@pytest.fixture
def between():
    return Between()


def test_a_laptop_that_slept_has_what_was_typed_and_goes_on(open_lab, folder, between):
    """Requests sent during the sleep arrive later or never; a refused edit is not applied afterwards."""
    window = open_lab(prepare=between)
    document = opened(window, folder, typed="  # typed")
    for wake_up in (between.hand_on, between.cut):
        between.keep(EVERYTHING)
        assert "does not answer" in refused(between.call(folder), "unsaved")["message"]
        wake_up()
        document.type("!")
        window.wait_until_known(folder.path("a.py"), saved=False)
        assert folder.text("a.py") == BEFORE
    document.shows("x = 1  # typed!!\ny = 1\n")
    assert "typed!!" in between.call(folder, "read_file", offset=1)[1]["data"]["content"]
    landed(between.call(folder))
    document.shows("x = 1  # typed!!\ny = 2\n")
    document.expect_saved()
    assert folder.text("a.py") == "x = 1  # typed!!\ny = 2\n"


def crash(window):
    with suppress(Error):
        window.page.goto("chrome://crash", timeout=5000)
    window.page = window.page.context.new_page()  # For the pictures at the end of the test.


@pytest.mark.parametrize("typed", ["", "  # typed"])
def test_a_page_that_is_killed_between_patch_and_write(open_lab, folder, between, typed):
    """A saved document's file has the edit; the edit of an unsaved one is refused and its file stays unchanged."""
    window = open_lab(prepare=between)
    document = opened(window, folder, typed=typed)
    if typed:
        between.call(folder, "read_file", offset=1)
    answers = []
    between.keep(SAVE if typed else ANSWER)
    with Assistant([lambda: answers.append(folder.call("edit_file", "a.py", **EDIT)) or (200, {})]):
        between.wait()
        document.shows(TYPED_AFTER if typed else AFTER)
        crash(window)
    if typed:
        assert refused(answers[0], "unsaved")
    else:
        landed(answers[0])
    assert folder.text("a.py") == (BEFORE if typed else AFTER)


def test_a_cell_that_is_dragged_before_its_edit_is_refused_takes_the_edit_back(open_lab, folder, between):
    """Its file has changed between the page's answer and the write."""
    window = open_lab(prepare=between)
    path = folder.write("n.ipynb", notebook_text("x = 1", "y = 1", "z = 1"))
    window.open(path)
    folder.call("read_notebook", "n.ipynb")
    document, place = Notebook(window), folder.lab.root / path
    answers = []
    between.keep(ANSWER)
    with Assistant([lambda: answers.append(replace(folder, "c0", "x = 2")) or (200, {})]):
        between.wait()
        document.shows(0, "x = 2")
        prompt, below = (document.cells.nth(at).locator(".jp-InputPrompt") for at in (0, 2))
        prompt.drag_to(below)
        expect(document.cells).to_contain_text(["y = 1", "x = 2", "z = 1"])
        place.chmod(0o444)
        between.hand_on()
    assert refused(answers[0], "conflict")
    document.shows(1, "x = 1")
    expect(document.cells).to_contain_text(["y = 1", "x = 1", "z = 1"])
    place.chmod(0o644)
    document.click(2)
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["y = 1", "x = 1", "z = 1"]


@pytest.mark.parametrize("arrived", [False, True])
def test_a_page_that_is_killed_while_it_saves(open_lab, folder, between, arrived):
    """The edit has landed if the file has it; else it is refused, and the file has no byte of it."""
    window = open_lab(prepare=between)
    opened(window, folder, typed="  # typed")
    between.call(folder, "read_file", offset=1)
    saves, answers = [], []

    def hold(route):
        if route.request.method != "PUT":
            return route.continue_()
        saves.append(route.fetch() if arrived else route)

    window.page.route("**/api/contents/**", hold)
    with Assistant([lambda: answers.append(folder.call("edit_file", "a.py", **EDIT)) or (200, {})]):
        while not saves:
            window.page.wait_for_timeout(20)
        crash(window)
    if arrived:
        landed(answers[0])
    else:
        assert "does not answer" in refused(answers[0], "unsaved")["message"]
    assert folder.text("a.py") == (TYPED_AFTER if arrived else BEFORE)


def test_a_page_that_loses_its_connection_before_it_saves_does_not_save_later(open_lab, folder, between):
    """A slow network holds its look at the file, until the edit was refused."""
    window = open_lab(prepare=between)
    document = opened(window, folder, typed="  # typed")
    between.call(folder, "read_file", offset=1)
    looks, answers = [], []

    def hold(route):
        if answers or "content=0" not in route.request.url:
            return route.continue_()
        looks.append(route)

    window.page.route("**/api/contents/**", hold)
    with Assistant([lambda: answers.append(folder.call("edit_file", "a.py", **EDIT)) or (200, {})]) as assistant:
        while not looks:
            window.page.wait_for_timeout(20)
        between.cut()
        while assistant.is_alive():
            window.page.wait_for_timeout(20)
    assert refused(answers[0], "unsaved")
    for route in looks:
        route.continue_()
    document.shows(TYPED_BEFORE)
    document.expect_saved(False)
    assert folder.text("a.py") == BEFORE


def test_a_page_that_loses_the_answer_to_its_save_shows_the_edit_and_asks_nothing(open_lab, folder, between):
    """Its network fails when the file is written; JupyterLab itself says that it could not save."""
    window = open_lab(prepare=between)
    document = opened(window, folder, typed="  # typed")
    between.call(folder, "read_file", offset=1)

    def lose(route):
        if route.request.method != "PUT":
            return route.continue_()
        route.fetch()
        between.cut()
        route.abort()

    with window.complaining():
        window.page.route("**/api/contents/**", lose)
        landed(between.call(folder))
        window.page.locator(".jp-Dialog").get_by_role("button", name="Close").click()
        document.expect_saved()
    window.page.unroute("**/api/contents/**")
    document.shows(TYPED_AFTER)
    document.type("!")
    document.save()
    assert folder.text("a.py") == TYPED_AFTER.replace("typed", "typed!")
    assert not [text for text in window.dialogs if "on disk" in text]


def test_a_page_that_hangs_while_it_saves_has_saved_when_it_wakes_up(desk, folder):
    """Its file is written once, nothing typed is lost, and the person is asked nothing."""
    document = opened(desk, folder, typed="  # typed")
    folder.call("read_file", "a.py")
    saves, answers = [], []

    def hang(route):
        if route.request.method != "PUT":
            return route.continue_()
        saves.append(route.request.url)
        with hanging(desk.page):
            route.continue_()
            desk.page.wait_for_timeout(10_000)

    desk.page.route("**/api/contents/**", hang)
    with Assistant([lambda: answers.append(folder.call("edit_file", "a.py", **EDIT)) or (200, {})]) as assistant:
        while assistant.is_alive():
            desk.page.wait_for_timeout(20)
    desk.page.unroute("**/api/contents/**")
    landed(answers[0])
    document.shows(TYPED_AFTER)
    document.expect_saved()
    assert (folder.text("a.py"), len(saves)) == (TYPED_AFTER, 1)
    document.type("!")
    document.save()
    assert folder.text("a.py") == TYPED_AFTER.replace("typed", "typed!")


def kill(lab, window):
    lab.process.kill()
    lab.process.wait()
    lab.log.close()
    window.forget()


def start_again(lab, window, saved=True):
    """Start the server; JupyterLab's own dialog about its absence is closed and not counted."""
    lab.start()
    lab.wait()
    window.wait_until_known("work/a.py", saved)
    for _ in range(window.page.locator(".jp-Dialog").count()):
        window.page.keyboard.press("Escape")


def lost(folder):
    with suppress(OSError):
        folder.call("edit_file", "a.py", **EDIT)
    return 200, {}


def test_a_server_that_is_killed_before_and_after_the_write(own_lab, open_lab, between):
    """The page takes the edit back where it was not written, and keeps it where it was; no save asks anything."""
    folder = Folder(own_lab, "work")
    window = open_lab(own_lab, prepare=between)
    document = opened(window, folder)
    with window.complaining():
        between.keep(ANSWER)
        with Assistant([lambda: lost(folder)]):
            between.wait()
            document.shows(AFTER)
            kill(own_lab, window)
        assert folder.text("a.py") == BEFORE
        between.keep()
        start_again(own_lab, window)
        document.shows(BEFORE)
        document.expect_saved()
        between.call(folder, "read_file", offset=1)
        between.keep(WRITTEN)
        landed(between.call(folder))
        kill(own_lab, window)
        between.keep()
        start_again(own_lab, window)
        document.shows(AFTER)
        document.type("  # typed")
        document.save()
        assert folder.text("a.py") == TYPED_AFTER
        assert [change["status"] for change in own_lab.call("GET", "/changes")[1]["changes"]] == ["applied"]
        between.call(folder, "read_file", offset=1)
        landed(between.call(folder, old_string="y = 2", new_string="y = 3"))
        document.shows("x = 1  # typed\ny = 3\n")
    assert not [text for text in window.dialogs if "on disk" in text]


def test_a_server_that_is_killed_before_the_page_saved_for_it_leaves_nothing_of_the_edit(own_lab, open_lab, between):
    """The page keeps the typed text, takes the edit back, and accepts the next one."""
    folder = Folder(own_lab, "work")
    window = open_lab(own_lab, prepare=between)
    document = opened(window, folder, typed="  # typed")
    with window.complaining():
        between.call(folder, "read_file", offset=1)
        between.keep(SAVE)
        with Assistant([lambda: lost(folder)]):
            between.wait()
            document.shows(TYPED_AFTER)
            kill(own_lab, window)
        between.keep()
        start_again(own_lab, window, saved=False)
        document.shows(TYPED_BEFORE)
        document.save()
        assert folder.text("a.py") == TYPED_BEFORE
        document.type("!")
        window.wait_until_known("work/a.py", saved=False)
        between.call(folder, "read_file", offset=1)
        landed(between.call(folder))
        document.shows(TYPED_AFTER.replace("typed", "typed!"))
    assert [change["status"] for change in own_lab.call("GET", "/changes")[1]["changes"]] == ["applied"]


def test_a_page_that_is_left_holds_no_file(open_lab, folder):
    window = open_lab()
    opened(window, folder, typed="  # typed")
    left, window.page = window.page, window.page.context.new_page()
    left.close()
    # The server learns of it with a delay.
    assert any(folder.call("edit_file", "a.py", **EDIT)[0] == 200 for _ in range(50))
    assert folder.text("a.py") == AFTER


def test_the_panel_says_why_an_approval_has_to_wait(second_desk, desk, waits):
    """The window with the unsaved text hangs; the person decides in another one."""
    document = opened(second_desk, waits, typed="  # typed")
    waits.call("read_file", "a.py")
    assert waits.call("edit_file", "a.py", **EDIT)[0] == 202
    desk.open_panel()
    card = desk.card(waits.path("a.py"))
    with hanging(second_desk.page):
        card.locator('[data-action="approve"]').click()
        expect(card.get_by_role("alert")).to_contain_text("not saved")
        expect(card).to_have_attribute("data-status", "proposed")
    document.shows(TYPED_BEFORE)
    card.locator('[data-action="approve"]').click()
    expect(card).to_have_attribute("data-status", "applied")
    document.shows(TYPED_AFTER)
    assert holds(waits, "a.py", TYPED_AFTER)
