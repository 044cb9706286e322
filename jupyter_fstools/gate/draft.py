"""Defines a draft (a file that may be changed) and its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ..backends.protocol import FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.source import BytesContent, Content
from ..content.splices import Splice, SplicedContent, spliced_size
from ..diffs.file_diff import FileDiff, Operation
from ..documents.text.encoding import declared_otherwise
from ..documents.text.touched_lines import TouchedLines
from ..errors import Denied, IsDirectory, Stale, TooLarge
from ..open_documents.protocol import Holder
from ..stores.records import FileState, Receipt
from .read_tracker import ReadTracker, ReceiptAfter

if TYPE_CHECKING:
    from ..documents.notebook import ChangedNotebook

EAGER_BYTES = 64 << 20
"""Largest file whose lines are counted and hashed when it is first shown; a larger one only as far as needed."""

MAX_UNDO_BYTES = 64 << 20
"""Bytes that one change may keep for undo."""


@dataclass(frozen=True)
class Draft:
    """The right to change one file, held under its lock; only `Workspace.draft` makes one.

    Attributes:
        given: the path as the caller spelled it.
        stat: the file as it is.
        before: its bytes; None if it does not exist.
        holder: holds its content, and applies the change.
        receipt: the reader's receipt of the file; None if the file is new.
        placed: splices of the change to carry out or take back, moved to their places in an open file that was changed
            elsewhere since; else None.
    """

    given: str
    stat: FileStat
    before: OpenFile | None
    holder: Holder
    receipt: Receipt | None = None
    placed: Sequence[Splice] | None = None

    @property
    def content(self) -> Content:
        """The file's bytes; none for a new file."""
        return self.before if self.before is not None else BytesContent(b"")


class Check(Protocol):
    """Decides whether a reader was shown what a change is about to replace."""

    def receipt(self, numbers: Sequence[int], opened: OpenFile) -> Receipt | None:
        """The receipt that allows the change; None where none is needed.

        Args:
            numbers: those (from 0) of the paths, among the caller's, that name this file.
            opened: the file as it is, under its lock.

        Raises:
            NotRead, Stale, and whatever refuses this kind of file.
        """


@dataclass(frozen=True)
class Step:
    """The step that a commit takes on the file of its draft.

    Attributes:
        splices: the changes, in bytes of the draft's content; for a deletion one that removes all of it.
        diff: for people.
        tool: the name of the calling tool.
        encoding: the one the caller named, to be remembered.
        undoes: the change that this one takes back.
        written: the whole text, where the reader wrote the whole file.
        receipt: makes the reader's next receipt, where it is not one of lines.
        notebook: the same step of a notebook, where it was parsed.
        touched: the lines of a text that each splice touches, where it is edited.
    """

    splices: Sequence[Splice]
    diff: FileDiff
    tool: str
    encoding: str | None = None
    undoes: str | None = None
    written: str | None = None
    receipt: ReceiptAfter | None = None
    notebook: ChangedNotebook | None = None
    touched: Sequence[TouchedLines] = ()

    @property
    def op(self) -> Operation:
        """`delete` removes the file, all others write it."""
        return self.diff.op

    @cached_property
    def undoable(self) -> bool:
        """Whether the data for taking the step back is small enough to keep."""
        return sum([len(splice.removed) for splice in self.splices]) <= MAX_UNDO_BYTES

    def receipt_after(
        self, tracker: ReadTracker, draft: Draft, stat: FileStat, after: FileState | None
    ) -> tuple[Receipt | None, bytes | None]:
        """The reader's receipt after the step, of the file as `stat` and `after` describe it; None if it has none."""
        if after is None:
            tracker.forget(draft.stat.key)
            return None, None
        if self.receipt is not None:
            return self.receipt(tracker, stat, after)
        if self.written is not None:
            return tracker.after_own_write(stat, after, self.written, self.encoding)
        if draft.receipt is not None and draft.receipt.cells is not None:
            tracker.forget(draft.stat.key)  # The receipt is for a notebook, but the file no longer is one.
            return None, None
        if draft.receipt is None:
            return None, None
        return tracker.after_own_edit(draft.receipt, stat, after, self.diff, self.touched)


Work = Sequence[tuple[Draft, Step]]
"""The files of one change and the step for each, in the order in which they are written."""


class KnownContent(Protocol):
    """The remembered part of a content."""

    def diff(self, path: str, text: str, *, whole: bool = True) -> FileDiff | None:
        """The diff of the expected content to the current text; None if it is unknown.

        `whole` says that the remembered part was the whole content.
        """


@dataclass(frozen=True)
class ExpectedFile:
    """A file as a change expects it, and the refusal where it is otherwise.

    Attributes:
        path: its canonical path.
        state: that of its content; None: there is no file.
        known: the remembered part of that content.
        whole: `known` is the whole content.
        why: beginning of the refusal's message.
        hint: the next step.
        kept: the journal's data of the change, to find its places in an open file with another content.
    """

    path: str
    state: FileState | None
    known: KnownContent
    whole: bool
    why: str
    hint: str
    kept: bytes = b""

    def refusal(self, found: str) -> Stale:
        """The refusal, given what was found of the file."""
        return Stale(f"{self.why}: {self.path} {found}", hint=self.hint, path=self.path)


def tell_declared_encodings(work: Work) -> None:
    """Name in each diff the encoding that its text declares, though it is written in UTF-8."""
    for draft, step in work:
        if step.diff.kind == "text" and step.diff.encoding is None and step.op != "delete":
            step.diff.encoding = declared_otherwise(SplicedContent(draft.content, step.splices))


def state_of(fingerprint: Fingerprint | None, size: int) -> FileState:
    """The record of a content's state; None: it was not hashed."""
    text, exact = fingerprint or (None, None)
    return FileState(text_sha=text, exact_sha=exact, size=size)


def fingerprint_in(state: FileState) -> Fingerprint | None:
    """The content's fingerprint; None if it was not hashed."""
    return Fingerprint(state.text_sha, state.exact_sha) if state.text_sha and state.exact_sha else None


def require_file(path: str, stat: FileStat) -> None:
    """Refuse a path that exists but is not a file; `path` as the caller spelled it.

    Raises:
        IsDirectory; Denied: a device, FIFO or socket.
    """
    if stat.kind == "directory":
        raise IsDirectory(f"{path!r} is a folder", hint="See what is in it with `list_files`.")
    if stat.kind == "other":
        raise Denied(f"{path!r} is a device, pipe or socket, not a file", hint="Name a regular file.")


def require_editable_size(stat: FileStat, most: int) -> None:
    """Refuse a file that is too large to edit.

    Raises:
        TooLarge
    """
    if stat.size > most:
        raise TooLarge(
            f"{stat.path} has {stat.size} bytes; the limit for edits is {most}",
            hint="Use a program made for files of this size.",
            size=stat.size,
            limit=most,
        )


def require_reversible(work: Work) -> None:
    """Refuse a change of several files that could not be taken back: either all of them are written or none.

    Raises:
        TooLarge
    """
    if len(work) < 2:
        return
    kept = sum(len(splice.removed) for _, step in work for splice in step.splices)
    if kept > MAX_UNDO_BYTES:
        raise TooLarge(
            f"these edits of {len(work)} files replace {kept} bytes; undo keeps at most {MAX_UNDO_BYTES} per change",
            hint="Edit fewer files in one call.",
            size=kept,
            limit=MAX_UNDO_BYTES,
        )


def require_bounded(work: Work, limit: int) -> None:
    """Refuse to make a file that would be too large to be edited again.

    Raises:
        TooLarge
    """
    for draft, step in work:
        size = spliced_size(draft.content.size, step.splices)
        if size > limit and step.undoes is None and step.op != "delete":
            raise TooLarge(
                f"{draft.stat.path} would have {size} bytes; at most {limit} are written",
                hint="Write less, or put a part of it into another file.",
                size=size,
                limit=limit,
            )
