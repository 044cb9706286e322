"""Two servers of the same files, each with a JupyterLab in which the same file is open."""

from __future__ import annotations

import pytest

from tests.browser.lab import Folder, Lab
from tests.browser.open_documents.documents import Text, landed, refused
from tests.processes import RunningServer

EDIT = {"old_string": "y = 1", "new_string": "y = 2"}


class SecondLab(Lab):
    """Another server of a lab's root and store."""

    def __init__(self, lab):
        self.leg, self.root, self.environment = lab.leg, lab.root, lab.environment
        options = ("--FsToolsConfig.approval=waits/", "--LabApp.expose_app_in_browser=True")
        RunningServer.__init__(self, lab.root, *options, environment=lab.environment, interface=True)
        self.wait()


@pytest.fixture
def second_lab(own_lab):
    """A second one, for one test: others' kernels might hand it their calls."""
    running = SecondLab(own_lab)
    yield running
    running.stop()


def test_a_file_that_is_open_at_both_servers(own_lab, second_lab, open_lab):
    """Changes at one server appear at the other; a file unsaved at one is left to it, unsaved at both is a conflict."""
    here = Folder(own_lab, "work")
    there = Folder.__new__(Folder)
    there.__dict__.update(here.__dict__, lab=second_lab)
    path = here.write("a.py", "x = 1\ny = 1\n")
    windows = [open_lab(own_lab), open_lab(second_lab)]
    for window in windows:
        window.open(path)
    one, two = map(Text, windows)
    here.call("read_file", "a.py")
    landed(here.call("edit_file", "a.py", **EDIT))
    for document in (one, two):
        document.shows("x = 1\ny = 2\n")
        document.expect_saved()
    two.type("  # two")
    windows[1].wait_until_known(path, saved=False)
    assert refused(here.call("edit_file", "a.py", old_string="y = 2", new_string="y = 3"), "unsaved")
    assert "# two" in there.call("read_file", "a.py", force=True)[1]["data"]["content"]
    landed(there.call("edit_file", "a.py", old_string="y = 2", new_string="y = 3"))
    for document in (one, two):
        document.shows("x = 1  # two\ny = 3\n")
        document.expect_saved()
    for document, text in ((one, " one"), (two, " three")):
        document.type(text)
        document.window.wait_until_known(path, saved=False)
    for folder in (here, there):
        assert refused(folder.call("read_file", "a.py"), "conflict")
        assert refused(folder.call("edit_file", "a.py", old_string="y = 3", new_string="y = 4"), "conflict")
    one.shows("x = 1  # two one\ny = 3\n")
    two.shows("x = 1  # two three\ny = 3\n")
    assert here.text("a.py") == "x = 1  # two\ny = 3\n"
    assert [window.dialogs for window in windows] == [[], []]
