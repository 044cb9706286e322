"""Opens files through the gate: show, peek, draft, commit."""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..backends.protocol import Backend, FileStat, Locks, OpenFile
from ..content.fingerprint import Fingerprint
from ..documents.text.line_index import LineIndex, LineIndexes
from ..documents.version_cache import VersionCache
from ..errors import Conflict, Denied, FsToolsError, Stale
from ..limits import Limits
from ..open_documents.disk import Disk
from ..open_documents.protocol import Holder, OpenDocuments
from ..progress import Progress
from ..stores.protocol import Closing, Store
from ..stores.records import Change, FileState, Reader, Receipt
from .draft import (
    Draft,
    Restorable,
    Step,
    Work,
    kept_splices,
    new_change,
    packed_both_ways,
    require_editable_size,
    require_file,
    require_reversible,
    require_saved,
    state_of,
)
from .grant import Grant
from .path_resolver import PathResolver
from .policy import Policy, Rules
from .read_tracker import ReadTracker
from .stale import SHOWN_BY_DIFF, explain_change, explain_read
from .undo_chain import settle as settle_chain
from .unfinished import Unfinished
from .write_ahead import Landed, States, WriteAhead, as_landed

if TYPE_CHECKING:
    from ..documents.notebook import NotebookSpans

_MOST_NOTEBOOKS = 16
_MOST_SETTLED = 3
"""How often a call looks again for what killed writers left of its files, before it gives up."""

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
        self._documents = tuple(documents)
        self.tracker = ReadTracker(store, reader, overwrite_needs_full_read=self.rules.overwrite_needs_full_read)
        self._first_call = threading.Lock()

    @property
    def unfinished(self) -> Unfinished:
        """Settles what killed writers left below this root."""
        return Unfinished(self, self.store, self._locks, self._ahead, self._holder)

    @property
    def _ahead(self) -> WriteAhead:
        return WriteAhead(self._known_state)

    def called(self) -> None:
        """At the first call of this process, by whichever reader, settle what killed writers left below the root."""
        if self._first_call.acquire(blocking=False):
            self.unfinished.settle_free()

    def for_reader(
        self,
        reader: Reader,
        cancelled: threading.Event | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        grant: Grant | None = None,
    ) -> Workspace:
        """The same files for another reader (until `cancelled`, telling `progress`, within `grant`); cheap."""
        other = copy.copy(self)
        other.grant = grant or self.grant
        other.reader, other.cancelled, other.progress = reader, cancelled, progress
        other.tracker = self.tracker.of(reader)
        return other

    def close(self) -> None:
        """Let go of the root and of the store's connections, for every reader; nothing works afterwards."""
        self.backend.close()
        self.store.close()

    def told_path(self, user: str, key: str) -> str | None:
        """The path of a file, if its reader may be told what a user did there; None if not.

        What others did may hold text of files that this account cannot read: users of one store need not be one
        account of the system.
        """
        path = self.path_of(key)
        if path is None or not self.may_read(path):
            return None
        if user == self.reader.user:
            return path
        return path if self.rules.journal_of_others == "readable" and self._can_be_read(path) else None

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
        with self._held_to_write([stat.key]):
            # Who held the lock may have made or removed the file.
            stat = self._same_place(stat)
            if stat.kind == "missing" and may_create:
                yield Draft(path, stat, None, self._holder(stat, to_change=True))
                return
            if exclusive:
                require_file(path, stat)
                raise Conflict(
                    f"{path!r} exists already", hint="Leave out `create_only` to overwrite it once it is read."
                )
            with self._taken(path, stat, gate or self._receipt_gate(whole=whole, accept_stale=accept_stale)) as draft:
                yield draft

    @contextmanager
    def drafts(
        self, paths: Sequence[str], *, accept_stale: bool = False, gate: Callable[[Draft], None] | None = None
    ) -> Iterator[dict[str, Draft]]:
        """Take several files to change them in one step, under all their locks until the block ends.

        Gives a draft by each path; paths that lead to one file share it. The arguments and refusals are those of
        `draft`.
        """
        stats: dict[str, FileStat] = {}
        for path in paths:
            stats[path] = self._located(path, self.policy.require_write)
            if stats[path].kind == "missing":
                raise self.not_found(path, stats[path])
        check = gate or self._receipt_gate(whole=False, accept_stale=accept_stale)
        with self._held_to_write([stat.key for stat in stats.values()]), ExitStack() as opened:
            taken: dict[str, Draft] = {}
            for path, stat in stats.items():
                if stat.key not in taken:
                    taken[stat.key] = opened.enter_context(self._taken(path, self._same_place(stat), check))
            yield {path: taken[stat.key] for path, stat in stats.items()}

    @contextmanager
    def drafts_to_restore(self, files: Sequence[Restorable]) -> Iterator[list[Draft]]:
        """Take files that must still have the content that a change left (None: must not exist).

        Each comes with its canonical path and with what the change tells of it. The change itself is the proof of
        knowledge here, so no receipt is asked for.

        Raises:
            Stale: a file has other content; Unsaved, Denied, TimedOut
        """
        # A canonical path may be one of spaces alone, which as a caller's spelling is empty.
        stats = [
            self._located(path if path.strip() else f"./{path}", self.policy.require_write) for path, _, _ in files
        ]
        with self._held_to_write([stat.key for stat in stats]), ExitStack() as opened:
            yield [
                opened.enter_context(self._restorable(self._same_place(stat), file))
                for stat, file in zip(stats, files, strict=True)
            ]

    def commit(self, draft: Draft, step: Step, *, approved: bool = False) -> Change | None:
        """Carry out a step of one file; see `commit_all`."""
        return self.commit_all([(draft, step)], approved=approved)

    def commit_all(self, work: Work, *, approved: bool = False) -> Change | None:
        """Carry out one change, of one file or of several, or (where a person must approve it) propose it.

        `approved` says that a person asked for the change itself. None if it changes nothing.

        Raises:
            Conflict: an outsider was faster; InputOutput: also where the store cannot keep the change; Denied,
                NotADirectory. Nothing was written then, in no file, unless `InputOutput` says so.
            TooLarge: several files of which the old content is too much to keep, or too many proposals.
        """
        work = [(draft, step) for draft, step in work if step.splices or draft.before is None or step.op == "delete"]
        if not work:
            return None
        require_reversible(work)
        if not approved and any(self._needs_approval(draft) for draft, _ in work):
            return self._propose(work)

        def begin(states: Sequence[States]) -> Change:
            pending = new_change(work, states, self.reader, "pending")
            if approved:
                pending.decided_at, pending.decided_by = pending.created_at, self.reader.user
            return self.store.add_change(pending, kept_splices(work))

        change, landed = self._ahead.carry_out(work, begin, lambda change: self.store.drop(change.id))
        # What a person does, no assistant has been shown: whoever reads in the same session has to look again.
        return self._finished(change, landed, None if approved else self.tracker)

    def carry_out(self, work: Work, proposal: Change, record: Change) -> Change:
        """Carry out a proposed change that a person approved; its proposer gets the receipts.

        Args:
            work: what is carried out.
            proposal: what was proposed; it waits again where nothing is written.
            record: what is kept of it in its place.

        Raises:
            as `commit_all`; Conflict also where somebody else decided first.
        """
        proposed = self.store.splices(proposal.id)
        record = record.model_copy(update={"place": work[0][0].holder.place})

        def begin(_: Sequence[States]) -> Change:
            change = self.store.decide(
                proposal.id,
                "proposed",
                "pending",
                decided_at=time.time(),
                decided_by=self.reader.user,
                splices=packed_both_ways(work),
                record=record,
            )
            if change is None:
                raise Conflict(f"change {proposal.id} was decided meanwhile", hint="Look at the change again.")
            return change

        def retract(change: Change) -> None:
            self.store.decide(change.id, "pending", "proposed", decided_at=None, splices=proposed, record=proposal)

        tracker = self.tracker.of(proposal.reader)
        for (draft, _), file in zip(work, proposal.all_files, strict=True):
            draft.receipt = tracker.lookup(draft.stat.key)
            if draft.receipt and (file.before is None or draft.receipt.text_sha != file.before.text_sha):
                # What the proposer was shown since is another content than the one that was changed.
                draft.receipt = None
        change, landed = self._ahead.carry_out(work, begin, retract)
        return self._finished(change, landed, tracker, kept_splices(work))

    def record_own_content(self, draft: Draft, text: str, encoding: str | None) -> None:
        """Leave a receipt for a whole file that already had the text its reader wanted to write."""
        assert draft.before is not None
        state = self._known_state(draft) or state_of(self.fingerprint(draft.before), draft.stat.size)
        self.store.put_receipt(*self.tracker.after_own_write(draft.stat, state, text, encoding))

    def held(self, *keys: str) -> AbstractContextManager[object]:
        """Hold the locks of files without touching them: a decision and a write never cross."""
        return self._locks.hold(*keys)

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

    def _can_be_read(self, path: str) -> bool:
        try:
            with self.backend.read(path):
                return True
        except Denied:
            return False
        except FsToolsError:  # It is gone, or a folder (a command's).
            return True

    def index(self, opened: OpenFile) -> LineIndex:
        """The line index of an open file, kept per version."""
        return self._indexes.of(opened.stat.key, opened.stat.version, opened.size)

    @contextmanager
    def _held_to_write(self, keys: Sequence[str]) -> Iterator[None]:
        """Hold the locks of files to change them, once nothing is left of writers that were killed at it."""
        for _ in range(_MOST_SETTLED):
            with self._locks.hold(*keys):
                left = [change for key in keys for change in self.store.unfinished(key)]
                if not left:
                    yield
                    return
            # Outside of the lock: such a change may be of more files, and all locks are taken in order.
            for change in left:
                self.unfinished.settle(change)
        raise Conflict(
            f"what another program left unfinished in {left[0].path} cannot be settled", hint="Try again in a while."
        )

    @contextmanager
    def _taken(self, path: str, stat: FileStat, gate: Callable[[Draft], None]) -> Iterator[Draft]:
        holder = self._holder(stat, to_change=True)
        if stat.kind == "missing":
            raise self.not_found(path, stat)
        require_file(path, stat)
        with holder.content() as opened:
            draft = Draft(path, opened.stat, opened, holder)
            require_editable_size(draft, self.limits.max_edit_bytes)
            gate(draft)
            yield draft

    @contextmanager
    def _restorable(self, stat: FileStat, file: Restorable) -> Iterator[Draft]:
        path, expected, told = file
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

    def _receipt_gate(self, *, whole: bool, accept_stale: bool) -> Callable[[Draft], None]:
        def gate(draft: Draft) -> None:
            draft.receipt = self._require_receipt(draft, whole=whole, accept_stale=accept_stale)

        return gate

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
                text = explain_read(refusal, draft, receipt, self.tracker.shown_text(draft.stat.key))
                if text is not None and not whole:
                    self.tracker.record_diff(receipt, draft.stat, self.fingerprint(opened), text)
                    refusal.hint = SHOWN_BY_DIFF
            raise

    def _holder(self, stat: FileStat, *, to_change: bool) -> Holder:
        for documents in self._documents:
            holder = documents.holder(stat, to_change=to_change)
            if holder is not None:
                return holder
        if to_change:
            require_saved(self.store, stat)
        return Disk(self.backend, stat)

    def _finished(
        self, begun: Change, landed: Sequence[Landed], tracker: ReadTracker | None, splices: bytes | None = None
    ) -> Change:
        """The change, applied; its reader's receipts go on."""
        change = as_landed(begun, landed)
        try:
            told = [one.step.receipt_after(tracker, one.draft, one.stat, one.states.after) for one in landed if tracker]
            settle_chain(self.store, change, decided_by=self.reader.user)
            receipts = [(receipt, shown) for receipt, shown in told if receipt is not None]
            record = change if change is not begun else None
            revision = self.store.finish(change.id, receipts, splices=splices, record=record)
        except FsToolsError as problem:
            # The change itself is made and kept: it must not be told as refused.
            _log.warning("Change %s is kept, and settled when somebody looks: %s", change.id, problem.message)
            revision = None
        change = change.model_copy(update={"status": "applied", "revision": revision or change.revision})
        self.settled(change)
        return change

    def _needs_approval(self, draft: Draft) -> bool:
        return self.policy.needs_approval(self._relative(draft.given), draft.stat.path)

    def _known_state(self, draft: Draft) -> FileState | None:
        if draft.before is None:
            return None
        receipt = draft.receipt
        if receipt is not None and receipt.version == draft.stat.version and receipt.text_sha and receipt.exact_sha:
            return FileState(text_sha=receipt.text_sha, exact_sha=receipt.exact_sha, size=draft.stat.size)
        known = self.index(draft.before).fingerprint
        return known and state_of(known, draft.stat.size)

    def _propose(self, work: Work) -> Change:
        states = [self._ahead.states(draft, step.op, step.splices) for draft, step in work]
        proposal = new_change(work, states, self.reader, "proposed")
        change = self.store.add_change(proposal, packed_both_ways(work))
        self.settled(change)
        return change
