"""Checks a written text's placeholders and declared encoding."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...content.source import BytesContent, Content
from ...errors import EncodingRefused
from .encoding import HEAD_BYTES, TextEncoding, encoding_of


def encoding_for(text: str, path: str) -> TextEncoding:
    """The encoding to write a new text in: the one it declares (PEP 263, XML), else UTF-8.

    Raises:
        EncodingRefused: it declares an unknown encoding.
    """
    return encoding_of(BytesContent(text[:HEAD_BYTES].encode("utf-8", "replace")), path, None)


def require_declared(content: Content, path: str, written_in: TextEncoding) -> None:
    """Refuse a content that would be read in another encoding than it is written in.

    Raises:
        EncodingRefused: it declares another encoding, or no longer declares its own.
    """
    read_in = encoding_of(content, path, None)
    same = read_in == written_in or (read_in.is_utf8 and written_in.is_utf8)
    if same or all(bytes(chunk).isascii() for chunk in content.chunks()):
        return
    raise EncodingRefused(
        f"it would be written in {written_in.codec}, but its text declares an encoding that reads as {read_in.codec}",
        hint=f"Let it declare {written_in.codec}, or write the text to another file.",
        encoding=written_in.codec,
    )


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
# A comment with dots only at its end is a placeholder if it begins with the omitted part; "# Loading the rest of the
# file..." does not.
_FIRST = rf"(?=(?:the\s+|all\s+|your\s+)*(?:{_OMITTED}|{_SUBJECT})\b)"
_END = r"\s*(?:(?:\*+/\}?|-->|\"\"\"|'''|\*\)|-\}|\]|\)|>)\s*){0,2}"
_COMMENT = (
    r"\s*+(?:#++|//++!?|/\*++|\*++(?=\s)|<!--|--++|;++|%++|!++"
    r"|['\"](?=\s)|\"\"\"|'''|\{/\*|\(\*|\{-|::|(?:@?rem|dnl)(?=\s))"
)
_COMMENTED = re.compile(
    rf"{_COMMENT}\s*[\[(<]?\s*(?:{_DOTS}\s*{_SAID}[^.…]{{0,80}}{_DOTS}?|{_SAID}{_FIRST}[^.…]{{0,80}}{_DOTS}){_END}",
    re.IGNORECASE,
)
# Dots without a comment sign may also spread a list, continue a doctest or end a YAML document: only words count.
_BARE = re.compile(
    rf"\s*[\[(<]?(?:{_DOTS}\s*{_SAID}[^.…={{}}\[\];]{{0,80}}{_DOTS}"
    rf"|{_DOTS}[ ]{_SAID}[\w'’(][\w\s'’,()-]{{0,80}}|{_DOTS}{_SAID}[\w][\w '’-]{{0,80}}){_END}"
    rf"|\s*[\[(<]\s*{_SAID}{_FIRST}[^.…={{}}\[\];]{{0,80}}{_DOTS}{_END}",
    re.IGNORECASE,
)
# Without three dots the words must say that something is left out, and be alone on the line.
_REST = r"(?:the\s+)?(?:rest|remainder)\s+of\s+(?:(?:the|your|this)\s+)?"
_WHOLE = r"(?:code|file|contents?|implementation|class|module|script|document|function|source|program|text)"
_PARTS = r"(?:code|methods|functions|implementations?|imports|classes)"
_LEFT = rf"(?:{_REST}(?:{_WHOLE}|{_PARTS})|(?:(?:the|all|your)\s+)?(?:remaining|existing|previous|original)\s+{_PARTS})"
_STAYS = (
    r"(?:(?:remains?|stays?|is|are)\s+)?(?:the\s+same|unchanged|unmodified|unaltered|omitted|elided|truncated|snipped)"
    r"(?:\s+as\s+before)?|as\s+before|(?:goes|go)\s+here"
)
_OMITS = r"(?:is\s+|are\s+)?(?:omitted|elided|truncated|snipped)"
_BRIEFLY = r"(?:\s+for\s+(?:brevity|clarity))?"
_PHRASE = rf"(?:{_LEFT}\s+(?:{_STAYS})|{_PARTS}\s+{_OMITS}){_BRIEFLY}"
_DOTTED = r"[\s.…]*+"
_SAYING = re.compile(
    rf"(?:{_COMMENT}{_DOTTED}[\[(<]?|\s*[\[(<]|\s*\.\.){_DOTTED}{_PHRASE}{_DOTTED}{_END}", re.IGNORECASE
)
_TELLING = ("...", "…", "same", "unchanged", "unmodified", "unaltered", "omitted", "elided", "truncated", "snipped",
            "as before", "here")  # fmt: skip
_BLANKS = re.compile(r"(\s)\s+")
_BEGINNINGS = frozenset("#/*<-;%!'\"{(:@rRdD[.…")
_MOST_CHARACTERS = 160


def placeholder_line(text: str, allowed: Callable[[str], bool]) -> str | None:
    """The first line of a text that is an omission placeholder and not `allowed` (because the old text has it).

    The whole line must be one: dots, at most with a comment sign around them, and words like "rest of the code
    unchanged" or "existing imports"; or, without dots, a comment sign or brackets and words that say so explicitly. A
    sentence that merely ends in "..." is text.
    """
    lower = text.lower()
    if len(lower) != len(text):  # Some letters become two in lower case, which would shift the places.
        lower = text
    found: set[tuple[int, int]] = set()
    for word in _TELLING:
        at = lower.find(word)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
            if end - start <= _MOST_CHARACTERS:
                found.add((start, end))
            at = lower.find(word, end)
    for start, end in sorted(found):
        line = text[start:end].removesuffix("\n").rstrip("\r")
        if _stands_for_more(line) and not allowed(line):
            return line
    return None


def _stands_for_more(line: str) -> bool:
    line = _BLANKS.sub(r"\1", line.strip())  # In long runs of blanks the patterns would try every place.
    if line[:1] not in _BEGINNINGS:  # A fast check, which rules out most lines.
        return False
    if ("..." in line or "…" in line) and (_COMMENTED.fullmatch(line) or _BARE.fullmatch(line)):
        return True
    return _SAYING.fullmatch(line) is not None
