"""Tells a process without pages that a server has a file open."""

from __future__ import annotations

from ..backends.protocol import FileStat
from ..errors import Unsaved
from ..stores.protocol import Store


class OpenElsewhere(Unsaved):
    """A page of a server has the file open: that server can do what was asked, as far as it can be reached."""


class ElsewhereDocuments:
    """The documents that the store knows of.

    Args:
        store: where servers keep what their pages have open.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def holder(self, stat: FileStat, *, to_change: bool) -> None:
        """Nobody whom this process could ask.

        Raises:
            OpenElsewhere: the file is open, and a change is meant, or what is on the disk is not what a person sees.
        """
        documents = self._store.open_documents(stat.key)
        if any(to_change or not document.saved for document in documents):
            raise OpenElsewhere(
                f"{stat.path} is open in a browser, and no Jupyter server that could ask it was reached (not modified)",
                hint="Use a kernel of that server, or ask the person to save and close it; then read it again.",
                path=stat.path,
            )
