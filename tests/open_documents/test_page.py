"""Messages that tell a page of a change, and changes for which it loads the file again."""

from __future__ import annotations

import pytest

from tests.open_documents.pages import PageHere

ENDS_OTHERWISE = [
    ("", "a\r\nb\r\n"),
    ("one line", "a\rb\r"),
    ("a\rb\r", "a\r\nb\r\n"),
    ("a\r\nb\r\n", "one line"),
]
ENDS_ALIKE = [("", "a\nb\n"), ("a\nb\n", "one line"), ("a\r\nb\r\n", "b\r\n"), ("a\rb\r", "b\r")]


@pytest.mark.parametrize(("before", "after"), [*ENDS_OTHERWISE, *ENDS_ALIKE])
def test_a_text_that_ends_its_lines_otherwise_after_a_change_is_loaded_anew(call, pages, before, after):
    """JupyterLab detects the line ends when it loads a file, and uses them for all lines at each save."""
    file, page = call.put("a.py", before), PageHere(patch={"done": True})
    pages.heard(page, [page.document(file)])
    call("read_file", path="a.py")
    call("write_file", path="a.py", content=after)
    assert file.read_bytes() == after.encode()
    is_patched = (before, after) in ENDS_ALIKE
    assert (len(page.asked("patch")), page.heard[-1]["do"]) == (is_patched, "written" if is_patched else "follow")


def test_a_text_with_unsaved_changes_keeps_its_line_endings(call, pages):
    file = call.put("a.py", "one line")
    page = PageHere(content={"done": True, "content": "one line  # typed"}, patch={"done": False, "reason": "text"})
    pages.heard(page, [page.document(file, saved=False)])
    call("read_file", path="a.py")
    call.refused("unsaved", "write_file", path="a.py", content="a\r\nb\r\n")
    assert (file.read_bytes(), page.asked("patch")) == (b"one line", [])


@pytest.mark.parametrize(("ending", "loaded"), [("\r\n", "\r"), ("\n", "\n")])
def test_a_page_is_told_of_a_lone_carriage_return_as_jupyterlab_loads_it(call, pages, ending, loaded):
    r"""It stays in a text with `\r\n`, and ends a line in any other text."""
    file, page = call.put("log.txt", ending.join(["1%\r2%", "b = 2", ""])), PageHere(patch={"done": True})
    pages.heard(page, [page.document(file)])
    call("read_file", path="log.txt")
    call("edit_file", path="log.txt", old_string="b = 2", new_string="b = 3")
    (asked,) = page.asked("patch")
    assert asked["change"]["spans"] == [(10, "2", "3", f"1%{loaded}2%\nb = ", "\n")]
