"""A search of whole folders, in which ripgrep chooses files by name, finds the same as a search of each file."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.globs.patterns import compile_glob
from jupyter_fstools.search.batches import Part
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import FoundText, TextQuery
from jupyter_fstools.search.ripgrep import engine as ripgrep_engine
from jupyter_fstools.search.ripgrep.folders import WholeFolders
from jupyter_fstools.search.ripgrep.name_rules import name_rules
from jupyter_fstools.search.ripgrep.process import NUL, Ripgrep
from jupyter_fstools.walking.stopping import Stop
from tests.visible import Only

from .conftest import Program, Write, ripgrep

NAMES = ["a.py", "b.py", "c.txt", ".h.py", "n.ipynb", "N.IPYNB", "two\nlines.py", "bad\udcff.py", "é.py", "a+b.py",
         ".~fstools-1.py", "*.py", "a.{py,txt}", "Makefile", "x.PY", "-n.py", "d e.py", "dot.", ".d."]  # fmt: skip
FOLDERS = ["", "src", "src/deep", ".hidden", "new\nline", "bad\udcfe"]
GLOBS = ["*.py", "*.{py,txt}", "**/src/*.py", "src/**", "[ab].py", "?.py", "!*.txt", "**/*.py", "*", "é*", "M*", ".h*",
         "a+b.py", "{src/*.py,*.txt}", "!{*.py,*.[ch]}", "!src/*.py", "!*.{py,txt}",
         "*.p[yx]", "{*.py,.h.*}", r"\*.py"]  # fmt: skip
CONTENTS = [b"needle\n", b"needle\nneedle", b"x\n", b"", b"needle\0", b"\0", b"x" * 70_000 + b"\0needle\n", b"n" * 9,
            b"\xef\xbb\xbfneedle\n", "needle\n\u4e00".encode("utf-16"), b'{"cells": []}', b"needle\xff\r\n",
            b"n" * 200]  # fmt: skip
counter = itertools.count()
paths = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map("/".join).map(lambda path: path.lstrip("/"))
files = st.dictionaries(paths, st.sampled_from(CONTENTS), max_size=12)
rules = st.lists(st.sampled_from(["*.txt", "a.py", "/src/deep/", "!a.py", "b.*"]), max_size=2)
fields = st.fixed_dictionaries(
    {},
    optional={
        "glob": st.sampled_from(GLOBS),
        "file_type": st.sampled_from(["py", "txt", "make", "jupyter"]),
        "include_hidden": st.just(True),
        "include_ignored": st.just(True),
        "max_file_bytes": st.just(150),
    },
)
patterns = st.sampled_from(["needle", "needle", "n+", r"needle\nneedle", r"e[\s\S]*?n", r"\n"])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether folders could be searched as a whole, each time that this was tried."""
    tried: list[bool] = []
    count = WholeFolders.count

    def noted(*arguments: object, **options: object) -> object:
        tried.append(False)
        found = count(*arguments, **options)
        tried[-1] = True
        return found

    monkeypatch.setattr(WholeFolders, "count", noted)
    return tried


def asked(root: Path, **fields: object) -> list[FoundText]:
    """The answers of Python and of ripgrep."""
    query = TextQuery(**{"pattern": "needle", **fields})
    answers = [search_text(LocalDisk(root), query, engine=engine) for engine in ("python", "ripgrep")]
    return [answer.model_copy(update={"engine": "ripgrep"}) for answer in answers]


@given(contents=files, ignored=rules, fields=fields, pattern=patterns)
@example(
    contents={"src/a.py": b"needle\n", "src/c.txt": b"needle"}, ignored=[], fields={"glob": "*.py"}, pattern="needle"
)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_folder_answers_alike(
    tmp_path: Path,
    runs: list[bool],
    contents: dict[str, bytes],
    ignored: list[str],
    fields: dict[str, object],
    pattern: str,
) -> None:
    """Odd names, hidden ones, notebooks, binaries, marks at the beginning."""
    root = tmp_path / str(next(counter))
    root.mkdir()
    for path, content in contents.items():
        file = root / path
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_bytes(content)
    (root / ".gitignore").write_text("\n".join(ignored))
    ours, theirs = asked(root, pattern=pattern, multiline="\\" in pattern, **fields)
    assert theirs == ours
    assert all(runs)


@pytest.mark.parametrize(
    "fields",
    [{"glob": "*.py"}, {"file_type": "py"}, {"include_hidden": True}, {"glob": "src/**"}, {"glob": "!*.txt"},
     {"glob": "!*.txt", "multiline": True, "pattern": r"e+dle\n"}],
)  # fmt: skip
def test_folders_are_searched_as_a_whole(root: Path, write: Write, runs: list[bool], fields: dict[str, object]) -> None:
    for path in ("src/a.py", "src/b.py", "src/other.txt"):
        write(path, "needle\n")
    ours, theirs = asked(root, **fields)
    assert theirs == ours
    assert (runs, ours.total >= 2) == ([True], True)


@pytest.mark.parametrize(
    ("glob", "rules"),
    [
        ("*.py", ["*.py"]),
        ("**/test_*.py", ["test_*.py"]),
        ("a***b", ["a*b"]),
        (r"\*.py", ["*[*].py", "[*].py"]),
        ("*.{py,txt}", ["*.py", "*.txt", "[*].[{]py[,]txt[}]"]),
        ("src/**", []),
    ],
)
def test_the_rule_on_names_is_one_that_everybody_reads_alike(glob: str, rules: list[str]) -> None:
    written = name_rules(compile_glob(glob), TextQuery(pattern="x"))
    assert written is not None
    told = [option.partition(":")[2] for option in written.options if option.startswith("--type-add=chosen:")]
    assert told == rules


@pytest.mark.parametrize(
    ("names", "says_little"),
    [(["a.py"], True), ([".h", "a.py"], False), (["n.ipynb", "a.py"], False), (["a.py", "bad\udcff"], True),
     (["a: 3 bytes", "a.py"], True), (["two\nlines: 3 bytes", "a.py"], True)],
)  # fmt: skip
def test_reasons_that_are_many_or_cannot_be_told_are_not_asked_for(
    root: Path, write: Write, runs: list[bool], names: list[str], says_little: bool
) -> None:
    """A name that looks like a reason makes the output ambiguous; then all files are given by name instead."""
    for folder in range(3):
        for name in names:
            write(f"{folder}/{name}", "needle\0" if folder else "needle\n")
    ours, theirs = asked(root, glob="**", multiline=True, pattern=r"needle\n")
    assert theirs == ours
    assert runs == [True]
    rules = name_rules(compile_glob("**"), TextQuery(pattern="needle"))
    assert rules is not None
    folders = WholeFolders(rules, Ripgrep(ripgrep(), None, str(root), Stop()))
    parts = [Part(str(folder), ["a.py"], complete=True) for folder in range(3)]
    found = folders.count(["-e", "needle"], parts, over_lines=False)
    assert (found.lines, sorted([*found.binary, *found.untold])) == ({"0/a.py": 1}, ["1/a.py", "2/a.py"])
    assert folders._says_little == says_little


@pytest.mark.parametrize(
    "fields",
    [{"glob": "*.p[yx]"}, {"glob": "?.py"}, {"glob": "src[ab]*.py"}, {"glob": "*.é*"},
     {"glob": "a*", "file_type": "py"},
     {"glob": "{" + ",".join(f"{number}.py" for number in range(200)) + "}"}],
)  # fmt: skip
def test_without_such_a_rule_files_are_given_by_name(
    root: Path, write: Write, runs: list[bool], fields: dict[str, object]
) -> None:
    """Ripgrep would read all other files beside them."""
    for name in ("a.py", "a.éa", "1.py", "a", "srcab.py"):
        write(name, "needle\n")
    ours, theirs = asked(root, **fields)
    assert theirs == ours
    assert (runs, bool(ours.total)) == ([], True)


def test_what_is_large_is_not_read(root: Path, write: Write, runs: list[bool]) -> None:
    """A large file does not cause a search of its folder file by file either."""
    write("a.py", "needle\n")
    write("b.py", "needle\n" * 1000)
    write("b.txt", "needle\n" * 1000)
    ours, theirs = asked(root, glob="*.{py,txt}", max_file_bytes=100)
    assert theirs == ours
    assert (ours.total, ours.skipped, runs) == (1, {"large": 2}, [True])


def test_a_nul_is_told_whatever_else_there_is(root: Path, write: Write, runs: list[bool]) -> None:
    """Text that grows when it is converted to UTF-8 must not hide bytes that were left unread."""
    write("a.py", ("\u4e2d" * 17).encode("utf-16"))
    write("b.py", b"needle\n\0" + b"x" * 7)
    ours, theirs = asked(root, glob="*.py")
    assert theirs == ours
    assert (ours.skipped, runs) == ({"binary": 1}, [True])


def test_a_ripgrep_that_fails_in_folders_is_given_names(
    root: Path, write: Write, runs: list[bool], other_ripgrep: Program
) -> None:
    write("a.py", "needle\n")
    write("b.py", "needle\0")
    for works in ("--files", "--no-filename"):
        other_ripgrep(f'case "$*" in *{works}*) ;; *--max-depth*) exit 2;; esac\nexec {ripgrep()} "$@"')
        ours, theirs = asked(root, glob="*.py")
        assert theirs == ours
        assert (ours.total, ours.skipped, runs.pop()) == (1, {"binary": 1}, False)


@pytest.mark.parametrize("said", ["", "1 files searched"])
def test_a_ripgrep_that_does_not_speak_of_all_files_is_asked_again(
    root: Path, write: Write, runs: list[bool], other_ripgrep: Program, said: str
) -> None:
    """No output about a file does not mean that it has no match."""
    for name in ("a.py", "b.py", "c.txt"):
        write(name, "needle\n")
    silent = f'printf "\\n%s\\n" "{said}"; exit 1'
    other_ripgrep(f'case "$*" in *--max-depth=1*--debug*) {silent};; *) exec {ripgrep()} "$@";; esac')
    ours, theirs = asked(root, glob="!*.md")
    assert theirs == ours
    assert (ours.total, runs) == (3, [True])


@pytest.mark.parametrize("numbers", ["", "0", "x y", "0 0 0 0", "0 1 0", "1 0 0", "9 0 0", "0 0 9", "0 9 9"])
def test_numbers_that_are_not_those_of_the_folders_asked_for_tell_nothing(
    root: Path, write: Write, runs: list[bool], other_ripgrep: Program, numbers: str
) -> None:
    """As from a ripgrep that walks the folders in another order."""
    write("a/a.py", "needle\n")
    write("a/b.py", "x\n")
    write("b/a.py", "x\n")
    other_ripgrep(f'case "$*" in *--no-filename*) printf "%s\\n" {numbers};; *) exec {ripgrep()} "$@";; esac')
    ours, theirs = asked(root, glob="*.py")
    assert theirs == ours
    assert (ours.total, runs) == (1, [True])


@pytest.mark.parametrize(
    ("fields", "contents", "runs_of_ripgrep"),
    [
        ({}, ["x\n"], ["numbers"]),
        ({}, ["needle\n"] + ["x\n"] * 30, ["numbers", "names in 1 of 31 folders"]),
        ({}, ["\0"] + ["x\n"] * 30, ["numbers", "names in 31 of 31 folders", "binary"]),
        ({"glob": "*.{py,txt}"}, ["x\n"], ["numbers"]),
        ({"glob": "**/*.{py,txt}"}, ["x\n"], ["names in 1 of 1 folders"]),
        ({"glob": "!*.md"}, ["x\n"], ["reasons"]),
        ({"glob": "*", "include_hidden": True}, ["x\0", "needle\n"], ["reasons"]),
        ({"glob": "**", "multiline": True, "pattern": r"n\n"}, ["\0"], ["reasons", "names in 1 of 1 folders"]),
        ({"glob": "{*.py,.x.*}"}, ["x\n"], ["names in 1 of 1 folders"]),
        ({"file_type": "py", "glob": None}, ["x\n"], ["numbers"]),
        ({"include_hidden": True}, ["x\n"], ["numbers"]),
        (
            {"multiline": True, "pattern": r"needle\n"},
            ["needle\n", "\0needle\n"] + ["x\n"] * 30,
            ["numbers", "names in 32 of 32 folders", "names in 32 of 32 folders", "lines", "binary"],
        ),
    ],
)
def test_ripgrep_is_asked_for_names_where_numbers_do_not_tell(
    root: Path,
    write: Write,
    runs: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, object],
    contents: list[str],
    runs_of_ripgrep: list[str],
) -> None:
    """Printing the name of every file takes ripgrep half as long as searching them."""
    for number, content in enumerate(contents):
        write(f"{number}/a.py", content)
    asked_for: list[str] = []
    started = Ripgrep.started

    def noted(self: Ripgrep, arguments: list[str], paths: list[str]) -> object:
        whole = "--max-depth=1" in arguments
        named = f"names in {len(paths)} of {len(contents)} folders" if whole else "binary" if NUL in arguments else ""
        known = {"--no-filename": "numbers", "--debug": "reasons"}
        asked_for.append(next((known[each] for each in arguments if each in known), named or "lines"))
        return started(self, arguments, paths)

    monkeypatch.setattr(Ripgrep, "started", noted)
    query = TextQuery(**{"pattern": "needle", "glob": "*.py", "output_mode": "count", **fields})
    search_text(LocalDisk(root), query, engine="ripgrep")
    assert (asked_for, runs) == (runs_of_ripgrep, [True])


def test_where_many_files_match_the_names_are_asked_for_at_once(root: Path, write: Write) -> None:
    """No longer once few files match."""
    for number in range(80):
        write(f"{number:02}/a.py", "needle\n" if 20 <= number < 40 else "x\n")
    rules, first = name_rules(compile_glob("*.py"), TextQuery(pattern="needle")), []
    assert rules is not None
    folders = WholeFolders(rules, Ripgrep(ripgrep(), None, str(root), Stop()))
    for number in range(0, 80, 20):
        first.append(folders._numbers_first)
        parts = [Part(f"{each:02}", ["a.py"], complete=True) for each in range(number, number + 20)]
        found = folders.count(["-e", "needle"], parts, over_lines=False)
        assert (len(found.lines), *map(len, found[1:])) == (20 if number == 20 else 0, 0, 0)
    assert first == [True, True, False, True]


@pytest.mark.parametrize("change", ["gone", "grown", "fifo", "folder", "binary", "secret"])
def test_what_changes_before_ripgrep_looks_is_told_as_it_is_then(
    root: Path, write: Write, runs: list[bool], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """A file that has appeared since, and may not be shown, is left out."""
    write("src/a.py", "needle\n")
    changing = write("src/b.py", "x\n")
    write("was/b.py", "x\n")
    started = Ripgrep.started

    def changed(*arguments: object) -> object:
        if change == "folder":
            changing.unlink()
            (root / "was" / "b.py").rename(changing)
            (root / "was").rmdir()
            os.mkfifo(root / "was")
        elif change == "grown":
            changing.write_text("x\n" * 1000)
        elif change == "binary":
            changing.write_bytes(b"\0\n")
        elif change == "secret":
            changing.rename(root / "src/secret.py").write_text("needle\n")
        else:
            changing.unlink(missing_ok=True)
            if change == "fifo":
                os.mkfifo(changing)
        monkeypatch.setattr(Ripgrep, "started", started)
        return started(*arguments)

    monkeypatch.setattr(Ripgrep, "started", changed)
    query = TextQuery(pattern="needle", glob="*.py")
    found = search_text(LocalDisk(root), query, engine="ripgrep", visible=Only(lambda path: "secret" not in path))
    skipped = {"binary": 1} if change == "binary" else {}
    assert ([match.path for match in found.matches], found.total, found.skipped) == (["src/a.py"], 1, skipped)


def test_many_folders_are_given_in_several_runs(
    root: Path, write: Write, runs: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep_engine, "NAMES_BYTES", 100)
    for number in range(40):
        write(f"{number}/a.py", "needle\n" if number % 3 else "needle\0")
    ours, theirs = asked(root, glob="*.py", limit=1000)
    assert theirs == ours
    assert (ours.total, ours.skipped, len(runs) > 3) == (26, {"binary": 14}, True)


def test_ripgrep_is_at_no_users_mercy(root: Path, write: Write, runs: list[bool]) -> None:
    """Ripgrep's own ignore files do not apply in a folder that is searched as a whole."""
    write("src/a.py", "needle\n")
    for name in (".ignore", ".rgignore"):
        write(name, "*\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    ours, theirs = asked(root, glob="*.py")
    assert (theirs, runs, ours.total) == (ours, [True], 1)
