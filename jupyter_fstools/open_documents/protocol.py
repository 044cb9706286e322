"""Defines the holder of a file's current content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..backends.protocol import FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.splices import Splice
from ..stores.records import Place

if TYPE_CHECKING:
    from ..documents.notebook import NotebookSpans


DOCUMENT, ROOM = "document:", "room:"
"""Prefixes of the versions of content that people have open and may not have saved: in a page, or in a room."""


def is_live(version: str) -> bool:
    """Whether a version of a content begins with one of these prefixes."""
    return version.startswith((DOCUMENT, ROOM))


@dataclass(frozen=True)
class Rewrite:
    """A change of one content, all of it or nothing.

    Attributes:
        before: the content from `Holder.content`; None: there is no file, and the splices insert all of it.
        splices: sorted and disjoint, offsets in `before`.
        known: the fingerprint of the content before, if it was computed already.
        hash_before: the fingerprint before is needed and not known.
        begin: records the change as begun, by the fingerprints before (None: not needed) and after; called once, before
            anything is changed. If it raises, nothing is changed. If the content after turns out different (others
            changed other places), `Applied` says so.
        outline: the places of the cells of `before`, if known.
    """

    before: OpenFile | None
    splices: Sequence[Splice]
    known: Fingerprint | None
    hash_before: bool
    begin: Callable[[Fingerprint | None, Fingerprint], None]
    outline: NotebookSpans | None


class Applied(NamedTuple):
    """A change that a holder has applied.

    Attributes:
        stat: the file as it is now; its version is that of the content after the change.
        before: the fingerprint of the content before, if it was requested or is known anyway.
        after: the fingerprint of the content after.
        saved: the file has the change; False if it is only in a shared document that will be saved.
    """

    stat: FileStat
    before: Fingerprint | None
    after: Fingerprint
    saved: bool = True


class Holder(Protocol):
    """Holds the current content of one file; used while the file's lock is held."""

    @property
    def place(self) -> Place:
        """Where a change lands."""

    def content(self) -> AbstractContextManager[OpenFile]:
        """The current content: one consistent version, whose `stat.content_version` is equal only for equal content.

        Its `unchanged()` tells whether that version is still current. The bytes of an unsaved document are those that
        saving it would write.

        Raises:
            Unsaved: a browser or room does not answer; and as `Backend.read`
        """

    def on_disk(self) -> str | None:
        """The digest of the file if it does not have the content yet, as a crash would leave it; None otherwise.

        Raises:
            as `Backend.read`
        """

    def apply(self, rewrite: Rewrite) -> Applied:
        """Apply the splices to the content.

        Raises:
            Conflict, Stale: somebody changed the same place meanwhile; Unsaved: the holder does not answer; nothing
            was changed. And as `Backend.write`
        """

    def remove(self, before: OpenFile) -> None:
        """Delete the file, if it still has the content of `before`.

        Raises:
            as `apply`, and as `Backend.delete`
        """


class OpenDocuments(Protocol):
    """Knows documents that are open somewhere; the workspace asks it before it uses the disk."""

    def holder(self, stat: FileStat, *, to_change: bool) -> Holder | None:
        """The holder of a file's content instead of the disk; None: no known one.

        Called in the thread of a tool's call, under the file's lock; must not block for long.

        Args:
            stat: the file on the disk, which may be missing there.
            to_change: the call changes the file instead of only reading it.

        Raises:
            Unsaved: the holder cannot be reached, and the call changes the file.
            Conflict: there are two, with different unsaved contents.
        """

    def let_save(self) -> None:
        """Wait until documents have saved their pending changes, which a program that reads the files would miss.

        Must not block for long.
        """
