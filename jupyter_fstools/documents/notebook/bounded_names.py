"""Bounds the number and length of names that a file gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

MOST_NAMES = 50
_CHARACTERS = 200


def bounded_names(names: Sequence[str]) -> list[str]:
    """The first names, long ones cut; a last entry says how many more there are."""
    shown = [_cut(name) for name in names[:MOST_NAMES]]
    return [*shown, _more(len(names) - MOST_NAMES)] if len(names) > MOST_NAMES else shown


def bounded_sizes(sizes: dict[str, int]) -> dict[str, int]:
    """The first names with their sizes; a last entry has the size of all others."""
    shown = {_cut(name): size for name, size in islice(sizes.items(), MOST_NAMES)}
    if len(sizes) > MOST_NAMES:
        shown[_more(len(sizes) - MOST_NAMES)] = sum(islice(sizes.values(), MOST_NAMES, None))
    return shown


def _cut(name: str) -> str:
    return name if len(name) <= _CHARACTERS else f"{name[:_CHARACTERS]}…"


def _more(count: int) -> str:
    return f"… and {count} more"
