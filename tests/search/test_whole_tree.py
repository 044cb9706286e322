"""A search of a whole tree by ripgrep's own walk comes to what our walk comes to."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search import ripgrep_engine, ripgrep_watch
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.text_query import FoundText, TextQuery
from jupyter_fstools.search.touchstone import tells_enough
from jupyter_fstools.search.whole_tree import WholeTree

from .conftest import Write, ripgrep

NAMES = ["a", "b.txt", "c.log", "build", "src", "keep.log", "d e", "x.ipynb", ".h", "node_modules", "é.txt", "lib",
         "#f", "Icon\r"]  # fmt: skip
RULES = ["*.log", "!keep.log", "build/", "/build", "src/*.txt", "!src/b.txt", "lib/**", "**/src", "a", "!a", "*",
         "!*/", "!*.txt", "/src/lib/", "*.[k-p]og", "#c", "", "d e", "b.txt/", "src/**/a", "*.ipynb", ".h", "!.h",
         "/*", "c*", r"\#*", r"d\ e", "Icon[\r]", "[._]h", "**/src/**", "!**/lib/**/b.txt", "*[#]*",
         "?", "?.txt"]  # fmt: skip
CELL = b'{"cells": [{"cell_type": "code", "source": "needle"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
CONTENTS = [b"needle\n", b"needle\nneedle", b"x\n", b"needle\0", b"n" * 200, CELL]
counter = itertools.count()

paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
files = st.dictionaries(paths, st.sampled_from(CONTENTS) | st.sampled_from(["../src", "b.txt", "/etc"]), max_size=14)
folders = st.lists(st.sampled_from(["", "src", "build", "src/lib"]), max_size=2, unique=True)
rules = st.lists(st.sampled_from(RULES), min_size=1, max_size=4)
fields = st.fixed_dictionaries(
    {}, optional={"include_ignored": st.just(True), "max_file_bytes": st.just(150), "limit": st.just(1)}
)


def plant(root: Path, contents: dict[str, bytes | str], ignored: dict[str, list[str]]) -> None:
    for path, content in contents.items():
        file = root / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to(content) if isinstance(content, str) else file.write_bytes(content)
        except OSError:
            continue  # a file is where a folder should be, or the other way
    for folder, lines in ignored.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text("\n".join(lines))


def asked(root: Path, query: TextQuery, path: str = ".", **options: object) -> list[FoundText]:
    """The answers of our own walk and of ripgrep's."""
    answers = [search_text(LocalDisk(root), query, path, engine=engine, **options) for engine in ("python", "ripgrep")]
    return [answer.model_copy(update={"engine": "ripgrep"}) for answer in answers]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that ripgrep has walked through to the end, so that it counted."""
    assert tells_enough(ripgrep())  # once, by a run of its own
    ended: list[str] = []
    batches = WholeTree.batches

    def noted(self: WholeTree, *arguments: object) -> object:
        yield from batches(self, *arguments)
        ended.append(self._base)

    monkeypatch.setattr(WholeTree, "batches", noted)
    return ended


@given(contents=files, ignored=st.dictionaries(st.sampled_from(["", "src", "build"]), rules), fields=fields)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_everyday_rules_hold_alike(
    tmp_path: Path, runs: list[str], contents: dict[str, bytes | str], ignored: dict[str, list[str]], fields: dict
) -> None:
    """S10, S20, S24"""
    root = tmp_path / str(next(counter))
    plant(root, {"a.py": b"needle", **contents}, ignored)
    runs.clear()
    ours, theirs = asked(root, TextQuery(pattern="needle", **fields))
    assert theirs == ours
    assert runs == [""] or "*" in str(ignored)  # everything may be ignored


@pytest.mark.parametrize("place", [".gitignore", ".git/info/exclude"])
@pytest.mark.parametrize("rule", ["**/logs/*.log", "**/logs/**", "app/**/*.log", "**/*.log"])
def test_two_stars_in_rules_from_above_the_folder_hold_in_it(
    root: Path, write: Write, runs: list[str], rule: str, place: str
) -> None:
    """G3, S10: ripgrep alone would show what they ignore."""
    write(place, f"{rule}\n")
    write("app/a.txt", "needle\n")
    write("app/logs/b.log", "needle\n")
    ours, theirs = asked(root, TextQuery(pattern="needle"), "app")
    assert theirs == ours
    assert (ours.total, ours.ignored, runs) == (1, 1, [])


def test_rules_from_above_the_folder_hold_in_it(root: Path, write: Write, runs: list[str]) -> None:
    for path in ("src/a.txt", "src/b.log", "src/lib/c.txt", "out/d.txt"):
        write(path, "needle\n")
    write(".gitignore", "*.log\nsrc/lib/\n/out\n")
    write(".git/info/exclude", "# nothing\n")
    for path in ("src", "src/lib", "out"):
        ours, theirs = asked(root, TextQuery(pattern="needle"), path)
        assert theirs == ours
    assert runs == ["src", "src/lib", "out"]


def test_ignore_files_above_the_root_are_no_matter(root: Path, write: Write, runs: list[str]) -> None:
    """As in the home folder of somebody who keeps their settings in a repository."""
    write("../.gitignore", "*\n")
    write("src/a.txt", "needle\n")
    for base in (".", "src"):
        ours, theirs = asked(root, TextQuery(pattern="needle"), base)
        assert theirs == ours
        assert ours.total == 1
    assert runs == ["", "src"]
    write(".gitignore", "*.log\n")  # It holds in src, and so would what is above it.
    ours, theirs = asked(root, TextQuery(pattern="needle"), "src")
    assert theirs == ours
    assert (ours.total, runs) == (1, ["", "src"])


@pytest.mark.parametrize(
    ("path", "content"),
    [("src/.gitignore", "[!b].txt\n"), ("src/.git/HEAD", ""), ("src/.git", "gitdir: /x\n"),
     ("new\nline.ipynb", CELL), ("caf\udce9.bin", "\0"), ("src/.ignore", "*\n"),
     ("x: Ignore(IgnoreMatch(Hidden.log", "needle\n"), ("src/d.log: 7 bytes: Ignore(IgnoreMatch(Types.ipynb", CELL),
     ("q.bin: found binary data at offset 5\nrg: DEBUG|x|y:1: ignoring /x.bin", "\0"),
     ("q/: found binary data at offset 3\nrg: DEBUG|x|y:1: ignoring /b", "\0"),
     ("a.log: failed to pass haystack filter: is_symlink: true\nrg: DEBUG|x|y/z.bin", "\0"),
     ("a.bin\nrg: DEBUG|a|b:1: ignoring c.log: failed to pass haystack filter: is_symlink: true", "\0")],
)  # fmt: skip
def test_where_ripgrep_would_go_another_way_it_does_not_count(
    root: Path, write: Write, path: str, content: str | bytes
) -> None:
    """S20, G15, G16: whatever its own run would have said."""
    for name in ("src/a.txt", "src/bb.txt", "src/c.log"):
        write(name, "needle\n")
    write(".gitignore", "*.log\n")
    write(path, content)
    for base in (".", "src"):
        ours, theirs = asked(root, TextQuery(pattern="needle"), base)
        assert theirs == ours
        assert ours.total


def test_a_repository_whose_git_file_is_taken_back_is_noticed(root: Path, write: Write) -> None:
    """A submodule; hidden files come back by a rule that is often seen."""
    write(".gitignore", "*.log\n.*\n!.git*\n")
    write("sub/.git", "gitdir: ../.git/modules/sub\n")
    write("sub/x.log", "needle\n")
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert theirs == ours
    assert ours.total == 1


def test_a_link_whose_name_forges_a_path_shows_nothing(root: Path, write: Write) -> None:
    """G15, G16: told in two lines, the second of which names a file that is ignored."""
    write(".gitignore", "ignored.txt\n")
    write("a.txt", "needle\n")
    write("ignored.txt", "needle\n")
    folder = root / f"x: found binary data at offset 5\nrg: DEBUG|x|y:1: ignoring {root}"
    folder.mkdir(parents=True)
    (folder / "ignored.txt").symlink_to("nowhere")
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert theirs == ours
    assert ours.total == 1


def test_a_tree_that_led_ripgrep_astray_is_remembered(root: Path, write: Write, runs: list[str]) -> None:
    """Only for a while, and for this folder."""
    write("src/a.txt", "needle\n")
    rules = write("src/.gitignore", "[!b].log\n")
    asked(root, TextQuery(pattern="needle"))
    rules.unlink()
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert (theirs, runs) == (ours, [])
    asked(root, TextQuery(pattern="needle"), "src")
    assert runs == ["src"]


@pytest.mark.parametrize("kind", ["fifo", "endless", "large"])
def test_an_ignore_file_that_does_ripgrep_no_good_does_not_stop_a_search(
    root: Path, write: Write, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S22, S23: it would wait for ever, or read without end."""
    monkeypatch.setattr(ripgrep_watch, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(ripgrep_watch, "MOST_MEMORY_BYTES", 100 << 20)
    write("src/a.txt", "needle\n")
    rules = root / "src" / ".gitignore"
    if kind == "fifo":
        os.mkfifo(rules)
    elif kind == "endless":
        rules.symlink_to("/dev/zero")
    else:
        rules.write_bytes(b"[a]*\n" * 1_000_000)
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert theirs == ours
    assert ours.total == 1


def test_very_many_ignored_files_are_not_told_one_by_one(
    root: Path, write: Write, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line costs more than to search a file."""
    monkeypatch.setattr(ripgrep_watch, "MOST_LINES", 100)
    write(".gitignore", "*.log\n")
    for number in range(10_000):
        write(f"{number % 10}/{number}.log")
    write("a.txt", "needle\n")
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert theirs == ours
    assert (ours.total, ours.ignored, runs) == (1, 10_000, [])


def test_very_deep_folders_are_gone_through(root: Path, runs: list[str]) -> None:
    """G9"""
    deep = root.joinpath(*["d"] * 1500)
    subprocess.run(["mkdir", "-p", deep], check=True)
    (deep / "a.bin").write_bytes(b"\0")
    ours, theirs = asked(root, TextQuery(pattern="needle"))
    assert theirs == ours
    assert (ours.skipped, runs) == ({"binary": 1}, [""])
    subprocess.run(["rm", "-r", root / "d"], check=True)  # pytest's own would recurse.


def may_read_all_but(*closed: str) -> Callable[[str], bool]:
    return lambda path: path not in closed


def test_what_a_rule_of_the_server_hides_is_not_counted(root: Path, write: Write, runs: list[str]) -> None:
    """S11, G26: below a closed folder nothing is, whatever the rule says of what is in it."""
    for name in ("open/a.txt", "shut/deep/b.txt", "shut/deep/c.log"):
        write(name, "needle\n")
    write("shut/d.bin", "\0")
    write("open/n.ipynb", CELL)
    write("open/e.bin", "\0")
    write(".gitignore", "*.log\n")
    (root / "link").symlink_to("shut/deep/b.txt")
    (root / "other").symlink_to("open/a.txt")
    ours, theirs = asked(root, TextQuery(pattern="needle"), may_read=may_read_all_but("shut", "open/n.ipynb"))
    assert theirs == ours
    assert (ours.total, ours.skipped, ours.ignored, runs) == (3, {"binary": 1}, 0, [""])


def test_a_folder_that_cannot_be_read_is_counted_once(mortal: Path, runs: list[str]) -> None:
    """G21"""
    (mortal / "a.txt").write_text("needle\n")
    (mortal / "shut").mkdir()
    (mortal / "shut/b.txt").write_text("needle\n")
    (mortal / "shut").chmod(0)
    ours, theirs = asked(mortal, TextQuery(pattern="needle"))
    assert theirs == ours
    assert (ours.skipped, runs) == ({"unreadable": 1}, [""])


def test_a_link_is_as_large_as_what_it_leads_to(root: Path, write: Write, runs: list[str]) -> None:
    """S14, S24: to ripgrep it is as large as its own text."""
    write("folder/with/a/name/a.txt", "needle\n")
    write("large.txt", "needle\n" * 9)
    (root / "link.txt").symlink_to("folder/with/a/name/a.txt")
    (root / "to-large.txt").symlink_to("large.txt")
    ours, theirs = asked(root, TextQuery(pattern="needle", max_file_bytes=10))
    assert theirs == ours
    assert (ours.total, ours.skipped, runs) == (2, {"large": 2}, [""])


def test_what_is_chosen_by_name_is_searched_by_name(
    root: Path, write: Write, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.txt", "needle\nthread\n")
    for fields in ({"glob": "*.txt"}, {"file_type": "txt"}, {"multiline": True}, {"include_hidden": True}):
        assert asked(root, TextQuery(pattern="needle", **fields))[1].total == 1
    monkeypatch.setattr(ripgrep_engine, "tells_enough", lambda _: False)
    assert asked(root, TextQuery(pattern="needle"))[1].total == 1
    assert runs == []


def test_the_program_here_tells_enough() -> None:
    """S9, S33: what the searches of whole trees rest on."""
    assert tells_enough(ripgrep())


@pytest.mark.parametrize("name", ["no/b.txt", "no/c.ipynb"])
def test_a_folder_that_may_be_listed_but_not_entered_is_walked_by_us(mortal: Path, runs: list[str], name: str) -> None:
    """G21: ripgrep speaks of all that is in it, one by one."""
    (mortal / "a.txt").write_text("needle\n")
    (mortal / "no").mkdir()
    for path in (name, f"no/2{name[3:]}"):
        (mortal / path).write_bytes(CELL)
    (mortal / "no").chmod(0o400)
    ours, theirs = asked(mortal, TextQuery(pattern="needle"))
    assert theirs == ours
    assert (ours.total, ours.skipped, runs) == (1, {"unreadable": 1}, [])
