"""Settles which changes an undo takes back or restores."""

from __future__ import annotations

import time

from ..stores.protocol import Store
from ..stores.records import Change, ChangeStatus


def settle(store: Store, change: Change, *, decided_by: str) -> None:
    """Note in the journal what a change took back, if it is an undo.

    Taking back an undo makes the change it took back stand again, and so on down the chain. What is noted already
    stays: whoever was interrupted here may begin again.
    """
    taken_back, stands = change.undoes, False
    while taken_back is not None:
        was: ChangeStatus = "undone" if stands else "applied"
        now: ChangeStatus = "applied" if stands else "undone"
        by = None if stands else decided_by
        settled = store.decide(taken_back, was, now, decided_at=time.time(), decided_by=by) or store.change(taken_back)
        taken_back, stands = settled.undoes if settled is not None and settled.status == now else None, not stands
