"""Lists the tools and calls them: `TOOLS` and `call_tool()`."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from ..errors import Denied, Disabled, FsToolsError, Invalid, OutsideRoot, TimedOut, Unsaved
from ..gate.policy import checked_path
from ..gate.workspace import Workspace
from ..journal.decisions import decided_since, follow
from ..stores.records import Refusal
from .arguments import OTHER_NAMES, Arguments, refused
from .edit_file import EDIT_FILE
from .edit_notebook import EDIT_NOTEBOOK
from .execute import EXECUTE
from .glob import GLOB
from .grep import GREP
from .list_files import LIST_FILES
from .read_file import READ_FILE
from .read_notebook import READ_NOTEBOOK
from .tool import Tool, ToolResult
from .undo import UNDO
from .write_file import WRITE_FILE

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (LIST_FILES, GLOB, GREP, READ_FILE, WRITE_FILE, EDIT_FILE, READ_NOTEBOOK, EDIT_NOTEBOOK, UNDO, EXECUTE)
}
"""Every tool by its name, without the prefix that a workspace may give them."""
_SECRETIVE = (Denied.code, OutsideRoot.code)
_UNTOLD = "what was asked for is not told here"
"""Replaces a message that could reveal a path that the workspace's users must not know of."""

_MOST_CHARACTERS = 500
_LONGEST_NAME = 80

_log = logging.getLogger("jupyter_fstools")


def available_tools(workspace: Workspace) -> dict[str, Tool]:
    """The tools that exist in a workspace, by the names they have there.

    A read-only workspace has no tools that write; tools that run commands must be enabled.
    """
    return {workspace.tool_prefix + name: tool for name, tool in TOOLS.items() if _is_available(workspace, tool)}


def tool_named(name: str, prefix: str) -> Tool | None:
    """A tool by its name, with or without the workspace's prefix; None if there is no tool of that name."""
    return TOOLS.get(name) or TOOLS.get(name.removeprefix(prefix))


def find_tool(workspace: Workspace, name: str) -> Tool:
    """A tool by its name (with or without the workspace's prefix).

    Raises:
        Denied: the caller's token does not allow the tool.
        Disabled: the tool is switched off in this workspace.
        Invalid: there is no tool of that name.
    """
    tool = tool_named(name, workspace.tool_prefix)
    if tool is not None and _is_available(workspace, tool):
        return tool
    tools = available_tools(workspace)
    if tool is None:
        raise Invalid(f"there is no tool {name[:80]!r}", hint=f"The tools are {', '.join(tools)}.", field="tool")
    if not _granted(workspace, tool):
        raise Denied(
            f"{name} is not among the tools that this token allows (not modified)",
            hint=f"It allows {', '.join(tools)}; a person can make another token.",
        )
    if tool.runs_commands and not workspace.rules.enable_execute:
        raise Disabled(
            f"{name} is switched off here",
            hint="Use the other tools; an administrator can set enable_execute, where the server offers terminals.",
        )
    raise Disabled(
        f"{name} is switched off here: the workspace is read-only (not modified)", hint="Use the tools that read."
    )


def _is_available(workspace: Workspace, tool: Tool) -> bool:
    return (
        (tool.reads_only or not workspace.policy.read_only)
        and (workspace.rules.enable_execute or not tool.runs_commands)
        and _granted(workspace, tool)
    )


def _granted(workspace: Workspace, tool: Tool) -> bool:
    grant = workspace.paths.grant
    return grant is None or grant.allows_tool(tool.name, reads_only=tool.reads_only, runs_commands=tool.runs_commands)


def call_tool(
    workspace: Workspace,
    name: str,
    arguments: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    /,
    **more: Any,
) -> ToolResult:
    """Call a tool; every interface uses this function.

    Args:
        workspace: the files, for one reader.
        name: the tool's name.
        arguments: its arguments: a mapping (decoded JSON), or a function that returns one or raises a refusal.
        more: arguments by keyword; they replace those of the mapping.

    Raises:
        FsToolsError: the call was refused. A refused change says that nothing was modified; the hint names tools as
            the call did, with the workspace's prefix or without it.
    """
    tool: Tool | None = None
    name = _checked_name(name)
    given: dict[str, Any] = dict(more)
    try:
        tool = find_tool(workspace, name)
        workspace.called()
        given = {**_mapping(arguments), **more}
        result = tool.run(workspace, _checked(tool, given))
    except FsToolsError as refusal:
        if tool is not None and not tool.reads_only:
            refusal.say_unmodified()
        if not isinstance(refusal, TimedOut) or refusal.lock is None:  # Otherwise the call is restarted.
            remember(workspace, name, given, refusal)
            # For a file that is open elsewhere, the call may be repeated by its server, which then reports decisions.
            if not isinstance(refusal, Unsaved) and (decided := decided_since(workspace)):
                refusal.details["since_last_call"] = decided
        if workspace.tool_prefix and name.startswith(workspace.tool_prefix):
            from .schemas import prefixed_hint

            refusal.hint = prefixed_hint(refusal.hint, workspace.tool_prefix)
        raise
    if result.change is not None and result.change.status == "proposed":
        follow(workspace, result.change)
    return result.after(decided_since(workspace))


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise Invalid(f"the tool's name is a {type(name).__name__}", hint="Name it by a string.", field="tool")
    return name


def _mapping(arguments: Any) -> Mapping[str, Any]:
    given = arguments() if callable(arguments) else {} if arguments is None else arguments
    if not isinstance(given, (dict, Mapping)):  # `dict` first: checking the abstract class takes longer.
        raise Invalid(f"the arguments are a {type(given).__name__}", hint="Send an object.", field="arguments")
    return given


def _checked(tool: Tool, given: dict[str, Any]) -> Arguments:
    try:
        return tool.arguments.model_validate(given)
    except ValidationError as error:
        raise refused(error, tool.arguments) from None
    except RecursionError:
        raise Invalid("the arguments are nested too deeply", hint="Send values that are nested less deeply.") from None


__all__ = ["TOOLS", "Tool", "ToolResult", "available_tools", "call_tool", "find_tool", "tool_named"]


def remember(workspace: Workspace, tool: str, arguments: Mapping[str, Any], refusal: FsToolsError) -> None:
    """Keep a refusal in the store; never raises, as the caller must get the refusal even if the store fails.

    Args:
        workspace: the workspace of the call.
        tool: the tool's name, as it was called.
        arguments: the call's arguments.
        refusal: the refusal that it raised.
    """
    try:
        named = _named(arguments)
        path = _below_root(workspace, named) if named is not None and refusal.code not in _SECRETIVE else None
        secret = refusal.code in _SECRETIVE or (named is not None and path is None)
        told = Refusal(
            key=workspace.paths.key_of(path or ""),
            path=path or None,
            user=workspace.reader.user,
            session=workspace.reader.session,
            tool=tool[:_LONGEST_NAME],
            code=refusal.code,
            message=_UNTOLD if secret else _told(workspace, refusal.message),
            hint="" if secret else _told(workspace, refusal.hint),
            at=workspace.store.now(),
        )
        workspace.store.add_refusal(told)
    except Exception as problem:  # The store may raise anything, as on a broken disk.
        _log.debug("A refusal of %s was not remembered: %s", tool[:_LONGEST_NAME], problem)


def _named(arguments: Mapping[str, Any]) -> str | None:
    """The path among the arguments, if it could be one."""
    named = [value for name, value in arguments.items() if OTHER_NAMES.get(name, name) == "path"]
    try:
        return checked_path(named[0]) if named and isinstance(named[0], str) else None
    except FsToolsError:
        return None


def _below_root(workspace: Workspace, given: str) -> str | None:
    """The path relative to the root ("" for the root itself), if it may be shown; without access to the disk."""
    path = posixpath.normpath(workspace.paths.path_of(given) or given)
    if path in (".", workspace.paths.key_of("")):
        return ""
    if path == ".." or path.startswith(("/", "../")):
        return None
    return path if workspace.policy.may_read(path, workspace.paths.key_of(path)) else None


def _told(workspace: Workspace, message: str) -> str:
    # The root's place on the disk is not revealed, as in changes.
    message = message.replace(workspace.paths.key_of("").rstrip("/") + "/", "")
    return message if len(message) <= _MOST_CHARACTERS else f"{message[: _MOST_CHARACTERS - 1]}…"
