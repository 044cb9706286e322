"""edit_file: exact edits of a file that was read, all or nothing."""

from __future__ import annotations

import codecs
import os

import pytest

LINES = "".join(f"line {number}\n" for number in range(1, 101))


@pytest.fixture
def edit(call):
    """Puts a file there, reads it, and edits it; gives its bytes."""

    def put_read_and_edit(data: str | bytes, old: str, new: str, **options: object) -> bytes:
        call.put("a.txt", data)
        call("read_file", path="a.txt")
        call("edit_file", path="a.txt", old_string=old, new_string=new, **options)
        return call.got("a.txt")

    return put_read_and_edit


@pytest.fixture
def refused(call):
    """Puts a file there, reads it, and edits it in vain; gives the refusal."""

    def put_read_and_edit(code: str, data: str | bytes, old: str | None = None, new: str | None = None, **options):
        if old is not None:
            options |= {"old_string": old, "new_string": new}
        file = call.put("a.txt", data)
        os.utime(file, (1, 1))
        call("read_file", path="a.txt")
        before = file.read_bytes()
        refusal = call.refused(code, "edit_file", path="a.txt", **options)
        assert file.read_bytes() == before and file.stat().st_mtime == 1 and os.listdir(call.root) == ["a.txt"]
        return refusal

    return put_read_and_edit


def test_an_unread_file_is_not_edited(call):
    call.put("a.txt", "a")
    call.refused("not_read", "edit_file", path="a.txt", old_string="a", new_string="b")


def test_a_text_that_is_not_there_is_refused_with_a_hint(refused):
    refusal = refused("no_match", "if x:\n    total = 1\n", "\ttotal = 1", "total = 2")
    assert "2\t    total = 1" in refusal.hint and refusal.details["nearest_line"] == 2


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("no_op", "a", "a"),
        ("no_op", "a\n", "a\r\n"),
        ("no_op", "a", "a\r"),
        ("no_op", "a\n", "a\r\r\n"),
        ("invalid", "", ""),
        ("invalid", "", "b"),
    ],
)
def test_what_would_change_nothing_or_everything_is_refused(refused, code, old, new):
    refused(code, "a\n", old, new)
    if not old:
        refused(code, "a\n", old, new, replace_all=True)


def test_an_empty_old_string_is_refused_for_an_empty_file_too(refused, call):
    """New text is written with write_file."""
    assert "write_file" in refused("invalid", "", "", "a").hint
    call.refused("not_found", "edit_file", path="missing.txt", old_string="", new_string="a")


def test_several_places_are_refused_with_count_and_lines(refused):
    refusal = refused("ambiguous", "x\n" * 7, "x", "y")
    assert "7 times, at lines 1, 2, 3, 4, 5 + 2 more (" in refusal.message
    assert "6 times, at line 1 (" in refused("ambiguous", "x" * 6, "x", "y").message
    assert "3 times, at lines 1, 2" in refused("ambiguous", "xx\nx\n", "x", "y").message
    assert refused("ambiguous", "aaa", "aa", "b").details["count"] == 2


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        ("aaa", "a", "ab", b"ababab"),
        ("foo foo", "foo", "foofoo", b"foofoo foofoo"),
        ("x;\ny; z;", ";", "", b"x\ny z"),
        ("a\r\na\n", "a\n", "", b""),
    ],
)
def test_replace_all_replaces_each_place_once(edit, data, old, new, after):
    assert edit(data, old, new, replace_all=True) == after


def test_the_number_of_places_is_reported(call):
    call.put("a.txt", "aaa b")
    call("read_file", path="a.txt")
    edits = [{"old_string": "a", "new_string": "c", "replace_all": True}, {"old_string": "b", "new_string": "d"}]
    assert call("edit_file", path="a.txt", edits=edits).data["replacements"] == [3, 1]


@pytest.mark.parametrize("text", ["$&", "$1", "$`", "$'", "$$", r"\1", r"\g<0>", r"\n", "[0] + (x * y)", "a.*"])
def test_both_strings_mean_themselves(edit, text):
    assert edit(f"<{text}>", text, f"{text}{text}") == f"<{text}{text}>".encode()


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a b c", " b", "", b"a c"),
        (b"a\n", "a\n", "", b""),
        (b"a\r\nb\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny\r\nz", b"x\ny\nz\n"),
        (b"a\nb\nc\n", "a\r\nb\nc", "x\ny\r\nz", b"x\ny\nz\n"),
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", "c", "c\nd", b"a\r\nb\nc\r\nd\r\n"),
        (b"a\r\nline\r\nb", "line\n", "", b"a\r\nb"),
        (b"a", "a", "a\n", b"a\n"),
        (b"a\n", "a\n", "a", b"a"),
        (b"text\n", "text", "text  ", b"text  \n"),
        (b"x", "x", "\n\nx\n\n", b"\n\nx\n\n"),
        (b"a\r\nb", "a", "a\r\n", b"a\r\n\r\nb"),
        ("👩\u200d👩\u200d👧 e\u0301\n".encode(), "e\u0301", "é", "👩\u200d👩\u200d👧 é\n".encode()),
        (codecs.BOM_UTF8 + b"a\nb\n", "\ufeffa\n", "x\n", codecs.BOM_UTF8 + b"x\nb\n"),
        (codecs.BOM_UTF8 + b"a\nb\n", "a\n", "x\n", codecs.BOM_UTF8 + b"x\nb\n"),
    ],
)
def test_only_the_span_changes_and_the_endings_of_the_file_win(edit, data, old, new, after):
    assert edit(data, old, new) == after


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_wide_file_keeps_every_byte_outside_the_span(call, edit, codec):
    """Its snippet has the right numbers, too."""
    bom = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_LE}[codec]
    before, after = ("\u010a\u0a05\r\n" + "語\r\n" * 3 + f"{word}\r\n" for word in ("old", "new"))
    assert edit(bom + before.encode(codec), "old", "new") == bom + after.encode(codec)
    call("undo", path="a.txt")
    assert call.got("a.txt") == bom + before.encode(codec)
    result = call("edit_file", path="a.txt", old_string="old", new_string="new")
    assert result.data["snippet"].endswith("\n5\tnew")


def test_a_character_that_the_encoding_lacks_is_refused(call):
    call.put("a.txt", "caf\u00e9\n".encode("latin-1"))
    call("read_file", path="a.txt", encoding="latin-1")
    refusal = call.refused("encoding", "edit_file", path="a.txt", old_string="caf\u00e9", new_string="→")
    assert "U+2192" in refusal.message and call.got("a.txt") == b"caf\xe9\n"
    call("edit_file", path="a.txt", old_string="caf\u00e9", new_string="th\u00e9")
    assert call.got("a.txt") == b"th\xe9\n"


@pytest.mark.parametrize(
    ("there", "old", "said"),
    [
        ("it\u2019s\n", "it's", "U+2019"),
        ("a\u00a0value\n", "a value", "U+00A0"),
        ("3\u20135 pages\n", "3-5 pages", "U+2013"),
        (f"# {'─' * 37} x\n", f"# {'─' * 32} x\n", "32 of U+2500, the file has 37 of U+2500"),
        ("    indented = 1\n", "      indented = 1", "indentation"),
        ("value = 1  \nnext\n", "value = 1\nnext", "end of a line"),
        ("one\ntwo\n", "one\n\ntwo\n", "blank lines"),
        ("\tname = 1\n", "    name = 1", "1\t\tname = 1"),
        ("begin\nbody\nend\n", "begin\nother\nend\n", "1\tbegin"),
        ("value = compute(1)\n", "value = compute(2)\n", "1\tvalue = compute(1)"),
        ("print(2)\n", "print(1)", "swap"),
        ("x\nfoo\nbar\n", "2\tfoo\n3\tbar", "line-number prefix"),
        ("foo\nbar", "bar\n", "no final newline"),
        ("cafe\u0301\n", "caf\u00e9", "U+0065 U+0301"),
        ("a\r\nb\r\n", "a\r", "half of a line ending"),
    ],
)
def test_nothing_is_replaced_that_is_only_near(refused, there, old, said):
    assert said in refused("no_match", there, old, "print(2)").hint


def test_a_batch_is_all_or_nothing(refused):
    first, second = {"old_string": "foo", "new_string": "bar"}, {"old_string": "bar", "new_string": "qux"}
    assert "edit 2 of 2" in refused("ambiguous", "foo bar", edits=[first, second]).message
    assert "edit 2 of 2" in refused("no_match", "foo x", edits=[first, {**second, "old_string": "y"}]).message
    assert "already applied by edit 1" in refused("no_match", "foo x", edits=[first, first]).hint


def test_each_edit_sees_the_one_before(call):
    call.put("a.txt", "one")
    call("read_file", path="a.txt")
    edits = [{"old_string": "one", "new_string": "CHANGED"}, {"old_string": "CHANGED", "new_string": "FINAL"}]
    call("edit_file", path="a.txt", edits=edits)
    assert call.got("a.txt") == b"FINAL"


def test_edits_are_given_in_one_form(refused):
    refused("invalid", "a", edits=[])
    refused("invalid", "a", "a", "b", edits=[{"old_string": "a", "new_string": "b"}])
    refused("invalid", "a", old_string="a")
    refused("invalid", "a", edits=[{"old_string": "a"}])
    refused("invalid", "a", edits=[{"old_string": "a", "new_string": "b", "regex": True}])


def test_more_edits_than_one_call_takes_are_refused(refused):
    edits = [{"old_string": "a", "new_string": "b"}] * 10_001
    assert "at most 10000" in refused("invalid", "a", edits=edits).message


def test_edits_that_cancel_each_other_write_nothing(call):
    os.utime(call.put("a.txt", "a"), (1, 1))
    call("read_file", path="a.txt")
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "a"}]
    result = call("edit_file", path="a.txt", edits=edits)
    assert result.change is None and result.data["changed"] is False
    assert (call.root / "a.txt").stat().st_mtime == 1


def test_the_snippet_shows_the_new_lines_with_four_around_them(call):
    call.put("a.txt", LINES)
    call("read_file", path="a.txt")
    result = call("edit_file", path="a.txt", old_string="line 50\n", new_string="fifty\nfifty and a half\n")
    rows = [f"{number}\tline {number}" for number in range(46, 50)] + ["50\tfifty", "51\tfifty and a half"]
    rows += [f"{number + 1}\tline {number}" for number in range(51, 55)]
    assert result.data["snippet"].split("\n") == rows
    assert result.data["snippet"] in result.content[0]["text"]


def test_the_snippet_is_bounded(call):
    call.put("a.txt", "x" * 10_000 + "\n" + LINES * 20)
    call("read_file", path="a.txt")
    result = call("edit_file", path="a.txt", old_string="line", new_string="LINE " + "y" * 5000, replace_all=True)
    assert len(result.data["snippet"]) < 20_000 and result.data["snippet"].endswith("\n...")


def test_a_line_that_the_snippet_cuts_is_not_taken_for_the_whole_line(call):
    """A model that replaced the line as it was shown left its end behind."""
    call.put("a.txt", "one\n" + "x" * 300 + "\n")
    call("read_file", path="a.txt")
    row = call("edit_file", path="a.txt", old_string="one", new_string="two").data["snippet"].split("\n")[1]
    assert row == f"2\t{'x' * 200} [... more characters]"
    refusal = call.refused("no_match", "edit_file", path="a.txt", old_string=row.split("\t")[1], new_string="y")
    assert refusal.details["reason"] == "truncated_line"


def test_the_snippet_keeps_its_numbers_after_several_changes(call):
    call.put("a.txt", LINES)
    call("read_file", path="a.txt")
    edits = [{"old_string": f"line {n}\n", "new_string": f"new {n}\nmore\n"} for n in (20, 60, 90)]
    rows = call("edit_file", path="a.txt", edits=edits).data["snippet"].split("\n")
    assert {"20\tnew 20", "61\tnew 60", "92\tnew 90", "..."} <= set(rows)
    written = call.got("a.txt").decode().split("\n")
    assert all(row == "..." or row.split("\t")[1] == written[int(row.split("\t")[0]) - 1] for row in rows)


def test_ones_own_edits_follow_each_other_without_a_read(call):
    """Hints show the present lines."""
    call.put("a.txt", "a\nx\nx\n")
    call("read_file", path="a.txt")
    call("edit_file", path="a.txt", old_string="a\n", new_string="1\n2\n3\n")
    refusal = call.refused("ambiguous", "edit_file", path="a.txt", old_string="x", new_string="y")
    assert refusal.details["lines"] == [4, 5]
    call("edit_file", path="a.txt", old_string="3\nx", new_string="3\ny")
    assert call.got("a.txt") == b"1\n2\n3\ny\nx\n"


def test_a_changed_file_is_stale_and_can_be_accepted(call):
    call.put("a.txt", "one\ntwo\n")
    call("read_file", path="a.txt")
    call.put("a.txt", "one\nTWO\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    assert "-two\n+TWO" in call.refused("stale", "edit_file", **edit).details["diff"]
    call("edit_file", **edit, if_stale="match")
    assert call.got("a.txt") == b"1\nTWO\n"


def test_accepting_a_changed_file_is_no_way_around_reading_it(call):
    """The outsider's text was never shown, so an overwrite needs a read first."""
    call.put("a.txt", "one\ntwo\n")
    call("read_file", path="a.txt")
    call.put("a.txt", "one\nTWO\n")
    call("edit_file", path="a.txt", old_string="one", new_string="1", if_stale="match")
    call.refused("not_read", "write_file", path="a.txt", content="all new\n")
    call("edit_file", path="a.txt", old_string="1", new_string="one")
    call("read_file", path="a.txt")
    call("write_file", path="a.txt", content="all new\n")


def test_accepting_a_changed_file_is_no_way_to_edit_what_was_never_shown(make_call):
    """The lines have changed; the old string has to be in the text that was shown."""
    for strict in (False, True):
        call = make_call(refuse_unseen_edits=strict)
        call.put("a.txt", "one\r\ntwo\r\n")
        call("read_file", path="a.txt", force=True)
        call.put("a.txt", "new\none\ntwo\ntheirs\n")
        moved = {
            "path": "a.txt",
            "edits": [{"old_string": "one\ntwo", "new_string": "1\n2"}, {"old_string": "2", "new_string": "II"}],
            "if_stale": "match",
        }
        unseen = {"path": "a.txt", "old_string": "theirs", "new_string": "mine", "if_stale": "match"}
        if strict:
            assert call.refused("not_read", "edit_file", **unseen).details["lines"] == [4]
            assert not call("edit_file", **moved).data["outside_shown_lines"]
        else:
            assert call("edit_file", **unseen).data["outside_shown_lines"]


def test_accepting_a_file_that_did_not_change_forgets_nothing(call):
    call.put("a.txt", "one\ntwo\n")
    call("read_file", path="a.txt")
    os.utime(call.root / "a.txt", (1, 1))
    call("edit_file", path="a.txt", old_string="one", new_string="1", if_stale="match")
    call("write_file", path="a.txt", content="all new\n")


def test_a_change_that_made_the_text_ambiguous_is_never_accepted(call):
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    call.put("a.txt", "one\none\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    call.refused("stale", "edit_file", **edit)
    assert "replace_all" not in call.refused("ambiguous", "edit_file", **edit, if_stale="match").hint
    call.refused("invalid", "edit_file", **edit, if_stale="match", replace_all=True)
    call.refused("no_match", "edit_file", **{**edit, "old_string": "two"}, if_stale="match")
    call.refused("not_read", "edit_file", **{**edit, "path": call.put("b.txt", "one").name}, if_stale="match")
    assert call.got("a.txt") == b"one\none\n"


def test_one_line_of_many_changes_alone(edit):
    lines = [b"line %d\n" % number for number in range(10_001)]
    after = edit(b"".join(lines), "line 5000\n", "changed\n").splitlines(keepends=True)
    assert after == [*lines[:5000], b"changed\n", *lines[5001:]]


def test_what_is_no_text_file_is_refused(call):
    (call.root / "folder").mkdir()
    call.put("name.txt", "x")
    call.put("book.ipynb", "{}")
    edit = {"old_string": "x", "new_string": "y"}
    call.refused("is_directory", "edit_file", path="folder", **edit)
    assert call.refused("not_found", "edit_file", path="nmae.txt", **edit).details["near"] == ["name.txt"]
    assert "edit_notebook" in call.refused("notebook", "edit_file", path="book.ipynb", **edit).hint


@pytest.mark.parametrize(("given", "count"), [("false", None), ("true", [2]), ("TRUE", [2]), (False, None)])
def test_a_flag_may_be_a_string(call, given, count):
    call.put("a.txt", "a a")
    call("read_file", path="a.txt")
    edit = {"path": "a.txt", "old_string": "a", "new_string": "b", "replace_all": given}
    if count is None:
        call.refused("ambiguous", "edit_file", **edit)
    else:
        assert call("edit_file", **edit).data["replacements"] == count


def test_a_match_outside_every_shown_line_is_said(call):
    call.put("a.txt", LINES)
    call("read_file", path="a.txt", offset=1, limit=10)
    assert call("edit_file", path="a.txt", old_string="line 5\n", new_string="5\n").data["outside_shown_lines"] is False
    result = call("edit_file", path="a.txt", old_string="line 50\n", new_string="line 50\ninserted\n")
    assert result.data["outside_shown_lines"] is True
    assert "line 50 had not been shown" in result.content[0]["text"]
    again = call("edit_file", path="a.txt", old_string="inserted", new_string="mine")
    assert again.data["outside_shown_lines"] is False


@pytest.mark.parametrize(
    ("old", "new"),
    [("line 50", "50"), ("line 50\n", "line 50\nmore\n"), ("line 10\nline 11", "10\n11"), ("line 11\n", "")],
)
def test_a_match_outside_every_shown_line_can_be_refused(make_call, old, new):
    call = make_call(refuse_unseen_edits=True)
    call.put("a.txt", LINES)
    call("read_file", path="a.txt", offset=1, limit=10)
    refusal = call.refused("not_read", "edit_file", path="a.txt", old_string=old, new_string=new)
    assert refusal.details["lines"][0] in (11, 50) and call.got("a.txt") == LINES.encode()
    call("edit_file", path="a.txt", old_string="line 10\n", new_string="ten\n")
    call("edit_file", path="a.txt", old_string="line 9\nten\n", new_string="")


def test_every_place_of_replace_all_must_have_been_shown(make_call):
    call = make_call(refuse_unseen_edits=True)
    call.put("a.txt", "x\n" * 100)
    call("read_file", path="a.txt", offset=1, limit=99)
    edit = {"path": "a.txt", "old_string": "x\n", "new_string": "y\n", "replace_all": True}
    assert call.refused("not_read", "edit_file", **edit).details["lines"] == [100]
    call("read_file", path="a.txt", offset=100)
    call("edit_file", **edit)


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        *[("utf-8", "é語😀\r\nx\n"), ("utf-8-sig", "é\nx\r\n"), ("utf-16", "é語😀\nx\n"), ("utf-32", "é😀\nx\n")],
        *[("latin-1", "é\x85\nx\n"), ("cp1252", "€“\nx\n"), ("shift_jis", "表ｱ\nx\n"), ("gb18030", "é語😀\nx\n")],
    ],
)
def test_undo_restores_the_bytes_in_every_encoding(call, codec, text):
    before = text.encode(codec)
    call.put("a.txt", before)
    call("read_file", path="a.txt", encoding=codec)
    call("edit_file", path="a.txt", old_string="x", new_string="y\nz")
    assert call.got("a.txt").decode(codec).replace("\r\n", "\n") == text.replace("x", "y\nz").replace("\r\n", "\n")
    call("undo", path="a.txt")
    assert call.got("a.txt") == before


@pytest.mark.parametrize("text", ["a\0", "# ... rest of the code unchanged ..."])
def test_new_text_that_is_none_is_refused(refused, text):
    refused("invalid", "a\n", "a", text)


@pytest.mark.parametrize("edit", [("\ud83d", "a"), ("a", "\ud83d")])
def test_a_lone_surrogate_is_refused(refused, edit):
    refused("encoding", "a\n", *edit)


def test_an_undecodable_byte_elsewhere_refuses_the_edit(call):
    call.put("a.txt", b"a\n" + b"b\n" * 10_000 + b"\xff\n")
    call("read_file", path="a.txt", limit=1)
    refusal = call.refused("encoding", "edit_file", path="a.txt", old_string="a\n", new_string="c\n")
    assert refusal.details["offset"] == 20_002


def test_an_edit_is_read_by_the_encoding_that_was_shown_last(call):
    """Never a broken file."""
    call.put("a", "é x\n")
    assert call("read_file", path="a", encoding="latin-1").data["content"] == "Ã© x\n"
    assert call("read_file", path="a").data["content"] == "é x\n"
    call("edit_file", path="a", old_string="é x", new_string="é ü →")
    assert call.got("a") == "é ü →\n".encode()
    call("read_file", path="a", encoding="latin-1")
    call.refused("encoding", "edit_file", path="a", old_string="\n", new_string="→\n")


def test_a_missing_file_is_answered_with_the_tool_that_makes_one(call):
    assert "`write_file`" in call.refused("not_found", "edit_file", path="new", old_string="", new_string="x").hint
    new = {"path": "new.ipynb", "edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": ""}
    assert "`write_file`" in call.refused("not_found", "edit_notebook", **new).hint


def test_text_that_an_earlier_edit_of_the_call_changed_is_answered_with_that(call):
    call.put("a", "x\nold line\n")
    call("read_file", path="a")
    edits = [{"old_string": "old", "new_string": "new"}, {"old_string": "old line\n", "new_string": ""}]
    refusal = call.refused("no_match", "edit_file", path="a", edits=edits)
    assert refusal.details == {"reason": "changed_by_earlier", "nearest_line": 2, "edit": 1}
    assert "line 2" in refusal.hint
