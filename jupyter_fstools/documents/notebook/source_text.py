"""Encodes a cell's source the way the file writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from ...content.source import CHUNK_BYTES, BytesContent, Content
from ...content.splices import Splice, spliced_chunks, trimmed
from ...errors import EncodingRefused, Invalid
from ..text.edits import TextEdit, apply_edits
from ..text.encoding import TextEncoding, Utf8View
from ..text.placeholders import placeholder_line
from .cell import Cell, decoded, lines_of
from .layout import Gaps, gaps_of, rearranged
from .spans import items_at

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_ESCAPED_LETTER = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_STAND_IN = 0x10F000 - 0xD800


def edited_source(source: str, edit: TextEdit) -> str:
    """The source after one exact replacement, by the rules of `edit_file`.

    Raises:
        Invalid, NoOp, NoMatch, Ambiguous: as for text files; line numbers count in the cell.
    """
    # NULs and lone surrogates are no text for a file: private-use characters stand in for those of the source.
    stand_ins = {code: code + _STAND_IN for code in map(ord, set(_UNFIT.findall(source)))}
    if any(chr(code) in source + edit.old + edit.new for code in stand_ins.values()):
        raise EncodingRefused("the cell holds lone surrogates beside U+10Fxxx", hint="Use replace for this cell.")
    before = BytesContent(source.translate(stand_ins).encode())
    outcome = apply_edits(Utf8View(before, TextEncoding("utf-8")), [edit])
    after = b"".join(bytes(chunk) for chunk in spliced_chunks(before, outcome.splices)).decode()
    return after.translate({there: code for code, there in stand_ins.items()})


def checked_source(new: str, old: str, field: str) -> str:
    r"""A new source with `\n` as its only line ending.

    Raises:
        Invalid: an omission placeholder that the old source did not have, or notebook JSON instead of a source.
    """
    new = new.replace("\r\n", "\n").replace("\r", "\n")
    old_lines = {line.rstrip("\r") for line in old.split("\n")}
    placeholder = placeholder_line(new, old_lines.__contains__)
    if placeholder is not None:
        raise Invalid(
            f"{field}: the line {placeholder.strip()!r} stands for text that was left out",
            hint='Give the whole source, or change only a part of the cell with `edit_mode` "edit".',
            field=field,
        )
    if _is_notebook_json(new):
        raise Invalid(
            f"{field}: this is a notebook's or a cell's JSON, not a source",
            hint="Give the plain text of one cell; further cells are edits of their own.",
            field=field,
        )
    return new


def refuse_surrogates(text: str | None, field: str) -> None:
    """Raise EncodingRefused if the text holds a lone surrogate, which no file can."""
    found = _SURROGATES.search(text or "")
    if found:
        raise EncodingRefused(
            f"{field}: U+{ord(found[0]):04X} at character {found.start()} is a lone surrogate",
            hint="Send the whole character; a pair of surrogates is one character.",
            field=field,
            offset=found.start(),
        )


class TextStyle:
    r"""Whether new text is written raw or with `\u` escapes: as the file does.

    A file with any byte above 0x7F is written raw; one that is all ASCII and escapes letters is escaped; one that
    has neither is written raw, as nbformat does.
    """

    def __init__(self, content: Content, *, is_ascii: bool) -> None:
        self._content, self._is_ascii = content, is_ascii
        self._escapes: bool | None = None

    def encoded(self, text: str) -> bytes:
        """The text as a JSON string."""
        if text.isascii():
            return json.dumps(text).encode("ascii")
        if self._escapes is None:
            self._escapes = self._is_ascii and self._finds_escapes()
        if self._escapes:
            return json.dumps(text).encode("ascii")
        raw = json.dumps(text, ensure_ascii=False)
        return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", raw).encode()

    def _finds_escapes(self) -> bool:
        overlap = 64  # An escape may lie across two pieces.
        starts = range(0, self._content.size, CHUNK_BYTES)
        return any(_ESCAPED_LETTER.search(self._content.read(start, CHUNK_BYTES + overlap)) for start in starts)


def source_value(text: str, encoded: Callable[[str], bytes], gaps: Gaps | None) -> bytes:
    """A whole source: a list with these gaps, or a string if there are none."""
    if gaps is None:
        return encoded(text)
    lines = [encoded(line) for line in lines_of(text)]
    return b"[" + gaps.lead + gaps.between.join(lines) + gaps.tail + b"]" if lines else b"[]"


def source_splices(cell: Cell, text: str, encoded: Callable[[str], bytes], gaps: Gaps, comma: bytes) -> list[Splice]:
    """Splices that give a cell another source; lines of a list that stay keep their bytes.

    `gaps` is for a list that has no item yet, `comma` for one that has a single item.
    """
    member = cell.spans.member("source")
    assert member is not None
    raw = cell.raw(member)
    if not raw.startswith(b"["):
        return [
            Splice(member.start + splice.offset, splice.removed, splice.inserted)
            for splice in trimmed(raw, encoded(text))
        ]
    place = (member.start, member.end)
    items = list(items_at(cell.content, *place))
    old = [decoded(raw[start - member.start : end - member.start]) for start, end in items]
    new = _kept_or_encoded(old, lines_of(text), encoded)
    return list(rearranged(cell.content, place, items, new, gaps_of(cell.content, place, items, comma) or gaps))


def _kept_or_encoded(old: Sequence[object], new: Sequence[str], encoded: Callable[[str], bytes]) -> list[int | bytes]:
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    most -= head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    middle = [encoded(line) for line in new[head : len(new) - tail]]
    return [*range(head), *middle, *range(len(old) - tail, len(old))]


def _is_notebook_json(text: str) -> bool:
    start = text.lstrip()[:1]
    if start not in ("{", "[") or not ('"cells"' in text or '"cell_type"' in text):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and (
        isinstance(first.get("cells"), list) or ("cell_type" in first and "source" in first)
    )
