"""Edits a part of a cell's source by exact strings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...content.source import BytesContent
from ...content.splices import Splice, spliced
from ...errors import EncodingRefused, Invalid, NoMatch, NoOp
from ..text.edits import TextEdit, apply_edits
from ..text.encoding import UTF_8
from ..text.match_hints import hint_of_earlier
from ..text.touched_lines import TouchedLines, touched_source_lines
from ..text.utf8_view import Utf8View

_FILE = re.compile(r"\b([Tt]he) file\b")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_STAND_IN = 0x10F000 - 0xD800


class EditedSource(NamedTuple):
    """A source after one exact replacement.

    Attributes:
        text: the whole source.
        touched: the lines that the edit touched.
        replaced: first and last line, counted before the edit, of each place that was replaced.
    """

    text: str
    touched: list[TouchedLines]
    replaced: list[tuple[int, int]]


def edited_source(
    source: str, edit: TextEdit, earlier: Sequence[tuple[int, str]] = (), original: str = ""
) -> EditedSource:
    """Replace exact text in a source, by the rules of `edit_file`.

    Args:
        source: of the cell, as the edits before left it.
        edit: what is replaced in it.
        earlier: number (from 1) and old string ("": all of it) of the edits of this source before it in the call.
        original: the source before these.

    Raises:
        Invalid, NoOp, NoMatch, Ambiguous: as for text files; line numbers count in the cell.
        EncodingRefused: the source holds broken characters.
    """
    if not edit.old:
        hint = 'Quote the text to replace; to write the whole source, use `edit_mode` "replace".'
        raise Invalid("old_string is empty", hint=hint, field="old_string")
    # A file's text has no NULs and lone surrogates: private-use characters stand in for those of the source.
    stand_ins = {code: code + _STAND_IN for code in map(ord, set(_UNFIT.findall(source)))}
    if any(chr(code) in source + edit.old + edit.new for code in stand_ins.values()):
        raise EncodingRefused(
            "the cell holds broken characters (lone surrogates), so no part of it can be edited",
            hint='Replace its whole source: `edit_mode` "replace".',
        )
    before = BytesContent(source.translate(stand_ins).encode())
    try:
        translated = edit._replace(old=edit.old.translate(stand_ins), new=edit.new.translate(stand_ins))
        outcome = apply_edits(Utf8View(before, UTF_8), [translated])
    except NoOp as refusal:
        if refusal.hint.startswith("The file keeps"):
            refusal.hint = "The cell keeps its own line endings; there is nothing to change."
        raise
    except NoMatch as refusal:
        # Messages say "cell" instead of "file", except in the text quoted below the hint's first line.
        refusal.message = _FILE.sub(r"\1 cell", refusal.message)
        content = BytesContent(original.encode("utf-8", "surrogatepass"))
        if earlier and (told := hint_of_earlier(edit.old, earlier, content.chunks, before.chunks)):
            refusal.hint, refusal.details = told.text, dict(told.details)
            raise
        said, line_break, shown = refusal.hint.partition("\n")
        refusal.hint = _as_it_is(_FILE.sub(r"\1 cell", said) + line_break + shown, stand_ins)
        texts = {name: _as_it_is(told, stand_ins) for name, told in refusal.details.items() if isinstance(told, str)}
        refusal.details |= texts
        raise
    after = spliced(before.data, outcome.splices).decode()
    return EditedSource(
        after.translate({there: code for code, there in stand_ins.items()}),
        touched_source_lines(before, outcome.splices),
        list(lines_replaced(before.data, outcome.splices)),
    )


def _as_it_is(text: str, stand_ins: Mapping[int, int]) -> str:
    """A message about the source, with its own characters instead of the stand-ins."""
    for code, there in stand_ins.items():
        text = text.replace(chr(there), chr(code)).replace(f"U+{there:04X}", f"U+{code:04X}")
    return text


def lines_replaced(before: bytes, splices: Sequence[Splice]) -> Iterator[tuple[int, int]]:
    """First and last line of the part that each splice removes from a text in UTF-8."""
    line, at = 1, 0
    for splice in splices:
        line += before.count(b"\n", at, splice.offset)
        at = splice.offset
        yield line, line + splice.removed[:-1].count(b"\n")
