"""Names the Jupyter permission (authorizer) that a tool call needs."""

from __future__ import annotations

from typing import NamedTuple

from ..tools import tool_named


class Permission(NamedTuple):
    """A permission that Jupyter's authorizer is asked for."""

    action: str
    resource: str


READ = Permission("read", "contents")
WRITE = Permission("write", "contents")
EXECUTE = Permission("execute", "terminals")
"""To run commands, or approve them, takes the right to use terminals; the right to change files is not enough."""
UNDO_OTHERS = Permission("write", "changes_of_others")
"""Needed besides `WRITE` to undo a change of another user in a shared journal."""


def permission_of(name: str, prefix: str = "") -> Permission:
    """The permission that a call needs; a name that no tool has needs as much as a tool that writes.

    Args:
        name: the tool's, with or without the prefix.
        prefix: the workspace's `tool_prefix`.
    """
    tool = tool_named(name, prefix)
    if tool is None:
        return WRITE
    return EXECUTE if tool.runs_commands else READ if tool.reads_only else WRITE
