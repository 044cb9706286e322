"""The tools, and the one call through which every surface uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ..errors import Disabled, FsToolsError, Invalid
from ..workspace import Workspace
from .arguments import refused
from .edit_file import EDIT_FILE
from .edit_notebook import EDIT_NOTEBOOK
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
    for tool in (LIST_FILES, GLOB, GREP, READ_FILE, WRITE_FILE, EDIT_FILE, READ_NOTEBOOK, EDIT_NOTEBOOK, UNDO)
}
"""Every tool by its name, without the prefix that a workspace may give them."""


def available_tools(workspace: Workspace) -> dict[str, Tool]:
    """The tools that exist in a workspace, by the names they have there: none that writes where it is read-only."""
    return {
        workspace.tool_prefix + name: tool
        for name, tool in TOOLS.items()
        if tool.reads_only or not workspace.policy.read_only
    }


def find_tool(workspace: Workspace, name: str) -> Tool:
    """A tool by its name (with or without the workspace's prefix).

    Raises:
        Disabled: there is such a tool, but not here.
        Invalid: there is none.
    """
    tools = available_tools(workspace)
    tool = tools.get(name) or tools.get(workspace.tool_prefix + name)
    if tool is not None:
        return tool
    if name in TOOLS or name.removeprefix(workspace.tool_prefix) in TOOLS:
        raise Disabled(f"{name} is switched off here: the workspace is read-only", hint="Use the tools that read.")
    raise Invalid(f"there is no tool {name[:80]!r}", hint=f"The tools are {', '.join(tools)}.", field="tool")


def call_tool(
    workspace: Workspace, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any
) -> ToolResult:
    """Call a tool: the one way for every surface.

    Args:
        workspace: whose files, and for which reader.
        name: the tool's name.
        arguments: its arguments, as a mapping (what comes as JSON) ...
        more: ... or by keyword.

    Raises:
        FsToolsError: the call was refused. A refused change says that nothing was modified.
    """
    tool = find_tool(workspace, name)
    if arguments is not None and not isinstance(arguments, Mapping):
        raise Invalid(f"the arguments are a {type(arguments).__name__}", hint="Send an object.", field="arguments")
    try:
        checked = tool.arguments.model_validate({**(arguments or {}), **more})
    except ValidationError as error:
        refusal: FsToolsError = refused(error)
        raise (refusal if tool.reads_only else _unmodified(refusal)) from None
    except RecursionError:
        raise Invalid("the arguments are nested too deeply", hint="Send plain values.") from None
    try:
        return tool.run(workspace, checked)
    except FsToolsError as refusal:
        if not tool.reads_only:
            _unmodified(refusal)
        raise


def _unmodified(refusal: FsToolsError) -> FsToolsError:
    # Every refused change says so in the same words; an assistant must not wonder what state the file is in.
    if "not modified" not in refusal.message:
        refusal.message = f"{refusal.message} (not modified)"
        refusal.args = (refusal.message,)
    return refusal


__all__ = ["TOOLS", "Tool", "ToolResult", "available_tools", "call_tool", "find_tool"]
