"""Defines a tool and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

from ..backends.protocol import OpenFile
from ..gate.workspace import Workspace
from ..open_documents.browser import LastKnownFile
from ..stores.records import Change
from .arguments import Arguments

Block = dict[str, Any]
"""An MCP content block: `{"type": "text", "text": ...}` or `{"type": "image", "data": <base64>, "mimeType": ...}`."""

_LAST_KNOWN = (
    "The file is open in a browser with changes that are not saved, and the browser does not answer: this is its last "
    "known content. It cannot be changed until the browser answers or the person saves it."
)

_T = TypeVar("_T")


class ToolResult:
    """The result of a call. It is not a pydantic model, as content and data are built on first use.

    Args:
        tool: the tool that answered.
        content: the MCP content blocks that a model is shown, or a function that builds them.
        data: the same as structured data, or a function that builds it.
        change: the change (with its `FileDiff`), for people and panels; never repeated in `content`.
    """

    def __init__(
        self,
        tool: str,
        content: list[Block] | Callable[[], list[Block]],
        data: dict[str, Any] | Callable[[], dict[str, Any]],
        change: Change | None = None,
    ) -> None:
        self.tool = tool
        self.change = change
        self._content, self._data = content, data

    def __getstate__(self) -> dict[str, Any]:
        # The functions that build content and data cannot be pickled.
        return self.__dict__ | {"_content": self.content, "_data": self.data}

    @cached_property
    def content(self) -> list[Block]:
        """The blocks that a model is shown."""
        return _built(self._content)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The same as structured data."""
        return _built(self._data)

    def as_of(self, opened: OpenFile) -> ToolResult:
        """The same, with a note if the content shown is only the last known one of a document."""
        return self._saying(_LAST_KNOWN, last_known=True) if isinstance(opened, LastKnownFile) else self

    def after(self, decided: str) -> ToolResult:
        """The same, with the decisions of people since the session's last call, if any."""
        return self._saying(decided, since_last_call=decided) if decided else self

    def _saying(self, text: str, **facts: Any) -> ToolResult:
        return ToolResult(self.tool, lambda: [*self.content, text_block(text)], lambda: self.data | facts, self.change)

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
        description: for assistants.
        arguments: the pydantic model of its arguments.
        run: does the work.
        reads_only: it changes no file.
        destructive: it removes text from a file (the journal keeps it).
        idempotent: a second call with the same arguments has no further effect.
        runs_commands: the gate does not control its effects; it exists only where that is allowed.
        answer: gives the type of its `data`; called only for schemas, as models take a while to build.
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
    answer: Callable[[], Any] = lambda: dict[str, Any]


def answer_named(name: str) -> Callable[[], Any]:
    """A function that returns a type of `answers`, imported on its first call."""
    return lambda: getattr(import_module(".answers", __package__), name)


def _built(value: _T | Callable[[], _T]) -> _T:
    return value() if callable(value) else value


def text_block(text: str) -> Block:
    """A content block of text."""
    return {"type": "text", "text": text}
