"""Names characters that look alike and differ."""

from __future__ import annotations

import difflib
import re
import unicodedata

# Cyrillic and Greek letters that most fonts draw as Latin ones.
_LETTERS = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d"
        "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408"
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd",
        "aeopcyxsijhdqwABEKMHOPCTXSIJABEZHIKMNOPTYXov",
        strict=True,
    )
)
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        "\u2026": "...",
        **_LETTERS,
    }
)


def plain_characters(line: str) -> str:
    """A line with every look-alike as the plain character it resembles; for comparing only."""
    if line.isascii():
        return line.replace("`", "'")
    return unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKES))


def different_code_points(wanted: str, there: str, *, most: int = 1000) -> str:
    """What differs between two texts, by code points and counts; empty if it is more than `most` things."""
    # Long runs of one character differ by their count: a matcher over all of it would be slow and say less.
    runs = dict.fromkeys(_different_runs(wanted[:2000], there[:2000]))
    if len(runs) > most:
        return ""
    return "; ".join(f"old_string has {_named(old)}, the file has {_named(new)}" for old, new in list(runs)[:3])


def _different_runs(one: str, other: str) -> list[tuple[str, str]]:
    runs = [[match[0] for match in re.finditer(r"(.)\1*", text, re.DOTALL)] for text in (one, other)]
    codes = difflib.SequenceMatcher(None, runs[0], runs[1], autojunk=False).get_opcodes()
    # What the file has before and after the quoted text is no difference.
    inner = [code for code in codes if code[0] != "insert" or 0 < code[1] < len(runs[0])]
    return [("".join(runs[0][a:b])[:40], "".join(runs[1][c:d])[:40]) for kind, a, b, c, d in inner if kind != "equal"]


def _named(text: str) -> str:
    if not text:
        return "nothing"
    if len(set(text)) == 1 and len(text) > 1:
        return f"{len(text)} of U+{ord(text[0]):04X}"
    return " ".join(f"U+{ord(character):04X}" for character in text[:4]) + (" ..." if len(text) > 4 else "")
