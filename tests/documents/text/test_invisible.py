"""Characters that are invisible or reorder text."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from jupyter_fstools.documents.text.invisible import INVISIBLE
from jupyter_fstools.plain_text import one_line

HIDDEN = "\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u202e\u2067\u2800\u3164\ufe0f\uffa0\U000e0041\U000e0100"


@pytest.mark.parametrize("sign", HIDDEN, ids=lambda sign: f"U+{ord(sign):04X}")
def test_each_is_found_and_spelled_out(sign):
    assert INVISIBLE.search(f"a{sign}b")
    assert one_line(f"a{sign}b").isprintable() and sign not in one_line(f"a{sign}b")


def test_all_of_unicodes_format_characters_but_visible_ones_are_found():
    """Visible: signs that enclose Arabic, Syriac and Kaithi numbers, joiners of Egyptian hieroglyphs and the like."""
    missed = [sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign) in ("Cc", "Cf", "Cs")]
    missed = [f"{ord(sign):04X}" for sign in missed if sign != "\t" and not INVISIBLE.search(sign)]
    assert all(code[:2] in ("06", "07", "08", "11", "13") for code in missed), missed


@pytest.mark.parametrize(
    "text", ["👩\u200d", "👩\u200dx", "x\u200d👩", "❤\ufe0f\u200d\u200d🔥", "❤\ufe0f\ufe0f", "1\ufe0f"]
)
def test_what_makes_up_emoji_is_found_where_it_joins_none(text):
    assert INVISIBLE.search(text)


def test_letters_of_the_world_and_emoji_are_left_alone():
    for text in ("\tÄ 漢字 مرحبا", "❤\ufe0f\u200d🔥", "👩\u200d💻", "🏴"):
        assert not INVISIBLE.search(text)
