"""Spells a change for the pages that have the file open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backends.protocol import OpenFile
from ..content.splices import Splice
from ..documents.text.spans import spans_of
from ..errors import FsToolsError
from .page import Kind


def change_message(
    kind: Kind, before: OpenFile, splices: Sequence[Splice], names: Sequence[str] | None = None
) -> dict[str, Any] | None:
    """What a document of that kind is to do; None where operations cannot say it.

    Args:
        kind: of the document.
        before: the content before.
        splices: what changes in it.
        names: what the page calls the cells, where that is known.
    """
    try:
        if kind == "text":
            return {"kind": kind, "spans": spans_of(before, splices)}
        if kind == "notebook":
            # What knows notebooks is imported where the first one is edited.
            from ..documents.notebook import NotebookDocument
            from ..documents.notebook.operations import notebook_operations

            told = notebook_operations(NotebookDocument(before), splices, names)
            return None if told is None else {"kind": kind, **told.model_dump(mode="json")}
    except (FsToolsError, UnicodeDecodeError):
        pass
    return None
