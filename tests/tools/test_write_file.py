"""write_file: new files freely, existing ones as they were read, or not at all."""

from __future__ import annotations

import codecs
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from jupyter_fstools.diffs.file_diff import unified
from jupyter_fstools.errors import Conflict, FsToolsError

NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def read(call):
    """Puts a file there and reads all of it."""

    def put_and_read(path: str, data: str | bytes, **options: str):
        call.put(path, data)
        return call("read_file", path=path, **options)

    return put_and_read


def test_a_new_file_and_its_folders_are_made(call):
    mask = os.umask(0o022)
    try:
        result = call("write_file", path="sub/deep/new.txt", content="a\nb\n")
    finally:
        os.umask(mask)
    assert call.got("sub/deep/new.txt") == b"a\nb\n"
    assert (call.root / "sub/deep/new.txt").stat().st_mode & 0o777 == 0o644
    assert {name: result.data[name] for name in ("created", "bytes", "lines", "eol")} == {
        **{"created": True, "bytes": 4, "lines": 2},
        "eol": "lf",
    }
    assert result.change.diff.op == "create" and (result.change.diff.added, result.change.diff.removed) == (2, 0)


def test_folders_are_made_inside_the_root_only(call):
    call.refused("outside_root", "write_file", path="../beside/new.txt", content="a")
    assert not (call.root.parent / "beside").exists()


def test_an_unread_file_is_not_overwritten(call):
    call.put("a.txt", "old")
    call.refused("not_read", "write_file", path="a.txt", content="new")
    assert call.got("a.txt") == b"old"


def test_a_file_of_which_a_part_was_shown_is_not_overwritten(call):
    call.put("a.txt", "1\n2\n3\n")
    call("read_file", path="a.txt", limit=2)
    call.refused("not_read", "write_file", path="a.txt", content="new")
    call("read_file", path="a.txt", offset=3)
    assert call("write_file", path="a.txt", content="new\n").data["created"] is False


def test_a_file_that_changed_since_is_not_overwritten(call, read):
    read("a.txt", "old\n")
    call.put("a.txt", "other\n")
    refusal = call.refused("stale", "write_file", path="a.txt", content="new")
    assert "-old\n+other" in refusal.details["diff"] and call.got("a.txt") == b"other\n"


def test_a_touched_file_is_overwritten(call, read):
    read("a.txt", "old\n")
    os.utime(call.root / "a.txt", (1, 1))
    call("write_file", path="a.txt", content="new\n")
    assert call.got("a.txt") == b"new\n"


def test_what_is_no_place_for_a_file_is_refused(call):
    call.put("file", "x")
    (call.root / "folder").mkdir()
    call.refused("not_a_directory", "write_file", path="file/new.txt", content="a")
    call.refused("is_directory", "write_file", path="folder", content="a")
    for path in ("", ".", "new/", "folder/.", "folder/"):
        with pytest.raises(FsToolsError, match=r"invalid|is_directory"):
            call("write_file", path=path, content="a")
    assert sorted(os.listdir(call.root)) == ["file", "folder"]


def test_empty_content_creates_and_empties(call, read):
    assert call("write_file", path="new.txt", content="").data["bytes"] == 0
    assert call.got("new.txt") == b""
    read("a.txt", "old\n")
    call("write_file", path="a.txt", content="")
    assert call.got("a.txt") == b""


@pytest.mark.parametrize("arguments", [{}, {"content": None}, {"content": 5}, {"content": ["a"]}, {"content": "a\0b"}])
def test_content_that_is_no_text_is_refused(call, arguments):
    assert call.refused("invalid", "write_file", path="a.txt", **arguments).details["field"] == "content"
    assert os.listdir(call.root) == []


@pytest.mark.parametrize("path", ["old.txt", "new.txt"])
def test_a_lone_surrogate_is_refused_before_anything_is_touched(call, read, path):
    read("old.txt", "old\n")
    call.refused("encoding", "write_file", path=path, content="a\ud83d")
    assert os.listdir(call.root) == ["old.txt"] and call.got("old.txt") == b"old\n"


@pytest.mark.parametrize(
    ("before", "content", "after", "eol"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", "crlf"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\r\n", "crlf"),
        (b"a\nb\n", "x\r\ny\r\n", b"x\ny\n", "lf"),
        (b"a\r\nb\r\nc\n", "x\ny\n", b"x\r\ny\r\n", "crlf"),
        (b"a\nb\nc\r\n", "x\r\ny\n", b"x\ny\n", "lf"),
        (b"a", "x\r\ny\n", b"x\r\ny\n", "mixed"),
        (b"a\r\nb\n", "a\nb\nc\n", b"a\nb\nc\n", "lf"),
        (b"", "x\r\n", b"x\r\n", "crlf"),
        (b"a\rb\r", "x\ry\r", b"x\ry\r", "cr"),
    ],
)
def test_the_line_endings_of_most_lines_are_kept(call, read, before, content, after, eol):
    """The result names them."""
    read("a.txt", before)
    result = call("write_file", path="a.txt", content=content)
    assert call.got("a.txt") == after and result.data["eol"] == eol


@pytest.mark.parametrize(
    ("bom", "codec"), [(b"", "utf-8"), (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")]
)
@pytest.mark.parametrize("given", ["ä\r\nb\nc\rd\r\n", "ä\nb\nc\rd\n"])
def test_the_text_of_a_file_with_mixed_line_endings_is_written_back_as_no_change(call, read, bom, codec, given):
    before = bom + "ä\r\nb\nc\rd\r\n".encode(codec)
    read("a.txt", before)
    result = call("write_file", path="a.txt", content=given)
    assert result.data["changed"] is False and result.data["eol"] == "mixed"
    assert call.got("a.txt") == before


@pytest.mark.parametrize(
    ("bom", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
@pytest.mark.parametrize("given", ["x\ny\n", "\ufeffx\ny\n"])
def test_byte_order_mark_and_encoding_are_kept(call, read, bom, codec, given):
    read("a.txt", bom + "ä\r\nb\r\n".encode(codec))
    call("write_file", path="a.txt", content=given)
    assert call.got("a.txt") == bom + "x\r\ny\r\n".encode(codec)


def test_a_character_that_the_file_cannot_hold_is_refused(call, read):
    read("a.txt", "caf\u00e9\n".encode("cp1252"), encoding="cp1252")
    refusal = call.refused("encoding", "write_file", path="a.txt", content="a → b\n")
    assert "→" in refusal.message and "U+2192" in refusal.message
    assert call.got("a.txt") == b"caf\xe9\n"
    call("write_file", path="a.txt", content="caf\u00e9 \u20ac\n")
    assert call.got("a.txt") == b"caf\xe9 \x80\n"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("utf-16", b"\xff\xfea\0"), ("utf-8-sig", b"\xef\xbb\xbfa"), ("latin-1", b"a"), ("shift_jis", b"a")],
)
def test_a_new_file_has_the_encoding_that_was_asked_for(call, encoding, data):
    call("write_file", path="a.txt", content="a", encoding=encoding)
    assert call.got("a.txt") == data
    call.refused("invalid", "write_file", path="b.txt", content="a", encoding="no-such-thing")


def test_a_new_file_whose_encoding_lacks_a_character_may_have_another(call):
    refusal = call.refused("encoding", "write_file", path="a.txt", content="€", encoding="latin-1")
    assert refusal.hint.endswith("only a new file can be written in another `encoding`.")
    call("write_file", path="a.txt", content="€", encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "read_as", "asked"),
    [
        (b"caf\xe9\n", "cp1252", "utf-8"),
        (b"one\n", None, "utf-16"),
        (b"one\n", None, "cp037"),
        (codecs.BOM_UTF8 + b"one\n", None, "utf-16-le"),
    ],
)
def test_an_overwrite_in_another_encoding_is_refused(call, data, read_as, asked):
    """UTF-16 came without its byte order mark, so that the next read took the file for binary."""
    call.put("a.txt", data)
    call("read_file", path="a.txt", encoding=read_as)
    refusal = call.refused("encoding", "write_file", path="a.txt", content="two\n", encoding=asked)
    assert "a.txt" in refusal.message and call.got("a.txt") == data
    call("write_file", path="a.txt", content="two\n", encoding=read_as or "utf8")
    call("write_file", path="b.txt", content="two\n", encoding=asked)


def test_a_file_of_ascii_characters_may_be_overwritten_in_an_encoding_that_begins_with_them(call, read):
    """It is the same text in both, so that the diff shows what was there."""
    read("a.txt", "cafe\n")
    change = call("write_file", path="a.txt", content="café\n", encoding="latin-1").change
    assert call.got("a.txt") == b"caf\xe9\n" and "-cafe\n+café" in unified(change.diff)
    call("write_file", path="a.txt", content="thé\n")
    assert call.got("a.txt") == b"th\xe9\n"


def test_the_mode_is_kept(call, read):
    read("a.sh", "echo\n")
    (call.root / "a.sh").chmod(0o755)
    call("write_file", path="a.sh", content="echo 2\n")
    assert (call.root / "a.sh").stat().st_mode & 0o777 == 0o755
    (call.root / "a.sh").chmod(0o444)
    call.refused("denied", "write_file", path="a.sh", content="echo 3\n")
    assert call.got("a.sh") == b"echo 2\n"


def test_links_stay_links(call, read):
    call.put("real.txt", "old\n")
    (call.root / "soft.txt").symlink_to("real.txt")
    (call.root / "hard.txt").hardlink_to(call.root / "real.txt")
    call("read_file", path="soft.txt")
    call("write_file", path="soft.txt", content="new\n")
    assert (call.root / "soft.txt").is_symlink()
    assert call.got("real.txt") == call.got("hard.txt") == b"new\n"


def test_a_dangling_link_that_leads_out_is_refused(call):
    (call.root / "out.txt").symlink_to(call.root.parent / "outside.txt")
    call.refused("outside_root", "write_file", path="out.txt", content="a")
    assert not (call.root.parent / "outside.txt").exists()


def test_no_temporary_file_stays_even_beside_a_long_name(call):
    name = "n" * 251 + ".txt"
    call("write_file", path=name, content="a")
    assert os.listdir(call.root) == [name]


def test_of_many_who_create_a_file_one_wins(call):
    def create(number: int) -> bool:
        try:
            call.session(f"s{number}")("write_file", path="new.txt", content=f"{number}", create_only=True)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(create, range(8)))
    assert won.count(True) == 1 and call.got("new.txt") == str(won.index(True)).encode()


def test_an_existing_file_is_no_new_one(call, read):
    read("a.txt", "old\n")
    call.refused("conflict", "write_file", path="a.txt", content="new\n", create_only=True)


def test_the_same_content_is_not_written_again(call, read):
    read("a.txt", b"a\r\n")
    os.utime(call.root / "a.txt", (1, 1))
    result = call("write_file", path="a.txt", content="a\n")
    assert result.change is None and result.data["changed"] is False and result.data["status"] == "unchanged"
    assert (call.root / "a.txt").stat().st_mtime == 1


def test_who_wrote_a_file_may_edit_and_overwrite_it(call):
    call("write_file", path="a.txt", content="one\n")
    call("edit_file", path="a.txt", old_string="one", new_string="two")
    call("write_file", path="a.txt", content="three\n")
    assert call.got("a.txt") == b"three\n"
    call.session("other").refused("not_read", "edit_file", path="a.txt", old_string="three", new_string="four")


def test_a_notebook_is_written_only_when_new_and_valid(call):
    call.refused("notebook", "write_file", path="bad.ipynb", content="{}")
    call.refused("notebook", "write_file", path="bad.IPYNB", content="not json")
    call("write_file", path="good.ipynb", content=NOTEBOOK)
    refusal = call.refused("notebook", "write_file", path="good.ipynb", content=NOTEBOOK)
    assert "edit_notebook" in refusal.hint and os.listdir(call.root) == ["good.ipynb"]


def test_a_notebook_behind_another_name_is_a_notebook(call):
    call("write_file", path="good.ipynb", content=NOTEBOOK)
    (call.root / "link.txt").symlink_to("good.ipynb")
    call.refused("notebook", "write_file", path="link.txt", content="text")


@pytest.mark.parametrize("content", ["x" * 101, "é" * 51])
def test_content_above_the_limit_is_refused(make_call, content):
    """In bytes."""
    call = make_call(max_write_bytes=100)
    assert call.refused("too_large", "write_file", path="a.txt", content=content).details["limit"] == 100
    assert os.listdir(call.root) == []


def test_a_placeholder_is_refused_unless_it_was_there(call, read):
    line = "# ... rest of the code unchanged ..."
    assert line in call.refused("invalid", "write_file", path="a.py", content=f"x = 1\n{line}\n").message
    read("a.py", f"y = 1\n{line}\n")
    call("write_file", path="a.py", content=f"x = 1\n{line}\n")
    assert call.got("a.py") == f"x = 1\n{line}\n".encode()


@pytest.mark.parametrize("indent", [None, 1])
def test_a_placeholder_in_a_cell_of_a_new_notebook_is_refused(call, indent):
    cells = [{"cell_type": "raw", "id": at, "metadata": {}, "source": [f"{at} = ...\n", "b"]} for at in "ab"]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    cells[1]["source"].insert(1, "# ... rest of the code unchanged ...\n")
    refusal = call.refused("invalid", "write_file", path="n.ipynb", content=json.dumps(notebook, indent=indent))
    assert refusal.details["index"] == 1 and not (call.root / "n.ipynb").exists()
    del cells[1]["source"][1]
    call("write_file", path="n.ipynb", content=json.dumps(notebook, indent=indent))


def test_a_placeholder_is_found_whatever_the_encoding(call, read):
    read("a.txt", "… rest of the file …\n".encode("utf-16"))
    call("write_file", path="a.txt", content="x\n… rest of the file …\n")
    call.refused("invalid", "write_file", path="a.txt", content="x\n… remaining lines …\n")


def test_an_overwriting_tells_what_changed(call, read):
    read("a.txt", "1\n2\n3\n")
    diff = call("write_file", path="a.txt", content="1\ntwo\n3\n").change.diff
    assert diff.op == "overwrite" and (diff.added, diff.removed) == (1, 1)
    assert [(row.kind, row.old, row.new, row.text) for row in diff.hunks[0].rows if row.kind != "context"] == [
        ("remove", 2, 0, "2"),
        ("add", 0, 2, "two"),
    ]


def test_one_of_something_is_told_as_one(call):
    assert "(1 line, 1 byte)" in call("write_file", path="a.txt", content="x").text
    assert "(2 lines, 3 bytes)" in call("write_file", path="b.txt", content="x\ny").text


def test_undo_takes_a_writing_back(call, read):
    read("a.txt", codecs.BOM_UTF8 + b"a\r\nb\n")
    call("write_file", path="a.txt", content="x\n")
    call("undo", path="a.txt")
    assert call.got("a.txt") == codecs.BOM_UTF8 + b"a\r\nb\n"
    call("write_file", path="new.txt", content="x\n")
    call("undo", path="new.txt")
    assert os.listdir(call.root) == ["a.txt"]


@pytest.mark.parametrize(
    ("path", "content", "codec"),
    [
        ("a.py", "# -*- coding: cp1251 -*-\nx = 'привет'\n", "cp1251"),
        ("a.xml", "<?xml version='1.0' encoding='ISO-8859-1'?>\n<a>é</a>\n", "iso8859-1"),
        ("a.html", "<meta charset=latin-1>\né\n", "utf-8"),
    ],
)
def test_a_new_file_is_written_in_what_it_declares_and_edited_by_it(call, path, content, codec):
    assert call("write_file", path=path, content=content).data["encoding"] == codec
    assert call.got(path) == content.encode(codec)
    last = [character for character in content if not character.isascii()][-1]
    call("edit_file", path=path, old_string=last, new_string=last * 2)
    assert call.got(path) == content.replace(last, last * 2).encode(codec)
    assert call("read_file", path=path).data["content"] == call.got(path).decode(codec)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = '\xc3\xa9'\n", "# coding: latin-1\nx = 'é'\n"),
        ("# coding: cp1251\nx = 'п'\n".encode("cp1251"), "# coding: utf-8\nx = 'п'\n"),
        ("# coding: cp1251\nx = 'п'\n".encode("cp1251"), "x = 'п'\n"),
    ],
)
def test_a_text_that_would_be_read_in_another_encoding_is_refused(call, before, after):
    """By a whole write and by an edit of the declaration; ASCII text may declare any encoding."""
    call.put("a.py", before)
    old = call("read_file", path="a.py").data["content"]
    refusal = call.refused("encoding", "write_file", path="a.py", content=after)
    assert "a.py" in refusal.message and refusal.hint
    call.refused("encoding", "edit_file", path="a.py", old_string=old, new_string=after)
    assert call.got("a.py") == before
    call("write_file", path="a.py", content=after.replace("é", "e").replace("п", "p"))


def test_an_empty_notebook_is_written_like_a_new_one(call):
    """Nothing of it can be shown, and nothing can be lost."""
    call.put("a.ipynb", "")
    call.refused("notebook", "read_notebook", path="a.ipynb")
    call.refused("notebook", "write_file", path="a.ipynb", content="{}")
    new = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    call.refused("conflict", "write_file", path="a.ipynb", content=new, create_only=True)
    call("write_file", path="a.ipynb", content=new)
    call.refused("notebook", "write_file", path="a.ipynb", content=new)
    call("undo", path="a.ipynb")
    assert call.got("a.ipynb") == b""


def test_a_notebook_of_white_space_is_not_written_over_and_its_hint_says_so(call):
    call.put("a.ipynb", " \n")
    refusal = call.refused("notebook", "read_notebook", path="a.ipynb")
    assert "write a valid notebook to another path" in refusal.hint
    new = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    call.refused("notebook", "write_file", path="a.ipynb", content=new)
    call("write_file", path="b.ipynb", content=new)


@pytest.mark.parametrize(
    "content",
    [b'{"cells": [', b"[1]", b'{"cells": x}', b"<<<<<<< ours\n", b"\xef\xbb\xbf" + NOTEBOOK.encode(), b"\xff\xfe{\0"],
    ids=["truncated", "array", "broken", "conflict", "bom", "utf-16"],
)
def test_an_unreadable_notebook_is_refused_with_its_fault_and_a_hint_that_works(call, content):
    """`edit_notebook` would refuse it, too."""
    call.put("a.ipynb", content)
    fault = call.refused("notebook", "read_notebook", path="a.ipynb")
    refusal = call.refused("notebook", "write_file", path="a.ipynb", content=NOTEBOOK)
    assert fault.message in refusal.message and refusal.hint == fault.hint
    assert "a new notebook to another path with `write_file`" in fault.hint
    call("write_file", path="b.ipynb", content=NOTEBOOK)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])
def test_a_notebook_is_written_in_utf8_only(call, encoding):
    for path in ("m.ipynb", "new/m.ipynb"):
        refusal = call.refused("notebook", "write_file", path=path, content=NOTEBOOK, encoding=encoding)
        assert "UTF-8" in refusal.message and not os.listdir(call.root)
    call.put("empty.ipynb", "")
    call.refused("notebook", "write_file", path="empty.ipynb", content=NOTEBOOK, encoding=encoding)
    assert call.got("empty.ipynb") == b""
    call("write_file", path="m.ipynb", content=NOTEBOOK, encoding="utf8")
    call("read_notebook", path="m.ipynb")


def test_no_tool_makes_a_file_that_could_not_be_edited(make_call):
    """The limit of an edit applies to its result, whatever the tool or the encoding."""
    call = make_call(max_edit_bytes=1000)
    refusal = call.refused("too_large", "write_file", path="a.txt", content="x" * 300, encoding="utf-32")
    assert refusal.details == {"size": 1204, "limit": 1000}
    assert list(call.root.iterdir()) == []
    call("write_file", path="b.txt", content="x" * 999)
    cell = {"cell_type": "raw", "id": "x", "metadata": {}, "source": "s"}
    call.put("c.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}))
    call("read_notebook", path="c.ipynb")
    before = call.got("c.ipynb")
    call.refused("too_large", "edit_notebook", path="c.ipynb", cell_id="x", new_source="s" * 1000)
    assert call.got("c.ipynb") == before


def test_the_diff_names_an_encoding_in_which_the_same_bytes_read_otherwise(make_call):
    """A proposal in another encoding can show a harmless text where a program that reads UTF-8 finds another one."""
    call = make_call(approval="always")
    proposed = call("write_file", path="run.sh", content="echo ﾃ\n", encoding="shift_jis").change
    assert proposed.diff.encoding == "shift_jis"
    assert unified(proposed.diff).startswith("encoding: shift_jis\n@@")
    plain = call("write_file", path="run2.sh", content="echo ﾃ\n").change
    assert plain.diff.encoding is None
    assert unified(plain.diff).startswith("@@")


@pytest.mark.skipif(os.name == "nt", reason="there a backslash separates folders")
@pytest.mark.parametrize(("path", "said"), [(r"src\a.py", "the backslash is part of the name"), ("~/a", "~ is a name")])
def test_a_new_file_whose_path_means_another_place_elsewhere_is_noted(call, path, said):
    assert said in call("write_file", path=path, content="a").text
    assert said not in call("write_file", path=path, content="b").text


def test_lines_copied_with_their_numbers_are_refused(call):
    call.put("a", "one\ntwo\n\nthree\n")
    call("read_file", path="a")
    refusal = call.refused("invalid", "write_file", path="a", content="1\tone\n2\t2\n3\t\n4\tthree\n")
    assert refusal.details["field"] == "content" and call.got("a") == b"one\ntwo\n\nthree\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one\ntwo\n", "1\tfour\n2\tfive\n"),
        ("one\ntwo\n", "1\tone\n5\ttwo\n"),
        ("1\tone\n2\ttwo\n", "1\tone\n2\ttwo\n3\tthree\n"),
        (None, "1\tone\n2\ttwo\n"),
    ],
)
def test_a_table_whose_rows_are_counted_is_written(call, old, new):
    if old is not None:
        call.put("a", old)
        call("read_file", path="a")
    call("write_file", path="a", content=new)
    assert call.got("a") == new.encode()


def test_what_has_its_content_already_has_its_fingerprint_too(call):
    """Also where edits cancel each other, and in one of several files."""
    for name in ("a.txt", "b.txt"):
        written = call("write_file", path=name, content="x\n").data["fingerprint"]
    assert call("write_file", path="a.txt", content="x\n").data["fingerprint"] == written is not None
    there_and_back = [{"old_string": "x", "new_string": "y"}, {"old_string": "y", "new_string": "x"}]
    assert call("edit_file", path="a.txt", edits=there_and_back).data["fingerprint"] == written
    edits = [{"path": "a.txt"} | edit for edit in there_and_back]
    edits.append({"path": "b.txt", "old_string": "x", "new_string": "z"})
    files = call("edit_file", edits=edits).data["files"]
    assert files[0]["fingerprint"] == written and files[1]["fingerprint"] not in (None, written)
    call.put("b.txt", "x\n")
    assert call("edit_file", path="b.txt", edits=there_and_back, if_stale="match").data["fingerprint"] == written


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_lines_that_were_edited_unseen_are_known_to_who_wrote_them(call, codec):
    """What was read and what was written since is the whole file; a line of which a part was never seen is not."""
    for new, code in (("three", None), ("", None), ("x\ny", None), ("part", "not_read")):
        call.put("a.txt", "1\n2\nold 3\n".encode(codec))
        call("read_file", path="a.txt", offset=1, limit=2, force=True)
        old = {"part": "3", "": "old 3\n"}.get(new, "old 3")
        call("edit_file", path="a.txt", old_string=old, new_string=new)
        if code is None:
            call("write_file", path="a.txt", content="all\n")
        else:
            assert "lines 1-2)" in call.refused(code, "write_file", path="a.txt", content="all\n").message
