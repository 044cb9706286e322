"""Three real source trees under git: the same files as git and ripgrep list, the same lines as ripgrep finds."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search.glob import find_files
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import TextQuery

from .conftest import git_files, rg_files, ripgrep

PYTHON_RULES = """__pycache__/
*.py[cod]
*$py.class
*.so
build/
/dist
*.egg-info/
.coverage*
!.coveragerc
docs/_build/
"""
FRONT_END_RULES = """node_modules
lib/
!src/lib/
*.map
/static/**/*.js
!/static/favicons/**
*.tsbuildinfo
.yarn/*
!.yarn/releases
"""
DATA_RULES = """/data/**
!/data/*/
!/data/**/*.md
*.[oa]
!important.o
**/tmp/**/cache
\\#*#
*~
"""
REPOSITORIES = {
    "jupyter_server": (
        PYTHON_RULES,
        ["services/.gitignore:/contents/\n!handlers.py\n", "auth/.gitignore:*.py\n!login.py\n"],
    ),
    "nbconvert": (FRONT_END_RULES, ["exporters/.gitignore:/tests\n*.pyc\n", "src/lib/a.js:x\n", "lib/b.js:x\n"]),
    "tornado": (DATA_RULES, ["data/x/readme.md:x\n", "data/x/y.csv:x\n", "important.o:x\n", "a.o:x\n", "b~:x\n"]),
}


@pytest.fixture(scope="module", params=REPOSITORIES)
def repository(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = importlib.util.find_spec(request.param)
    assert spec is not None
    assert spec.origin is not None
    root = (tmp_path_factory.mktemp("repositories") / request.param).resolve()
    shutil.copytree(Path(spec.origin).parent, root)
    rules, more = REPOSITORIES[request.param]
    (root / ".gitignore").write_text(rules)
    for each in more:
        path, content = each.split(":", 1)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_the_files_are_those_of_git_and_ripgrep(repository: Path) -> None:
    """Not counting the folders that are passed over by default."""
    found = find_files(LocalDisk(repository), "**", limit=10**9, include_hidden=True)
    ours = {file.path for file in found.files}
    assert len(ours) > 50
    assert ours == _kept(git_files(repository)) == _kept(rg_files(repository))


@pytest.mark.parametrize("engine", ["ripgrep", "python"])
@pytest.mark.parametrize(
    "pattern", ["import", r"^\s*def \w+\(self", r"(?i)\bTODO\b|raise \w+Error", r"[^\x00-\x7f]", "x{3,}"]
)
def test_the_lines_are_those_of_ripgrep(repository: Path, pattern: str, engine: str) -> None:
    query = TextQuery(pattern=pattern, limit=10**9, glob="!*.ipynb")
    found = search_text(LocalDisk(repository), query, engine=engine)
    ours = [(match.path, match.line, match.text) for match in found.matches if not match.cut]
    lines = sorted(line for line in _ripgrep_lines(repository, pattern) if len(line[2]) <= query.max_line_length)
    assert ours == lines
    assert found.total == len(found.matches)


def _kept(paths: set[str]) -> set[str]:
    return {path for path in paths if not {"node_modules", "__pycache__", ".git"} & set(path.split("/"))}


def _ripgrep_lines(root: Path, pattern: str) -> list[tuple[str, int, str]]:
    options = [
        "-n",
        "--no-config",
        "--null",
        "--no-heading",
        "--no-ignore-global",
        "--no-ignore-parent",
        "--no-messages",
    ]
    left_out = ["-g", "!*.ipynb", "-g", "!node_modules", "-g", "!__pycache__"]
    found = subprocess.run(
        [ripgrep(), *options, *left_out, "-e", pattern, "."], cwd=root, capture_output=True, check=False
    )
    rows = re.findall(rb"\./([^\0]+)\0(\d+):(.*)\n", found.stdout)
    return [
        (os.fsdecode(path), int(line), text.decode("utf-8", "surrogateescape").removesuffix("\r"))
        for path, line, text in rows
    ]
