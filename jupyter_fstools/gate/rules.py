"""How strict the gate is, and whether commands may be run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """What an administrator decides about the gate.

    Attributes:
        refuse_unseen_edits: an edit outside every shown line is refused, not only said.
        overwrite_needs_full_read: overwriting demands that the whole file was shown.
        enable_execute: commands may be run.
        execute_approval: each of them waits for a person.
    """

    refuse_unseen_edits: bool = False
    overwrite_needs_full_read: bool = True
    enable_execute: bool = False
    execute_approval: bool = True
