"""Checks that what a person decides in detail fits its proposal."""

from __future__ import annotations

from dataclasses import dataclass

from ..content.source import all_of
from ..documents.notebook import NotebookDocument
from ..documents.text.encoding import TextEncoding
from ..errors import Invalid, Stale
from ..gate.draft import Draft
from ..stores.records import Change
from .named_hunks import NamedHunks, require_cells


@dataclass(frozen=True)
class Decision:
    """A person's decision about a proposal in detail; all of it where nothing is named.

    Attributes:
        hunks: the hunks that are carried out.
        content: the text to write instead: a text file's whole text, or sources of cells by their ids.
        reason: for the proposer.
        base: the original of `content`: the file's text, or sources of cells by their ids; None: not checked.
    """

    hunks: NamedHunks | None = None
    content: str | dict[str, str] | None = None
    reason: str | None = None
    base: str | dict[str, str] | None = None

    @property
    def is_partial(self) -> bool:
        """Whether the decision is about less than all of the proposal, or changes its text."""
        return self.hunks is not None or self.content is not None or self.base is not None

    @property
    def named(self) -> NamedHunks | None:
        """The hunks to carry out; a cell that gets another source and has no hunks named is taken as a whole."""
        if not isinstance(self.hunks, dict) or not isinstance(self.content, dict):
            return self.hunks
        return {**self.hunks, **{name: self.hunks.get(name) or "all" for name in self.content}}


def require_form(change: Change, decision: Decision) -> None:
    """Check that `content` has the form of the file: sources of the change's cells for a notebook, else a text.

    Raises:
        Invalid: it has another form, or a character that no text file holds.
    """
    cells, content = change.diff.cells, decision.content
    if isinstance(content, dict):
        if cells is None:
            raise Invalid("content: this file has no cells", hint="Send its whole text.", field="content")
        require_cells(cells, content)
        deleted = {cell.cell_id for cell in cells if cell.action == "delete"}
        if lost := deleted.intersection(content):
            raise Invalid(
                f"content: the change deletes cell {min(lost)[:80]!r}",
                hint="Leave its hunk out to keep the cell, then edit it.",
                field="content",
            )
    elif content is not None and cells is not None:
        hint = "Send the sources of cells by their ids."
        raise Invalid("content: in a notebook it is given by cell", hint=hint, field="content")
    elif content is not None and "\0" in content:
        raise Invalid("content: it holds a NUL character", hint="Remove it; text files hold none.", field="content")
    _require_base_form(decision)


def _require_base_form(decision: Decision) -> None:
    content, base = decision.content, decision.base
    if base is not None and type(base) is not type(content):
        raise Invalid("base: it is given beside content, in the same form", hint="Send both alike.", field="base")
    if isinstance(base, dict) and isinstance(content, dict) and not base.keys() <= content.keys():
        raise Invalid("base: it names cells that content does not", hint="Send those of content.", field="base")


def require_base(draft: Draft, decision: Decision, encoding: TextEncoding) -> None:
    """Check that `base` is the text the file has now; byte order mark and line endings do not count.

    Raises:
        Stale: it is another text, so that `content` would revert later changes.
    """
    base = decision.base
    if base is None:
        return
    if isinstance(base, str):
        told = {"": base}
        now = {"": decoded(all_of(draft.content), encoding)}
    else:
        told, now = base, {cell.cell_id: cell.source for cell in NotebookDocument(draft.content).cells}
    if any(name not in now or plain_text(now[name]) != plain_text(text) for name, text in told.items()):
        raise Stale(
            f"{draft.stat.path} has other text by now than what is to be written was made from",
            hint="Make it from the text that is there now.",
            path=draft.stat.path,
        )


def plain_text(text: str) -> str:
    """The text without byte order mark, each line ended by a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def decoded(data: bytes, encoding: TextEncoding) -> str:
    """The text of a file's bytes, without byte order mark."""
    return data.removeprefix(encoding.bom).decode(encoding.codec, "replace")
