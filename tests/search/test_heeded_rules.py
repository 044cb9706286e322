"""Which ignore files ripgrep is sure to read as git and our walk do."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search.heeded_rules import HeededRules, is_plain
from jupyter_fstools.search.ripgrep_process import RipgrepFailed
from jupyter_fstools.walking.trail import FolderTrail

from .conftest import Write


@pytest.mark.parametrize(
    "line",
    ["", "# what é", "# **/a/**/b**", "*.log", "build/", "/build", "!keep.log", "src/*.o", "**/tmp", "lib/**",
     "a/**/b/", "*.py[cod]", "*.sw[a-p]", "[Bb]in/", "*$py.class", "with a space", "Icon~", ".env.*", "*", ".#*",
     r"\#*\#", r"Generated\ Files/", "[._]*.s[a-v][a-z]", "Icon[\r]", "!#a", "**/a/**", "!**/src/**/build/",
     "**/ios/**/*.mode1v3", r"a\*", "?.log", "!?*.[Cc]ache/", "my-app/"],
)  # fmt: skip
def test_everyday_rules_are_plain(line: str) -> None:
    assert is_plain(line)


@pytest.mark.parametrize(
    "line",
    ["é.txt", "[!a]", "[^a]", "[[:alpha:]]", "a[", "a\\", r"\a", " a", "! a", "/ a", "a**b", "**", "/",
     "!", "a//b", "a/**/", "\ufeffa", "a\tb", "a\rb", "{a,b}", "***", "[]a]", "a/**/b/**/c", "**/a/**/", "/**/a/**",
     "**/a/**/b/**/c", "**/a/**/b**", "a**/b", "/a**", "[a/b]", "[!/]", "[b-a]", "x[a-z9-0]"],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_not(line: str) -> None:
    assert not is_plain(line)


def test_an_ignore_file_is_noted_by_its_folder(root: Path, write: Write) -> None:
    write(".gitignore", "*.log \r\n")
    write("a/.gitignore", "# nothing\n\n")
    write("b/.git/info/exclude", "c\n")
    rules = HeededRules(LocalDisk(root))
    rules.from_above = True
    for path in (f"{root}/.gitignore", "a/.gitignore", "b/.git/info/exclude"):
        rules.add_file(path)
    assert rules.folders == {"", "b"}


@pytest.mark.parametrize("content", [b"[!a]\n", b"\xff\n", None])
def test_an_ignore_file_that_cannot_be_relied_on_ends_it(root: Path, write: Write, content: bytes | None) -> None:
    """None: a link, which git does not follow."""
    if content is None:
        (root / ".gitignore").symlink_to(write("rules", "*.log\n"))
    else:
        write(".gitignore", content)
    disk = LocalDisk(root)
    with pytest.raises(RipgrepFailed):
        HeededRules(disk).add_file(".gitignore")
    with pytest.raises(RipgrepFailed), FolderTrail(disk) as trail:
        HeededRules(disk).check_plain(trail, "")


def test_very_many_rules_are_not_looked_at(root: Path, write: Write) -> None:
    """S23: nobody could stop it meanwhile."""
    rules = HeededRules(LocalDisk(root))
    with pytest.raises(RipgrepFailed):
        for number in range(6):
            write(f"{number}/.gitignore", b"#" * 1_000_000)
            rules.add_file(f"{number}/.gitignore")


@pytest.mark.parametrize("path", ["/outside/.gitignore", ".ignore", "x.gitignore", "gone/.gitignore"])
def test_an_ignore_file_that_is_none_of_ours_ends_it(root: Path, write: Write, path: str) -> None:
    write("x.gitignore", "a\n")
    rules = HeededRules(LocalDisk(root))
    rules.from_above = True
    with pytest.raises(RipgrepFailed):
        rules.add_file(path)


def test_the_rules_of_one_repository_do_not_hold_in_two_places(root: Path, write: Write) -> None:
    """As git has it with a second work tree."""
    write(".git/info/exclude", "a\n")
    rules = HeededRules(LocalDisk(root))
    rules.add_file(".git/info/exclude")
    with pytest.raises(RipgrepFailed):
        rules.add_file(".git/info/exclude")


def test_rules_must_not_reach_into_a_repository(root: Path, write: Write) -> None:
    write("a/.gitignore", "*.log\n")
    rules = HeededRules(LocalDisk(root))
    rules.add_file("a/.gitignore")
    for folder in ("", "a", "ab", "b/c"):
        rules.add_repository(folder)
    rules.check_repositories()
    rules.add_repository("a/b")
    with pytest.raises(RipgrepFailed):
        rules.check_repositories()
