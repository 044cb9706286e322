"""Ignored files, compared with git itself and with ripgrep."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.globs.ignore_rules import FolderRules, RuleFile
from jupyter_fstools.search.glob import find_files

from .conftest import Find, Write, git_files, names, rg_files

TREE = """a.py b.pyc c.log keep.log build/x.o build/keep/y.o src/build/z.c src/a/b/c.txt src/a/c.txt src/c.txt
docs/_build/i.html docs/i.html x/docs/_build/j.html foo[1].txt foo1.txt tail.txt ünï.txt .env .github/w.yml
deep/er/deepest/n.tmp deep/n.tmp deep/er/k.tmp d1/abc/def/g d1/abc/h #hash q/!bang lib/lib/lib.txt t/a/t/b/t/c.md
data/1.csv data/sub/2.csv data/sub/keep.csv [z.txt we!rd x^y.txt -dash.txt a/b/c/d/e.f A.PY zz/vendor/x.js
vendor/y.js""".split()  # noqa: SIM905 - a list of fifty names reads better as words
ODD = ["new\nline.txt", "with space.txt", "trail ", "q/in ner/z.py"]
RULES = r"""# comment
*.py[co]
*.log
!keep.log
build/
!build/keep/
/docs/_build/
foo\[1\].txt
**/deepest/
deep/**/k.tmp
d1/**/h
\#hash
q/\!bang
lib/*/lib.txt
t/**/t/**/c.md
data/**
!data/sub/
!data/sub/keep.csv
[z.txt
x[!a-z]y.txt
?.f
vendor
!/vendor
trail\SPACE
tail.txtSPACESPACE
*line.txt
[A-C].PY
""".replace("SPACE", " ")


def everything(root: Path) -> set[str]:
    found = find_files(LocalDisk(root), "**", limit=10**9, include_hidden=True, sort="path")
    return {file.path for file in found.files}


def start_repository(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


@pytest.fixture
def tree(root: Path, write: Write) -> Path:
    start_repository(root)
    for path in TREE + ODD:
        write(path)
    write(".gitignore", RULES)
    write("src/.gitignore", "*.txt\n!a/b/c.txt\n/c.txt\n!/build\n")
    write(".git/info/exclude", ".env\n!c.log\n")
    return root


def test_ignored_is_what_git_and_ripgrep_ignore(tree: Path) -> None:
    """Nested, negated, anchored, folders only, escapes, brackets, `.git/info/exclude`."""
    assert everything(tree) == git_files(tree) == rg_files(tree)


ODD_RULES = """logs**/*.log
a**/**
/a**
!logs**/a/b
[a/b]
[!/]
[+-/]*/
x/[/]b
[b-a]
*a*/[[:alpha:]]
/logs**/**/b/
*og*
!l*s/[!a]
**/a**/b
***/b
""".split()  # noqa: SIM905 - as they stand in a file
ODD_PATHS = """a b B c - logs/a.log logs/a/b logs/c/a.log logsx/a/b.log logs.log ab/c/d aa/b x/b x/c/b d/a/b d/ab/c/b
B1/b log/s/b/a l.s/b/c -1/b -x/a +/c logs1/b/c/b/a""".split()  # noqa: SIM905


@given(st.lists(st.sampled_from(ODD_RULES), min_size=1, max_size=3))
@example(["logs**/*.log"])
@example(["[!/]"])
@example(["/a**", "[b-a]"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rules_that_nobody_writes_are_read_as_git_reads_them(root: Path, write: Write, rules: list[str]) -> None:
    """`**` after text, a slash in brackets, a range that goes backwards."""
    if not (root / ".git").exists():
        start_repository(root)
        for path in ODD_PATHS:
            if not (root / path).is_dir():
                write(path + ".txt" if (root / path).is_dir() else path)
    write(".gitignore", "\n".join(rules) + "\n")
    assert everything(root) == git_files(root)


def test_rules_hold_without_a_repository_too(find: Find, write: Write) -> None:
    """A folder that is not under git yet has its ignore file for the same reason."""
    write(".gitignore", "*.log\n!keep.log\nout/\n")
    for path in ("a.log", "keep.log", "out/a.txt", "b.txt"):
        write(path)
    found = find("**")
    assert names(found) == ["b.txt", "keep.log"]
    assert found.ignored == 2


def test_a_folder_inside_ignored_ones_can_be_searched_by_name(find: Find, write: Write) -> None:
    """The rules apply to files that a search comes across, not to a path that is named."""
    write(".gitignore", "build/\n*.o\n")
    write("build/a.txt")
    write("build/a.o")
    assert names(find("**", "build")) == ["build/a.txt"]
    assert names(find("build/**")) == []
    assert names(find("**", include_ignored=True)) == ["build/a.o", "build/a.txt"]


def test_a_repository_in_a_folder_begins_anew(root: Path, find: Find, write: Write) -> None:
    start_repository(root / "inner")
    write(".gitignore", "*.txt\n")
    write("inner/a.txt")
    write("b.txt")
    assert names(find("**")) == ["inner/a.txt"]
    assert names(find("**", "inner")) == ["inner/a.txt"]


def test_an_ignore_file_that_is_a_link_is_not_followed(root: Path, find: Find, write: Write) -> None:
    write("rules", "*.txt\n")
    write("a.txt")
    (root / ".gitignore").symlink_to("rules")
    assert names(find("*.txt")) == ["a.txt"]


def test_a_broken_ignore_file_is_read_as_far_as_it_goes(find: Find, write: Write) -> None:
    write(".gitignore", b"\xef\xbb\xbf*.log\r\n[\n\\\n//\n!\n\xff\xfe.x\n*.tmp\\\n")
    for path in ("a.log", "b.tmp", "c.txt"):
        write(path)
    assert names(find("**")) == ["b.tmp", "c.txt"]


def test_a_hostile_rule_takes_no_longer_than_others() -> None:
    rules = RuleFile(b"**/a/" * 40 + b"b\n" + b"*a" * 200 + b"z\n", "")
    rules.in_folder("a/" * 500 + "a")
    assert rules.anywhere("a" * 2000, False) == -1


LINES = ["a", "*.b", "!a", "/a", "a/c/", "a/**/b", "x*", "c/", "/a/x.b", "!/c/a", "**/c/a", "a/**"]
NAMES = ["a", "c", "x.b", "b", "y"]
PATHS = st.lists(st.sampled_from(NAMES[:4]), min_size=2, max_size=5)


@given(st.lists(st.sampled_from(LINES), max_size=5), st.lists(st.sampled_from(LINES), max_size=3), PATHS)
@example([], ["a/c/"], ["c", "a"])
def test_rules_carried_down_a_path_are_the_rules_of_each_folder(lines, deeper, path):
    """Also the quick yes for many names, which checks names alone once no anchored rule reaches this depth."""
    files = (RuleFile("\n".join(deeper).encode(), path[0]), RuleFile("\n".join(lines).encode(), ""))
    carried = FolderRules(files, path[0])
    for depth in range(2, len(path) + 1):
        folder = "/".join(path[:depth])
        carried, fresh = carried.below(folder), FolderRules(files, folder)
        for is_folder in (True, False):
            kept = fresh.kept(NAMES, is_folder)
            assert carried.kept(NAMES, is_folder) == kept
            assert all(name in kept for name in NAMES if carried.touch_none_of([name]))


def test_most_names_get_the_quick_yes():
    rules = FolderRules((RuleFile(b"*.pyc\n/build/\ntmp/\n*~\n", ""),), "").below("src")
    assert rules.touch_none_of(["a.py", "b", "build"])
    assert not any(rules.touch_none_of([name]) for name in ("a.pyc", "tmp", "b~"))


def test_the_last_of_many_rules_decides():
    """Rules that are tried together keep their order."""
    rules = [rule for number in range(150) for rule in (f"*x{number % 40}*", f"?y{number % 7}*")]
    lines = [f"{'!' * (order % 4 // 2)}{rule}" for order, rule in enumerate(rules)]
    together = RuleFile("\n".join(lines).encode(), "")
    alone = [RuleFile(line.encode(), "") for line in lines]
    for name in ("ax3b", "ay5", "cx12y", "ay6x39", "none"):
        last = max((at for at, rule in enumerate(alone) if rule.anywhere(name, False) >= 0), default=-1)
        assert together.anywhere(name, False) == last
        assert together.untouched([name]) == [name] * (last < 0)


@pytest.mark.parametrize("line", ["x" + " " * 300_000 + "y", "[[:" * 100_000 + "]", "[a]" * 100_000])
def test_a_rule_longer_than_any_path_takes_no_time_and_ignores_nothing(line):
    begun = time.process_time()
    rules = RuleFile(f"{line}\n*.log{' ' * 300_000}\n".encode(), "")
    assert time.process_time() - begun < 1
    assert rules.anywhere("a.log", False) == 1 and rules.anywhere("x", False) == -1
