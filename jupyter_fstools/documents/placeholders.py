"""Lines that stand for text somebody left out ("... rest of the code unchanged ...")."""

from __future__ import annotations

import re
from collections.abc import Callable

_DOTS = r"(?:\.{3,}|…)"
_OMITTED = (
    r"(?:rest|remaining|remainder|existing|previous|original|other|same|unchanged|omitted|unmodified|unaltered|elided"
    r"|truncated|snip(?:ped)?|as before|goes here|remains?|keep)"
)
_SUBJECT = (
    r"(?:code|contents?|file|lines?|functions?|methods?|class(?:es)?|imports?|implementations?|text|cells?|source"
    r"|body|sections?|logic|tests?|document|page|template|markup|styles?|script|config(?:uration)?|components?|rows"
    r"|items|fields|properties|data|table|list|article|chapter|module|setup|handlers|routes|cases|entries|definitions?"
    r"|unchanged|unmodified|unaltered|elided|truncated|stays|remains?|same|before|as is|omitted|here|snip(?:ped)?)"
)
_SAID = rf"(?=[^.…]{{0,80}}\b{_OMITTED}\b)(?=[^.…]{{0,80}}\b{_SUBJECT}\b)"
# A comment that only ends in dots begins with what is left out; "# Loading the rest of the file..." does not.
_FIRST = rf"(?=(?:the\s+|all\s+|your\s+)*(?:{_OMITTED}|{_SUBJECT})\b)"
_END = r"\s*(?:(?:\*+/\}?|-->|\"\"\"|'''|\*\)|-\}|\]|\)|>)\s*){0,2}"
_COMMENT = (
    r"\s*(?:#+|//+!?|/\*+|\*+(?=\s)|<!--|--+|;+|%+|!+|['\"](?=\s)|\"\"\"|'''|\{/\*|\(\*|\{-|::|(?:@?rem|dnl)(?=\s))"
)
_COMMENTED = re.compile(
    rf"{_COMMENT}\s*[\[(<]?\s*(?:{_DOTS}\s*{_SAID}[^.…]{{0,80}}{_DOTS}?|{_SAID}{_FIRST}[^.…]{{0,80}}{_DOTS}){_END}",
    re.IGNORECASE,
)
# Without a comment sign dots are also what spreads a list, continues a doctest or ends a document: only words count.
_BARE = re.compile(
    rf"\s*[\[(<]?(?:{_DOTS}\s*{_SAID}[^.…={{}}\[\];]{{0,80}}{_DOTS}"
    rf"|{_DOTS}[ ]{_SAID}[\w'’(][\w\s'’,()-]{{0,80}}|{_DOTS}{_SAID}[\w][\w '’-]{{0,80}}){_END}"
    rf"|\s*[\[(<]\s*{_SAID}{_FIRST}[^.…={{}}\[\];]{{0,80}}{_DOTS}{_END}",
    re.IGNORECASE,
)
_MOST_CHARACTERS = 160


def placeholder_line(text: str, allowed: Callable[[str], bool]) -> str | None:
    """The first line of a text that is an omission placeholder and not `allowed` (because the old text has it).

    A line counts only as a whole: dots, at most a comment sign around them, and words such as "rest of the code
    unchanged" or "existing imports". A sentence that merely ends in "..." is text.
    """
    if "..." not in text and "…" not in text:
        return None
    for line in text.split("\n"):
        if ("..." not in line and "…" not in line) or len(line) > _MOST_CHARACTERS:
            continue
        bare = line.rstrip("\r")
        if (_COMMENTED.fullmatch(bare) or _BARE.fullmatch(bare)) and not allowed(bare):
            return bare
    return None
