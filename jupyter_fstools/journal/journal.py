"""Approves, rejects, keeps and undoes changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..errors import Conflict, Denied, InputOutput, Invalid, NotFound, Stale, TooLarge, saying_unmodified
from ..gate.draft import Draft, ExpectedFile, Step, Work
from ..gate.kept_steps import anchored_at
from ..gate.workspace import Workspace
from ..stores.records import Change, ChangeStatus, Decided
from .commands import is_command, require_waiting, taken_up
from .detailed_decision import Decision
from .file_edits import Steps, encoding_before, kept_parts, restorable, told_encoding
from .listing import Listing
from .named_hunks import (
    NamedHunks,
    decided_of,
    decided_so_far,
    decided_whole,
    named_places,
    names_everything,
    seen_with,
    taken_back,
)
from .partial import Part, part_of, placed_part, recorded, without

_log = logging.getLogger("jupyter_fstools")

ALL = Decision()
"""All of a proposal, without a reason."""


class Journal(Listing):
    """Decides about the changes below one workspace's root, and takes them back."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._steps = Steps(workspace)

    @saying_unmodified()
    def undo(
        self, change: Change, *, by_person: bool, hunks: NamedHunks | None = None, reason: str | None = None
    ) -> Change:
        """Take an applied change back; an undo is a change of its own that names what it undoes.

        Args:
            change: the change to take back.
            by_person: a person may take back anybody's change, at once; a tool only its reader's own, and it may have
                to wait for approval.
            hunks: the hunks to take back; None for all. The others stay, and the change remains in effect.
            reason: a person's, for the session that made the change.

        Raises:
            Invalid: hunks that are not in it.
            Stale: the file no longer has the content that the change left, or where it is open, another one in the
                same places; says what differs.
            Conflict: the change is not in effect, or is a command; Denied: it is somebody else's; TooLarge: it was
                too large to be kept for undo.
        """
        self._require_undoable(change, by_person=by_person)
        hint = "Undo later changes of this file first, if there are any; or read the file and edit it by hand."
        parts = kept_parts(self._workspace, change)
        # An open file may have changed elsewhere, also in other hunks of the change: only the named hunks must fit.
        anchors = _anchors_of(change, hunks, parts)
        files = restorable(self._workspace, change, "after", anchors or parts, "cannot be undone", hint)
        with self._drafts(files, change.id, "applied", "undone") as (drafts, found):
            change = found
            back = self._steps.back(drafts, change, parts)
            work: Work = [(draft, replace(step, undoes=change.id)) for draft, step in back]
            left: Decided | None = None
            if hunks is not None:
                work, left = self._without(work, change, hunks, are_placed=bool(anchors))
            done = self._workspace.commit_all(work, approved=by_person)
            if done is None:
                raise Conflict(f"change {change.id} left nothing to undo", hint="Nothing needs to be done.")
            with _noting(change):
                if left is not None:
                    # A person who takes hunks back has seen them; a cut diff does not have the positions of all hunks.
                    cut = change.diff.truncated
                    seen = {} if cut else seen_with(change, self._workspace.reader.user, hunks)
                    change = self._note(change, {"decided": decided_so_far(change, left), **seen})
                if reason is not None:
                    self._note_reason(change.id, reason)
        return done

    def _require_undoable(self, change: Change, *, by_person: bool) -> None:
        if not by_person and change.reader != self._workspace.reader:
            raise Denied(f"change {change.id} was made by another session", hint="A person can undo it.")
        self._require(change, "applied", "undone")
        if is_command(change):
            raise Conflict(f"{change.id} is a command: it cannot be undone", hint="Undo what it did by hand.")
        if not change.undoable:
            raise TooLarge(
                f"change {change.id} was too large to be kept for undo", hint="Restore the file from a backup."
            )

    def approve(self, change_id: str, *, commands: bool = False, decision: Decision = ALL) -> Change:
        """Carry out a proposed change, if the file is still what it was proposed for; or let a command run.

        A file that is open may have changed elsewhere meanwhile: only the places of the change, or of the hunks or
        cells that are carried out, must be unchanged.

        Args:
            change_id: which.
            commands: the person may have commands run; a command runs in the call that waits for it.
            decision: the hunks to carry out, or the text to write instead, and why.

        Raises:
            Invalid: hunks or cells that are not in it, or nothing of it.
            Stale: the file moved on; the proposal is refused, not merged.
            Conflict: it was decided already, or nobody waits for the command any more; NotFound
            Denied: a command, and the person may not.
        """
        change = self.change(change_id)
        if is_command(change):
            if not commands:
                raise Denied(
                    f"{change.id} is a command: you are not allowed to run one",
                    hint="Ask an administrator.",
                )
            if decision.is_partial:
                raise Invalid("a command is decided as a whole", hint="Leave out hunks and content.", field="hunks")
            require_waiting(self._workspace, change)
            approved = taken_up(self._workspace, self._decided(change, "applied", "approved", decision.reason))
            return self.visible(approved) or approved
        return self._carried_out(change, decision)

    @saying_unmodified()
    def _carried_out(self, change: Change, decision: Decision) -> Change:
        self._require(change, "proposed", "approved")
        hint = "Reject the proposal; the assistant can read the file again and propose anew."
        decision = replace(decision, hunks=decision.named)
        if decision.content is None and names_everything(change, decision.hunks):
            decision = replace(decision, hunks=None)
        parts = kept_parts(self._workspace, change)
        anchors = _anchors_of(change, decision.hunks, parts)
        files = restorable(self._workspace, change, "before", anchors or parts, "cannot be approved", hint)
        with self._drafts(files, change.id, "proposed", "approved") as (drafts, _):
            self._require_to_take_back(change)
            work: Work = list(self._steps.forward(drafts, change, parts))
            if decision.is_partial:
                work, record = self._partly(work, change, decision, are_placed=bool(anchors))
            else:
                decided = decided_whole(change.diff, taken=True, reason=decision.reason)
                record = _as_landing(change, work).model_copy(update={"decided": decided})
            # A person who approves a change has seen it.
            seen = record.model_copy(update={"seen_by": [self._workspace.reader.user]})
            return self._workspace.carry_out(work, change, seen)

    def _require_to_take_back(self, proposal: Change) -> None:
        """Refuse a proposed undo of a change that is no longer in effect: it may have been undone and made again.

        Raises:
            Conflict
        """
        undone = self._store.change(proposal.undoes) if proposal.undoes else None
        if undone is not None and undone.status != "applied":
            raise Conflict(
                f"change {proposal.id} would take back {undone.id}, which is {undone.status} already",
                hint="Reject the proposal.",
            )

    def _partly(self, work: Work, change: Change, decision: Decision, *, are_placed: bool) -> tuple[Work, Change]:
        """The part of a proposal to carry out, and its entry in the journal.

        `are_placed`: if the file has changed elsewhere, the draft has the places of the named hunks only.
        """
        draft, step = self._only(work)
        file = change.all_files[0]
        encoding = told_encoding(file, draft.content, step.splices)
        if are_placed and draft.placed is not None and decision.hunks is not None:
            part = placed_part(draft, change, step.splices, decision, encoding)
        else:
            part = part_of(draft, change, step.splices, decision, encoding)
        if part.decided.rejected or part.decided.edited:
            step = self._steps.step(draft, file, step.op, part.splices, change.tool, encoding)
            # A partial undo leaves some of the change, so it does not count as its undo.
            change = change.model_copy(update={"undoes": None})
        return [(draft, step)], recorded(draft, change, part, step.diff, decision.reason)

    def _without(
        self, work: Work, change: Change, hunks: NamedHunks, *, are_placed: bool
    ) -> tuple[Work, Decided | None]:
        """The step that takes hunks of a change back, and the record of those left; None where all of it is taken back.

        `are_placed`: as for `_partly`.
        """
        draft, step = self._only(work)
        file = change.all_files[0]
        encoding = encoding_before(file, draft, step.splices)
        if are_placed and draft.placed is not None:
            part = Part(step.splices, taken_back(change, hunks))
        else:
            part = without(draft, change, step.splices, hunks, encoding)
        if not part.decided.taken and not are_placed:
            return work, None
        return [(draft, self._steps.step(draft, file, "edit", part.splices, "undo", encoding))], part.decided

    def _only(self, work: Work) -> tuple[Draft, Step]:
        if len(work) > 1:
            raise Invalid("a change of several files is decided as a whole", hint="Leave out hunks.", field="hunks")
        return work[0]

    def keep(self, change_id: str, hunks: NamedHunks | None = None) -> Change:
        """Note that the person has seen a change, or some of its hunks, and keeps them.

        Raises:
            Conflict: it is not in effect; Invalid: hunks that are not in it; NotFound
        """
        change = self.change(change_id)
        user = self._workspace.reader.user
        with self._workspace.held(*change.keys):
            change = self._known(change_id)
            self._require(change, "applied", "kept")
            return change if user in change.seen_by else self._note(change, seen_with(change, user, hunks))

    def note_told(self, change_id: str) -> bool:
        """Note that a decision was reported to the change's proposer; False if that was noted before.

        Raises:
            Conflict: it was decided otherwise meanwhile; NotFound, TimedOut
        """
        with self._workspace.held(*self.change(change_id).keys):
            change = self._known(change_id)
            if not change.told:
                self._note(change, {"told": True})
            return not change.told

    def _note_reason(self, change_id: str, reason: str) -> None:
        """Record why a change, or a part of it, was taken back, to be reported to its session."""
        change = self._known(change_id)
        decided = change.decided or decided_whole(change.diff, taken=True, reason=None)
        self._note(change, {"decided": decided.model_copy(update={"reason": reason}), "told": False})

    def _note(self, change: Change, facts: dict[str, Any]) -> Change:
        """Record facts about a change without changing its status."""
        noted = self._store.decide(
            change.id,
            change.status,
            change.status,
            decided_at=change.decided_at,
            decided_by=change.decided_by,
            record=change.model_copy(update=facts),
        )
        if noted is None:
            raise Conflict(f"change {change.id} was decided meanwhile", hint="Look at the change again.")
        self._workspace.settled(noted)
        return self.visible(noted) or noted

    def reject(self, change_id: str, hunks: NamedHunks | None = None, *, reason: str | None = None) -> Change:
        """Decline a proposed change; the file is left as it is, and its proposer is given the reason.

        Hunks that are not named are rejected as well: none keeps waiting.

        Raises:
            Invalid: hunks that are not in it; Conflict: it was decided already; NotFound
        """
        change = self.change(change_id)
        if hunks is not None:
            decided_of(change.diff, hunks)
        return self._decided(change, "rejected", "rejected", reason)

    def _decided(self, change: Change, status: ChangeStatus, verb: str, reason: str | None) -> Change:
        """Decide about a proposal without touching a file."""
        self._require(change, "proposed", verb)
        with self._workspace.held(*change.keys):
            decided = self._store.decide(
                change.id,
                "proposed",
                status,
                decided_at=self._store.now(),
                decided_by=self._workspace.reader.user,
                splices=b"",
                record=change.model_copy(
                    update={
                        "decided": decided_whole(change.diff, taken=status == "applied", reason=reason),
                        "decided_via": self._workspace.decides_via,
                    }
                ),
            )
        if decided is None:
            self._require(self.change(change.id), "proposed", verb)
            raise NotFound(f"there is no change {change.id!r} any more", hint="List the changes (`changes`).")
        self._workspace.settled(decided)
        return self.visible(decided) or decided

    @contextmanager
    def _drafts(
        self, files: Sequence[ExpectedFile], change_id: str, status: ChangeStatus, verb: str
    ) -> Iterator[tuple[list[Draft], Change]]:
        """Take the files of a change that still has its status; if a faster decision made them stale, report that."""
        try:
            with self._workspace.drafts_to_restore(files) as drafts:
                change = self._known(change_id)
                self._require(change, status, verb)
                yield drafts, change
        except Stale:
            self._require(self.change(change_id), status, verb)
            raise

    def _require(self, change: Change, status: ChangeStatus, verb: str) -> None:
        if change.status != status:
            by = f" by {change.decided_by}" if change.decided_by else ""
            now = {"pending": "is being written", "proposed": "is proposed"}.get(change.status, f"was {change.status}")
            hint = "Read the file to see what it holds now." if verb == "undone" else "Look at the change again."
            if change.status == "proposed":
                hint = "It is not in the file: it waits for a person, who can reject it."
            raise Conflict(
                f"change {change.id} {now}{by}; only one that is {status} can be {verb}",
                hint=hint,
                status=change.status,
            )


@contextmanager
def _noting(change: Change) -> Iterator[None]:
    """Log a note that cannot be kept: the file is written already, so a refusal would wrongly say `not modified`."""
    try:
        yield
    except (Conflict, InputOutput, NotFound) as problem:  # The journal may have dropped its oldest change for the undo.
        _log.warning(
            "Change %s was undone, but its hunks or the reason could not be recorded: %s", change.id, problem.message
        )


def _anchors_of(change: Change, hunks: NamedHunks | None, parts: Sequence[bytes]) -> list[bytes]:
    """Anchors that find the named hunks of a one-file change alone; empty where there are none, or all are named."""
    named = named_places(change, hunks)
    found = anchored_at(parts[0], named) if named else b""
    return [found] if found else []


def _as_landing(change: Change, work: Work) -> Change:
    """A proposal with its current diffs, which differ where a person has changed other places of an open file."""
    if all(draft.placed is None for draft, _ in work):
        return change
    return change.with_each({"diff": step.diff} for _, step in work)
