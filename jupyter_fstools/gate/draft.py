"""Holds the right to change one file, and the step."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..backends.protocol import FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.source import BytesContent, Content
from ..content.splices import Splice, bundled, packed
from ..diffs.file_diff import FileDiff, Operation
from ..errors import Denied, IsDirectory, Stale, TooLarge, Unsaved
from ..open_documents.protocol import Holder
from ..stores.protocol import Store
from ..stores.records import Change, ChangedFile, ChangeStatus, FileState, Reader, Receipt
from .read_tracker import ReadTracker, ReceiptAfter

EAGER_BYTES = 64 << 20
"""Up to here a file is counted and fingerprinted when it is first shown; above, only as far as a window needs."""

MAX_UNDO_BYTES = 64 << 20
"""What one change may keep to be undone."""


class Draft:
    """The right to change one file, held under its lock; only `Workspace.draft` makes one.

    Attributes:
        given: the path as the caller spelled it.
        stat: the file as it is.
        before: its bytes; None if it does not exist.
        receipt: what the reader was shown; None where the file is new.
        holder: who has its content, and takes the change.
    """

    def __init__(self, given: str, stat: FileStat, before: OpenFile | None, holder: Holder) -> None:
        self.given = given
        self.stat = stat
        self.before = before
        self.receipt: Receipt | None = None
        self.holder = holder

    @property
    def content(self) -> Content:
        """The bytes there are, none for a new file."""
        return self.before if self.before is not None else BytesContent(b"")


@dataclass(frozen=True)
class Step:
    """What a commit does to the file of its draft.

    Attributes:
        op: `delete` removes the file, all others write it.
        splices: what changes, in bytes of the draft's content; for a deletion all that was there.
        diff: for people.
        tool: who asks.
        encoding: the one the caller named, to be remembered.
        undoes: the change that this one takes back.
        written: the whole text, where the reader wrote the whole file.
        receipt: how the reader's receipt goes on, where it is not one of lines.
    """

    op: Operation
    splices: Sequence[Splice]
    diff: FileDiff
    tool: str
    encoding: str | None = None
    undoes: str | None = None
    written: str | None = None
    receipt: ReceiptAfter | None = None

    @property
    def undoable(self) -> bool:
        """What it takes to go back is not too much to keep."""
        return sum(len(splice.removed) for splice in self.splices) <= MAX_UNDO_BYTES

    def kept(self) -> bytes:
        """What the journal keeps of a step that was carried out: enough to go back, if that is not too much."""
        return packed(self.splices, keep_inserted=False) if self.undoable else b""

    def receipt_after(
        self, tracker: ReadTracker, draft: Draft, stat: FileStat, after: FileState | None
    ) -> tuple[Receipt | None, bytes | None]:
        """How the receipt of its reader goes on, once the file is what `stat` and `after` say; None if it does not."""
        if after is None:
            tracker.forget(draft.stat.key)
            return None, None
        if self.receipt is not None:
            return self.receipt(tracker, stat, after)
        if self.written is not None:
            return tracker.after_own_write(stat, after, self.written, self.encoding)
        if draft.receipt is not None and draft.receipt.cells is not None:
            tracker.forget(draft.stat.key)  # It was of a notebook, and there is none any more.
            return None, None
        if draft.receipt is None:
            return None, None
        return tracker.after_own_edit(draft.receipt, stat, after, self.diff)


Work = Sequence[tuple[Draft, Step]]
"""The files of one change and what becomes of each, in the order in which they are written."""


def kept_splices(work: Work) -> bytes:
    """What the journal keeps of a change that is carried out."""
    return bundled([step.kept() for _, step in work])


def packed_both_ways(work: Work) -> bytes:
    """What the journal keeps of a change that is yet to be carried out: enough to do it and to take it back."""
    return bundled([packed(step.splices, keep_inserted=True) for _, step in work])


class KnownContent(Protocol):
    """As much of a content as is remembered."""

    def diff(self, path: str, text: str, *, whole: bool = True) -> FileDiff | None:
        """What became of it in the text that is there now; None where that cannot be told.

        `whole` says that what is remembered was all there was.
        """


@dataclass(frozen=True)
class ExpectedContent:
    """What a change tells of the content that it is about, for the refusal where the file has another one.

    Attributes:
        known: what can be said of that content.
        whole: these are all there were.
        why: how the refusal begins.
        hint: the next step.
    """

    known: KnownContent
    whole: bool
    why: str
    hint: str

    def refusal(self, path: str, found: str) -> Stale:
        """The refusal, given what was found of the file."""
        return Stale(f"{self.why}: {path} {found}", hint=self.hint, path=path)


Restorable = tuple[str, FileState | None, ExpectedContent]
"""A file's canonical path, the state it must be in (None: no file), and what is told where it is not."""


def new_change(
    work: Work,
    states: Sequence[tuple[FileState | None, FileState | None]],
    reader: Reader,
    status: ChangeStatus,
) -> Change:
    """The journal's entry for a step of one file or of several; `states` are each file's before and after it."""
    files = [
        ChangedFile(key=draft.stat.key, path=draft.stat.path, before=before, after=after, diff=step.diff)
        for (draft, step), (before, after) in zip(work, states, strict=True)
    ]
    first, step = files[0], work[0][1]
    return Change(
        id=f"c{secrets.token_hex(6)}",
        key=first.key,
        path=first.path,
        tool=step.tool,
        user=reader.user,
        session=reader.session,
        created_at=time.time(),
        status=status,
        before=first.before,
        after=first.after,
        diff=first.diff,
        undoes=step.undoes,
        undoable=all(step.undoable for _, step in work),
        files=files if len(files) > 1 else [],
        place=work[0][0].holder.place,
    )


def state_of(fingerprint: Fingerprint, size: int) -> FileState:
    """What is remembered of a content."""
    return FileState(text_sha=fingerprint.text, exact_sha=fingerprint.exact, size=size)


def unhashed_state(size: int) -> FileState:
    """What is remembered of a content that nobody hashed."""
    return FileState(text_sha=None, exact_sha=None, size=size)


def require_file(path: str, stat: FileStat) -> None:
    """Refuse what is there but no file; `path` as the caller spelled it.

    Raises:
        IsDirectory; Denied: a device, FIFO or socket.
    """
    if stat.kind == "directory":
        raise IsDirectory(f"{path!r} is a folder", hint="See what is in it with `list_files`.")
    if stat.kind == "other":
        raise Denied(f"{path!r} is a device, pipe or socket, not a file", hint="Name a regular file.")


def require_editable_size(draft: Draft, most: int) -> None:
    """Refuse a file of more bytes than are edited.

    Raises:
        TooLarge
    """
    if draft.stat.size > most:
        raise TooLarge(
            f"{draft.stat.path} has {draft.stat.size} bytes; above {most} no file is edited",
            hint="Use a program made for files of this size.",
            size=draft.stat.size,
            limit=most,
        )


def require_reversible(work: Work) -> None:
    """Refuse a change of several files that keeps too much: all or none of them is written, whatever happens.

    Raises:
        TooLarge
    """
    kept = sum(len(splice.removed) for _, step in work for splice in step.splices)
    if len(work) > 1 and kept > MAX_UNDO_BYTES:
        raise TooLarge(
            f"what these edits of {len(work)} files replace has {kept} bytes; at most {MAX_UNDO_BYTES} can be taken "
            "back together",
            hint="Edit fewer files in one call.",
            size=kept,
            limit=MAX_UNDO_BYTES,
        )


def require_saved(store: Store, stat: FileStat) -> None:
    """Refuse a file of which a browser holds what is not in it: unsaved changes, or a collaboration room.

    Raises:
        Unsaved
    """
    # What a person typed is nowhere but in their browser: a new file below it would set the two against each other.
    if not all(document.saved for document in store.open_documents(stat.key)):
        raise Unsaved(
            f"{stat.path} is open in a browser, with changes that are not saved or in a collaboration room "
            "(not modified)",
            hint="Ask the person to save it, or to close it if it stays so; then read it again and repeat the change.",
            path=stat.path,
        )
