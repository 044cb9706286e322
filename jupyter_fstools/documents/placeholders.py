"""Lines that stand for text somebody left out ("... rest of the code unchanged ...")."""

from __future__ import annotations

import re
from collections.abc import Callable

_ELLIPSIS = r"(?:\.{3,}|…)"
_OMITTED = (
    r"(?:rest|remaining|remainder|existing|previous|original|other|same|unchanged|omitted|unmodified|snip(?:ped)?"
    r"|as before|goes here|stays the same|remains? the same|keep)"
)
_SUBJECT = (
    r"(?:code|contents?|file|lines?|functions?|methods?|class(?:es)?|imports?|implementations?|text|cells?|source"
    r"|body|section|unchanged|stays|remains?|same|before|as is|omitted|here|logic|tests?|document|snip(?:ped)?)"
)
_LEADERS = r"(?:#+|//+|/\*+|\*+|<!--|--+|;+|%+|\"\"\"|'''|\{/\*|\(\*|\[|\(|<)?"
_TRAILERS = r"(?:\*+/\}?|-->|\"\"\"|'''|\*\)|\]|\)|>)?"
_WORDS = r"[^.…\n]{0,80}"
_PLACEHOLDER = re.compile(
    rf"\s*{_LEADERS}\s*(?:"
    rf"{_ELLIPSIS}\s*(?={_WORDS}\b{_OMITTED}\b)(?={_WORDS}\b{_SUBJECT}\b){_WORDS}\s*{_ELLIPSIS}?"
    rf"|(?={_WORDS}\b{_OMITTED}\b)(?={_WORDS}\b{_SUBJECT}\b){_WORDS}\s*{_ELLIPSIS}"
    rf")\s*{_TRAILERS}\s*",
    re.IGNORECASE,
)
_MOST_CHARACTERS = 160


def placeholder_line(text: str, allowed: Callable[[str], bool]) -> str | None:
    """The first line of a text that is an omission placeholder and not `allowed` (because the old text has it).

    A line counts only as a whole: an ellipsis, at most a comment sign around it, and words such as "rest of the code
    unchanged" or "existing imports". A sentence that merely ends in "..." is text.
    """
    if "..." not in text and "…" not in text:
        return None
    for line in text.split("\n"):
        if ("..." not in line and "…" not in line) or len(line) > _MOST_CHARACTERS:
            continue
        bare = line.rstrip("\r")
        if _is_comment_or_bare(bare) and _PLACEHOLDER.fullmatch(bare) and not allowed(bare):
            return bare
    return None


def _is_comment_or_bare(line: str) -> bool:
    # "Loading the existing file..." is prose: without a comment sign the ellipsis must come first.
    head = line.strip()
    return bool(re.match(r"(?:\.{3,}|…|#|/[/*]|\*|<|--|;|%|\"\"\"|'''|\{/\*|\(|\[)", head))
