"""Opens files through the gate: show, peek, draft, commit."""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ..backends.protocol import Backend, FileStat, Locks, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.splices import SplicedStream, inverse, packed
from ..documents.text.line_index import LineIndex, LineIndexes
from ..documents.version_cache import VersionCache
from ..errors import Conflict, FsToolsError, InputOutput, Stale
from ..limits import Limits
from ..open_documents.disk import Disk
from ..open_documents.protocol import Holder, OpenDocuments
from ..progress import Progress
from ..stores.protocol import Closing, Store
from ..stores.records import Change, FileState, Reader, Receipt
from .draft import (
    Draft,
    ExpectedContent,
    Step,
    Written,
    new_change,
    require_editable_size,
    require_file,
    require_no_room,
    require_saved,
    state_of,
    unhashed_state,
)
from .path_resolver import PathResolver
from .policy import Policy, Rules
from .read_tracker import ReadTracker
from .stale import explain_change, explain_read
from .undo_chain import settle

if TYPE_CHECKING:
    from ..documents.notebook import NotebookSpans

EAGER_BYTES = 64 << 20
"""Up to here a file is counted and fingerprinted when it is first shown; above, only as far as a window needs."""
_MOST_NOTEBOOKS = 16

_log = logging.getLogger("jupyter_fstools")


class Workspace(PathResolver, Closing):
    """Files, seen by one reader through the gate.

    Args:
        backend: where the bytes are.
        store: where receipts and changes are.
        locks: one lock per file.
        policy: where callers may go.
        reader: who asks.
        limits: how much one call may do.
        rules: how strict the gate is.
        tool_prefix: what every tool's name begins with.
        indexes: line indexes, shared by the workspaces of one process.
        notebooks: where the cells of notebooks lie, shared likewise.
        committed: called with every change made here.
        rooms: the absolute paths of files that this server holds open for real-time collaboration.
        cancelled: set once nobody waits for what is being done here; whatever takes long asks it. None: always waited.
        progress: called with what a long call tells while it goes on, in the call's thread; it must not block.
        documents: know who has files open, asked in this order; what nobody holds is on the disk.
    """

    def __init__(
        self,
        backend: Backend,
        store: Store,
        locks: Locks,
        policy: Policy,
        reader: Reader,
        *,
        limits: Limits | None = None,
        rules: Rules | None = None,
        tool_prefix: str = "",
        indexes: LineIndexes | None = None,
        notebooks: VersionCache[NotebookSpans] | None = None,
        committed: Callable[[Change], None] | None = None,
        rooms: Callable[[], Iterable[str]] | None = None,
        cancelled: threading.Event | None = None,
        progress: Callable[[Progress], None] | None = None,
        documents: Sequence[OpenDocuments] = (),
    ) -> None:
        super().__init__(backend, policy)
        self.store = store
        self.reader = reader
        self.limits = limits or Limits()
        self.rules = rules or Rules()
        self.tool_prefix = tool_prefix
        self.cancelled = cancelled
        self.progress = progress
        self._locks = locks
        self._indexes = indexes or LineIndexes()
        self.notebooks = notebooks or VersionCache(_MOST_NOTEBOOKS)
        self._committed = committed
        self._rooms = rooms
        self._documents = tuple(documents)
        self.tracker = ReadTracker(store, reader, overwrite_needs_full_read=self.rules.overwrite_needs_full_read)

    def for_reader(
        self,
        reader: Reader,
        cancelled: threading.Event | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Workspace:
        """The same files for another reader (until `cancelled`, telling `progress`); cheap."""
        other = copy.copy(self)
        other.reader, other.cancelled, other.progress = reader, cancelled, progress
        other.tracker = self.tracker.of(reader)
        return other

    def close(self) -> None:
        """Let go of the root and of the store's connections, for every reader; nothing works afterwards."""
        self.backend.close()
        self.store.close()

    @contextmanager
    def show(self, path: str) -> Iterator[OpenFile]:
        """Open a file to show it; what is shown is recorded through `tracker.record_read` before the lock is let go.

        Raises:
            NotFound (with near names), IsDirectory, Denied, OutsideRoot, Invalid, InputOutput
        """
        stat = self._existing(path)
        with self._locks.hold(stat.key), self._holder(stat, to_change=False).content() as opened:
            yield opened

    @contextmanager
    def draft(
        self,
        path: str,
        *,
        whole: bool = False,
        may_create: bool = False,
        exclusive: bool = False,
        accept_stale: bool = False,
        gate: Callable[[Draft], None] | None = None,
    ) -> Iterator[Draft]:
        """Take a file to change it, under its lock until the block ends.

        Args:
            path: as the caller spells it.
            whole: the change replaces the whole file.
            may_create: a missing file is no error.
            exclusive: an existing file is one.
            accept_stale: a file that changed since the read is taken all the same.
            gate: replaces the check of the receipt (cells of a notebook have receipts of their own).

        Raises:
            NotRead, Stale (with what changed), NotFound, Conflict, Unsaved, IsDirectory, Denied, TooLarge, TimedOut
        """
        stat = self._located(path, self.policy.require_write)
        if stat.kind == "missing" and not may_create:
            raise self.not_found(path, stat)
        with self._locks.hold(stat.key):
            # Who held the lock may have made or removed the file.
            stat = self._same_place(stat)
            holder = self._holder(stat, to_change=True)
            if stat.kind == "missing":
                if not may_create:
                    raise self.not_found(path, stat)
                yield Draft(path, stat, None, holder)
                return
            require_file(path, stat)
            if exclusive:
                raise Conflict(
                    f"{path!r} exists already", hint="Leave out create_only to overwrite it once it is read."
                )
            with holder.content() as opened:
                draft = Draft(path, opened.stat, opened, holder)
                require_editable_size(draft, self.limits.max_edit_bytes)
                if gate is not None:
                    gate(draft)
                else:
                    draft.receipt = self._require_receipt(draft, whole=whole, accept_stale=accept_stale)
                yield draft

    @contextmanager
    def draft_to_restore(self, path: str, expected: FileState | None, told: ExpectedContent) -> Iterator[Draft]:
        """Take a file that must still have the content that a change left (None: must not exist).

        The change itself is the proof of knowledge here, so no receipt is asked for.

        Raises:
            Stale: the file has other content; Unsaved, Denied, TimedOut
        """
        # A canonical path may be one of spaces alone, which as a caller's spelling is empty.
        stat = self._located(path if path.strip() else f"./{path}", self.policy.require_write)
        with self._locks.hold(stat.key):
            stat = self._same_place(stat)
            holder = self._holder(stat, to_change=True)
            if stat.path != path:
                raise told.refusal(path, "has been replaced by a link")
            if (stat.kind == "missing") != (expected is None):
                raise told.refusal(path, "exists by now" if expected is None else "does not exist any more")
            if expected is None:
                yield Draft(path, stat, None, holder)
                return
            require_file(path, stat)
            with holder.content() as opened:
                draft = Draft(path, opened.stat, opened, holder)
                if opened.stat.size != expected.size or self.fingerprint(opened).exact != expected.exact_sha:
                    refusal = told.refusal(path, "has changed since")
                    explain_change(refusal, draft, told, expected, self.tracker.lookup(stat.key))
                    raise refusal
                draft.receipt = self.tracker.lookup(draft.stat.key)
                if draft.receipt and draft.receipt.exact_sha != expected.exact_sha:
                    draft.receipt = None
                yield draft

    def commit(self, draft: Draft, step: Step, *, approved: bool = False) -> Change | None:
        """Carry out a step, or (where a person must approve it) propose it; None if it changes nothing.

        `approved` says that a person asked for the step itself.

        Raises:
            Conflict: an outsider was faster; nothing was written.
            InputOutput: also where the store cannot keep the change, which is then taken back.
            Denied, NotADirectory
        """
        if not step.splices and draft.before is not None and step.op != "delete":
            return None
        if not approved and self.policy.needs_approval(self._relative(draft.given), draft.stat.path):
            return self._propose(draft, step)
        written = self._write(draft, step)
        with self._kept_or_taken_back(draft, step, written.stat):
            # What a person does, no assistant has been shown: whoever reads in the same session has to look again.
            receipt, shown = (
                (None, None) if approved else step.receipt_after(self.tracker, draft, written.stat, written.after)
            )
            change = new_change(draft, step, self.reader, written, "applied")
            if approved:
                change.decided_at, change.decided_by = change.created_at, self.reader.user
            change = self.store.add_change(change, step.kept(), receipt, shown)
        self._settle(change)
        return change

    def carry_out(self, draft: Draft, step: Step, proposal: Change) -> Change:
        """Carry out a proposed step that a person approved; its proposer gets the receipt.

        Raises:
            as `commit`
        """
        written = self._write(draft, step)
        with self._kept_or_taken_back(draft, step, written.stat):
            change = self.store.decide(
                proposal.id,
                "proposed",
                "applied",
                decided_at=time.time(),
                decided_by=self.reader.user,
                splices=step.kept(),
                record=proposal.model_copy(update={"place": draft.holder.place, "saved": written.saved}),
            )
        with suppress(FsToolsError):  # A proposer without a current receipt has to look again, no more.
            self._tell_proposer(draft, step, proposal, written)
        change = change or proposal.model_copy(update={"status": "applied"})
        self._settle(change)
        return change

    def record_own_content(self, draft: Draft, text: str, encoding: str | None) -> None:
        """Leave a receipt for a whole file that already had the text its reader wanted to write."""
        assert draft.before is not None
        state = self._known_state(draft) or state_of(self.fingerprint(draft.before), draft.stat.size)
        self.store.put_receipt(*self.tracker.after_own_write(draft.stat, state, text, encoding))

    def held(self, key: str) -> AbstractContextManager[object]:
        """Hold a file's lock without touching the file: a decision and a write never cross."""
        return self._locks.hold(key)

    def settled(self, change: Change) -> None:
        """Tell whoever follows the journal in this process that there is something new."""
        if self._committed is not None:
            self._committed(change)

    def fingerprint(self, opened: OpenFile) -> Fingerprint:
        """The fingerprint of an open file, computed once per version."""
        index = self.index(opened)
        index.scan_all(opened)
        assert index.fingerprint is not None
        return index.fingerprint

    def index(self, opened: OpenFile) -> LineIndex:
        """The line index of an open file, kept per version."""
        return self._indexes.of(opened.stat.key, opened.stat.version, opened.size)

    def _require_reachable(self, stat: FileStat) -> None:
        in_rooms = self._rooms() if self._rooms is not None else ()
        require_no_room(stat, (self.key_at(path) for path in in_rooms))
        require_saved(self.store, stat)

    def _require_receipt(self, draft: Draft, *, whole: bool, accept_stale: bool) -> Receipt:
        assert draft.before is not None
        opened = draft.before
        try:
            return self.tracker.require(draft.stat, lambda: self.fingerprint(opened), whole=whole)
        except Stale as refusal:
            receipt = self.tracker.lookup(draft.stat.key)
            if accept_stale and receipt is not None:
                return receipt
            if receipt is not None:
                explain_read(refusal, draft, receipt, self.tracker.shown_text(draft.stat.key))
            raise

    def _holder(self, stat: FileStat, *, to_change: bool) -> Holder:
        for documents in self._documents:
            holder = documents.holder(stat, to_change=to_change)
            if holder is not None:
                return holder
        if to_change:
            self._require_reachable(stat)
        return Disk(self.backend, stat)

    def _write(self, draft: Draft, step: Step) -> Written:
        before, opened = self._known_state(draft), draft.before
        if step.op == "delete":
            assert opened is not None
            before = before or state_of(self.fingerprint(opened), draft.stat.size)
            draft.holder.remove(opened)
            return Written(before, None, replace(draft.stat, kind="missing", size=0, version=""))
        hash_before = opened is not None and before is None and draft.stat.size <= EAGER_BYTES
        applied = draft.holder.apply(opened, step.splices, hash_before=hash_before)
        if opened is not None and before is None:
            old = applied.before
            before = state_of(old, draft.stat.size) if old else unhashed_state(draft.stat.size)
        after = state_of(applied.after, applied.stat.size)
        return Written(before, after, applied.stat, applied.saved)

    @contextmanager
    def _kept_or_taken_back(self, draft: Draft, step: Step, stat: FileStat) -> Iterator[None]:
        """What the store cannot keep is taken back: a change nobody knows of could not be undone."""
        try:
            yield
        except Exception as problem:  # Whatever a store on a broken disk raises.
            try:
                self._take_back(draft, step, stat)
            except FsToolsError:
                raise InputOutput(
                    f"{stat.path} was changed, but the journal could not keep that, and the old content could not be "
                    "put back",
                    hint="Look at the file; this change cannot be undone.",
                    modified=True,
                    reason=str(problem),
                ) from problem
            raise

    def _take_back(self, draft: Draft, step: Step, stat: FileStat) -> None:
        back = replace(step, op="delete" if draft.before is None else "overwrite", splices=inverse(step.splices))
        if step.op == "delete":
            self._write(Draft(draft.given, stat, None, draft.holder), replace(back, op="create"))
            return
        with draft.holder.content() as opened:
            self._write(Draft(draft.given, opened.stat, opened, draft.holder), back)

    def _tell_proposer(self, draft: Draft, step: Step, proposal: Change, written: Written) -> None:
        tracker = self.tracker.of(proposal.reader)
        draft.receipt = tracker.lookup(draft.stat.key)
        if draft.receipt and (proposal.before is None or draft.receipt.text_sha != proposal.before.text_sha):
            # What the proposer was shown since is another content than the one that was changed.
            draft.receipt = None
        receipt, shown = step.receipt_after(tracker, draft, written.stat, written.after)
        if receipt is not None:
            self.store.put_receipt(receipt, shown)

    def _known_state(self, draft: Draft) -> FileState | None:
        if draft.before is None:
            return None
        receipt = draft.receipt
        if receipt is not None and receipt.version == draft.stat.version and receipt.text_sha and receipt.exact_sha:
            return FileState(text_sha=receipt.text_sha, exact_sha=receipt.exact_sha, size=draft.stat.size)
        known = self.index(draft.before).fingerprint
        return known and state_of(known, draft.stat.size)

    def _propose(self, draft: Draft, step: Step) -> Change:
        stream = SplicedStream(draft.content, step.splices, old_wanted=draft.before is not None)
        size = sum(len(chunk) for chunk in stream.chunks())
        old, new = stream.fingerprints()
        before = old and state_of(old, draft.stat.size)
        after = None if step.op == "delete" else state_of(new, size)
        change = new_change(draft, step, self.reader, Written(before, after, draft.stat), "proposed")
        change = self.store.add_change(change, packed(step.splices, keep_inserted=True))
        self.settled(change)
        return change

    def _settle(self, change: Change) -> None:
        try:
            settle(self.store, change, decided_by=self.reader.user)
        except FsToolsError as problem:
            # The change itself is made and kept: it must not be told as refused.
            _log.warning("Change %s is kept, but not yet what it took back: %s", change.id, problem.message)
        self.settled(change)
