"""Narrows a workspace to some tools and paths."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

from ..globs.braces import expand_braces
from .policy import PathRules, folded

Tools = Literal["read", "write"] | Sequence[str]


class Grant:
    """What somebody may do of what a workspace can do.

    Args:
        tools: "read" (those that only read), "write" (those that write too, but no commands), or names.
        paths: rules as in `.gitignore` for files and folders; none: everything.

    Raises:
        Invalid: a path is no rule.
    """

    def __init__(self, tools: Tools, paths: Sequence[str] = ()) -> None:
        self._tools = tools
        self._rules = PathRules(paths) if paths else None
        self._ways = [_way(pattern) for path in paths for pattern in expand_braces(path) if not pattern.startswith("!")]

    @property
    def all_paths(self) -> bool:
        """No path is left out."""
        return self._rules is None

    def allows_tool(self, name: str, *, reads_only: bool, runs_commands: bool) -> bool:
        """Whether a tool may be called."""
        if isinstance(self._tools, str):
            return not runs_commands and (reads_only or self._tools == "write")
        return name in self._tools

    def covers(self, path: str) -> bool:
        """Whether a file or folder (by its canonical path) may be read and changed."""
        return self._rules is None or self._rules.hold_for(path)

    def leads_on(self, folder: str) -> bool:
        """Whether something below a folder can be covered: such a folder may be gone through."""
        names = folded(folder).split("/") if folder else []
        return self.covers(folder) or any(_is_on(way, names) for way in self._ways)


def _way(pattern: str) -> list[str]:
    """The names along a pattern; one without a slash holds at any depth."""
    inner = folded(pattern).strip().rstrip("/")
    return inner.lstrip("/").split("/") if "/" in inner else ["**", inner]


def _is_on(way: list[str], names: list[str]) -> bool:
    for part, name in zip(way, names, strict=False):
        if part == "**":
            return True
        if not fnmatchcase(name, part):
            return False
    return len(names) < len(way)
