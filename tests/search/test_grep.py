"""Searching text: one suite, run with each engine."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import Denied, FsToolsError, Invalid, NotFound, OutsideRoot
from jupyter_fstools.search import grep
from jupyter_fstools.search.batches import Counted
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.page import MatchingFiles, Page
from jupyter_fstools.search.python.matcher import Matcher, TooSlow
from jupyter_fstools.search.query import FoundText, TextQuery
from jupyter_fstools.search.ripgrep import engine as ripgrep_engine
from jupyter_fstools.search.ripgrep import process as ripgrep_process
from jupyter_fstools.search.ripgrep.process import Ripgrep, RipgrepFailed
from jupyter_fstools.search.ripgrep.run import Run
from jupyter_fstools.tools.grep_rows import shown_groups
from jupyter_fstools.walking.listing import EVERYTHING, Listing
from tests.processes import wait_until_gone
from tests.visible import Only

from .conftest import WAYS, Find, Program, Search, Write, go, places, ripgrep


def texts(found: object) -> list[str]:
    return [match.text for match in found.matches]


def shown(found: FoundText) -> list[int | str]:
    """The numbers of the lines shown, and the gaps between them."""
    return [line.number or line.text for _, lines in shown_groups(found.matches) for line in lines]


def test_an_invalid_pattern_is_refused(search: Search, write: Write) -> None:
    """It is never "no matches"."""
    write("a.txt")
    for pattern in ("(", ""):
        with pytest.raises(Invalid):
            search(pattern)


def test_a_pattern_may_begin_with_a_dash(search: Search, write: Write) -> None:
    """Neither the pattern nor a file's name is taken for an option."""
    write("-e", "-v here\n--files\n")
    assert places(search("-v")) == [("-e", 1)]
    assert places(search("--files")) == [("-e", 2)]


@pytest.mark.parametrize("text", ["def __init__(", "str | int", "[a-z]", "(.*)", "$19.99", "a\\b"])
def test_literal_text_is_found_as_it_stands(search: Search, write: Write, text: str) -> None:
    write("a.txt", f"no\nbefore {text} after\n")
    found = search(text, literal=True)
    assert [(match.line, match.column) for match in found.matches] == [(2, 8)]


def test_crlf_files_answer_like_others(search: Search, write: Write) -> None:
    """The end of a line is before its carriage return, which is not part of the text."""
    write("a.txt", "a needle\r\nb\r\nneedle")
    found = search("needle$")
    assert (texts(found), [match.length for match in found.matches]) == (["a needle", "needle"], [6, 6])
    assert search("needle.").total == search(r"needle\s").total == search("b[^x]").total == 0
    found = search(r"needle\nb", multiline=True)
    assert (texts(found), found.matches[0].length) == (["a needle\nb"], len("needle\nb"))


@pytest.mark.parametrize(
    ("pattern", "hits"),
    [
        (r"\s$", [(2, 2, 0)]),
        (r"\W$", [(2, 2, 0)]),
        (r"c\s$", []),
        (r"c[^x]$", []),
        (r"c\s+$", []),
        (r"c$\s+d", [(1, 1, 3)]),
        (r"\W*$", [(1, 2, 0), (2, 2, 0)]),
    ],
)
def test_the_end_of_a_line_is_not_within_its_line_feed(
    search: Search, write: Write, pattern: str, hits: list[tuple[int, int, int]]
) -> None:
    """Also where a match may span lines."""
    for lines in ("c\nd\n", "c\r\nd\r\n"):
        write("a.txt", lines)
        found = search(pattern, multiline=True)
        assert [(match.line, match.column, match.length) for match in found.matches] == hits


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("pattern", [r"\B$", r"\B", r"x*\B$", r".*\B$", r"$\B", r"\B\W*$"])
def test_within_a_line_end_nothing_matches(search: Search, write: Write, pattern: str, multiline: bool) -> None:
    for end in ("\n", "\r\n", "\r"):
        write("a.txt", f"c{end}")
        assert search(pattern, multiline=multiline).matches == []


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("before", [b"l\x92", b"_\x80\x81\x82", b"\xc3\xa9\x92", b"\xe2\x80\x99\x85", b"\xff"])
def test_a_word_begins_behind_bytes_that_are_no_utf8(
    search: Search, write: Write, before: bytes, multiline: bool
) -> None:
    """In one file as in a large tree, whichever bytes before the word ripgrep takes for a letter."""
    write("a.txt", b"// " + before + b"oncle est\n")
    column = 4 + len(before.decode("utf-8", "surrogateescape"))
    for pattern in (r"\boncle\b", r"(\bonc)", r"x|\b[a-o]\w+ est", r"q?\bo"):
        found = search(pattern, multiline=multiline)
        assert [(match.line, match.column) for match in found.matches] == [(1, column)], pattern
    assert search(r"\w\boncle", multiline=multiline).matches == []


def test_no_word_ends_behind_bytes_that_are_no_utf8(search: Search, write: Write) -> None:
    write("a.txt", b"l\x92 b\xc3\xa9\x80, \xe9\n")
    for pattern in (r"\b\s", r"\b,", r"x*\b[ ,]", r"\bx?,", r"\b$"):
        assert search(pattern).matches == [], pattern


def test_a_second_byte_order_mark_is_none_either(search: Search, write: Write) -> None:
    """Ripgrep skips two in UTF-16; a third one is a character."""
    for number in (1, 2, 3):
        write(f"{number}.txt", ("\ufeff" * number + "needle\n").encode("utf-16-be"))
    assert places(search("^needle")) == [("1.txt", 1), ("2.txt", 1)]


def test_a_byte_order_mark_is_no_text(search: Search, write: Write) -> None:
    """UTF-8 and UTF-16 with a mark are text; UTF-16 without one is counted as binary."""
    write("utf8.txt", b"\xef\xbb\xbfneedle\n")
    write("utf16le.txt", "\ufeffneedle é\r\nx".encode("utf-16-le"))
    write("utf16be.txt", "\ufeffneedle é\r\nx".encode("utf-16-be"))
    write("bare.txt", "needle".encode("utf-16-le"))
    found = search("^needle")
    assert [(match.path, match.column) for match in found.matches] == [
        ("utf16be.txt", 1), ("utf16le.txt", 1), ("utf8.txt", 1)
    ]  # fmt: skip
    assert texts(found)[0] == "needle é"
    assert found.skipped == {"binary": 1}


def test_bytes_that_are_no_utf8_are_shown_with_escapes(search: Search, write: Write) -> None:
    """In the line and in the name."""
    write("caf\udce9.txt", b"caf\xe9 needle \xff\n")
    match = search("needle").matches[0]
    assert (match.path, match.text, match.column) == ("caf\udce9.txt", "caf\udce9 needle \udcff", 6)


def test_binary_files_are_counted_not_shown(search: Search, write: Write) -> None:
    """Wherever the NUL is."""
    write("a.bin", b"needle\0needle")
    write("late.txt", b"needle\n" * 20_000 + b"\0")
    write("b.bin", b"\0")
    for pattern, multiline in (("needle", False), (r"needle\nneedle", True), (r"x\ny", True)):
        found = search(pattern, multiline=multiline)
        assert (found.matches, found.skipped) == ([], {"binary": 3})


def test_a_glob_never_brings_ignored_files_back(search: Search, write: Write) -> None:
    """Ignored and denied files go before anything is counted or cut."""
    write(".gitignore", "*.log\n")
    for path in ("a.log", "b.txt", "secret.txt"):
        write(path, "needle\n")
    found = search("needle", glob="*.{log,txt}", limit=1, visible=Only(lambda path: path != "secret.txt"))
    assert (places(found), found.total, found.truncated) == ([("b.txt", 1)], 1, False)
    assert search("needle", include_ignored=True).total == 3


def test_truncated_is_exact_and_pages_are_stable(search: Search, write: Write) -> None:
    """In order of path and line."""
    for name in ("c", "a/b", "a.txt", "b"):
        write(name, "needle\nx\nneedle\n")
    order = [(path, line) for path in ("a.txt", "a/b", "b", "c") for line in (1, 3)]
    assert places(search("needle")) == order
    assert [search("needle", limit=limit).truncated for limit in (7, 8, 9)] == [True, False, False]
    pages = [search("needle", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [place for page in pages for place in places(page)] == order
    assert [page.total for page in pages] == [8] * 4
    assert [page.truncated for page in pages] == [True, True, False, False]


def test_the_other_modes_list_files(search: Search, write: Write) -> None:
    """The count is of matching lines, the total of listed files, on every page."""
    write("a.txt", "needle needle\nneedle\n")
    write("b.txt", "needle\n")
    counted = search("needle", output_mode="count", limit=1)
    assert [(file.path, file.count) for file in counted.files] == [("a.txt", 2)]
    assert (counted.total, counted.truncated) == (2, True)
    listed = search("needle", output_mode="files", offset=1)
    assert ([file.path for file in listed.files], listed.truncated) == (["b.txt"], False)


def test_lines_around_matches_are_shown_once(search: Search, write: Write) -> None:
    """Windows that touch are one group, neighbours that match are not repeated, files do not mix."""
    write("a.txt", "1\nneedle 2\n3\nneedle 4\n5\n6\n7\n8\nneedle 9\n")
    write("b.txt", "needle 1\n2\n")
    found = search("needle", before_lines=1, after_lines=1)
    assert [(match.before, match.text, match.after) for match in found.matches] == [
        (["1"], "needle 2", ["3"]), ([], "needle 4", ["5"]), (["8"], "needle 9", []), ([], "needle 1", ["2"])
    ]  # fmt: skip
    assert shown(found) == [1, 2, 3, 4, 5, "--", 8, 9, 1, 2]


def test_a_match_without_lines_around_is_set_apart_from_one_with(search: Search, write: Write) -> None:
    """The last line has none after it."""
    write("a.txt", "needle 1\n2\n3\nneedle 4\n")
    assert shown(search("needle", after_lines=1)) == [1, 2, "--", 4]
    assert shown(search("needle")) == [1, 4]


def test_a_page_shows_the_same_lines_around_its_matches(search: Search, write: Write) -> None:
    write("a.txt", "".join(f"{'needle' if number % 2 else 'x'} {number}\n" for number in range(9)))
    whole = search("needle", before_lines=2, after_lines=2).matches
    parts = [search("needle", before_lines=2, after_lines=2, limit=1, offset=offset).matches for offset in range(4)]
    assert [match for part in parts for match in part] == whole


def test_the_numbers_of_lines_around(search: Search, write: Write) -> None:
    """Below zero is refused, more than there are is all."""
    write("a.txt", "1\nneedle\n3\n")
    for field in ("before_lines", "after_lines", "limit", "offset"):
        with pytest.raises(Invalid, match=field):
            search("needle", **{field: -1})
    match = search("needle", before_lines=10**9, after_lines=10**9).matches[0]
    assert (match.before, match.after) == (["1"], ["3"])


def test_a_long_line_is_cut_around_the_match(search: Search, write: Write) -> None:
    write("a.txt", "a" * 600_000 + "needle" + "b" * 400_000 + "\n")
    match = search("needle").matches[0]
    assert match.column == 600_001
    assert match.text[match.column - match.text_column :].startswith("needle")
    assert (len(match.text), match.cut) == (500, 1_000_006 - 500)


def test_matches_over_several_lines(search: Search, write: Write) -> None:
    """Only when asked for; listed under the line they begin on."""
    write("a.txt", "x\nstart 1\n2\nend\nstart end start\nend\n")
    assert places(search(r"start[\s\S]*?end")) == [("a.txt", 5)]
    found = search(r"start[\s\S]*?end", multiline=True, after_lines=1)
    assert [(match.line, match.text) for match in found.matches] == [(2, "start 1\n2\nend"), (5, "start end start")]
    assert places(search(r"(?s)2.end", multiline=True)) == [("a.txt", 3)]
    assert search("needle", literal=True, multiline=True).total == 0


def test_one_file_can_be_named(search: Search, write: Write) -> None:
    """Also if it is ignored, hidden or large, but not if it is denied."""
    write(".gitignore", "*.log\n")
    write("a.log", "x\nneedle\n" + "y" * 100)
    assert places(search("needle", "a.log", max_file_bytes=50)) == [("a.log", 2)]
    with pytest.raises(Denied):
        search("needle", "a.log", visible=Only(lambda path: not path.endswith(".log")))


@pytest.mark.skipif(not os.path.exists("/proc/sys/kernel/ostype"), reason="only Linux makes such files up")
def test_files_that_tell_no_size_are_searched() -> None:
    kernel, query = LocalDisk(Path("/proc/sys/kernel")), TextQuery(pattern="Linux", glob="ostype")
    for path in (".", "ostype"):
        by_ripgrep, by_python = (
            search_text(kernel, query, path, engine="ripgrep"),
            search_text(kernel, query, path, engine="python"),
        )
        assert (places(by_ripgrep), by_ripgrep.total) == (places(by_python), by_python.total) == ([("ostype", 1)], 1)
    too_large = search_text(kernel, query.model_copy(update={"max_file_bytes": 2}), engine="python")
    assert (too_large.total, too_large.skipped) == (0, {"large": 1})


def test_large_files_are_counted(search: Search, write: Write) -> None:
    write("big.txt", "needle\n" * 100)
    write("small.txt", "needle\n")
    found = search("needle", max_file_bytes=500)
    assert (places(found), found.skipped) == ([("small.txt", 1)], {"large": 1})


def test_a_named_file_that_is_large_is_searched_in_blocks(
    search: Search, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its line numbers."""
    monkeypatch.setattr("jupyter_fstools.search.decoding.BLOCK_CHARACTERS", 1000)
    write("big.txt", "é\n" * 3_000_000 + "needle\nx\n")
    found = search("needle", "big.txt", max_file_bytes=500, after_lines=1)
    assert [(match.line, match.after) for match in found.matches] == [(3_000_001, ["x"])]


@pytest.mark.parametrize(
    ("content", "fields", "skipped"),
    [
        (b"needle\n" + b"x" * 3000, {}, {"long": 1}),
        ("needle\n".encode("utf-16") + b"x " * 3000, {}, {"long": 1}),
        (b"needle\n\0" + b"x" * 3000, {}, {"binary": 1}),
        (b"needle\n" * 500, {}, {}),
        ("needle\n".encode("utf-16") * 500, {}, {}),
        (b"needle\n" * 500, {"multiline": True}, {}),
        (b"needle\n" * 500, {"pattern": r"needle\nneedle", "multiline": True}, {"long": 1}),
    ],
)
def test_a_named_file_is_not_held_in_memory(
    search: Search, write: Write, monkeypatch: pytest.MonkeyPatch, content: bytes, fields: dict, skipped: dict
) -> None:
    """Neither an endless line, nor a large file as a whole."""
    monkeypatch.setattr("jupyter_fstools.search.decoding.BLOCK_CHARACTERS", 100)
    for module in ("decoding", "grep"):
        monkeypatch.setattr(f"jupyter_fstools.search.{module}.MOST_AT_ONCE", 1000)
    write("big.txt", content)
    found = search(**{"pattern": "needle", "path": "big.txt", "max_file_bytes": 500, **fields})
    assert (found.skipped, bool(found.total)) == (skipped, not skipped)


def test_a_large_notebook_that_is_named_is_not_held_in_memory(
    search: Search, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_fstools.search.grep.MOST_AT_ONCE", 1000)
    write("big.ipynb", b"needle" * 1000)
    assert search("needle", "big.ipynb", max_file_bytes=500).skipped == {"long": 1}


def test_a_line_ends_with_a_line_feed_alone(search: Search, write: Write) -> None:
    """No other character shifts the numbers."""
    write("a.txt", "a\u2028b\x0b\x0c\x1c\x85c\rd\nneedle\n")
    write("mac.txt", "a\rneedle\rb")
    found = search("needle")
    assert [(match.path, match.line, match.column) for match in found.matches] == [("a.txt", 2, 1), ("mac.txt", 1, 3)]
    assert texts(found)[1] == "a\rneedle\rb"


def test_links(search: Search, root: Path, write: Write, tmp_path: Path) -> None:
    """A link to a file inside is searched under its own name, a link that leads out is not."""
    write("a/b.txt", "needle\n")
    write("ignored.log", "needle\n")
    write(".gitignore", "*.log\n")
    (tmp_path / "secret.txt").write_text("needle\n")
    (root / "in.txt").symlink_to("a/b.txt")
    (root / "log.txt").symlink_to("ignored.log")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "folder").symlink_to("a")
    assert places(search("needle")) == [("a/b.txt", 1), ("in.txt", 1), ("log.txt", 1)]
    write("a/b.txt", "needle\n" * 3)
    assert places(search("needle", limit=4)) == [*(("a/b.txt", line) for line in (1, 2, 3)), ("in.txt", 1)]


@pytest.mark.parametrize("mode", ["content", "files", "count"])
def test_a_file_named_by_a_link_is_shown_under_the_links_name(
    search: Search, root: Path, write: Write, mode: str
) -> None:
    """It has the same name as in a search of its folder, however it is spelled; a link to a folder adds no name."""
    cells = {"cells": [{"cell_type": "raw", "id": "a", "metadata": {}, "source": "needle"}]}
    write("real/deep/b.py", "needle\n")
    write("real/n.ipynb", json.dumps(cells))
    for link, target in {
        "l.py": "real/deep/b.py",
        "l.ipynb": "real/n.ipynb",
        "real/deep/to_b": "b.py",
        "twice": str(root / "l.py"),
        "folder": "real/deep",
    }.items():
        (root / link).symlink_to(target)

    def shown(path: str) -> list[str]:
        found = search("needle", path, output_mode=mode)
        return [each.path for each in found.matches or found.files]

    for path in ("l.py", "./l.py", "real/../l.py", ".//l.py", str(root / "l.py"), "folder/../../l.py"):
        assert shown(path) == ["l.py"]
    assert (shown("twice"), shown("l.ipynb")) == (["twice"], ["l.ipynb"])
    assert shown("folder/to_b") == shown("real/deep/to_b") == ["real/deep/to_b"]
    for path in ("folder/b.py", "folder/../deep/b.py", "./real/deep/b.py", str(root / "real/deep/b.py")):
        assert shown(path) == ["real/deep/b.py"]


@pytest.mark.parametrize("denied", ["real/b.py", "sub/l.py"])
def test_a_link_is_searched_only_if_its_name_and_its_file_may_be_shown(
    search: Search, root: Path, write: Write, denied: str
) -> None:
    """Whichever way the link is reached."""
    write("real/b.py", "needle\n")
    write("sub/a.py", "nothing\n")
    (root / "sub/l.py").symlink_to("../real/b.py")
    (root / "folder").symlink_to("sub")
    assert search("needle", "sub", visible=Only(lambda path: path != denied)).total == 0
    for path in ("sub/l.py", "folder/l.py", str(root / "sub/l.py")):
        with pytest.raises(Denied):
            search("needle", path, visible=Only(lambda path: path != denied))


def test_filters_by_name(search: Search, write: Write) -> None:
    """Kinds of files, globs relative to the folder searched, a leading `!` turns them round."""
    for path in ("a.py", "b.pyi", "c.ts", "d.js", "src/e.h", "src/f.c", "src/sub/g.py", ".github/h.yml"):
        write(path, "Needle\n")
    assert [path for path, _ in places(search("Needle", file_type="py"))] == ["a.py", "b.pyi", "src/sub/g.py"]
    assert [path for path, _ in places(search("Needle", file_type="c"))] == ["src/e.h", "src/f.c"]
    assert [path for path, _ in places(search("Needle", file_type="ts"))] == ["c.ts"]
    assert [path for path, _ in places(search("Needle", glob="*.py"))] == ["a.py", "src/sub/g.py"]
    assert [path for path, _ in places(search("Needle", "src", glob="sub/*.py"))] == ["src/sub/g.py"]
    assert [path for path, _ in places(search("Needle", "src", glob="!*.{h,c}"))] == ["src/sub/g.py"]
    write("*.{h,c}", "Needle\n")
    assert [path for path, _ in places(search("Needle", glob="*.{h,c}"))] == ["*.{h,c}", "src/e.h", "src/f.c"]
    (write("gone").parent / "*.{h,c}").unlink()
    write("dot.", "Needle\n")
    assert [path for path, _ in places(search("Needle", glob="d*"))] == ["d.js", "dot."]
    (write("gone").parent / "dot.").unlink()
    assert [path for path, _ in places(search("Needle", glob=".github/**"))] == [".github/h.yml"]
    assert search("needle").total == 0
    assert search("needle", case_insensitive=True).total == search("(?i)needle").total == 7


def test_an_absolute_glob_keeps_files_out(search: Search, root: Path, write: Write) -> None:
    for path in ("src/a.py", "src/b.md", "c.md"):
        write(path, "needle\n")
    assert [path for path, _ in places(search("needle", glob=f"!{root}/src/*.md"))] == ["c.md", "src/a.py"]
    assert [path for path, _ in places(search("needle", "src", glob=f"!{root}/src/*.md"))] == ["src/a.py"]


def test_an_unknown_kind_of_file_is_refused_with_near_names(search: Search, write: Write) -> None:
    write("a.txt")
    with pytest.raises(Invalid):
        search("a", "a.txt", file_type="pyhton")
    with pytest.raises(Invalid) as refused:
        search("a", file_type="pyhton")
    assert "python" in refused.value.hint or "py" in refused.value.hint
    with pytest.raises(Invalid) as refused:
        search("a", file_type="tsx")
    assert "ts" in refused.value.details["near"] or "typescript" in refused.value.details["near"]


def test_a_users_settings_of_ripgrep_have_no_part_in_it(
    search: Search, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rgrc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rgrc"))
    write("a.txt", "needle\nother\n")
    assert places(search("needle")) == [("a.txt", 1)]


def test_the_path_must_be_there_and_inside(search: Search, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("needle")
    with pytest.raises(NotFound):
        search("needle", "missing")
    with pytest.raises(OutsideRoot):
        search("needle", "../secret.txt")


def test_hidden_files_are_searched_when_asked(search: Search, write: Write) -> None:
    """They are also searched when the path names them."""
    write(".env", "needle\n")
    write(".config/a", "needle\n")
    write(".git/config", "needle\n")
    assert search("needle").total == 0
    assert [path for path, _ in places(search("needle", include_hidden=True))] == [".config/a", ".env"]
    assert places(search("needle", ".env")) == places(search("needle", glob=".env")) == [(".env", 1)]


def test_a_pattern_that_tries_everything_is_given_up(write: Write, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is counted, the other files are searched."""
    monkeypatch.setattr("jupyter_fstools.search.python.matcher.SECONDS_PER_TEXT", 1)
    write("a.txt", "a" * 40 + "b\n")
    write("b.txt", "aaa\n")
    found = search_text(LocalDisk(root), TextQuery(pattern="(a+)+$"), engine="python")
    assert (places(found), found.skipped) == ([("b.txt", 1)], {"slow": 1})
    assert places(search_text(LocalDisk(root), TextQuery(pattern="(a+)+$"), engine="ripgrep")) == [("b.txt", 1)]


def test_a_pattern_that_takes_long_to_compile_holds_nothing_up(
    write: Write, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes of all Unicode letters make it slow, so it runs in a process that can be ended."""
    monkeypatch.setattr("jupyter_fstools.search.python.matcher.SECONDS_PER_TEXT", 0.2)
    write("a.txt", "é word7x\n")
    write("b.txt", "word7x\n")
    query = TextQuery(pattern="|".join(rf"\bword{number}\w\b" for number in range(150)))
    assert places(search_text(LocalDisk(root), query)) == [("a.txt", 1), ("b.txt", 1)]
    by_python = search_text(LocalDisk(root), query, engine="python")
    assert (places(by_python), by_python.skipped) == ([("b.txt", 1)], {"slow": 1})


def test_a_search_that_is_stopped_is_partial(search: Search, write: Write) -> None:
    """No process is left behind."""
    write("a.txt", "needle\n")
    gone = threading.Event()
    gone.set()
    for found in (search("needle", seconds=0), search("needle", cancelled=gone)):
        assert found.truncated
        assert found.partial in ("timeout", "cancelled")


def test_an_endless_match_ends_with_the_call(write: Write, root: Path) -> None:
    """The time limit holds inside one file."""
    write("a.txt", "a" * 60 + "b\n")
    found = search_text(LocalDisk(root), TextQuery(pattern="(a+)+$"), engine="python", seconds=0.3)
    assert found.partial == "timeout"


def test_what_ripgrep_has_started_ends_with_it(
    write: Write, root: Path, tmp_path: Path, other_ripgrep: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its whole process group ends."""
    write("a.txt", "needle\n")
    other_ripgrep(f"sleep 600 &\necho $! > {tmp_path}/pid\nmv {tmp_path}/pid {tmp_path}/child\nwait")
    begun = tmp_path / "child"
    found = search_text(LocalDisk(root), TextQuery(pattern="needle"), cancelled=begun.exists, engine="ripgrep")
    assert (found.partial, found.matches) == ("cancelled", [])
    wait_until_gone(begun.read_text())


def test_what_was_found_before_the_search_was_stopped_is_answered(
    write: Write, root: Path, other_ripgrep: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch that was finished counts."""
    for folder in "ab":
        write(f"{folder}/x.txt", "needle\n")
    monkeypatch.setattr(grep, "FIRST_BATCH", 1)
    other_ripgrep(f'case "$*" in *//b/*) exec sleep 600;; *) exec {ripgrep()} "$@";; esac')
    found_some, add = threading.Event(), MatchingFiles.add

    def noted(self: MatchingFiles, found: list[Counted]) -> None:
        add(self, found)
        found_some.set()

    monkeypatch.setattr(MatchingFiles, "add", noted)
    query = TextQuery(pattern="needle", output_mode="files", exact_total=False)
    found = search_text(LocalDisk(root), query, cancelled=found_some, engine="ripgrep")
    assert (len(found.files), found.partial, found.truncated) == (1, "cancelled", True)


def test_a_page_that_is_cut_off_says_so(search: Search, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that were counted but could not be read afterwards are not dropped in silence."""
    for name in "abc":
        write(f"{name}.txt", "needle\n")
    gone, read = threading.Event(), Page._of_file

    def interrupted(page: Page, trail: object, file: Counted, part: slice) -> object:
        if file.path == "b.txt":
            gone.set()
            raise TooSlow
        return read(page, trail, file, part)

    monkeypatch.setattr(Page, "_of_file", interrupted)
    found = search("needle", cancelled=gone)
    assert (places(found), found.total, found.partial, found.truncated) == ([("a.txt", 1)], 3, "cancelled", True)


def test_many_matches_over_lines_that_follow_each_other(search: Search, write: Write) -> None:
    """Ripgrep reports all of them at once."""
    write("a.txt", "x\n" + "all is well\r\n" * 5000 + "é well\nend")
    found = search(r"well\s", multiline=True, limit=2, offset=4999)
    assert [(match.line, match.column, match.length) for match in found.matches] == [(5001, 8, 4), (5002, 3, 4)]
    assert found.total == 5001


def test_without_ripgrep_the_answer_is_the_same(
    write: Write, root: Path, other_ripgrep: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ripgrep is missing, or crashes half-way."""
    write("a.txt", "needle\n")
    query = TextQuery(pattern="(ne+)+dle")  # a pattern that ripgrep gets whatever the size
    monkeypatch.setattr(grep, "ripgrep_binary", lambda: None)
    missing = search_text(LocalDisk(root), query)
    other_ripgrep("printf 'other.txt\\0'\nexit 139")
    crashed = search_text(LocalDisk(root), query)
    assert missing == crashed
    assert (places(crashed), crashed.engine) == ([("a.txt", 1)], "python")


def test_a_few_small_files_are_searched_without_a_program(write: Write, root: Path) -> None:
    """The answer is the same; a pattern that could take long still goes to ripgrep."""
    write("a.txt", "needle\n")
    write("b.bin", "needle\0")
    small, full = (
        search_text(LocalDisk(root), TextQuery(pattern="needle"), engine=each) for each in ("auto", "ripgrep")
    )
    assert (small.engine, full.engine) == ("python", "ripgrep")
    assert small == full.model_copy(update={"engine": "python"})
    assert search_text(LocalDisk(root), TextQuery(pattern="(e+)+$")).engine == "ripgrep"


def test_what_little_ripgrep_lists_is_counted_without_more_programs(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If one of the files is binary, ripgrep is asked about each of them."""
    for number in range(8):
        write(f"{number}/a.txt", "needle\n" * number if number in (3, 5) else "nothing\n")
    (root / "link.txt").symlink_to("3/a.txt")
    monkeypatch.setattr(ripgrep_engine, "LITTLE_FILES", 5)
    monkeypatch.setattr(grep, "name_rules", lambda *_: None)
    output, runs = Ripgrep.output, []

    def noted(*arguments: object) -> object:
        runs.append(arguments)
        return output(*arguments)

    monkeypatch.setattr(Ripgrep, "output", noted)
    query = TextQuery(pattern="needle", glob="*.txt", output_mode="count")
    texts = {"3/a.txt": 3, "5/a.txt": 5, "link.txt": 3}
    for content, counts, programs in ((b"needle\n", texts | {"7/a.txt": 1}, 1), (b"needle\n\0", texts, 3)):
        write("7/a.txt", content)
        runs.clear()
        found = search_text(LocalDisk(root), query)
        assert ({file.path: file.count for file in found.files}, len(runs), found.engine) == (
            counts,
            programs,
            "ripgrep",
        )
        assert found.skipped == ({} if programs == 1 else {"binary": 1})


def test_an_old_ripgrep_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("old", "0.8.1"), ("new", "99.0.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rg").write_text(f"#!/bin/sh\necho 'ripgrep {version}'\n")
        (tmp_path / folder / "rg").chmod(0o755)
    found = ripgrep_process.newest_ripgrep.__wrapped__
    monkeypatch.setenv("PATH", f"{tmp_path}/old{os.pathsep}{os.environ['PATH']}")
    assert found() != str(tmp_path / "old" / "rg")
    monkeypatch.setenv("PATH", f"{tmp_path}/new{os.pathsep}{os.environ['PATH']}")
    assert found() == str(tmp_path / "new" / "rg")


@pytest.mark.parametrize("glob", [None, "*.txt"])
@pytest.mark.parametrize("path", [".", "sub"])
def test_a_folder_swapped_for_a_link_shows_nothing_from_outside(
    root: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, glob: str | None
) -> None:
    """Matches that ripgrep reports there do not count: the file is read again below the root."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("needle secret\n")
    write("sub/a.txt", "nothing\n")
    started = Ripgrep.started
    printed = []

    @contextmanager
    def swapped(*arguments: object) -> Iterator[Run]:
        if not (root / "was").exists():
            (root / "sub").rename(root / "was")
            (root / "sub").symlink_to(tmp_path / "outside")
        with started(*arguments) as run:
            said = list(run.said())
            printed.append(b"".join(block for block, _ in said))
            run.said = lambda: iter(said)
            yield run

    search_text(LocalDisk(root), TextQuery(pattern="needle"), engine="ripgrep")
    monkeypatch.setattr(Ripgrep, "started", swapped)
    for mode in ("content", "files", "count"):
        query = TextQuery(pattern="needle", output_mode=mode, glob=glob)
        found = search_text(LocalDisk(root), query, path, engine="ripgrep")
        assert (found.matches, found.files, found.total) == ([], [], 0)
        (root / "sub").unlink()
        (root / "was").rename(root / "sub")
    assert (glob is None and path == ".") or b"a.txt" in b"".join(printed)  # ripgrep did look there


@pytest.mark.parametrize(
    "fields",
    [{}, {"path": "src"}, {"glob": "*.txt"}, {"glob": "!*.log"}, {"glob": "**/[ab].txt"}, {"glob": "src/**/?.txt"},
     {"file_type": "txt", "glob": "a*"}, {"include_hidden": True}, {"include_ignored": True}, {"max_file_bytes": 60},
     {"glob": "node_modules/*"}, {"glob": "**/.env"}, {"visible": Only(lambda path: path != "src/deep")}],
)  # fmt: skip
def test_what_ripgrep_walks_over_does_not_decide(root: Path, write: Write, fields: dict[str, object]) -> None:
    """Rules that ripgrep reads differently, rules of folders above, links, notebooks, large files: one answer."""
    write(".gitignore", "*.log\n{a,b}.txt\n/out/\nsrc/skip\n!src/keep.log\n")
    write(".ignore", "src\n")
    write("../.gitignore", "*\n")
    text = ["a.txt", "b.txt", "{a,b}.txt", "c.log", "src/a.txt", "src/keep.log", "src/deep/é.txt", "src/deep/b.txt"]
    for path in [*text, "out/a.txt", "src/skip", "src/new\nline.txt", ".env", "node_modules/a.txt", ".git/a.txt"]:
        write(path, "needle\n")
    write("src/a.bin", "needle\n\0")
    write("src/late.txt", "needle\n" * 10_000 + "\0")
    write("src/large.txt", "needle\n" * 10)
    write("src/n.IPYNB", '{"cells": [], "metadata": {"a": "needle"}, "nbformat": 4, "nbformat_minor": 5}')
    (root / "link.log").symlink_to("src/skip")
    options = {"visible": fields.get("visible", EVERYTHING)}
    query = TextQuery(pattern="needle", **{key: told for key, told in fields.items() if key not in ("visible", "path")})
    ours, theirs = (
        search_text(LocalDisk(root), query, fields.get("path", "."), engine=engine, **options)
        for engine in ("python", "ripgrep")
    )
    assert ours.total
    assert theirs.model_copy(update={"engine": "python"}) == ours


def test_a_ripgrep_that_does_not_tell_what_it_passes_over_answers_alike(
    root: Path, write: Write, other_ripgrep: Program
) -> None:
    """Like another version of ripgrep; files without any output are asked for one by one."""
    for name, content in {"a.txt": "needle\n", "b.bin": "needle\0", "c.txt": "x" * 200, "sub/d.txt": "x"}.items():
        write(name, content)
    query = TextQuery(pattern="needle", max_file_bytes=100)
    ours = search_text(LocalDisk(root), query, engine="python")
    other_ripgrep(f'exec {ripgrep()} "$@" 2>/dev/null')
    assert search_text(LocalDisk(root), query, engine="ripgrep") == ours.model_copy(update={"engine": "ripgrep"})
    assert ours.skipped == {"binary": 1, "large": 1}


def test_a_search_needs_no_place_for_temporary_files(
    root: Path, search: Search, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may be full."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    write("a.txt", "needle\n")
    assert places(search("needle")) == [("a.txt", 1)]


def test_a_ripgrep_that_says_more_than_fits_into_a_pipe_is_read_to_its_end(search: Search, write: Write) -> None:
    """More than a mebibyte, of both kinds."""
    folder = "/".join("d" * 250 for _ in range(8))
    for number in range(1500):
        write(f"{folder}/{number:04}.txt", "needle\n" if number % 2 else "\0")
    found = search("needle", output_mode="count", limit=10_000)
    assert (found.total, len(found.files), found.skipped) == (750, 750, {"binary": 750})


def test_a_ripgrep_that_fails_without_a_word_does_not_count(
    root: Path, write: Write, other_ripgrep: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way it was asked."""
    for number in range(9):
        write(f"{number}.txt", "needle\n")
    other_ripgrep(f'{ripgrep()} "$@" | head -c 20\nexit 2')
    for way in WAYS[:-1]:
        go(way, monkeypatch)
        found = search_text(LocalDisk(root), TextQuery(pattern="(ne+)+dle"))
        assert (found.total, found.engine) == (9, "python")


@pytest.mark.parametrize("room", range(1, 14))
def test_without_descriptors_a_search_fails_rather_than_leave_files_out(
    search: Search, write: Write, room: int
) -> None:
    """The search fails as a whole, wherever in it they ran out."""
    path = "a"
    for depth in range(8):
        for number in range(30):
            write(f"{path}/{number}.txt", "needle\n")
        path += f"/{depth}"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + room, hard))
    try:
        found, listed = search("needle", limit=1000), search("needle", limit=1000, output_mode="files")
        assert (found.total, len(found.matches), len(listed.files), found.skipped) == (240, 240, 240, {})
    except (FsToolsError, RipgrepFailed) as refused:
        assert "denied" not in str(refused)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_paths_longer_than_a_caller_can_give_are_not_passed_over_in_silence(search: Search, root: Path) -> None:
    """The first folder whose path is too long is counted, in place of all that is in it."""
    folder = os.open(root, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=folder)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("a.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    writer = os.open("b.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
    os.write(writer, b"needle\n")
    os.close(writer)
    os.close(folder)
    found = search("needle")
    assert (found.total, found.skipped) == (0, {"unreadable": 1})


def test_a_page_that_takes_too_long_is_cut_off(search: Search, write: Write) -> None:
    """Between files."""
    for number in range(20):
        write(f"{number:02}.txt", "needle\n")
    asked = iter([False] * 40)
    found = search("needle", cancelled=lambda: next(asked, True))
    assert found.partial == "cancelled"
    assert len(found.matches) < 20


def test_few_files_among_many_that_are_ignored_are_found(search: Search, write: Write) -> None:
    write(".gitignore", "*.log\n")
    for number in range(20):
        write(f"{number}.log", "needle\n")
    write("a.txt", "needle\n")
    write("b.bin", "\0")
    found = search("needle")
    assert (places(found), found.ignored, found.skipped) == ([("a.txt", 1)], 20, {"binary": 1})


def test_a_search_may_end_when_the_page_is_full(search: Search, write: Write) -> None:
    """The page is the same, and the total is given only if it is known."""
    for number in range(1000):
        write(f"{number % 7}/{number}.txt", "needle\n" * 2)
    (write("0.md", "x").parent / "0.txt").symlink_to("1/1.txt")
    whole = search("needle", limit=10_000)
    assert whole.total == 2002
    for options in ({"limit": 3}, {"limit": 250, "offset": 1000}, {"limit": 9, "output_mode": "count"}):
        early, full = search("needle", exact_total=False, **options), search("needle", **options)
        assert (early.matches, early.files, early.truncated) == (full.matches, full.files, True)
        assert early.total is None


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_total_that_is_known_is_said(search: Search, write: Write, more: int) -> None:
    """At the limit, one above and one below it."""
    write("a.txt", "needle\n" * 5)
    write("b.txt", "x\nneedle\n")
    found = search("needle", exact_total=False, limit=6 + more)
    assert (found.total, found.truncated, len(found.matches)) == (
        (None, True, 5) if more < 0 else (6, False, 6)
    )  # fmt: skip


def test_a_backend_in_memory_answers_like_the_disk(search: Search, write: Write) -> None:
    memory = InMemory()
    for path, content in {"a.txt": b"needle\r\n", "b/c.py": b"x\n  needle", "d.bin": b"\0", "e.log": b"needle"}.items():
        write(path, content)
        memory.write(path, [content], if_match=None)
    disk, other = search("needle"), search_text(memory, TextQuery(pattern="needle"))
    assert disk.model_dump(exclude={"engine"}) == other.model_dump(exclude={"engine"})


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="no path that long can be made otherwise")
def test_paths_at_the_longest_are_searched_and_longer_ones_counted(root: Path, search: Search, find: Find) -> None:
    """A program can open 4,092 bytes below a folder, a caller can give 4,096."""
    folder, names = long_folder(root), {size: "f" * (size - 4001) for size in (4091, 4092, 4093, 4096, 4097)}
    try:
        for name in names.values():
            with open(name, "w", opener=partial(os.open, dir_fd=folder, mode=0o600)) as file:
                file.write("no\nneedle\n")
        found = search("needle")
        assert [len(match.path) for match in found.matches] == [4091, 4092, 4093, 4096]
        assert (found.total, found.skipped) == (4, {"unreadable": 1})
        listed = find("*")
        assert sorted(len(file.path) for file in listed.files) == [4091, 4092, 4093, 4096]
        assert (listed.total, listed.skipped) == (4, {"unreadable": 1})
        every = Listing(LocalDisk(root), "", recursive=True)
        assert max(len(f"{path}/{name}") for path, run in every for name in run) == 4096
        assert [len(path) for path in every.unreadable] == [4097]
    finally:
        os.close(folder)
        subprocess.run(["rm", "-r", *root.iterdir()], check=True)  # pytest's own would recurse.


def long_folder(root: Path) -> int:
    """A folder whose path below the root has 4,000 characters, open."""
    folder = os.open(root, os.O_RDONLY)
    for name in [*["d" * 199] * 19, "d" * 200]:
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    return folder


@pytest.mark.parametrize("others", [0, 300])
@pytest.mark.parametrize(
    ("pattern", "multiline", "text"),
    [
        (r"start[\s\S]*?end", True, "start\nend\n" + "start request 12\n" * 30_000),
        (r"\s+$", False, " " * 150_000 + "x \n"),
    ],
)
def test_what_python_would_give_up_is_left_to_ripgrep(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch, others: int, pattern: str, multiline: bool, text: str
) -> None:
    """At once, in one small file as well as in many."""
    monkeypatch.setattr(Matcher, "_ask", None)
    write("a.log", text)
    for number in range(others):
        write(f"{number}.txt", "x\n")
    found = search_text(LocalDisk(root), TextQuery(pattern=pattern, multiline=multiline))
    assert (places(found), found.skipped, found.engine) == ([("a.log", 1)], {}, "ripgrep")


def test_the_lines_of_many_such_files_are_asked_for_together(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bundle of scripts in one line each; a program for every one would take longer than to search them."""
    bundle = "a" * 150_000
    for number in range(120):
        write(f"{number:03}.js", f"{bundle} Error\nTypeError {number}\n" if number % 4 else "SyntaxError\n")
    asked = []
    hits = ripgrep_engine.RipgrepEngine.hits

    def noted(self: ripgrep_engine.RipgrepEngine, most: dict[str, int]) -> object:
        asked.append(len(most))
        return hits(self, most)

    monkeypatch.setattr(ripgrep_engine.RipgrepEngine, "hits", noted)
    found, alone = (search_text(LocalDisk(root), TextQuery(pattern=r"\w+Error"), engine=engine) for engine in
                    ("auto", "ripgrep"))  # fmt: skip
    assert found == alone
    assert ([match.line for match in found.matches], asked) == ([1, 2, 2, 2] * 30, [100, 19, 120])


def test_a_process_that_was_forked_off_meanwhile_holds_up_no_search(
    root: Path, search: Search, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the ends of the pipes as well, for as long as it lives."""
    write("a.txt", "needle\n")
    forked = []

    class Forking(subprocess.Popen):
        def _execute_child(self, *arguments: object) -> None:
            if not forked:
                forked.append(os.fork())
                if not forked[0]:
                    time.sleep(60)
                    os._exit(0)
            super()._execute_child(*arguments)

    monkeypatch.setattr("subprocess.Popen", Forking)
    try:
        assert places(search("needle", seconds=20)) == [("a.txt", 1)]
    finally:
        for child in forked:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@pytest.mark.parametrize("text", ["a)", "a)\n", "a", "a\n\nb)", "z\nq\na)", "\n"])
@pytest.mark.parametrize("pattern", [r"\B", "$", "^", r"\b", "x*"])
def test_what_cannot_match_a_line_feed_answers_with_multiline_as_without(
    search: Search, write: Write, pattern: str, text: str
) -> None:
    """Also at the end of a file without a last line feed."""
    write("a.txt", text)
    assert search(pattern, multiline=True).matches == search(pattern).matches


@pytest.mark.parametrize(("pattern", "lines"), [(r"\B|z\n", [1]), (r"$|z\n", [1, 2]), (r"\s*$", [1, 2])])
def test_over_lines_an_empty_match_at_the_end_of_a_file_is_none(
    search: Search, write: Write, pattern: str, lines: list[int]
) -> None:
    write("a.txt", "z\nq\na)")
    assert [match.line for match in search(pattern, multiline=True).matches] == lines


def test_many_matches_on_a_long_line_are_found_at_once(search: Search, write: Write) -> None:
    write("a.csv", '"a",' * 400_000)
    found = search('"', multiline=True, limit=3, seconds=10)
    assert (places(found), found.partial) == ([("a.csv", 1)], None)


@pytest.mark.parametrize(
    "complaint",
    [
        "rg: failed to allocate memory",
        "rg: oops\nrg: .//0.txt: Permission denied (os error 13)",
        "rg: .//0.txt: Permission denied (os error 13)\nrg: oops",
        "rg: .//0.txt: Cannot allocate memory (os error 12)",
        "rg: .//0.txt: Too many open files in system (os error 23)",
        "rg: .//0.txt: IO error for operation on .//0.txt: Too many open files (os error 24)",
        "rg: .//error: pattern.txt: Too many open files (os error 24)",
    ],
)
def test_a_ripgrep_that_complains_of_more_than_single_files_does_not_count(
    root: Path, write: Write, other_ripgrep: Program, monkeypatch: pytest.MonkeyPatch, complaint: str
) -> None:
    """However it was asked; the answer must not look like a search without matches."""
    for name in ("0", "1", "error: pattern"):
        write(f"{name}.txt", "needle\n")
    other_ripgrep(f"cat >&2 <<'END'\n{complaint}\nEND\nexit 2")
    for way in WAYS[:-1]:
        go(way, monkeypatch)
        for multiline in (True, False):
            found = search_text(LocalDisk(root), TextQuery(pattern="(ne+)+dle", multiline=multiline))
            assert (found.total, found.skipped, found.engine) == (3, {}, "python")


def test_a_file_that_ripgrep_complains_of_is_told_whatever_its_name() -> None:
    """A complaint about such a name may span lines, and shows bytes that are not UTF-8 in another way."""
    odd = ["a: b (os error 24)", "two\nlines", "bad\udcff", "rg: x", "error: pattern"]
    said = [f".//{name}: Permission denied (os error 13)" for name in odd[:-1]]
    said.append(".//gone: IO error for operation on .//gone: No such file or directory (os error 2)")
    said.append(".//error: pattern: IO error for operation on .//error: pattern: Input/output error (os error 5)")
    for begins in ("", "rg: "):  # older versions print no prefix
        complaints = "".join(f"{begins}{each}\n" for each in said).replace("\udcff", "\ufffd").encode()
        assert ripgrep_process.unreadable_at_end(2, complaints, ["gone", "fine", *odd]) == odd
        for given in (odd, ["gone", "bad\udcfe", *odd]):  # a name that was not given, and two that print alike
            with pytest.raises(RipgrepFailed):
                ripgrep_process.unreadable_at_end(2, complaints, given)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fields", [{}, {"glob": "*"}, {"multiline": True}])
def test_what_is_closed_to_a_user_is_counted(
    mortal: Path, monkeypatch: pytest.MonkeyPatch, way: str, fields: dict[str, object]
) -> None:
    """A folder that may be listed but not entered counts once, and is denied where it is named."""
    for name in ("a.txt", "no/b.txt", "no/c.txt", "no/deep/d.txt", "notebooks/e.ipynb", "shut/f.txt"):
        (mortal / name).parent.mkdir(parents=True, exist_ok=True)
        (mortal / name).write_text("needle\n")
    for name in ("g: h (os error 24)", "two\nlines", "bad\udcff"):
        (mortal / name).write_text("needle\n")
        (mortal / name).chmod(0)
    for name, mode in (("no/deep", 0), ("no", 0o400), ("notebooks", 0o400), ("shut", 0)):
        (mortal / name).chmod(mode)
    engine = go(way, monkeypatch)
    query = TextQuery(pattern="needle", **fields)
    found = search_text(LocalDisk(mortal), query, engine=engine)
    assert (places(found), found.total, found.skipped) == ([("a.txt", 1)], 1, {"unreadable": 6})
    with pytest.raises(Denied):
        search_text(LocalDisk(mortal), query, "no", engine=engine)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["content", "files", "count"])
@pytest.mark.parametrize("path", [".", "shut/a.txt", "shut/deep"])
def test_what_is_in_a_folder_that_may_be_entered_but_not_listed_is_found_by_its_path(
    mortal: Path, monkeypatch: pytest.MonkeyPatch, way: str, mode: str, path: str
) -> None:
    """A link leads into it, or a path names the file."""
    for name in ("shut/a.txt", "shut/deep/b.txt"):
        (mortal / name).parent.mkdir(parents=True, exist_ok=True)
        (mortal / name).write_text("needle\n")
    (mortal / "link.txt").symlink_to("shut/a.txt")
    (mortal / "shut").chmod(0o100)
    query = TextQuery(pattern="needle", output_mode=mode)
    found = search_text(LocalDisk(mortal), query, path, engine=go(way, monkeypatch))
    shown = {".": "link.txt", "shut/deep": "shut/deep/b.txt"}.get(path, path)
    assert found.total == 1
    assert [each.path for each in (found.matches if mode == "content" else found.files)] == [shown]
    assert found.skipped == ({"unreadable": 1} if path == "." else {})
