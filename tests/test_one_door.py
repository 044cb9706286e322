"""Only the workspace writes: read from the source, so that no later line opens a second door."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import jupyter_fstools

PACKAGE = Path(jupyter_fstools.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MAY_WRITE_FILES = ("backends/", "stores/")
"""The folders that write to the disk: the user's files, and the store's own."""
WRITE_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL", "O_TMPFILE"}
CHANGES_THE_DISK = {
    "os": {
        *("chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "makedirs", "mkdir", "mkfifo", "mknod"),
        *("remove", "removedirs", "removexattr", "rename", "renames", "replace", "rmdir", "setxattr", "symlink"),
        *("truncate", "unlink", "utime", "write", "pwrite", "writev", "sendfile", "copy_file_range"),
    },
    "shutil": {"copy", "copy2", "copyfile", "copyfileobj", "copymode", "copystat", "copytree", "move", "rmtree"},
    "tempfile": {"NamedTemporaryFile", "mkstemp", "TemporaryFile"},
}
METHODS_OF_PATHS = {"write_text", "write_bytes", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "mkdir"}
ALLOWED = {
    "own_folders.py": {"mkdir"},  # The folder of the locks, in Jupyter's data directory.
    # A client's configuration, which a person asks a shell to write.
    "command_line/connect.py": {"mkdir", "open", "replace", "unlink"},
}


def name_of(module):
    return module.relative_to(PACKAGE).as_posix()


@cache
def calls(module):
    tree = ast.parse(module.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def dotted(node):
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else "…"


def is_write_to_a_backend(node):
    """`….backend.write(…)`, or any call that names a version to match."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("write", "delete"):
        return False
    on_a_backend = "backend" in dotted(node.func.value).split(".")[-1].lower()
    return on_a_backend or any(keyword.arg == "if_match" for keyword in node.keywords)


def is_change_by_a_holder(node):
    """`….holder.apply(…)` or `….holder.remove(…)`."""
    return isinstance(node.func, ast.Attribute) and re.fullmatch(r".*\bholder\.(apply|remove)", dotted(node.func))


def changes_the_disk(node):
    called = dotted(node.func)
    *before, last = called.split(".")
    if last == "open" and called != "os.open":
        # The mode is the second argument of a function, and the first of a path's method.
        second = not before or before[-1] in ("io", "codecs", "gzip", "bz2", "lzma")
        modes = [*node.args[second : second + 1], *(one.value for one in node.keywords if one.arg == "mode")]
        return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes)
    if called == "os.open":
        return bool(WRITE_FLAGS & {dotted(part).split(".")[-1] for part in ast.walk(node)
                                   if isinstance(part, (ast.Name, ast.Attribute))})  # fmt: skip
    return last in CHANGES_THE_DISK.get(before[-1] if before else "", ()) or (bool(before) and last in METHODS_OF_PATHS)


def test_only_the_workspace_has_holders_write():
    """Holders of a file's content write it, through a backend or a page, for the workspace alone."""
    found = {name_of(module): calls(module) for module in MODULES}
    doors = {name for name, nodes in found.items() if any(map(is_write_to_a_backend, nodes))}
    assert {name for name in doors if not name.startswith(("backends/", "testing/", "open_documents/"))} == set()
    assert {name for name, nodes in found.items() if any(map(is_change_by_a_holder, nodes))} == {"gate/write_ahead.py"}


def test_it_writes_in_one_place():
    """Only `carry_out` and the functions that take its writes back lead there; each takes drafts."""
    tree = ast.parse((PACKAGE / "gate/write_ahead.py").read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {function.name: list(ast.walk(function)) for function in functions}
    writes = {name for name, nodes in inside.items() if any(
        isinstance(node, ast.Call) and is_change_by_a_holder(node) for node in nodes)}  # fmt: skip
    assert writes == {"_write"}
    callers = {name for name, nodes in inside.items() if any(
        isinstance(node, ast.Call) and dotted(node.func) == "self._write" for node in nodes)}  # fmt: skip
    first = {function.name: ast.unparse(function.args.args[1]) for function in functions if function.name in callers}
    assert first == {"carry_out": "work: Work", "put_back": "draft: Draft", "_take_one_back": "landed: Landed"}


def test_only_the_gate_carries_out():
    """Commits of drafts, approvals of proposals, and what a killed writer left half done."""
    users = {name_of(module) for module in MODULES if "WriteAhead(" in module.read_text("utf-8")}
    assert users == {"gate/workspace.py"}


def test_only_the_gate_makes_drafts():
    makers = {name_of(module) for module in MODULES for node in calls(module) if dotted(node.func) == "Draft"}
    assert makers == {"gate/held_files.py", "gate/workspace.py", "gate/write_ahead.py", "gate/unfinished.py"}


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_nothing_else_opens_a_file_for_writing(module):
    """Outside the backends and stores no line changes the disk."""
    name = name_of(module)
    if name.startswith(MAY_WRITE_FILES):
        return
    found = [dotted(node.func) for node in calls(module) if changes_the_disk(node)]
    allowed = ALLOWED.get(name, set())
    assert [one for one in found if one.split(".")[-1] not in allowed] == []


DOORS = [
    "open('a', 'w')",
    "open(p, mode='rb+')",
    "p.open('ab')",
    "io.open(p, 'x')",
    "os.open(p, os.O_RDWR | os.O_CREAT)",
    "os.replace(a, b)",
    "Path(p).write_text('')",
    "file.unlink()",
    "shutil.rmtree(p)",
    "folder.mkdir()",
    "tempfile.mkstemp()",
]
NO_DOORS = ["open('w')", "open(p, 'rb')", "p.open('rb')", "os.open(p, os.O_RDONLY)", "text.replace(a, b)", "d.copy()"]


@pytest.mark.parametrize("line", DOORS + NO_DOORS)
def test_this_test_knows_a_door_when_it_sees_one(line):
    assert changes_the_disk(ast.parse(line).body[0].value) == (line in DOORS)
