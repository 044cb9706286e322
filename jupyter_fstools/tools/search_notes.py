"""Builds the notes below what glob and grep found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..walking.stopping import Reason
from .tool import Block, text_block

_WORDS = {
    "binary": "binary",
    "large": "too large (name one as path to search it)",
    "unreadable": "unreadable",
    "slow": "given up because the pattern takes too long on them",
    "notebook": "broken notebooks",
}
# Control characters, ends of lines, marks that reorder text, halves of characters and bytes that are no UTF-8.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def paging(total: int | None, what: str, next_offset: int | None, partial: Reason | None = None) -> Iterator[str]:
    """How much there is, where this is not all; what a search has found that ended early is not all either."""
    if next_offset is not None:
        so_far = "in all" if partial is None else "so far"
        how_many = f"there are more {what}" if total is None else f"{total} {what} {so_far}"
        yield f"[{how_many}; go on with offset={next_offset}]"


def not_searched(
    ignored: int, excluded: Sequence[str], skipped: Mapping[str, int], partial: Reason | None
) -> Iterator[str]:
    """What was passed over, and that the search ended early."""
    if ignored:
        what = "1 file or folder" if ignored == 1 else f"{ignored} files and folders"
        yield f"[left out by .gitignore: {what}; include_ignored=true takes them]"
    if excluded:
        yield f"[folders not entered: {', '.join(excluded)}]"
    if skipped:
        yield f"[not searched: {', '.join(f'{number} {_WORDS[reason]}' for reason, number in skipped.items())}]"
    if partial == "timeout":
        yield "[partial: the search ran out of time; there may be more. Search a folder further down.]"
    elif partial == "cancelled":
        yield "[partial: the search was cancelled; there may be more]"


def nothing(at_all: str, what: str, total: int | None, offset: int, partial: Reason | None) -> str:
    """What to say where nothing is shown; of a search that did not come to its end nothing follows."""
    if total == 0:
        return at_all if partial is None else "Nothing was found before the search ended."
    if total is None or total > offset:
        return "What was found could not be shown" + ("." if partial is None else " before the search ended.")
    return f"{what} from this offset on; the total is {total}{'' if partial is None else ' so far'}."


def list_of_globs(glob: str) -> Iterator[str]:
    """What to say of a glob that fitted nothing and looks like several, set apart by commas."""
    parts = [part.strip() for part in glob.split(",")]
    if len(parts) == 1 or not all(parts) or glob.startswith("!") or any(sign in glob for sign in "{[\\"):
        return
    endings = all(part.startswith("*.") and "/" not in part for part in parts)
    meant = f"*.{{{','.join(part[2:] for part in parts)}}}" if endings else f"{{{','.join(parts)}}}"
    yield f"[a comma in a glob is part of a name: {glob!r} fits none of these, {meant!r} any of them]"


def text_blocks(rows: Sequence[str], notes: Sequence[str]) -> list[Block]:
    """What was found and, in a block of its own, what is said beside it."""
    return [text_block("\n".join(part)) for part in (rows, notes) if part]


def shown_path(path: str) -> str:
    """A path in one line; one with characters that are none to look at is spelled as a Python string, in ASCII."""
    return ascii(path) if _UNSHOWABLE.search(path) else path
