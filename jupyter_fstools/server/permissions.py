"""Maps a tool call to the Jupyter permission it needs."""

from __future__ import annotations

from typing import NamedTuple

from ..tools import TOOLS


class Permission(NamedTuple):
    """What Jupyter's authorizer is asked for."""

    action: str
    resource: str


READ = Permission("read", "contents")
WRITE = Permission("write", "contents")
EXECUTE = Permission("execute", "terminals")
"""Who may change files may not therefore run commands, nor approve them: that takes the right to use terminals."""


def permission_of(name: str, prefix: str = "") -> Permission:
    """What a call needs; for a name that no tool has as much as for one that writes.

    Args:
        name: the tool's, with or without the prefix.
        prefix: the workspace's `tool_prefix`.
    """
    tool = TOOLS.get(name.removeprefix(prefix)) or TOOLS.get(name)
    if tool is None:
        return WRITE
    return EXECUTE if tool.runs_commands else READ if tool.reads_only else WRITE
