"""Defines pages, the documents they have open, and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..content.source import Content, all_of
from ..content.splices import SplicedContent
from ..documents.notebook import NotebookDocument
from ..documents.notebook.operations import notebook_operations
from ..documents.text.spans import spans_of, utf16_length
from ..errors import FsToolsError
from .protocol import Rewrite

Kind = Literal["notebook", "text", "converted", "other"]


class PageGone(Exception):
    """The page has been closed, or its connection was lost, before it answered."""


class Page(Protocol):
    """A page in a browser; messages reach it in the order in which they are sent."""

    @property
    def name(self) -> str:
        """The name of the page, which stays the same after a lost connection."""

    def ask(self, message: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a message that the page answers; raises `PageGone` in the future. From any thread."""

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message without an answer; a page that has gone misses it. From any thread."""

    def close(self) -> None:
        """End all waits for answers over this connection, as the page has a newer one."""


class Answer(BaseModel):
    """The answer of a page; other fields in it are ignored.

    Attributes:
        done: the page did as requested.
        reason: why it did not: `closed`, `hash`, `text`, `busy`, `failed`.
        counter: of the document as it is.
        hash: of the file, where the page has saved it.
        content: of the document: a notebook or a text; None where the asker has that of this `counter`.
        names: what the page calls the notebook's cells.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    done: bool
    reason: Literal["", "closed", "hash", "text", "busy", "caret", "running", "failed"] = ""
    counter: int = 0
    hash: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    content: dict[str, Any] | str | None = None
    names: list[str] = Field(default_factory=list)


@dataclass(eq=False)
class PageDocument:
    """A document in a page.

    Attributes:
        page: the page.
        number: the page's own name for it.
        key: the file (`FileStat.key`).
        kind: decides which operations it accepts; `other` and `converted` accept none. A notebook that jupytext saves
            as a text, or beside one, is `converted`.
        saved: it holds nothing that is not in the file.
        hash: SHA-256 of the file's bytes as it was loaded or saved; None where the page does not know.
        counter: grows with each change.
        is_silent: it did not answer in time, and has not been heard since.
        version: of the file, as the page was last told to look at it (`FileStat.version`).
    """

    page: Page
    number: int
    key: str
    kind: Kind
    saved: bool
    hash: str | None
    counter: int
    is_silent: bool = False
    version: str | None = None

    def ask(self, do: str, **more: Any) -> Future[dict[str, Any]]:
        """Send a message about this document."""
        return self.page.ask({"do": do, "document": self.number, **more})

    def tell(self, do: str, **more: Any) -> None:
        """Send a message about this document that is not answered."""
        self.page.tell({"do": do, "document": self.number, **more})

    def follow(self, version: str) -> None:
        """Have the page look at the file, unless it was told to since the file has this version."""
        if version != self.version:
            self.version = version
            self.tell("follow")

    def answer(self, asked: Future[dict[str, Any]], seconds: float) -> Answer | None:
        """The page's answer; None if none comes within `seconds`, or at once if the last answer did not come either."""
        try:
            told = Answer.model_validate(asked.result(0 if self.is_silent else seconds))
        except TooLate:
            self.is_silent = True
            return None
        except PageGone:
            return Answer(done=False, reason="closed")
        except ValidationError:
            return Answer(done=False, reason="failed")
        self.is_silent = False
        return told


def change_message(kind: Kind, rewrite: Rewrite, names: Sequence[str] | None = None) -> dict[str, Any] | None:
    """The message that tells a document of that kind to change; None where operations cannot express the change.

    Args:
        kind: of the document.
        rewrite: of an existing content.
        names: the page's ids of the cells, if known.
    """
    before = rewrite.before
    assert before is not None
    try:
        if kind == "text":
            if lines_end(before) != lines_end(SplicedContent(before, rewrite.splices)):
                return None  # The page keeps the line endings that it loaded, and would save those.
            length = utf16_length(all_of(before).decode().replace(lines_end(before), "\n"))
            return {"kind": kind, "spans": spans_of(before, rewrite.splices), "length": length}
        if kind == "notebook":
            document = NotebookDocument(before, rewrite.outline)
            if names is not None and len(names) != len(document.cells):
                names = None  # A page's answer is not trusted.
            told = notebook_operations(document, rewrite.splices, names)
            return None if told is None else {"kind": kind, **told.model_dump(mode="json")}
    except (FsToolsError, UnicodeDecodeError):
        pass
    return None


def lines_end(content: Content) -> str:
    """The line ending that JupyterLab detects when it loads a text, and writes for all lines when it saves it."""
    data = all_of(content)
    return "\r\n" if b"\r\n" in data else "\r" if b"\r" in data else "\n"
