"""Gives AI assistants and people safe file and notebook tools in Jupyter."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .errors import FsToolsError
    from .gate.workspace import Workspace
    from .python_api import open_workspace, tool_schemas
    from .tools import ToolResult, call_tool

# Everything is imported on first use, so that a kernel which never uses the tools loses only a millisecond.
_HOMES = {
    "FsToolsError": "errors",
    "ToolResult": "tools",
    "Workspace": "gate.workspace",
    "call_tool": "tools",
    "open_workspace": "python_api",
    "tool_schemas": "python_api",
}

__all__ = [
    "FsToolsError",
    "ToolResult",
    "Workspace",
    "__version__",
    "call_tool",
    "open_workspace",
    "tool_schemas",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .server.extension import FsToolsExtension

    return [{"module": "jupyter_fstools", "app": FsToolsExtension}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyter-fstools"}]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the `%fs` and `%%fs` magics."""
    from .kernel.loading import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove the magics again."""
    from .kernel.loading import unload

    unload(shell)
