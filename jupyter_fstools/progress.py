"""Defines the progress that a long call reports."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Progress(NamedTuple):
    """A message from a running call.

    Attributes:
        kind: `waiting` for a person, or a piece of `output`.
        text: the output, or a description of what the call waits for.
        change_id: the change that waits for the person.
    """

    kind: Literal["waiting", "output"]
    text: str
    change_id: str | None = None
