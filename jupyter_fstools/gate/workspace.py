"""Opens files through the gate: show, peek, draft, commit."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from ..backends.protocol import Backend, FileStat, Locks, OpenFile
from ..content.source import BytesContent
from ..errors import Conflict
from ..limits import Limits
from ..open_documents.holders import Holders
from ..open_documents.protocol import OpenDocuments
from ..progress import Progress
from ..stores.protocol import Closing, Store
from ..stores.records import Change, Reader, Via
from ..walking.stopping import BoundedReading, Stop
from .commits import Commits
from .draft import (
    Check,
    Draft,
    ExpectedFile,
    Step,
    Work,
    require_bounded,
    require_editable_size,
    require_file,
    require_reversible,
    state_of,
    tell_declared_encodings,
)
from .held_files import HeldFiles, require_different_files
from .kept_steps import KeptSteps
from .line_check import LineCheck
from .path_resolver import PathResolver
from .policy import Policy, Rules
from .read_tracker import ReadTracker
from .tokens import Grant
from .unfinished import Unfinished
from .versions import Versions
from .write_ahead import WriteAhead, require_writable


class Workspace(Closing):
    """Files, seen by one reader through the gate.

    Args:
        backend: where the bytes are.
        store: where receipts and changes are.
        locks: one lock per file.
        policy: where callers may go.
        reader: the user and session that ask.
        limits: how much one call may do.
        rules: how strict the gate is.
        tool_prefix: prefix of every tool's name.
        committed: called with every change made here.
        documents: find the holders of open files, asked in this order; a file that nobody holds is on the disk.
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
        committed: Callable[[Change], None] | None = None,
        documents: Sequence[OpenDocuments] = (),
    ) -> None:
        self.paths = PathResolver(backend, policy)
        self.store = store
        self.reader = reader
        self.limits = limits or Limits()
        self.rules = rules or Rules()
        self.tool_prefix = tool_prefix
        self.cancelled: threading.Event | None = None
        self.progress: Callable[[Progress], None] | None = None
        self.decides_via: Via | None = None
        self.conversation: str | None = ""
        self.shown_bytes: int | None = None
        self._waits_in_line_until: float | None = None
        self.versions = Versions(backend)
        self.tracker = ReadTracker(store, reader, overwrite_needs_full_read=self.rules.overwrite_needs_full_read)
        self.followed: dict[Reader, dict[tuple[str, ...], tuple[int, frozenset[str]]]] = {}
        """For each reader, and the paths to which a token limits it, the revision up to which decisions were reported,
        and the proposals that still wait."""
        self._locks = locks
        self._committed = committed
        self._ahead, self._kept = WriteAhead(self.versions), KeptSteps(self.versions)
        self._holders = Holders(backend, store, tuple(documents))
        self.unfinished = Unfinished(self.paths, store, locks, self._ahead, self._holders)
        """Settles changes that killed writers left below this root."""
        self._first_call = threading.Lock()

    @property
    def backend(self) -> Backend:
        """Where the bytes are."""
        return self.paths.backend

    @property
    def policy(self) -> Policy:
        """Where callers may go."""
        return self.paths.policy

    @property
    def _held(self) -> HeldFiles:
        until = self._waits_in_line_until
        return HeldFiles(self.store, self._locks, self.unfinished, self._holders, self.tracker, self.versions, until)

    @property
    def _commits(self) -> Commits:
        return Commits(self.store, self._ahead, self._kept, self.tracker, self._committed, self.decides_via)

    def called(self) -> None:
        """At this process's first call, by any reader, settle changes that killed writers left below the root."""
        if self._first_call.acquire(blocking=False):
            self.unfinished.settle_free()

    def for_reader(
        self,
        reader: Reader,
        cancelled: threading.Event | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        grant: Grant | None = None,
        waits_in_line: bool = False,
        decides_via: Via | None = None,
    ) -> Workspace:
        """The same files for another reader; cheap.

        Args:
            reader: the user and session that ask.
            cancelled: set once nobody waits for the call; long work checks it. None: somebody always waits.
            progress: called with the progress of a long call, in the call's thread; it must not block.
            grant: the part of the files that the reader may see; None: as here.
            waits_in_line: no thread waits for a file's lock: for `lock_seconds` from now on, a lock that another call
                holds raises `TimedOut` with that `lock`, and the whole call begins again once it is free.
            decides_via: how a person's decisions come in.
        """
        other = copy.copy(self)
        other._waits_in_line_until = time.monotonic() + self.limits.lock_seconds if waits_in_line else None
        other.paths = PathResolver(self.backend, self.policy, grant or self.paths.grant)
        other.decides_via = decides_via
        other.reader, other.cancelled, other.progress = reader, cancelled, progress
        other.tracker = self.tracker.of(reader)
        return other

    def in_conversation(self, name: str | None, *, shown_bytes: int | None = None) -> Workspace:
        """The same for one conversation of a model in its reader's session; cheap.

        Conversations of one session share receipts, but text shown to one of them is still shown to the others.

        Args:
            name: the conversation's; None: it is not known.
            shown_bytes: bytes of one answer that its client shows the model; None: all.
        """
        other, limits = copy.copy(self), self.limits
        other.conversation, other.shown_bytes = name, shown_bytes
        if shown_bytes is not None:
            other.limits = replace(
                limits,
                max_output_bytes=min(limits.max_output_bytes, shown_bytes),
                execute_output_bytes=min(limits.execute_output_bytes, shown_bytes),
            )
        return other

    def close(self) -> None:
        """Close the root and the store's connections, for every reader; nothing works afterwards."""
        self.backend.close()
        self.store.close()

    def let_save(self) -> None:
        """Wait briefly until open documents have saved their pending changes, for programs that read the disk."""
        self._holders.let_save()

    def peek(self, path: str) -> FileStat:
        """Look at a path, leaving no receipt; a missing file is `kind="missing"`.

        Raises:
            Invalid, OutsideRoot, Denied, NotADirectory
        """
        return self.paths.peek(path)

    @contextmanager
    def show(self, path: str) -> Iterator[OpenFile]:
        """Open a file to show it; the lines shown are recorded through `tracker.record_read`.

        No lock is held: the open file stays one version, as a writer replaces the file, or says that it has changed.

        Raises:
            NotFound (with near names), IsDirectory, Denied, OutsideRoot, Invalid, InputOutput
            TimedOut: a read after `read_seconds`, or after the call was cancelled.
        """
        stat = self.paths.existing(path)
        with self._holders.of(stat, to_change=False).content() as opened:
            if isinstance(opened, BytesContent):
                yield opened
            else:
                yield BoundedReading(opened, Stop(self.limits.read_seconds, self.cancelled))

    @contextmanager
    def draft(
        self,
        path: str,
        *,
        whole: bool = False,
        may_create: bool = False,
        exclusive: bool = False,
        check: Check | None = None,
    ) -> Iterator[Draft]:
        """Take a file to change it, under its lock until the block ends.

        Args:
            path: as the caller spells it.
            whole: the change replaces the whole file.
            may_create: a missing file is no error.
            exclusive: an existing file is one.
            check: replaces the check of lines (cells of a notebook have receipts of their own).

        Raises:
            NotRead, Stale (with what changed), NotFound, Conflict, Unsaved, IsDirectory, Denied, TooLarge, TimedOut
        """
        stat = self.paths.peek_to_write(path, must_exist=not may_create)
        with self._held.to_write([stat.key]):
            # The previous holder of the lock may have made or removed the file.
            stat = self.paths.looked_at_again(stat)
            if stat.kind == "missing" and may_create:
                yield Draft(path, stat, None, self._holders.of(stat, to_change=True))
                return
            if exclusive:
                require_file(path, stat)
                raise Conflict(
                    f"{path!r} exists already", hint="Leave out `create_only` to overwrite it once it is read."
                )
            check = check or LineCheck(self.tracker, self.versions, whole=whole)
            with self._taken(path, stat, check, [0]) as draft:
                yield draft

    @contextmanager
    def drafts(self, paths: Sequence[str], check: Check) -> Iterator[list[tuple[Draft, list[int]]]]:
        """Take several files to change them in one step, under all their locks until the block ends.

        Gives a draft of each file, in the order of keys, with the numbers of its paths; the rest is as in `draft`.

        Raises:
            Invalid: two paths are hard links of one file; as `draft`
        """
        stats = {path: self.paths.peek_to_write(path, must_exist=True) for path in paths}
        numbers: dict[str, list[int]] = {}
        for number, path in enumerate(paths):
            numbers.setdefault(stats[path].key, []).append(number)
        with self._held.to_write(list(numbers)), ExitStack() as opened:
            taken: dict[str, Draft] = {}
            for key, own in numbers.items():
                path = paths[own[0]]
                stat = self.paths.looked_at_again(stats[path])
                taken[key] = opened.enter_context(self._taken(path, stat, check, own))
            require_different_files(list(taken.values()))
            yield [(taken[key], numbers[key]) for key in sorted(taken)]

    @contextmanager
    def drafts_to_restore(self, files: Sequence[ExpectedFile]) -> Iterator[list[Draft]]:
        """Take files that must still be as a change left them, or expects them.

        No receipt is required: the change itself proves that the content is known. An open document may have changed
        elsewhere: only the places of the change must be intact (`Draft.placed`).

        Raises:
            Stale: a file has other content; Unsaved, Denied, TimedOut
        """
        # A canonical path may consist of spaces only, which a caller's path must not.
        stats = [
            self.paths.peek_to_write(file.path if file.path.strip() else f"./{file.path}", must_exist=False)
            for file in files
        ]
        with self._held.to_write([stat.key for stat in stats]), ExitStack() as opened:
            yield [
                opened.enter_context(self._held.restorable(self.paths.looked_at_again(stat), file))
                for stat, file in zip(stats, files, strict=True)
            ]

    def commit(self, draft: Draft, step: Step) -> Change | None:
        """Carry out a step of one file; see `commit_all`."""
        return self.commit_all([(draft, step)])

    def commit_all(self, work: Work, *, approved: bool = False) -> Change | None:
        """Carry out one change, of one file or of several, or (where a person must approve it) propose it.

        `approved` says that a person asked for the change itself. None if it changes nothing.

        Raises:
            Conflict: an outsider was faster; InputOutput: also where the store cannot keep the change; Denied,
                NotADirectory. Nothing was written then, in no file, unless `InputOutput` says so.
            TooLarge: the old content of several files is too much to keep, a file becomes too large, or there are too
                many proposals.
        """
        work = [(draft, step) for draft, step in work if step.splices or draft.before is None or step.op == "delete"]
        if not work:
            return None
        # Before the first file is written, and before a person is asked.
        require_writable(work)
        require_reversible(work)
        require_bounded(work, self.limits.max_edit_bytes)
        tell_declared_encodings(work)
        if not approved and any(self._needs_approval(draft) for draft, _ in work):
            return self._commits.propose(work)
        return self._commits.apply(work, approved=approved)

    def carry_out(self, work: Work, proposal: Change, record: Change) -> Change:
        """Carry out a proposed change that a person approved; its proposer gets the receipts.

        Args:
            work: the steps to carry out.
            proposal: the proposed change; it waits again where nothing is written.
            record: the journal's entry that replaces it.

        Raises:
            as `commit_all`; Conflict also where somebody else decided first.
        """
        require_writable(work)
        # A person may have written a text of their own instead of the proposed one.
        require_bounded(work, self.limits.max_edit_bytes)
        tell_declared_encodings(work)
        return self._commits.approve(work, proposal, record)

    def record_own_content(self, draft: Draft, text: str, encoding: str | None) -> None:
        """Leave a receipt for a whole file that already had the text its reader wanted to write."""
        assert draft.before is not None
        state = self.versions.state(draft) or state_of(self.versions.fingerprint(draft.before), draft.stat.size)
        self.store.put_receipt(*self.tracker.after_own_write(draft.stat, state, text, encoding))

    def held(self, *keys: str) -> AbstractContextManager[object]:
        """Hold the locks of files without touching them, so that a decision and a write never overlap."""
        return self._held.lock(keys)

    def settled(self, change: Change) -> None:
        """Notify this process's followers of the journal."""
        self._commits.announce(change)

    @contextmanager
    def _taken(self, path: str, stat: FileStat, check: Check, numbers: Sequence[int]) -> Iterator[Draft]:
        holder = self._holders.of(stat, to_change=True)
        if stat.kind == "missing":
            raise self.paths.not_found(path, stat)
        require_file(path, stat)
        with holder.content() as opened:
            require_editable_size(opened.stat, self.limits.max_edit_bytes)
            yield Draft(path, opened.stat, opened, holder, check.receipt(numbers, opened))

    def _needs_approval(self, draft: Draft) -> bool:
        return self.policy.needs_approval(self.paths.relative(draft.given), draft.stat.path)
