"""Parses a notebook before and after a change, once for every user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...content.splices import Splice, SplicedContent
from .document import NotebookDocument
from .spans import NotebookSpans, outline_after


class ChangedNotebook:
    """A notebook before and after some splices of its bytes.

    Args:
        before: the notebook before.
        splices: of its bytes.
    """

    def __init__(self, before: NotebookDocument, splices: Sequence[Splice]) -> None:
        self.before = before
        self._splices = splices
        self._content = SplicedContent(before.content, splices)

    @cached_property
    def outline(self) -> NotebookSpans | None:
        """The places of its cells after the change; None where that takes a scan of the whole notebook.

        Raises:
            NotebookRefused: a cell that changed is not JSON.
        """
        return outline_after(self.before.spans, self._splices, self._content)

    @cached_property
    def after(self) -> NotebookDocument:
        """The notebook after the change.

        Raises:
            NotebookRefused: it is no longer a notebook.
        """
        return NotebookDocument(self._content, self.outline)
