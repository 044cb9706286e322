"""Edits of an open text that its person has changed since it was shown: of unchanged lines only."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.open_documents.browser import Pages
from tests.open_documents.pages import Typed, calls_in

TEXT = "".join(f"x{at} = {at}\n" for at in range(12))


def opened(call, pages, text):
    """A page with an unsaved text, which it goes on calling unsaved."""
    page = Typed(call.root / "a.py", text)
    page.file.write_text("", "utf-8")
    pages.heard(page, [page.document(page.file, saved=False)])
    return page


@pytest.fixture
def page(call, pages):
    return opened(call, pages, TEXT)


@pytest.fixture
def edit(call):
    return lambda old, new, **more: call("edit_file", path="a.py", old_string=old, new_string=new, **more)


@pytest.fixture
def stale(call):
    """Edits the text, and gives the diff of the refusal."""

    def refused(old, new, code="stale", **more):
        edit = {"path": "a.py", "old_string": old, "new_string": new, **more}
        return call.refused(code, "edit_file", **edit).details.get("diff", "").splitlines()

    return refused


def test_lines_are_edited_while_the_person_types_in_others(call, page, edit):
    call("read_file", path="a.py")
    for at in range(1, 12):
        page.type(page.text.replace("x0 = 0", f"{at}\nx0 = 0"))
        assert edit(f"x{at} = {at}\n", f"y = {at}\nx{at} = {at}!\n").change.status == "applied"
    typed = "".join(f"{at}\n" for at in range(1, 12)) + "x0 = 0\n"
    assert page.text == typed + "".join(f"y = {at}\nx{at} = {at}!\n" for at in range(1, 12))
    assert page.file.read_text("utf-8") == page.text


def test_a_line_that_the_person_changed_is_stale_with_the_diff_and_then_edited(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "x5 = 5  # mine"))
    edit("x1 = 1", "x1 = one")
    before = page.text
    around = [" x2 = 2", " x3 = 3", " x4 = 4", "-x5 = 5", "+x5 = 5  # mine", " x6 = 6", " x7 = 7", " x8 = 8"]
    assert stale("x5 = 5", "x5 = five")[1:] == around
    assert page.text == before
    edit("x5 = 5", "x5 = five")
    assert page.text == before.replace("x5 = 5", "x5 = five")


def test_an_old_string_that_the_person_typed_over_is_stale_and_one_that_was_not_shown_is_not(call, page, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "z"))
    stale("x99", "y", "no_match")
    assert "-x5 = 5" in stale("x5 = 5", "y")


def test_replace_all_needs_all_its_places_unchanged(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "z = 5\nx5 = 5"))
    edit(" = 1\n", "=1\n", replace_all=True)
    assert "+z = 5" in stale(" = ", "=", replace_all=True)
    edit(" = ", "=", replace_all=True)
    assert page.text == TEXT.replace("x5", "z = 5\nx5").replace(" = ", "=")


def test_lines_between_which_the_person_removed_others_are_not_edited_as_one(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5\n", ""))
    assert "-x5 = 5" in stale("x4 = 4\nx6 = 6\n", "")
    edit("x4 = 4\nx6 = 6\n", "")
    assert "x3 = 3\nx7 = 7\n" in page.text


def test_a_window_is_edited_though_the_person_types_above_and_below(call, page, edit, stale):
    call("read_file", path="a.py", offset=4, limit=4)
    page.type(page.text.replace("x0 = 0\n", "a\nb\nx0 = 0\n").replace("x9 = 9\n", ""))
    edit("x4 = 4\n", "x4 = 4\nnew\n")
    edit("new\n", "newer\n")
    stale("x8 = 8", "y")
    assert page.text == "a\nb\n" + TEXT.replace("x9 = 9\n", "").replace("x4 = 4\n", "x4 = 4\nnewer\n")


def test_what_was_shown_before_the_person_typed_and_more_was_shown_is_edited(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "x5 = five").replace("x2 = 2\n", ""))
    call("read_file", path="a.py", offset=4, limit=2)
    call.refused("not_read", "write_file", path="a.py", content=TEXT)
    page.type(page.text.replace("x9 = 9", "x9 = nine"))
    edit("x5 = five", "x5 = 5")
    edit("x1 = 1", "x1 = one")
    assert "+x9 = nine" in stale("x9 = nine", "x9 = 9")


def test_a_text_of_which_a_diff_told_that_it_is_empty_is_stale_with_the_diff(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type("")
    assert "-x5 = 5" in stale("x5 = 5", "y")
    page.type("z\n")
    assert "+z" in stale("z", "y")
    edit("z", "y")


def test_a_search_of_the_file_leaves_shown_what_was_shown_of_the_text(call, page, edit):
    page.file.write_text("x3 = 3\n", "utf-8")
    call("read_file", path="a.py")
    call("grep", pattern="x3", output_mode="content")
    edit("x1 = 1", "x1 = one")
    page.type(f"{page.text}typed\n")
    call("grep", pattern="x3", output_mode="content")
    edit("x2 = 2", "x2 = two")


def edits(*pairs):
    return {"edits": [{"path": "a.py", "old_string": old, "new_string": new} for old, new in pairs]}


def test_the_lines_on_both_sides_of_removed_ones_are_edited_in_one_call(call, page, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5\n", "").replace("x9 = 9", "x9 = nine"))
    call("edit_file", **edits(("x4 = 4", "y4\ny4"), ("x6 = 6", "y6")))
    assert [row for row in stale("nine", "9") if row[0] in "+-"] == ["-x5 = 5", "-x9 = 9", "+x9 = nine"]


def test_windows_that_the_person_moved_past_each_other_are_edited_in_one_call(call, page, edit):
    call("read_file", path="a.py", offset=1, limit=3)
    call("read_file", path="a.py", offset=8, limit=3)
    lines = page.text.splitlines(keepends=True)
    page.type("".join([*lines[7:10], *lines[:7], *lines[10:]]))
    call("edit_file", **edits(("x8 = 8\n", "y8\ny8\n"), ("x1 = 1\n", "y1\ny1\n")))
    page.type(f"{page.text}typed\n")
    for at in (0, 2, 7, 9):
        edit(f"x{at} = {at}\n", f"y{at}\n")
    assert page.text.startswith("y7\ny8\ny8\ny9\ny0\ny1\ny1\ny2\nx3")


def test_lines_are_put_at_the_end_though_the_person_removed_the_last_ones(call, page, edit, stale):
    call("read_file", path="a.py")
    page.type(page.text.replace("x10 = 10\nx11 = 11\n", ""))
    edit("x9 = 9\n", "x9 = 9\nnew\n")
    page.type(page.text.replace("x0 = 0", "x0 = zero"))
    assert {"+x0 = zero", "-x11 = 11"} < set(stale("x0 = zero", "y"))
    edit("x0 = zero", "y")


def test_the_text_is_neither_overwritten_nor_told_unchanged(call, page, edit):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "x5 = five"))
    edit("x1 = 1", "x1 = one")
    call.refused("stale", "write_file", path="a.py", content="")
    assert "x5 = five" in call("read_file", path="a.py").data["content"]
    call("write_file", path="a.py", content="all new\n")
    assert page.text == "all new\n"


def test_what_was_shown_before_it_was_saved_is_edited_after_it(call, pages, page, edit):
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "x5 = five"))
    page.save(None)
    pages.heard(page, [])
    edit("x1 = 1", "x1 = one")
    assert page.file.read_text("utf-8") == page.text.replace("x1 = 1", "x1 = one")


def test_a_saved_text_is_stale_as_any_file(call, pages, page, stale):
    page.save(None)
    pages.heard(page, [])
    call("read_file", path="a.py")
    page.type(page.text.replace("x5 = 5", "x5 = five"))
    page.save(None)
    assert "+x5 = five" in stale("x1 = 1", "x1 = one")


NAMES = [f"<{at}>" for at in range(6)]
TYPED = st.tuples(st.sampled_from(["insert", "append", "remove", ""]), st.integers(0, 9), st.sampled_from(["", "a\na"]))
EDITED = st.tuples(st.sampled_from(NAMES), st.sampled_from(["{0}!", "{0}\nnew", "new\n{0}"]))


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(TYPED, EDITED), min_size=1, max_size=6))
def test_an_edited_line_is_as_the_reader_knows_it(steps, tmp_path_factory):
    """Each line has a name that occurs once, so that it is known which line of the text is which of the reader's."""
    pages = Pages()
    with calls_in(tmp_path_factory.mktemp("typed"), pages) as call:
        page, known = opened(call, pages, "".join(f"{name}\n" for name in NAMES)), dict(zip(NAMES, NAMES, strict=True))
        call("read_file", path="a.py")
        for (how, at, typed), (name, new) in steps:
            lines = page.text.splitlines()
            if how == "insert":
                lines[at:at] = typed.split("\n")
            elif how and at < len(lines):
                lines[at : at + 1] = [f"{lines[at]}~"] if how == "append" else []
            page.type("".join(f"{line}\n" for line in lines))
            there = [line for line in lines if name in line]
            wanted = page.text.replace(name, new.format(name))
            try:
                call("edit_file", path="a.py", old_string=name, new_string=new.format(name))
            except FsToolsError as refusal:
                assert (refusal.code, there == [known.get(name)]) == ("stale" if name in known else "no_match", False)
                assert page.text == "".join(f"{line}\n" for line in lines)
                call("read_file", path="a.py")
                known = {one: line for one in NAMES for line in lines if one in line}
            else:
                assert (there, page.text) == ([known[name]], wanted)
                known[name] = next(line for line in page.text.splitlines() if name in line)
