from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.diffs.file_diff import FileDiff, unified
from jupyter_fstools.gate.line_changes import LineChange, line_changes
from jupyter_fstools.gate.shown_text import MAX_KEPT_CHARACTERS, ShownText

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def told(shown, text, **more):
    diff = ShownText.unpacked(shown.packed()).diff("a.txt", text, **more)
    return None if diff is None else unified(diff) if diff.hunks else ""


def lines(first, last):
    return "".join(f"line {number}\n" for number in range(first, last + 1))


def test_what_was_shown_and_is_still_there_makes_no_diff():
    assert told(ShownText().with_lines(1, TEN), TEN) == ""
    assert told(ShownText().with_lines(1, TEN), TEN.replace("\n", "\r\n")) == ""
    assert told(ShownText(), TEN) is None


def test_what_changed_is_told():
    shown = ShownText().with_lines(1, TEN)
    diff = told(shown, TEN.replace("line 4\n", "LINE 4\n") + "line 11\n")
    assert "-line 4" in diff and "+LINE 4" in diff and "+line 11" in diff


def test_windows_one_after_the_other_are_the_whole():
    """Each keeps its lines, in any order."""
    shown = ShownText().with_lines(3, lines(3, 4)).with_lines(1, lines(1, 2)).with_lines(5, lines(5, 10))
    assert told(shown, TEN) == ""
    diff = told(shown, TEN.replace("line 2\n", "LINE 2\n") + "line 11\n")
    assert "-line 2" in diff and "+line 11" in diff


def test_a_window_that_moved_did_not_change():
    shown = ShownText().with_lines(3, lines(3, 5)).with_lines(8, lines(8, 9))
    assert told(shown, f"import os\nimport re\n{TEN}", whole=False) == ""
    assert told(shown, lines(2, 6) + lines(8, 9), whole=False) == ""
    repeated = ShownText().with_lines(2, "}\n\n}\n")
    assert told(repeated, "new\na\n}\n\n}\n}\n", whole=False) == ""


def test_a_change_in_a_window_that_moved_is_told_where_it_is():
    shown = ShownText().with_lines(3, lines(3, 5)).with_lines(8, lines(8, 9))
    changed = "import os\n" + TEN.replace("line 4\n", "new\nLINE 4\n").replace("line 9\n", "")
    diff = ShownText.unpacked(shown.packed()).diff("a.txt", changed, whole=False)
    assert unified(diff).startswith("@@ -3,3 +4,4 @@\n line 3\n-line 4\n+new\n+LINE 4\n line 5\n@@ -8,2 +10,")


@given(st.data())
def test_the_lines_said_to_be_removed_are_those_that_are_gone(data):
    """Only lines that were shown count, wherever others were added or removed."""
    text, shown, kept = [f"line {number}" for number in range(1, 16)], set(), ShownText()
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(1, 15))
        last = data.draw(st.integers(first, 15))
        kept = kept.with_lines(first, "".join(f"{line}\n" for line in text[first - 1 : last]))
        shown.update(text[first - 1 : last])
    for step in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 2)))
        text[at:end] = [f"theirs {step} {number}" for number in range(data.draw(st.integers(0, 3)))]
    diff = kept.diff("a.txt", "".join(f"{line}\n" for line in text), whole=False)
    removed = [row.text for hunk in diff.hunks for row in hunk.rows if row.kind == "remove"]
    assert sorted(removed) == sorted(shown.difference(text))


def test_a_window_that_overlaps_replaces_only_the_lines_it_shows():
    shown = ShownText().with_lines(1, TEN).with_lines(4, lines(4, 5))
    assert told(shown, TEN) == ""
    assert "-line 9" in told(shown, TEN.replace("line 9\n", "LINE 9\n"))


def test_lines_after_a_window_were_not_added():
    shown = ShownText().with_lines(1, lines(1, 3))
    assert told(shown, TEN, whole=False) == ""
    assert "+line 11" not in told(shown, TEN.replace("line 2\n", "LINE 2\n"), whole=False)


def test_lines_of_a_window_that_were_cut_are_not_kept():
    shown = ShownText().with_window(3, "three\nfo\nfive\nsi", [(3, 3), (5, 5)])
    assert shown.texts() == ["three\n", "five\n"] and shown.ranges() == [(3, 3), (5, 5)]
    assert ShownText().with_window(1, "", []).ranges() == []


def test_a_final_newline_that_is_not_there_is_known_after_an_edit_too():
    shown = ShownText().with_lines(1, "a\nb")
    assert shown.with_changes([LineChange(1, 1, ["A"])]).texts() == ["A\nb"]
    ended = shown.with_changes([LineChange(2, 1, ["b\n\\ No newline at end of file"])])
    assert ended.texts() == ["a\nb"]
    assert shown.with_changes([LineChange(2, 1, ["b"])]).texts() == ["a\nb\n"]


def test_more_than_is_kept_is_not_kept():
    shown = ShownText().with_lines(1, TEN)
    assert told(shown.with_lines(100, "x" * MAX_KEPT_CHARACTERS), TEN) == ""


@given(st.data())
def test_own_edits_are_applied_to_what_was_shown(data):
    text = [f"line {number}" for number in range(1, 11)]
    shown = ShownText().with_lines(1, TEN)
    for step in range(data.draw(st.integers(1, 80))):
        first = data.draw(st.integers(1, len(text) + 1))
        removed = data.draw(st.integers(0, len(text) + 1 - first))
        added = [f"new {step} {number}" for number in range(data.draw(st.integers(0, 3)))]
        text[first - 1 : first - 1 + removed] = added
        shown = shown.with_changes([LineChange(first, removed, added)])
        if not text:
            return
    assert not told(shown, "".join(f"{line}\n" for line in text))


def test_a_diff_with_rows_left_out_tells_no_changes():
    assert line_changes(FileDiff(path="a", op="edit", added=1, truncated=True)) is None
    assert line_changes(FileDiff(path="a", op="edit")) == []


def test_lone_surrogates_and_long_texts_survive_packing():
    text = "\udcff é 😀\n" * 5000
    assert told(ShownText().with_lines(1, text), text) == ""
