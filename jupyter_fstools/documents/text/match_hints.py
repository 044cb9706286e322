"""Explains why an old string is not in the file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ...content.source import Chunk
from .disguises import disguises
from .folded_lines import (
    FOLDS,
    NAMES,
    different_code_points,
    find_folded,
    find_folded_words,
    find_in_other_case,
    part_that_looks_alike,
)
from .needle import Needle, lines_of_matches
from .shown_lines import CUT_MARKER

_WORDS = re.compile(r"\w+")
_SHORTEST = 3
"""Shortest word that is compared: shorter ones are similar to too many others."""
_LONGEST = 60
_MOST_LINES = 100_000
_MOST_CHARACTERS = 400
_MOST_WORDS = 20_000
_ALIKE = 0.75


def similar_word(lines: Iterable[str], mistyped: str) -> tuple[int, str] | None:
    """The first line (its index) with the word most similar to the longest one of `mistyped`, and that word."""
    wanted = max(_WORDS.findall(mistyped), key=len, default="")
    if not _SHORTEST <= len(wanted) <= _LONGEST:
        return None
    sizes = range(max(_SHORTEST, len(wanted) - 2), len(wanted) + 3)
    places: dict[str, int] = {}
    for at, line in zip(range(_MOST_LINES), lines, strict=False):
        for word in _WORDS.findall(line[:_MOST_CHARACTERS]):
            if len(word) in sizes:
                places.setdefault(word, at)
        if len(places) > _MOST_WORDS:
            break
    near = difflib.get_close_matches(wanted, places, 1, _ALIKE)
    return (places[near[0]], near[0]) if near else None


_MOST_NEEDLE = 20_000
"""Longest old string that is compared with similar text, in characters."""
_MOST_BYTES = 8 << 20
"""Bytes of the file that are searched for similar text."""
_MOST_CANDIDATES = 200
_SHOWN_LINES = 12
_LEFT_OUT = re.compile(r"\W{0,3}\s*(?:\.\.\.|…)[\w\s]{0,60}(?:\.\.\.|…)?")
_ODD_SPACE = re.compile(r"[^\S\x00-\x7f]")
_TOKENS = re.compile(r"\w+|[^\w\s]")


class MatchHint(NamedTuple):
    """A hint for the caller, and the same as facts (`nearest_line`, ...)."""

    text: str
    details: dict[str, Any]


def hint_for_no_match(
    chunks: Callable[[], Iterable[Chunk]],
    old: str,
    new: str,
    earlier: Sequence[tuple[int, str]],
    before: Callable[[], Iterable[Chunk]],
) -> MatchHint:
    """The best explanation found, in bounded time and memory.

    Args:
        chunks: gives the text as it is now, in UTF-8, from its beginning.
        old: the string that was not found.
        new: the string that should have replaced it.
        earlier: number (from 1) and old string of each edit before it in the same call.
        before: gives the text as it was before these.
    """
    if earlier and (told := hint_of_earlier(old, earlier, before, chunks)):
        return told
    if not any(map(len, chunks())):
        return MatchHint("The file is empty: write it as a whole.", {"reason": "empty"})
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    found = _disguised(chunks, old, new) or _no_final_newline(chunks, old)
    lines = _head(chunks()) if found is None and len(old) <= _MOST_NEEDLE else []
    # A text that differs only in spaces is the one that was meant; new_string may be in the file for other reasons.
    found = found or (None if _is_short(old) else _almost(lines, old) or _line_goes_on(chunks, old))
    found = found or _swapped(chunks, new)
    found = found or _similar(lines, old)
    return found or MatchHint("Read the file again and copy the text exactly, spaces included.", {})


def hint_of_earlier(
    old: str,
    earlier: Sequence[tuple[int, str]],
    before: Callable[[], Iterable[Chunk]],
    now: Callable[[], Iterable[Chunk]],
) -> MatchHint | None:
    """The hint for a string that one of the edits before it in the same call (at least one) replaced or changed.

    `before` and `now` give the text as it was before these edits and as they leave it.
    """
    old = old.replace("\r\n", "\n")
    for number, one in earlier:
        if one.replace("\r\n", "\n") == old:
            return MatchHint(f"It was already applied by edit {number} of this call.", {"already_applied_by": number})
    line = _line_of(before, old)
    if line is None:
        said = "The edits before it in this call leave no text to match: put the new text into one of those."
        return None if any(map(len, now())) else MatchHint(said, {"reason": "emptied_by_earlier"})
    said = f"It was there, at line {line}, before an edit of this call changed it: quote the text as that leaves it."
    return MatchHint(f"{said} Or make one edit of both.", {"reason": "changed_by_earlier", "nearest_line": line})


def _disguised(chunks: Callable[[], Iterable[Chunk]], old: str, new: str) -> MatchHint | None:
    if CUT_MARKER.search(old):
        return MatchHint(
            "The displayed line was truncated: the marker at its end is not in the file. Read the rest of the line, "
            "or quote a part of it that was shown.",
            {"reason": "truncated_line"},
        )
    for reason, meant, hint in disguises(old):
        if _line_of(chunks, meant) is not None:
            too = reason in {one.reason for one in disguises(new)}
            return MatchHint(hint.format(names=f"old_string{' and new_string' if too else ''}"), {"reason": reason})
    dots = filter(_LEFT_OUT.fullmatch, dict.fromkeys(map(str.strip, old.split("\n")[1:])))
    for line in islice(dots, _MOST_CANDIDATES):
        if _line_of(chunks, line) is None:
            said = f"{line[:80]!r} in old_string stands for lines left out: quote them too, or make two edits."
            return MatchHint(said, {"reason": "placeholder"})
    return None


def _swapped(chunks: Callable[[], Iterable[Chunk]], new: str) -> MatchHint | None:
    if len(new.strip()) < 3:  # a shorter text is in every file
        return None
    line = _line_of(chunks, new)
    if line is None:
        return None
    return MatchHint(
        f"new_string is in the file already, at line {line}: was the edit already applied, or did you swap old_string "
        "and new_string?",
        {"reason": "swapped", "nearest_line": line},
    )


def _no_final_newline(chunks: Callable[[], Iterable[Chunk]], old: str) -> MatchHint | None:
    if not old.endswith("\n") or len(old) == 1:
        return None
    line = _line_of(chunks, old[:-1])
    tail = b""
    for chunk in chunks():
        tail = (tail + bytes(chunk[-len(old) * 4 :]))[-len(old) * 4 :]
    if line is None or not tail.replace(b"\r\n", b"\n").endswith(old[:-1].encode("utf-8")):
        return None
    said = "The file ends before the last newline" if old.endswith("\n\n") else "The file has no final newline"
    return MatchHint(
        f"{said}: leave out the newline at the end of old_string.",
        {"reason": "no_final_newline", "nearest_line": line},
    )


def _line_goes_on(chunks: Callable[[], Iterable[Chunk]], old: str) -> MatchHint | None:
    line = _line_of(chunks, old[:-1]) if old.endswith("\n") else None
    if line is None:
        return None
    line += old.count("\n") - 1
    return MatchHint(
        f"Line {line} goes on after this text: quote the line to its end, or leave out the newline at the end of "
        "old_string.",
        {"reason": "line_goes_on", "nearest_line": line},
    )


def _line_of(chunks: Callable[[], Iterable[Chunk]], text: str) -> int | None:
    if not text:
        return None
    try:
        needle = Needle(text)
    except UnicodeEncodeError:
        return None
    match = next(needle.find(chunks(), overlapping=False), None)
    return next(iter(lines_of_matches(chunks(), [match])), None) if match is not None else None


def _head(chunks: Iterable[Chunk]) -> list[str]:
    got, size = [], 0
    for chunk in chunks:
        got.append(bytes(chunk[: _MOST_BYTES - size]))
        size += len(got[-1])
        if size >= _MOST_BYTES:
            break
    lines = b"".join(got).decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _wanted(old: str) -> tuple[list[str], bool]:
    """The lines of an old string, and whether its last one is whole."""
    wanted = old.split("\n")
    if len(wanted) > 1 and not wanted[-1]:
        return wanted[:-1], True
    return wanted, False


def _is_short(old: str) -> bool:
    """Whether an old string is so short that it is likely to be part of many words."""
    return len(old.strip()) <= 3


def _almost(lines: Sequence[str], old: str) -> MatchHint | None:
    wanted, whole = _wanted(old)
    found = find_folded(lines, wanted, FOLDS, whole=whole)
    return found and _explained(found.name, lines, found.start, wanted)


def _similar(lines: Sequence[str], old: str) -> MatchHint | None:
    if not lines:
        return None
    wanted, whole = _wanted(old)
    found = (find_folded_words if _is_short(old) else find_in_other_case)(lines, wanted, whole=whole)
    if found is not None:
        return _explained(found.name, lines, found.start, wanted)
    filled = [line.strip() for line in wanted if line.strip()]
    block = _without_blank_lines(lines, filled) if len(filled) > 1 else None
    if block is not None:
        return _shown("The blank lines differ", lines, *block, "blank_lines")
    return _nearest(lines, wanted) or (_with_similar_word(lines, wanted[0]) if len(wanted) == 1 else None)


def _without_blank_lines(lines: Sequence[str], filled: Sequence[str]) -> tuple[int, int] | None:
    """The place of the same lines with other blank lines between them, and how many lines that is."""
    tried = 0
    for at, line in enumerate(lines):
        if not line.strip().endswith(filled[0]):
            continue
        tried += 1
        if tried > _MOST_CANDIDATES:
            return None
        count = _lines_taken(lines, at, filled)
        if count is not None:
            return at, count
    return None


def _lines_taken(lines: Sequence[str], at: int, filled: Sequence[str]) -> int | None:
    """How many lines from `at` on the non-blank ones take, with blank ones; None if they do not follow each other."""
    following = iter(filled[1:-1])
    for place in range(at + 1, min(at + 3 * len(filled) + 10, len(lines))):
        row = lines[place].strip()
        if not row:
            continue
        wanted = next(following, None)
        if wanted is None:
            return place + 1 - at if row.startswith(filled[-1]) else None
        if row != wanted:
            return None
    return None


def _explained(reason: str, lines: Sequence[str], start: int, wanted: Sequence[str]) -> MatchHint:
    said = NAMES[reason]
    old, there = "\n".join(wanted), "\n".join(lines[start : start + len(wanted)])
    if reason == "look_alikes" or _ODD_SPACE.search(old) or _ODD_SPACE.search(there):
        points = different_code_points(old, part_that_looks_alike(there, old) if reason == "look_alikes" else there)
        said += f" ({points})" if points else ""
    return _shown(said, lines, start, len(wanted), reason)


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> MatchHint | None:
    """The block most similar to the wanted one, found by its longest line."""
    telling = max((line.strip() for line in wanted), key=len)[:200]
    if len(telling) < 4:  # Similar to too many lines.
        return None
    words = set(_TOKENS.findall(telling))
    scored = [(len(words & set(_TOKENS.findall(line[:400]))), -at) for at, line in enumerate(lines[:100_000])]
    best, best_ratio = None, 0.6
    for score, place in sorted(scored, reverse=True)[:30]:
        if not score:
            break
        ratio = difflib.SequenceMatcher(None, telling, lines[-place].strip()[:200], autojunk=False).ratio()
        if ratio > best_ratio:
            best, best_ratio = -place, ratio
    if best is None:
        return None
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    old, there = wanted[anchor].strip(), lines[best].strip()
    # For plain characters the text shown below tells more than code points do.
    is_plain = all(text.isascii() and text.isprintable() for text in (old, there))
    points = different_code_points(old, there, most=2) if best_ratio > 0.8 and not is_plain else ""
    said = "The nearest text in the file differs" + (f" ({points})" if points else "")
    return _shown(said, lines, max(0, best - anchor), len(wanted), "nearest")


def _with_similar_word(lines: Sequence[str], wanted: str) -> MatchHint | None:
    found = similar_word(lines, wanted[:200])
    return found and _shown(f"The nearest word in the file is {found[1]!r}", lines, found[0], 1, "nearest")


def _shown(said: str, lines: Sequence[str], start: int, count: int, reason: str) -> MatchHint:
    rows = [line[:200] for line in lines[start : start + min(count, _SHOWN_LINES)]]
    block = "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, start + 1))
    cut = f"\n(of {count} lines)" if count > _SHOWN_LINES else ""
    return MatchHint(
        f"{said}. The file has, from line {start + 1}:\n{block}{cut}",
        {"reason": reason, "nearest_line": start + 1, "nearest_text": "\n".join(rows)},
    )
