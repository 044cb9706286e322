"""Applies or proposes changes, and updates their reader's receipts."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from ..content.splices import either_way
from ..errors import Conflict, FsToolsError
from ..sessions import system_user
from ..stores.protocol import Store
from ..stores.record_json import to_json
from ..stores.records import Change, ChangedFile, ChangeStatus, Place, Via
from .draft import Work
from .kept_steps import KeptSteps
from .read_tracker import ReadTracker
from .write_ahead import Landed, States, WriteAhead, as_landed, with_file, with_states


def settle(store: Store, change: Change, *, decided_by: str, stands: bool = False) -> None:
    """Mark the change that an undo took back as undone; with `stands` as applied, as the undo failed.

    Undoing an undo puts the first change into effect again, and so on down the chain. Notes already made stay, so that
    an interrupted run can be repeated.
    """
    taken_back = change.undoes
    while taken_back is not None:
        was: ChangeStatus = "undone" if stands else "applied"
        now: ChangeStatus = "applied" if stands else "undone"
        by = None if stands else decided_by
        settled = store.decide(taken_back, was, now, decided_at=store.now(), decided_by=by) or store.change(taken_back)
        taken_back, stands = settled.undoes if settled is not None and settled.status == now else None, not stands


_log = logging.getLogger("jupyter_fstools")


class Commits:
    """The changes of one reader.

    Args:
        store: the journal.
        ahead: writes files.
        kept: packs what the journal keeps.
        tracker: the reader's receipts.
        committed: called with every new or decided change; None: nobody listens.
        via: the way by which decisions of a person come in; None for a program.
    """

    def __init__(
        self,
        store: Store,
        ahead: WriteAhead,
        kept: KeptSteps,
        tracker: ReadTracker,
        committed: Callable[[Change], None] | None,
        via: Via | None,
    ) -> None:
        self._store = store
        self._ahead = ahead
        self._kept = kept
        self._tracker = tracker
        self._reader = tracker.reader
        self._committed = committed
        self._via = via

    def apply(self, work: Work, *, approved: bool) -> Change:
        """Carry out one change; `approved` says that a person asked for it."""

        def begin(states: Sequence[States]) -> Change:
            pending = self._new(work, states, "pending")
            if approved:
                pending.decided_at, pending.decided_by = pending.created_at, self._reader.user
                pending.decided_via = self._via
            return self._store.add_change(pending, self._kept.carried_out(work))

        change, landed = self._ahead.carry_out(work, begin, lambda change: self._store.drop(change.id))
        # No assistant has been shown a person's own change: it must read the file again, also in the same session.
        return self._finished(change, landed, None if approved else self._tracker)

    def propose(self, work: Work) -> Change:
        """Record a change that waits for a person."""
        states = [with_file(self._ahead.states(draft, step.op, step.splices), draft) for draft, step in work]
        proposal = self._new(work, states, "proposed")
        change = self._store.add_change(proposal, self._kept.proposed(work))
        self.announce(change)
        return change

    def approve(self, work: Work, proposal: Change, record: Change) -> Change:
        """Carry out a proposed change; see `Workspace.carry_out`."""
        proposed = self._store.splices(proposal.id) or b""
        carried_out = self._kept.carried_out(work)
        moved_on = any(draft.placed is not None for draft, _ in work)
        record = record.model_copy(update={"place": _place_of(work), "decided_via": self._via})

        def begin(states: Sequence[States]) -> Change:
            # Where the document was saved since, the file is no longer as the proposal tells.
            former = [before for before, _ in states] + [file.before for file in proposal.all_files]
            is_unsaved = any(before is not None and before.on_disk is not None for before in former)
            change = self._store.decide(
                proposal.id,
                "proposed",
                "pending",
                decided_at=self._store.now(),
                decided_by=self._reader.user,
                splices=either_way(carried_out, proposed, to_json(proposal).encode()),
                record=with_states(record, states) if moved_on or is_unsaved else record,
            )
            if change is None:
                raise Conflict(f"change {proposal.id} was decided meanwhile", hint="Look at the change again.")
            return change

        def retract(change: Change) -> None:
            self._store.decide(change.id, "pending", "proposed", decided_at=None, splices=proposed, record=proposal)

        tracker = self._tracker.of(proposal.reader)
        change, landed = self._ahead.carry_out(_known_to(tracker, work, proposal), begin, retract)
        # The proposer has not been shown text that the person wrote instead.
        edited = record.decided is not None and record.decided.edited
        return self._finished(change, landed, None if edited else tracker, carried_out)

    def announce(self, change: Change) -> None:
        """Notify this process's followers of the journal."""
        if self._committed is not None:
            self._committed(change)

    def _new(self, work: Work, states: Sequence[States], status: ChangeStatus) -> Change:
        """The journal's entry for a change; `states` are those of its files."""
        (draft, step), (before, after) = work[0], states[0]
        files = [
            ChangedFile(key=draft.stat.key, path=draft.stat.path, before=before, after=after, diff=step.diff)
            for (draft, step), (before, after) in (zip(work, states, strict=True) if len(work) > 1 else ())
        ]
        return Change(
            id=f"c{secrets.token_hex(6)}",
            key=draft.stat.key,
            path=draft.stat.path,
            tool=step.tool,
            user=self._reader.user,
            session=self._reader.session,
            created_at=self._store.now(),
            status=status,
            before=before,
            after=after,
            diff=step.diff,
            undoes=step.undoes,
            undoable=all(step.undoable for _, step in work),
            files=files,
            place=_place_of(work),
            account=system_user(),
        )

    def _finished(
        self, begun: Change, landed: Sequence[Landed], tracker: ReadTracker | None, splices: bytes | None = None
    ) -> Change:
        """The applied change; its reader's receipts are updated."""
        change, revision, failure = as_landed(begun, landed), None, None
        try:
            told = [one.step.receipt_after(tracker, one.draft, one.stat, one.states.after) for one in landed if tracker]
            settle(self._store, change, decided_by=self._reader.user)
            receipts = [(receipt, shown) for receipt, shown in told if receipt is not None]
            record = change if change is not begun else None
            revision = self._store.finish(change.id, receipts, splices=splices, record=record)
        except FsToolsError as problem:
            failure = problem
        if revision is None and self._is_forgotten(change):
            self._give_up(change, landed)
        if failure is not None:
            # The change itself is made and recorded: it must not be reported as refused.
            _log.warning(
                "Change %s stays pending; the next access to its files settles it: %s", change.id, failure.message
            )
        change = change.model_copy(update={"status": "applied", "revision": revision or change.revision})
        self.announce(change)
        return change

    def _is_forgotten(self, change: Change) -> bool:
        """Whether others took this process for dead, found nothing written, and settled the change."""
        try:
            found = self._store.change(change.id)
        except FsToolsError:
            return False
        return found is None or found.status in ("proposed", "rejected")

    def _give_up(self, change: Change, landed: Sequence[Landed]) -> NoReturn:
        """Restore files written after others had settled the change: a person may have decided otherwise since."""
        late = Conflict(
            f"{change.path}: this process was suspended or cut off from the store until others gave its change up "
            "(not modified)",
            hint="Read the file again, then repeat the change.",
        )
        self._ahead.take_back(change, landed, late)
        settle(self._store, change, decided_by=self._reader.user, stands=True)
        raise late


def _place_of(work: Work) -> Place:
    """Where a change lands; a room if any of its files is in one, else a document if any is in one."""
    places = {draft.holder.place for draft, _ in work}
    return next(place for place in ("room", "document", "disk") if place in places)


def _known_to(tracker: ReadTracker, work: Work, proposal: Change) -> Work:
    """The same work with the proposer's receipts, where they are of the content that was changed."""
    known = []
    for (draft, step), file in zip(work, proposal.all_files, strict=True):
        receipt = tracker.lookup(draft.stat.key)
        shown = file.before if draft.placed is None else None
        if receipt and (shown is None or receipt.text_sha != shown.text_sha):
            receipt = None
        known.append((replace(draft, receipt=receipt), step))
    return known
