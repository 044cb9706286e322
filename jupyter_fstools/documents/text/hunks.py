"""Applies chosen hunks of a text file's change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from ...content.source import Content
from ...content.splices import Splice
from ...diffs.line_diff import CONTEXT_LINES, changed_blocks, grouped
from ...errors import TooLarge
from .diff import Region, regions
from .encoding import BOM_OF, TextEncoding


def hunks_of_splices(before: Content, splices: Sequence[Splice], encoding: TextEncoding) -> list[list[Splice]]:
    """The splices of each hunk of the diff of these splices, in the order of the diff's `hunks`.

    Args:
        before: the content that the offsets of the splices count in.
        splices: sorted and disjoint.
        encoding: how its text is written.

    Raises:
        TooLarge: a part of the change is too large to be divided.
    """
    found = []
    for region in regions(before, splices, encoding, CONTEXT_LINES):
        if region.too_large:
            raise TooLarge("the change is too large to be decided in parts", hint="Decide about all of it.")
        found += _hunks(region, before, encoding)
    return found


def chosen(hunks: Sequence[Sequence[Splice]], taken: Collection[int]) -> list[Splice]:
    """The splices of some hunks, by their positions."""
    return [splice for at, hunk in enumerate(hunks) if at in taken for splice in hunk]


def _hunks(region: Region, before: Content, encoding: TextEncoding) -> list[list[Splice]]:
    sides = region.sides(before)
    old, new = (_ends(side, encoding) for side in sides)
    mark = BOM_OF.get(encoding.codec, b"")
    if region.start == 0 and all(side.startswith(mark) for side in sides):
        old[0] = new[0] = len(mark)  # The byte order mark stays, even if the first line is deleted.
    blocks = changed_blocks(*region.lines(before, encoding))
    return [
        [Splice(region.start + old[a], sides[0][old[a] : old[b]], sides[1][new[c] : new[d]]) for a, b, c, d in group]
        for group in grouped(blocks, CONTEXT_LINES)
    ]


def _ends(data: bytes, encoding: TextEncoding) -> list[int]:
    """The offset where each line begins, and where the last one ends."""
    unit = encoding.unit
    if unit == 1:
        lengths = [len(line) for line in data.split(encoding.newline)]
    else:
        text = data.decode(encoding.codec, "surrogatepass")
        lengths = [len(line.encode(encoding.codec, "surrogatepass")) for line in text.split("\n")]
    ends = list(accumulate((length + unit for length in lengths), initial=0))
    ends[-1] = len(data)
    return ends[:-1] if len(ends) > 1 and ends[-2] == len(data) else ends
