"""Finds characters that are invisible or reorder text."""

from __future__ import annotations

import re

RANGES = (
    *((0x00, 0x08), (0x0A, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160)),
    *((0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F)),
    *((0x2800, 0x2800), (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFE00, 0xFE0E), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0)),
    *((0xFFF0, 0xFFFC), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Unicode's Default_Ignorable_Code_Point and Bidi_Control (DerivedCoreProperties.txt, PropList.txt: Hangul fillers,
variation selectors and tags among them), with controls except the tab, line separators, the blank Braille pattern and
surrogates. The two that are parts of emoji are in `EMOJI_PARTS`."""

EMOJI_PARTS = (0x200D, 0xFE0F)
"""Characters that are allowed as parts of emoji: the joiner between two, and the colour selector after one."""

EMOJI = ((0x2190, 0x2BFF), (0x1F000, 0x1FAFF))


def _class(*ranges: tuple[int, int]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


_JOINER, _SELECTOR = (f"\\u{part:04x}" for part in EMOJI_PARTS)
_EMOJI = _class(*EMOJI)
INVISIBLE = re.compile(
    f"[{_class(*RANGES)}]|(?<![{_EMOJI}{_SELECTOR}]){_JOINER}|{_JOINER}(?![{_EMOJI}])|(?<![{_EMOJI}]){_SELECTOR}"
)
"""Matches one invisible or reordering character."""
