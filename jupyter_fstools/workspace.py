"""The one door to the files: show leaves a receipt, peek leaves none, draft demands one, commit takes a draft."""

from __future__ import annotations

import posixpath
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from .backends.protocol import Backend, Entry, FileStat, OpenFile
from .documents.line_index import LineIndex, LineIndexes
from .documents.text_encoding import encoding_of
from .draft import Draft, KnownContent, Step, Told, new_change, require_file, state_of, unhashed_state
from .errors import Conflict, FsToolsError, NotFound, Stale, TooLarge
from .fingerprint import Fingerprint
from .limits import Limits
from .near_names import near_names
from .policy import Policy, checked_path
from .read_tracker import ReadTracker
from .records import Change, ChangeStatus, FileState, Reader, Receipt
from .splices import SplicedStream, packed
from .stores.protocol import Store
from .text_diff import unified

EAGER_BYTES = 64 << 20
"""Up to here a file is counted and fingerprinted when it is first shown; above, only as far as a window needs."""
_MOST_EXPLAINED_BYTES = 16 << 20


class Locks(Protocol):
    """One lock per file, across threads and processes."""

    def hold(self, key: str) -> AbstractContextManager[object]:
        """Hold a file's lock; TimedOut after a while."""


@dataclass(frozen=True)
class Rules:
    """How strict the gate is.

    Attributes:
        refuse_unseen_edits: an edit outside every shown line is refused, not only said.
        overwrite_needs_full_read: overwriting demands that the whole file was shown.
    """

    refuse_unseen_edits: bool = False
    overwrite_needs_full_read: bool = True


class Workspace:
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
        committed: called with every change made here.
        cancelled: set once nobody waits for what is being done here; whatever takes long asks it. None: always waited.
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
        committed: Callable[[Change], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.backend = backend
        self.store = store
        self.policy = policy
        self.reader = reader
        self.limits = limits or Limits()
        self.rules = rules or Rules()
        self.tool_prefix = tool_prefix
        self.cancelled = cancelled
        self._locks = locks
        self._indexes = indexes or LineIndexes()
        self._committed = committed
        self.tracker = ReadTracker(store, reader, overwrite_needs_full_read=self.rules.overwrite_needs_full_read)

    def for_reader(self, reader: Reader, cancelled: threading.Event | None = None) -> Workspace:
        """The same files for another reader (until `cancelled`); cheap."""
        return Workspace(
            self.backend,
            self.store,
            self._locks,
            self.policy,
            reader,
            limits=self.limits,
            rules=self.rules,
            tool_prefix=self.tool_prefix,
            indexes=self._indexes,
            committed=self._committed,
            cancelled=cancelled,
        )

    def peek(self, path: str) -> FileStat:
        """Look at a path, leaving no receipt; a missing file is `kind="missing"`.

        Raises:
            Invalid, OutsideRoot, Denied, NotADirectory
        """
        return self._located(path, self.policy.require_read)

    def entries(self, folder: FileStat, *, recursive: bool, skipped: Iterable[str] = ()) -> Iterator[Entry]:
        """What is in a folder, without what a deny rule hides; `skipped` names are not entered."""
        left_out = frozenset(skipped)

        def enter(entry: Entry) -> bool:
            return entry.name not in left_out and self.policy.may_read(entry.path, self.key_of(entry.path))

        walk = self.backend.walk(folder.path, enter) if recursive else self.backend.list(folder.path)
        return (entry for entry in walk if self.policy.may_read(entry.path, self.key_of(entry.path)))

    def may_read(self, path: str) -> bool:
        """No deny rule keeps a canonical path from being read, listed or suggested."""
        return self.policy.may_read(path, self.key_of(path))

    def none_denied(self, folder: str, names: Iterable[str]) -> bool:
        """A quick yes for many names in a canonical folder; after a no, `may_read` tells which."""
        return self.policy.none_denied(folder, names, self.key_of(folder).rstrip("/"))

    @contextmanager
    def show(self, path: str) -> Iterator[OpenFile]:
        """Open a file to show it; what is shown is recorded through `tracker.record_read` before the lock is let go.

        Raises:
            NotFound (with near names), IsDirectory, Denied, OutsideRoot, Invalid, InputOutput
        """
        stat = self._existing(path)
        with self._locks.hold(stat.key), self.backend.read(stat.path) as opened:
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
            NotRead, Stale (with what changed), NotFound, Conflict, IsDirectory, Denied, TooLarge, TimedOut
        """
        stat = self._located(path, self.policy.require_write)
        if stat.kind == "missing" and not may_create:
            raise self.not_found(path, stat)
        with self._locks.hold(stat.key):
            # Who held the lock may have made or removed the file.
            stat = self._same_place(stat)
            if stat.kind == "missing":
                if not may_create:
                    raise self.not_found(path, stat)
                yield Draft(path, stat, None, None)
                return
            require_file(path, stat)
            if exclusive:
                raise Conflict(
                    f"{path!r} exists already", hint="Leave out create_only to overwrite it once it is read."
                )
            with self.backend.read(stat.path) as opened:
                draft = Draft(path, opened.stat, opened, None)
                self._require_editable_size(draft)
                if gate is not None:
                    gate(draft)
                else:
                    draft.receipt = self._require_receipt(draft, whole=whole, accept_stale=accept_stale)
                yield draft

    @contextmanager
    def draft_to_restore(self, path: str, expected: FileState | None, told: Told) -> Iterator[Draft]:
        """Take a file that must still have the content that a change left (None: must not exist).

        The change itself is the proof of knowledge here, so no receipt is asked for.

        Raises:
            Stale: the file has other content; Denied, TimedOut
        """
        # A canonical path may be one of spaces alone, which as a caller's spelling is empty.
        stat = self._located(path if path.strip() else f"./{path}", self.policy.require_write)
        with self._locks.hold(stat.key):
            stat = self._same_place(stat)
            if stat.path != path:
                raise told.refusal(path, "has been replaced by a link")
            if (stat.kind == "missing") != (expected is None):
                raise told.refusal(path, "exists by now" if expected is None else "does not exist any more")
            if expected is None:
                yield Draft(path, stat, None, None)
                return
            require_file(path, stat)
            with self.backend.read(stat.path) as opened:
                draft = Draft(path, opened.stat, opened, None)
                if opened.stat.size != expected.size or self.fingerprint(opened).exact != expected.exact_sha:
                    refusal = told.refusal(path, "has changed since")
                    self._explain(refusal, draft, told.known, whole=told.whole)
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
            Denied, InputOutput, NotADirectory
        """
        if not step.splices and draft.before is not None and step.op != "delete":
            return None
        if not approved and self.policy.needs_approval(self._relative(draft.given), draft.stat.path):
            return self._propose(draft, step)
        before, after, stat = self._write(draft, step)
        # What a person does, no assistant has been shown: whoever reads in the same session has to look again.
        receipt, shown = (None, None) if approved else self._receipt_after(draft, step, stat, after)
        change = new_change(draft, step, self.reader, (before, after), "applied")
        change = self.store.add_change(change, step.kept(), receipt, shown)
        self._settle(change)
        return change

    def carry_out(self, draft: Draft, step: Step, proposal: Change) -> Change:
        """Carry out a proposed step that a person approved; its proposer gets the receipt.

        Raises:
            as `commit`
        """
        _, after, stat = self._write(draft, step)
        change = self.store.decide(
            proposal.id,
            "proposed",
            "applied",
            decided_at=time.time(),
            decided_by=self.reader.user,
            splices=step.kept(),
        )
        proposer = self.for_reader(proposal.reader)
        draft.receipt = proposer.tracker.lookup(draft.stat.key)
        if draft.receipt and (proposal.before is None or draft.receipt.text_sha != proposal.before.text_sha):
            # What the proposer was shown since is another content than the one that was changed.
            draft.receipt = None
        receipt, shown = proposer._receipt_after(draft, step, stat, after)
        if receipt is not None:
            self.store.put_receipt(receipt, shown)
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

    def key_of(self, path: str) -> str:
        """The key of a canonical path."""
        return f"{self.backend.root_key.rstrip('/')}/{path}" if path else self.backend.root_key

    def path_of(self, key: str) -> str | None:
        """The canonical path of a key; None for a file outside this root."""
        prefix = self.backend.root_key.rstrip("/") + "/"
        return key.removeprefix(prefix) if key.startswith(prefix) else None

    def not_found(self, path: str, stat: FileStat) -> NotFound:
        """The refusal of a missing file, with up to three names like it that the caller may see."""
        near = near_names(self.backend, self.policy, stat)
        hint = f"Did you mean {' or '.join(near)}?" if near else "List the folder with list_files."
        return NotFound(f"{path!r} does not exist (paths are relative to the root)", hint=hint, near=near)

    def _existing(self, path: str) -> FileStat:
        stat = self.peek(path)
        if stat.kind == "missing":
            raise self.not_found(path, stat)
        require_file(path, stat)
        return stat

    def _located(self, path: str, require: Callable[[str, str, str], None]) -> FileStat:
        given = self._relative(checked_path(path))
        try:
            stat = self.backend.stat(path)
        except FsToolsError:
            # What is there behind a deny rule must not show in how the look at it failed.
            if not given.startswith(("/", "../")):
                require(given, given, self.key_of(given))
            raise
        require(given, stat.path, stat.key)
        return stat

    def _relative(self, path: str) -> str:
        return posixpath.normpath(self.path_of(path) or path)

    def _require_editable_size(self, draft: Draft) -> None:
        if draft.stat.size > self.limits.max_edit_bytes:
            raise TooLarge(
                f"{draft.stat.path} has {draft.stat.size} bytes; above {self.limits.max_edit_bytes} no file is edited",
                hint="Use a program made for files of this size.",
                size=draft.stat.size,
                limit=self.limits.max_edit_bytes,
            )

    def _require_receipt(self, draft: Draft, *, whole: bool, accept_stale: bool) -> Receipt:
        assert draft.before is not None
        opened = draft.before
        try:
            return self.tracker.require(draft.stat, lambda: self.fingerprint(opened), whole=whole)
        except Stale as refusal:
            receipt = self.tracker.lookup(draft.stat.key)
            if accept_stale and receipt is not None:
                return receipt
            whole_shown = receipt is not None and receipt.full
            self._explain(refusal, draft, self.tracker.shown_text(draft.stat.key), whole=whole_shown)
            raise

    def _explain(self, refusal: Stale, draft: Draft, known: KnownContent | None, *, whole: bool) -> None:
        """Say what changed since, as far as what was known before (`whole`: all there was) tells it."""
        assert draft.before is not None
        if known is None or draft.stat.size > _MOST_EXPLAINED_BYTES:
            return
        receipt = self.tracker.lookup(draft.stat.key)
        try:
            encoding = encoding_of(draft.before, draft.stat.path, receipt.encoding if receipt else None)
        except FsToolsError:
            return
        text = draft.before.read(len(encoding.bom), draft.stat.size).decode(encoding.codec, "replace")
        diff = known.diff(draft.stat.path, text, whole=whole)
        if diff is not None and (diff.hunks or diff.cells):
            refusal.details["diff"] = unified(diff)

    def _same_place(self, stat: FileStat) -> FileStat:
        now = self.backend.stat(stat.path or ".")
        if now.key != stat.key:
            raise Conflict(f"{stat.path} was replaced by a link meanwhile", hint="Look at the folder, then try again.")
        return now

    def _write(self, draft: Draft, step: Step) -> tuple[FileState | None, FileState | None, FileStat]:
        before = self._known_state(draft)
        if step.op == "delete":
            assert draft.before is not None
            before = before or state_of(self.fingerprint(draft.before), draft.stat.size)
            self.backend.delete(draft.stat.path, if_match=draft.stat.version)
            return before, None, replace(draft.stat, kind="missing", size=0, version="")
        existing = draft.before is not None
        hash_before = existing and before is None and draft.stat.size <= EAGER_BYTES
        stream = SplicedStream(draft.content, step.splices, old_wanted=hash_before)
        version = draft.stat.version if existing else None
        stat = self.backend.write(draft.stat.path, stream.chunks(), if_match=version)
        old, new = stream.fingerprints()
        if existing and before is None:
            before = state_of(old, draft.stat.size) if old else unhashed_state(draft.stat.size)
        return before, state_of(new, stat.size), stat

    def _known_state(self, draft: Draft) -> FileState | None:
        if draft.before is None:
            return None
        receipt = draft.receipt
        if receipt is not None and receipt.version == draft.stat.version and receipt.text_sha and receipt.exact_sha:
            return FileState(text_sha=receipt.text_sha, exact_sha=receipt.exact_sha, size=draft.stat.size)
        known = self.index(draft.before).fingerprint
        return known and state_of(known, draft.stat.size)

    def _receipt_after(
        self, draft: Draft, step: Step, stat: FileStat, after: FileState | None
    ) -> tuple[Receipt | None, bytes | None]:
        if after is None:
            self.tracker.forget(draft.stat.key)
            return None, None
        if step.receipt is not None:
            return step.receipt(self.tracker, stat, after)
        if step.written is not None:
            return self.tracker.after_own_write(stat, after, step.written, step.encoding)
        if draft.receipt is None:
            return None, None
        return self.tracker.after_own_edit(draft.receipt, stat, after, step.diff)

    def _propose(self, draft: Draft, step: Step) -> Change:
        stream = SplicedStream(draft.content, step.splices, old_wanted=draft.before is not None)
        size = sum(len(chunk) for chunk in stream.chunks())
        old, new = stream.fingerprints()
        before = old and state_of(old, draft.stat.size)
        after = None if step.op == "delete" else state_of(new, size)
        change = new_change(draft, step, self.reader, (before, after), "proposed")
        change = self.store.add_change(change, packed(step.splices, keep_inserted=True))
        self.settled(change)
        return change

    def _settle(self, change: Change) -> None:
        # Taking back an undo makes the change it took back stand again, and so on down the chain.
        taken_back, stands = change.undoes, False
        while taken_back is not None:
            was: ChangeStatus = "undone" if stands else "applied"
            now: ChangeStatus = "applied" if stands else "undone"
            by = None if stands else self.reader.user
            settled = self.store.decide(taken_back, was, now, decided_at=time.time(), decided_by=by)
            taken_back, stands = settled.undoes if settled is not None else None, not stands
        self.settled(change)
