"""Why an old string is not in the file: the nearest text, as a hint and never as a guess."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..content import Chunk
from .needle import Needle
from .shown_lines import CARRIAGE_RETURN, CUT_MARKER, LINE_NUMBER

_MOST_NEEDLE = 20_000
"""Characters of an old string that are compared with anything but itself."""
_MOST_BYTES = 8 << 20
"""Bytes of the file that are searched for something similar."""
_MOST_CANDIDATES = 200
_SHOWN_LINES = 12
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        "\u2026": "...",
    }
)


class MatchHint(NamedTuple):
    """A hint for the caller, and the same as facts (`nearest_line`, ...)."""

    text: str
    details: dict[str, Any]


def hint_for_no_match(
    chunks: Callable[[], Iterable[Chunk]], old: str, new: str, earlier: Sequence[tuple[str, str]]
) -> MatchHint:
    """The best explanation found, in bounded time and memory.

    Args:
        chunks: gives the text as it is now, in UTF-8, from its beginning.
        old: the string that was not found.
        new: what should have replaced it.
        earlier: the (old, new) strings of the edits before it in the same call.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    for number, (before, _) in enumerate(earlier, 1):
        if before.replace("\r\n", "\n") == old:
            return MatchHint(f"It was already applied by edit {number} of this call.", {"already_applied_by": number})
    found = _pasted_from_the_view(chunks, old) or _swapped(chunks, old, new) or _no_final_newline(chunks, old)
    if found is None and len(old) <= _MOST_NEEDLE:
        found = _similar(_head(chunks()), old)
    return found or MatchHint("Read the file again and copy the text exactly, spaces included.", {})


def _pasted_from_the_view(chunks: Callable[[], Iterable[Chunk]], old: str) -> MatchHint | None:
    if CUT_MARKER.search(old):
        return MatchHint(
            "The displayed line was truncated: the marker at its end is not in the file. Read the rest of the line "
            "with column, or quote a part of it that was shown.",
            {"reason": "truncated_line"},
        )
    lines = old.split("\n")
    filled = [line for line in lines if line.strip()]
    if filled and all(LINE_NUMBER.match(line) for line in filled):
        bare = "\n".join(LINE_NUMBER.sub("", line) for line in lines)
        if _line_of(chunks, bare) is not None:
            return MatchHint(
                "Remove the line-number prefix (the number and the tab) from old_string; it is not in the file.",
                {"reason": "line_numbers"},
            )
    if CARRIAGE_RETURN in old and _line_of(chunks, old.replace(CARRIAGE_RETURN, "\r")) is not None:
        return MatchHint(
            f"{CARRIAGE_RETURN} stands for a carriage return: send it as \\r.", {"reason": "carriage_return"}
        )
    return None


def _swapped(chunks: Callable[[], Iterable[Chunk]], old: str, new: str) -> MatchHint | None:
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
    return MatchHint(
        "The file has no final newline: leave out the newline at the end of old_string.",
        {"reason": "no_final_newline", "nearest_line": line},
    )


def _line_of(chunks: Callable[[], Iterable[Chunk]], text: str) -> int | None:
    if not text:
        return None
    try:
        needle = Needle(text)
    except UnicodeEncodeError:
        return None
    match = next(iter(needle.find(chunks(), overlapping=False)), None)
    if match is None:
        return None
    line, at = 1, 0
    for chunk in chunks():
        if at + len(chunk) > match.start:
            return line + chunk.count(b"\n", 0, match.start - at)
        line += chunk.count(b"\n")
        at += len(chunk)
    return line


def _head(chunks: Iterable[Chunk]) -> list[str]:
    got, size = [], 0
    for chunk in chunks:
        got.append(bytes(chunk[: _MOST_BYTES - size]))
        size += len(got[-1])
        if size >= _MOST_BYTES:
            break
    return [line.removesuffix("\r") for line in b"".join(got).decode("utf-8", "replace").split("\n")]


def _similar(lines: Sequence[str], old: str) -> MatchHint | None:
    wanted = old.split("\n")
    while len(wanted) > 1 and not wanted[-1]:
        wanted.pop()
    for name, fold in _FOLDS:
        start = _find_block(lines, wanted, fold)
        if start is not None:
            return _explained(name, lines, start, wanted)
    filled = [line.strip() for line in wanted if line.strip()]
    start = _without_blank_lines(lines, filled) if len(filled) > 1 else None
    if start is not None:
        return _shown("The blank lines differ", lines, start, len(wanted), "blank_lines")
    return _nearest(lines, wanted)


def _collapsed(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("trailing_space", str.rstrip),
    ("indentation", str.strip),
    ("spaces", _collapsed),
    ("look_alikes", lambda line: unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKES))),
    ("look_alikes", lambda line: _collapsed(unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKES)))),
    ("case", lambda line: _collapsed(line).casefold()),
)
_NAMES = {
    "trailing_space": "Spaces at the end of a line differ",
    "indentation": "The indentation differs",
    "spaces": "Spaces or tabs differ",
    "look_alikes": "Characters that only look alike differ",
    "case": "Upper and lower case differ",
}


def _find_block(lines: Sequence[str], wanted: Sequence[str], fold: Callable[[str], str]) -> int | None:
    folded = [fold(line) for line in wanted]
    if not any(folded):
        return None
    if len(folded) == 1:
        return next((at for at, line in enumerate(lines) if folded[0] in fold(line)), None)
    anchor = max(range(len(folded)), key=lambda at: len(folded[at]))
    tried = 0
    for at in range(anchor, len(lines) - len(folded) + anchor + 1):
        if folded[anchor] not in fold(lines[at]):
            continue
        tried += 1
        if tried > _MOST_CANDIDATES:
            return None
        start = at - anchor
        here = [fold(line) for line in lines[start : start + len(folded)]]
        if here[1:-1] == folded[1:-1] and here[0].endswith(folded[0]) and here[-1].startswith(folded[-1]):
            return start
    return None


def _without_blank_lines(lines: Sequence[str], filled: Sequence[str]) -> int | None:
    tried = 0
    for at, line in enumerate(lines):
        if not line.strip().endswith(filled[0]):
            continue
        tried += 1
        if tried > _MOST_CANDIDATES:
            return None
        here = [row.strip() for row in lines[at : at + 3 * len(filled) + 10] if row.strip()][: len(filled)]
        if here[1:-1] == list(filled[1:-1]) and len(here) == len(filled) and here[-1].startswith(filled[-1]):
            return at
    return None


def _explained(reason: str, lines: Sequence[str], start: int, wanted: Sequence[str]) -> MatchHint:
    said = _NAMES[reason]
    if reason == "look_alikes":
        points = _code_points("\n".join(wanted), "\n".join(lines[start : start + len(wanted)]))
        said += f" ({points})" if points else ""
    return _shown(said, lines, start, len(wanted), reason)


def _code_points(wanted: str, there: str) -> str:
    said = []
    # Long runs of one character differ by their count: a matcher over all of it would be slow and say less.
    for old, new in _different_runs(wanted[:2000], there[:2000])[:3]:
        said.append(f"old_string has {_named(old)}, the file has {_named(new)}")
    return "; ".join(said)


def _different_runs(one: str, other: str) -> list[tuple[str, str]]:
    runs = [[match[0] for match in re.finditer(r"(.)\1*", text, re.DOTALL)] for text in (one, other)]
    matcher = difflib.SequenceMatcher(None, runs[0], runs[1], autojunk=False)
    return [
        ("".join(runs[0][a:b])[:40], "".join(runs[1][c:d])[:40])
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind == "replace"
    ]


def _named(text: str) -> str:
    if not text:
        return "nothing"
    if len(set(text)) == 1 and len(text) > 1:
        return f"{len(text)} of U+{ord(text[0]):04X}"
    return " ".join(f"U+{ord(character):04X}" for character in text[:4]) + (
        " ..." if len(text) > 4 else ""
    )  # enough to see


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> MatchHint | None:
    """The block most like the wanted one, found by its most telling line."""
    telling = max((line.strip() for line in wanted), key=len)[:200]
    if len(telling) < 4:  # like everything
        return None
    words = set(re.findall(r"\w+", telling))
    scored = [(len(words & set(re.findall(r"\w+", line[:400]))), -at) for at, line in enumerate(lines[:100_000])]
    best, best_ratio = None, 0.6
    for score, place in sorted(scored, reverse=True)[:30]:
        if words and not score:
            break
        ratio = difflib.SequenceMatcher(None, telling, lines[-place].strip()[:200], autojunk=False).ratio()
        if ratio > best_ratio:
            best, best_ratio = -place, ratio
    if best is None:
        return None
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    return _shown("The nearest text in the file differs", lines, max(0, best - anchor), len(wanted), "nearest")


def _shown(said: str, lines: Sequence[str], start: int, count: int, reason: str) -> MatchHint:
    rows = [line[:200] for line in lines[start : start + min(count, _SHOWN_LINES)]]
    block = "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, start + 1))
    cut = f"\n(of {count} lines)" if count > _SHOWN_LINES else ""
    return MatchHint(
        f"{said}. The file has, from line {start + 1}:\n{block}{cut}",
        {"reason": reason, "nearest_line": start + 1, "nearest_text": "\n".join(rows)},
    )
