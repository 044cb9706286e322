"""Records each write as pending before the first file is replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from ..backends.protocol import FileStat, OpenFile, TakesSpace
from ..backends.system_errors import read_only
from ..content.fingerprint import Fingerprint, fingerprint_of
from ..content.splices import Splice, SplicedStream, inverse, spliced_size
from ..diffs.file_diff import Operation
from ..errors import Conflict, FsToolsError, InputOutput, may_be_modified
from ..open_documents.protocol import Rewrite
from ..stores.records import Change, FileState
from .draft import EAGER_BYTES, Draft, Step, Work, fingerprint_in, state_of
from .versions import Versions


class States(NamedTuple):
    """A file before and after a step; None where there is none."""

    before: FileState | None
    after: FileState | None


class Landed(NamedTuple):
    """A file as a step left it; `saved` is False where its holder has yet to save it."""

    draft: Draft
    step: Step
    stat: FileStat
    states: States
    saved: bool = True


class WriteAhead:
    """Carries out changes: recorded first, written then, and taken back if one file cannot be written.

    A process that is killed leaves the record, and `Unfinished` settles it.

    Args:
        versions: has the states of files that have been computed.
    """

    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def carry_out(
        self, work: Work, begin: Callable[[Sequence[States]], Change], retract: Callable[[Change], object]
    ) -> tuple[Change, list[Landed]]:
        """Write all files of a change, or none.

        Args:
            work: the steps to write; the locks of all their files are held.
            begin: records the change as pending, given the states of its files; called once, before the first file
                is replaced. Where it raises nothing is written.
            retract: takes that record back.

        Raises:
            Conflict: an outsider was faster; Denied, NotADirectory, InputOutput. Nothing is modified then, unless
                `InputOutput` says so.
        """
        more = [with_file(self.states(draft, step.op, step.splices), draft) for draft, step in work[1:]]
        begun: list[Change] = []
        landed: list[Landed] = []
        try:
            for draft, step in work:
                first = None if landed else lambda states: begun.append(begin([states, *more]))
                landed.append(Landed(draft, step, *self._write(draft, step.op, step.splices, first)))
        except BaseException as problem:
            if begun:
                self.take_back(begun[0], landed, problem)
                # A change that may have been written, as after an interrupt, stays pending: the next access to its
                # files settles it.
                if isinstance(problem, FsToolsError) and not may_be_modified(problem):
                    with suppress(FsToolsError):  # Where the store fails, the next access settles the change.
                        retract(begun[0])
            raise
        return begun[0], landed

    def states(self, draft: Draft, op: Operation, splices: Sequence[Splice]) -> States:
        """A file before and after a step, hashed without being written."""
        before = self._versions.state(draft)
        stream = SplicedStream(draft.content, splices, old_wanted=draft.before is not None and before is None)
        size = sum(len(chunk) for chunk in stream.chunks())
        old, new = stream.fingerprints()
        before = before or (old and state_of(old, draft.stat.size))
        return States(before, None if op == "delete" else state_of(new, size))

    def put_back(self, draft: Draft, splices: Sequence[Splice]) -> None:
        """Restore the content that a file had before a step; the file must be as the step left it.

        Raises:
            Conflict, Denied, InputOutput
        """
        self._write(draft, "edit", splices, None)

    def take_back(self, change: Change, landed: Sequence[Landed], problem: BaseException) -> None:
        """Restore the old content of the files that were written, because of `problem`.

        Raises:
            InputOutput: one cannot be put back.
        """
        old: list[object] = [one.draft.before for one in landed]
        for opened in old:
            # Without the old files a full disk has the room again that the new ones were written in.
            if isinstance(opened, TakesSpace):
                opened.close()
        for one in reversed(landed):
            try:
                self._take_one_back(one)
            except FsToolsError as barred:
                # The change stays pending: the next access to one of its files tries again.
                raise InputOutput(
                    f"{one.stat.path} was changed, the change could not be completed, and the old content could not be "
                    "put back",
                    hint=f"Read the file before changing it again; change {change.id} was left unfinished.",
                    modified=True,
                    reason=f"{problem}; {barred}",
                ) from problem

    def _take_one_back(self, landed: Landed) -> None:
        draft, step, stat, *_ = landed
        back = inverse(step.splices)
        if step.op == "delete":
            self._write(Draft(draft.given, stat, None, draft.holder), "create", back, None)
            return
        with draft.holder.content() as opened:
            if not _is_as_left(opened, landed, back):
                return
            op: Operation = "delete" if draft.before is None else "edit"
            self._write(Draft(draft.given, opened.stat, opened, draft.holder), op, back, None)

    def _write(
        self, draft: Draft, op: Operation, splices: Sequence[Splice], begin: Callable[[States], None] | None
    ) -> tuple[FileStat, States, bool]:
        require_writable([(draft, None)])
        before, opened = self._versions.state(draft), draft.before
        if op == "delete":
            assert opened is not None
            states = States(before or self.states(draft, op, splices).before, None)
            if begin is not None:
                begin(states)
            draft.holder.remove(opened)
            return replace(draft.stat, kind="missing", size=0, version=""), states, True
        hash_before = opened is not None and before is None and draft.stat.size <= EAGER_BYTES
        size = spliced_size(draft.content.size, splices)

        def announce(old: Fingerprint | None, new: Fingerprint) -> None:
            if begin is not None:
                begin(with_file(states_of(old, new, size), draft))

        def states_of(old: Fingerprint | None, new: Fingerprint, size: int) -> States:
            then = before or (None if opened is None else state_of(old, draft.stat.size))
            return States(then, state_of(new, size))

        outline = self._versions.notebooks.of(draft.stat.key, draft.stat.content_version)
        known = None if before is None else fingerprint_in(before)
        applied = draft.holder.apply(Rewrite(opened, splices, known, hash_before, announce, outline))
        return applied.stat, states_of(applied.before, applied.after, applied.stat.size), applied.saved


def require_writable(work: Sequence[tuple[Draft, object]]) -> None:
    """Refuse to change files of which one is read-only by its mode bits.

    Raises:
        Denied
    """
    # Checked for pages and rooms too: Jupyter writes for them, and asks only the system, where root may write all.
    for draft, _ in work:
        if not draft.stat.writable:
            raise read_only(draft.stat.path)


def with_file(states: States, draft: Draft) -> States:
    """The states of a document, with the digest of its file on disk where that has other content."""
    on_disk = draft.holder.on_disk()
    if on_disk is None or states.before is None:
        return states
    return States(states.before.model_copy(update={"on_disk": on_disk}), states.after)


def _is_as_left(opened: OpenFile, landed: Landed, back: Sequence[Splice]) -> bool:
    """Whether a file is as the step left it; False where others settled the change, and it is as before already.

    A document has one version in its page and another one once it is saved. On disk another version is somebody else's
    write, even with the same content: they may have made the same change.

    Raises:
        Conflict: it has other content.
    """
    stat, (before, after) = landed.stat, landed.states
    if opened.stat.version == stat.version:
        return True
    exact = fingerprint_of(opened.chunks()).exact
    if before is not None and exact == before.exact_sha:
        return False
    fits = landed.draft.holder.place != "disk" and all(
        opened.read(splice.offset, len(splice.removed)) == splice.removed for splice in back
    )
    # The step's bytes cannot take back a file that a room has formatted in its own way.
    if not fits or after is None or exact != after.exact_sha:
        raise Conflict(f"{stat.path} has changed meanwhile", hint="Look at the file.")
    return True


def with_states(change: Change, states: Sequence[States]) -> Change:
    """A change with the states of its files before and after it."""
    return change.with_each({"before": one.before, "after": one.after} for one in states)


def as_landed(change: Change, landed: Sequence[Landed]) -> Change:
    """A pending change with the actual states of its files; itself where they are the announced ones."""
    after, saved = [one.states.after for one in landed], all(one.saved for one in landed)
    if saved == change.saved and after == [file.after for file in change.all_files]:
        return change
    return change.with_each({"after": state} for state in after).model_copy(update={"saved": saved})
