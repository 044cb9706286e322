"""Finds the cells that moved between two orders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence


def moved_origins(origins: Iterable[int | None], staying: Collection[int] = ()) -> set[int]:
    """The fewest cells to move so that the others keep their old order; those of `staying` move only if they must."""
    present = [at for at in origins if at is not None]
    if present == sorted(present):
        return set()
    fixed = _longest_rising([at for at in present if at in staying]) if staying else []
    fitting, passed = [], 0
    for at in present:
        if passed < len(fixed) and at == fixed[passed]:
            passed += 1
            fitting.append(at)
        elif bisect_left(fixed, at) == passed:
            fitting.append(at)
    return set(present).difference(_longest_rising(fitting))


def _longest_rising(numbers: Sequence[int]) -> list[int]:
    """A longest increasing subsequence of distinct numbers."""
    tails: list[int] = []
    places = []
    for number in numbers:
        place = bisect_left(tails, number)
        tails[place : place + 1] = [number]
        places.append(place)
    row: list[int] = []
    for number, place in zip(reversed(numbers), reversed(places), strict=True):
        if place == len(tails) - 1 - len(row):
            row.append(number)
    return row[::-1]
