"""Defines the progress that a long call reports."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Progress(NamedTuple):
    """A message while a call runs.

    Attributes:
        kind: `waiting` for a person, or a piece of `output`.
        text: the output, or what it waits for.
        change_id: what waits for the person.
    """

    kind: Literal["waiting", "output"]
    text: str
    change_id: str | None = None
