"""G1-G3: files by name and lines by pattern, in about 100,000 files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from jupyter_fstools import call_tool
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import TextQuery
from jupyter_fstools.search.ripgrep.process import ripgrep_binary

from .harness import NotHere, Result, Work, compare, measure, peak_memory
from .samples import workspace

FILES = 100_000
_LINES = ("--no-config", "-n", "--no-heading")
RULES = "*.pyc\n/build/\n*.log\n!keep.log\ntmp/\n"


def tree() -> Path:
    """A repository of about 100,000 files: copies of what is installed, made once and kept for the next run."""
    kept = Path(tempfile.gettempdir()) / f"fstools-bench-tree-{FILES}"
    if (kept / "complete").exists():
        return kept / "root"
    shutil.rmtree(kept, ignore_errors=True)
    (kept / "root" / ".git").mkdir(parents=True)
    (kept / "root" / ".gitignore").write_text(RULES)
    count, copies = 0, 0
    while count < FILES:
        for folder, _, names in os.walk(sysconfig.get_path("purelib")):
            if os.path.basename(folder) == "__pycache__":
                continue
            below = kept / "root" / f"copy{copies}" / os.path.relpath(folder, sysconfig.get_path("purelib"))
            below.mkdir(parents=True, exist_ok=True)
            for name in names:
                _link(os.path.join(folder, name), below / name, kept / "store")
            count += len(names)
            if count >= FILES:
                break
        copies += 1
    subprocess.run(["git", "init", "-q", str(kept / "root")], check=False)
    (kept / "complete").touch()
    return kept / "root"


def _link(source: str, target: Path, store: Path) -> None:
    """One copy of a file on the disk, and a hard link wherever it is wanted."""
    store.mkdir(exist_ok=True)
    found = os.stat(source)
    own = store / str(found.st_ino)
    if not own.exists():
        shutil.copy2(source, own)
    os.link(own, target)


def program(*names: str) -> str:
    """The first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    raise NotHere(f"{names[0]} is not installed")


def _running(root: Path, *command: str) -> Work:
    def run() -> None:
        null = subprocess.DEVNULL  # Where standard input is a pipe, rg would search that.
        subprocess.run(command, cwd=root, stdin=null, stdout=subprocess.PIPE, stderr=null, check=False)

    return run


def _globbing(root: Path, **arguments: object) -> Work:
    files: Workspace = workspace(root)

    def run() -> None:
        call_tool(files, "glob", arguments)

    return run


def _grepping(root: Path, **arguments: object) -> Work:
    files: Workspace = workspace(root)

    def run() -> None:
        call_tool(files, "grep", arguments)

    return run


def by_name() -> Iterator[Result]:
    """Files by name, against fd and rg, everything else as they have it."""
    root = tree()
    fd, rg = program("fdfind", "fd"), program("rg")
    every = _globbing(root, pattern="**/*.py", sort="path")
    newest = _globbing(root, pattern="**/*.py")
    below = _globbing(root, pattern="copy0/pydantic/**/*.py")
    found = _running(root, fd, "--type=f", "-g", "*.py")
    yield compare("G1 glob of 100,000 files, to fd", every, found, target=1.1, rounds=5)
    ordered = _running(root, rg, "--no-config", "--files", "--sort=path", "-g", "*.py")
    yield compare("G1 the same in the same order, to rg --sort=path", every, ordered, target=1.1, rounds=5)
    sorted_by_time = _running(root, rg, "--no-config", "--files", "--sortr=modified", "-g", "*.py")
    yield compare("G1 newest first, to rg --sortr=modified", newest, sorted_by_time, target=0.8, rounds=5)
    listed = _running(root, rg, "--no-config", "--files", "-g", "copy0/pydantic/**/*.py")
    yield compare("G1 below a literal prefix, to rg from the root", below, listed, target=0.1, rounds=5)


def by_line() -> Iterator[Result]:
    """Lines by pattern, against rg and git grep over the same files."""
    root = tree()
    rg = ripgrep_binary()
    if rg is None:
        raise NotHere("rg is not installed")
    raw = _running(root, rg, *_LINES, "class \\w+Error")
    every = _grepping(root, pattern="class \\w+Error", limit=10_000)
    yield compare("G2 grep of 100,000 files, 10,000 lines shown, to raw rg", every, raw, target=1.3, rounds=5)
    ordered = _running(root, rg, *_LINES, "--sort=path", "class \\w+Error")
    yield compare("G2 the same in the same order, to rg --sort=path", every, ordered, target=1.15, rounds=5)
    many = _running(root, rg, *_LINES, "self")
    first = _grepping(root, pattern="self", limit=100, exact_total=False)
    yield compare("G2 first 100 of many, to raw rg", first, many, target=0.1, rounds=5)
    counted = _grepping(root, pattern="self", limit=100)
    yield compare("G2 first 100 of many and how many there are, to raw rg", counted, many, target=None, rounds=5)
    few = _grepping(root, pattern="shlex.quote")
    raw_few = _running(root, rg, *_LINES, "shlex.quote")
    yield compare("G2 few hits, to raw rg", few, raw_few, target=1.1, rounds=5)
    told = _running(root, rg, *_LINES, "--stats", "--debug", f"--max-filesize={1 << 30}", "shlex.quote")
    yield compare("G2 rg that tells what it passes over, to raw rg", told, raw_few, target=None, rounds=5)
    ordered = _running(root, rg, *_LINES, "--sort=path", "shlex.quote")
    yield compare("G2 few hits in the same order, to rg --sort=path", few, ordered, target=1.15, rounds=5)
    git = _running(root, program("git"), "grep", "--untracked", "-n", "-F", "shlex.quote")
    yield compare("G2 few hits, to git grep --untracked", few, git, target=1.15, rounds=3)
    files = ["-g", "*.py"]
    chosen = _grepping(root, pattern="shlex.quote", glob="*.py")
    raw_chosen = _running(root, rg, *_LINES, *files, "shlex.quote")
    yield compare("G2 few hits in *.py, to raw rg -g", chosen, raw_chosen, target=1.1, rounds=5)
    names = partial(_names, root, ".py")
    yield compare("G2 reading the names in Python, to raw rg -g", names, raw_chosen, target=None, rounds=5)
    ordered = _running(root, rg, *_LINES, "--sort=path", *files, "shlex.quote")
    yield compare("G2 few hits in *.py in the same order, to rg --sort=path", chosen, ordered, target=1.15, rounds=5)
    hidden = _grepping(root, pattern="shlex.quote", include_hidden=True)
    raw_hidden = _running(root, rg, *_LINES, "--hidden", "-g", "!.git", "shlex.quote")
    yield compare("G2 few hits in hidden files too, to raw rg", hidden, raw_hidden, target=1.1, rounds=5)
    folder = "copy0/pip"
    little = _grepping(root, pattern="def __init__", path=folder)
    raw_little = _running(root / folder, rg, *_LINES, "def __init__")
    yield compare("G2 in a folder of 500 files, to raw rg", little, raw_little, target=None, rounds=9)
    raw_old = _running(root, program("/usr/bin/rg", "rg"), "--no-config", "-n", *files, "shlex.quote")
    python = _without_ripgrep(root, "shlex.quote", "*.py")
    yield compare("G3 grep without rg, literal, to the system's rg", python, raw_old, target=1.5, rounds=3)
    floor = partial(_read_and_look, root, b"shlex.quote", ".py")
    yield compare(
        "G3 reading the files and looking in Python, to the system's rg", floor, raw_old, target=None, rounds=3
    )


def _without_ripgrep(root: Path, pattern: str, glob: str) -> Work:
    files = workspace(root)

    def run() -> None:
        query = TextQuery(pattern=pattern, glob=glob)
        search_text(LocalDisk(root), query, visible=files.paths, engine="python")

    return run


def _read_and_look(root: Path, literal: bytes, ending: str) -> None:
    """Read all files and search them, without `.gitignore`, binary files and lines: the least work on one core."""
    found = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(ending):
                descriptor = os.open(f"{folder}/{name}", os.O_RDONLY)
                try:
                    found += literal in os.read(descriptor, os.fstat(descriptor).st_size)
                finally:
                    os.close(descriptor)
    if not found:
        raise RuntimeError("nothing found")


def _names(root: Path, ending: str) -> None:
    if not sum(name.endswith(ending) for _, _, names in os.walk(root) for name in names):
        raise RuntimeError("nothing found")


def memory() -> Iterator[Result]:
    """Memory for a search of 100,000 files, beyond that for 100."""
    root = tree()
    for id, what, tool, arguments in (
        ("G1", "glob of 100,000 files, newest first", "glob", {"pattern": "**/*", "limit": 10}),
        ("G2", "grep of 100,000 files, half of which match", "grep", {"pattern": "self", "limit": 10}),
    ):
        yield measure(
            f"{id} memory, {what}", partial(_growth, root, tool, arguments), target=None, unit="MiB", rounds=2
        )


def _growth(root: Path, tool: str, arguments: dict[str, object]) -> float:
    few, every = (peak_memory(_SEARCH, str(root), tool, json.dumps(arguments | area)) for area in _AREAS)
    return every - few


_AREAS: tuple[dict[str, object], ...] = ({"path": "copy0/pydantic"}, {})
_SEARCH = """
import json, sys
from pathlib import Path
from jupyter_fstools import call_tool
from tests.benchmarks.samples import workspace
call_tool(workspace(Path(sys.argv[1])), sys.argv[2], json.loads(sys.argv[3]))
"""
BENCHMARKS = {"G1": by_name, "G2": by_line, "Gmemory": memory}
