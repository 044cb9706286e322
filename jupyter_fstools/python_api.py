"""Opens a workspace, calls tools and gives schemas to Python code."""

from __future__ import annotations

import os
from typing import Any, Literal

from traitlets import TraitError
from traitlets.config import Config

from .config import FsToolsConfig, config_with_handed_settings
from .errors import Invalid
from .gate.policy import checked_path
from .gate.workspace import Workspace
from .sessions import DEFAULT_SESSION, checked_session, system_user
from .stores.records import Reader
from .tools import TOOLS, Tool, available_tools
from .tools.schemas import as_schema

SchemaFormat = Literal["mcp", "openai", "anthropic"]


def open_workspace(root: str | os.PathLike[str] = ".", session: str = DEFAULT_SESSION, **settings: Any) -> Workspace:
    """Open a folder for the tools.

    Args:
        root: the folder, or an address as the setting `root` takes it; no tool leaves it.
        session: the session whose receipts count; it is shared with `%fs` and REST if they use the same user and name.
        settings: any setting of `FsToolsConfig`, such as `read_only=True` or `store="memory:"`.

    Raises:
        Invalid: a session name or setting is not valid; NotFound, NotADirectory: the root is not a folder.
    """
    unknown = sorted(set(settings) - set(FsToolsConfig.class_trait_names(config=True)))
    if unknown:
        raise Invalid(f"unknown setting {unknown[0]!r}", hint="See FsToolsConfig for the settings.", field=unknown[0])
    try:
        folder = checked_path(os.fsdecode(root))
        configured = config_with_handed_settings(Config({"FsToolsConfig": {**settings, "root": folder}}))
    except TypeError:
        raise Invalid(f"root is a {type(root).__name__}", hint="Name a folder.", field="root") from None
    except TraitError as error:
        raise Invalid(str(error), hint="Correct the setting.") from None
    return configured.workspace(Reader(system_user(), checked_session(session)))


def tool_schemas(
    format: SchemaFormat = "mcp",
    workspace: Workspace | None = None,
) -> list[dict[str, Any]]:
    """The tools' names, descriptions and argument schemas, in the form that a protocol takes.

    Args:
        format: "mcp" (`tools/list` entries), "openai" (function calling) or "anthropic" (tool use).
        workspace: limits the result to the tools of this workspace, with its prefix; None: all tools.

    Raises:
        Invalid: the format is unknown.
    """
    tools: dict[str, Tool] = available_tools(workspace) if workspace is not None else dict(TOOLS)
    return [as_schema(name, tool, format) for name, tool in tools.items()]
