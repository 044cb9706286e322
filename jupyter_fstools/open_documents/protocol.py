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


@dataclass(frozen=True)
class Rewrite:
    """A change of one content, all of it or nothing.

    Attributes:
        before: what `Holder.content` gave; None: there is no file, and the splices insert all of it.
        splices: sorted and disjoint, offsets in `before`.
        known: the fingerprint of the content before, where somebody has computed it.
        hash_before: it is not known, and wanted.
        begin: records what is about to be done, by the fingerprints before (None: not wanted) and after; called once,
            before anything is changed. Where it raises nothing is changed. Where the content after then turns out
            otherwise (others changed other places), `Applied` says so.
        outline: where the cells of `before` lie, where that is known.
    """

    before: OpenFile | None
    splices: Sequence[Splice]
    known: Fingerprint | None
    hash_before: bool
    begin: Callable[[Fingerprint | None, Fingerprint], None]
    outline: NotebookSpans | None


class Applied(NamedTuple):
    """A change that a holder has taken.

    Attributes:
        stat: the file as it is now; its version is that of the content after the change.
        before: the fingerprint of the content before, where it was asked for or is known anyway.
        after: the fingerprint of the content after.
        saved: the file has the change; False where it is only in a shared document that is about to be saved.
    """

    stat: FileStat
    before: Fingerprint | None
    after: Fingerprint
    saved: bool = True


class Holder(Protocol):
    """Who has the current content of one file; used while the file's lock is held."""

    @property
    def place(self) -> Place:
        """Where a change lands."""

    def content(self) -> AbstractContextManager[OpenFile]:
        """The content now: one consistent version, whose `stat.version` is equal only for equal content.

        Its `unchanged()` tells whether that version is still there. For a document that is not saved the bytes are
        those that saving it would write.

        Raises:
            Unsaved: a browser or room does not answer; and as `Backend.read`
        """

    def on_disk(self) -> str | None:
        """The digest of the file, where it does not have the content yet and is what a crash leaves; None elsewhere.

        Raises:
            as `Backend.read`
        """

    def apply(self, rewrite: Rewrite) -> Applied:
        """Change the content from what it was before to what the splices make of it.

        Raises:
            Conflict, Stale: somebody changed the same place meanwhile; Unsaved: the holder does not answer; nothing
            was changed. And as `Backend.write`
        """

    def remove(self, before: OpenFile) -> None:
        """Delete the file, if its content is still what `before` holds.

        Raises:
            as `apply`, and as `Backend.delete`
        """


class OpenDocuments(Protocol):
    """Knows the documents that are open somewhere; the workspace asks it before it turns to the disk."""

    def holder(self, stat: FileStat, *, to_change: bool) -> Holder | None:
        """Who holds a file's content instead of the disk; None: nobody that is known here.

        Called in the thread of a tool's call, under the file's lock; must not block for long.

        Args:
            stat: the file on the disk, which may be missing there.
            to_change: a change is meant, not only a look.

        Raises:
            Unsaved: somebody who cannot be reached does, and a change is meant.
            Conflict: two do, with different unsaved contents.
        """

    def let_save(self) -> None:
        """Wait until the files have what is about to be saved anyway: a program that reads them next would miss it.

        Must not block for long.
        """
