"""A folder to search, the programs to compare with, and one search for both engines."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search import grep
from jupyter_fstools.search.glob import FoundFiles, find_files
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import FoundText, TextQuery
from jupyter_fstools.search.ripgrep.process import ripgrep_binary
from jupyter_fstools.walking.listing import EVERYTHING

Write = Callable[..., Path]
Find = Callable[..., FoundFiles]
Search = Callable[..., FoundText]
Program = Callable[[str], str]
NOBODY = 65534
"""A user who owns nothing."""
WAYS = ["ripgrep", "ripgrep by name", "python"]
"""Ripgrep lists the files of whole folders, or is given names."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def write(root: Path) -> Write:
    """Write one file below the root, its folders too."""

    def write(path: str, content: str | bytes = "x\n") -> Path:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        return file

    return write


@pytest.fixture
def mortal() -> Iterator[Path]:
    """A folder of a user without access to some of its files; root becomes another user meanwhile."""
    program, folder = ripgrep(), Path(tempfile.mkdtemp()).resolve()
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        if not (os.access(folder, os.W_OK, effective_ids=True) and os.access(program, os.X_OK, effective_ids=True)):
            pytest.skip("nobody but root gets here")
        yield folder
    finally:
        for path, folders, _ in os.walk(folder):
            for name in folders:
                Path(path, name).chmod(0o700)
        if is_root:
            os.seteuid(0)
        shutil.rmtree(folder)


@pytest.fixture
def find(root: Path) -> Find:
    return lambda *arguments, **options: find_files(LocalDisk(root), *arguments, **options)


@pytest.fixture(params=WAYS)
def search(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Search:
    """The same search with each engine; query fields and options in one call."""
    engine = go(request.param, monkeypatch)

    def search(
        pattern: str, path: str = ".", *, visible=EVERYTHING, seconds=None, cancelled=None, **fields: object
    ) -> FoundText:
        return search_text(
            LocalDisk(root),
            TextQuery(pattern=pattern, **fields),
            path,
            visible=visible,
            seconds=seconds,
            cancelled=cancelled,
            engine=engine,
        )

    return search


@pytest.fixture
def other_ripgrep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Replaces ripgrep by a shell script of these lines; gives its path."""
    numbers = itertools.count()

    def put(lines: str) -> str:
        program = tmp_path / f"rg{next(numbers)}"
        version = f'[ "$*" = --version ] && exec {ripgrep()} --version'
        program.write_text(f"#!/bin/sh\n{version}\n{lines}\n")
        program.chmod(0o755)
        monkeypatch.setattr(grep, "ripgrep_binary", lambda: str(program))
        return str(program)

    return put


def go(way: str, monkeypatch: pytest.MonkeyPatch) -> Literal["ripgrep", "python"]:
    """Make searches use one of the `WAYS`, as far as they can; gives the engine to ask for."""
    if way == "ripgrep by name":
        monkeypatch.setattr(grep, "name_rules", lambda *_: None)
    return "python" if way == "python" else "ripgrep"


def names(found: FoundFiles) -> list[str]:
    return sorted(file.path for file in found.files)


def places(found: FoundText) -> list[tuple[str, int]]:
    return [(match.path, match.line) for match in found.matches]


def git_files(root: Path) -> set[str]:
    """Files that git lists in a repository: tracked and untracked, but not ignored."""
    return _listed(["git", "ls-files", "-co", "--exclude-standard", "-z"], root)


def rg_files(root: Path) -> set[str]:
    """Files that ripgrep lists, including hidden ones, by the repository's own ignore files alone."""
    options = ["--files", "--hidden", "--no-config", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-parent"]
    return _listed([ripgrep(), *options, "-0", "-g", "!.git"], root)


def ripgrep() -> str:
    binary = ripgrep_binary()
    assert binary is not None
    return binary


def _listed(command: list[str], root: Path) -> set[str]:
    printed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    return {os.fsdecode(path) for path in printed.split(b"\0") if path}
