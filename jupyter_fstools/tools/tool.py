"""Defines a tool and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from ..gate.workspace import Workspace
from ..stores.records import Change
from .arguments import Arguments

Block = dict[str, Any]
"""An MCP content block: `{"type": "text", "text": ...}` or `{"type": "image", "data": <base64>, "mimeType": ...}`."""


class ToolResult(BaseModel):
    """What a call answers.

    Attributes:
        tool: which tool answered.
        content: MCP content blocks, what a model is shown.
        data: the same as structure.
        change: what was changed (with its `FileDiff`), for people and panels; never repeated in `content`.
    """

    tool: str
    content: list[Block]
    data: dict[str, Any] = Field(default_factory=dict)
    change: Change | None = None

    @property
    def text(self) -> str:
        """The text blocks, one after the other."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: the same word in Python, REST, MCP and schemas.
        title: for people.
        description: what an assistant reads.
        arguments: the pydantic model of what it takes.
        run: does the work.
        reads_only: it changes no file.
        destructive: what it replaces is gone from the file (the journal keeps it).
        idempotent: calling it twice is calling it once.
        runs_commands: what it does is not held by the gate; it exists only where that is allowed.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Workspace, Any], ToolResult]
    reads_only: bool
    destructive: bool = False
    idempotent: bool = False
    runs_commands: bool = False


def text_block(text: str) -> Block:
    """A content block of text."""
    return {"type": "text", "text": text}
