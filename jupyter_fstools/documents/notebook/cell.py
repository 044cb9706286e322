"""Decodes one cell, only as far as needed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from ...content.source import Content
from ...errors import NotebookRefused
from .refusals import changes_meanwhile, too_deep
from .spans import CellSpans, Member, cell_at

MOST_NAMES = 50
_CHARACTERS = 200


def bounded_names(names: Sequence[str]) -> list[str]:
    """The first names, long ones cut; a last entry says how many more there are."""
    shown = [_cut(name) for name in names[:MOST_NAMES]]
    return [*shown, _more(len(names) - MOST_NAMES)] if len(names) > MOST_NAMES else shown


def bounded_sizes(sizes: dict[str, int]) -> dict[str, int]:
    """The first names with their sizes; a last entry has the size of all others."""
    shown = {_cut(name): size for name, size in islice(sizes.items(), MOST_NAMES)}
    if len(sizes) > MOST_NAMES:
        shown[_more(len(sizes) - MOST_NAMES)] = sum(islice(sizes.values(), MOST_NAMES, None))
    return shown


def _cut(name: str) -> str:
    return name if len(name) <= _CHARACTERS else f"{name[:_CHARACTERS]}…"


def _more(count: int) -> str:
    return f"… and {count} more"


SOURCE_KEYS = ("source", "input", "code", "text")
"""nbformat 2 and 3 have `input` in code cells, nbformat 1 `code` and `text`."""
_COUNT_KEYS = ("execution_count", "prompt_number")
_CELL_MAGIC = re.compile(r"%%(\w+)")
_MAGIC_LANGUAGES = {
    "bash": "bash", "sh": "bash", "script": "bash", "html": "html", "HTML": "html", "javascript": "javascript",
    "js": "javascript", "latex": "latex", "markdown": "markdown", "perl": "perl", "ruby": "ruby", "svg": "svg",
    "SVG": "svg", "R": "r", "sql": "sql", "writefile": "text", "python": "python", "python3": "python",
}  # fmt: skip


class Cell:
    """A cell with its place in the file.

    Attributes:
        index: 0-based.
        cell_id: its own id, or a synthetic one where it has none.
        place: its bytes in the file.
        in_worksheet: whether the notebook is older than nbformat 4.
    """

    def __init__(self, content: Content, place: CellSpans, index: int, *, in_worksheet: bool = False) -> None:
        self.content, self.place, self.index, self.in_worksheet = content, place, index, in_worksheet
        self.cell_id = place.real_id or ""

    @cached_property
    def spans(self) -> CellSpans:
        """The places of its members.

        Raises:
            Conflict: the notebook has changed since its outline was made.
        """
        place = self.place
        if not place.is_outline:
            return place
        try:
            found = cell_at(self.content, place.start, place.end)
        except NotebookRefused:
            raise changes_meanwhile() from None
        if (found.real_id, found.cell_type) != (place.real_id, place.cell_type):
            raise changes_meanwhile()
        return found

    @property
    def real_id(self) -> str | None:
        """The id that the file gives it."""
        return self.place.real_id

    @property
    def cell_type(self) -> str:
        """`code`, `markdown`, `raw`, or what the file says; `unknown` if it says nothing."""
        return self.place.cell_type or "unknown"

    @property
    def has_source(self) -> bool:
        """Whether the file gives it a source, as nbformat 4 asks for."""
        return self.spans.is_object and self.spans.member("source") is not None

    @cached_property
    def source(self) -> str:
        """The source as one text, also if the file has a list; empty if it is missing or nested too deeply."""
        value = next((self._shown(key) for key in SOURCE_KEYS if self.spans.member(key)), "")
        return joined_text(value, in_worksheet=self.in_worksheet)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of type and source: what an edit relies on. Outputs and counts do not matter."""
        return cell_fingerprint(self.cell_type, self.source)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the cell's bytes as they are in the file, outputs and layout included."""
        told = hashlib.sha256()
        for chunk in self.content.chunks(self.place.start, self.place.end):
            told.update(chunk)
        return told.digest()

    @property
    def execution_count(self) -> int | None:
        """The number in brackets beside the cell, if it is an integer."""
        counts = [self._shown(key) for key in _COUNT_KEYS if self.spans.member(key)]
        return counts[0] if counts and type(counts[0]) is int else None

    @property
    def tags(self) -> list[str]:
        """`metadata.tags`; none where the metadata are nested too deeply to be decoded."""
        metadata = self._shown("metadata")
        tags = metadata.get("tags") if isinstance(metadata, dict) else None
        return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []

    def language(self, of_code: str) -> str:
        """The language of the source; a cell magic such as `%%bash` goes before the notebook's language."""
        if self.cell_type != "code":
            return {"markdown": "markdown", "heading": "markdown", "html": "html"}.get(self.cell_type, "text")
        magic = _CELL_MAGIC.match(self.source)
        return _MAGIC_LANGUAGES.get(magic[1], of_code) if magic else of_code

    def value(self, key: str) -> Any:
        """One member, decoded; None where there is none."""
        member = self.spans.member(key)
        return None if member is None else decoded(self.raw(member))

    def _shown(self, key: str) -> Any:
        member = self.spans.member(key)
        return None if member is None else decoded_to_show(self.raw(member))

    def raw(self, place: Member | CellSpans) -> bytes:
        """The bytes of a member's value, or of the whole cell."""
        return self.content.read(place.start, place.end - place.start)


class Cells(list[Cell]):
    """The cells of a notebook, in their order."""

    @cached_property
    def by_id(self) -> dict[str, list[int]]:
        """The indexes of each id; to be used once every cell has one."""
        found: dict[str, list[int]] = {}
        for cell in self:
            found.setdefault(cell.cell_id, []).append(cell.index)
        return found


def cell_fingerprint(cell_type: str, source: str) -> str:
    """SHA-256, in hex, of a cell's type and source; its line endings do not matter."""
    source = source.replace("\r\n", "\n")
    return hashlib.sha256(f"{cell_type}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()


def decoded(raw: bytes) -> Any:
    """A JSON value that was checked before.

    Raises:
        NotebookRefused: nested deeper than Python decodes.
    """
    try:
        return json.loads(raw)
    except RecursionError:
        raise too_deep() from None
    except ValueError:  # An integer has more digits than Python converts.
        return json.loads(raw, parse_int=float)


def decoded_to_show(raw: bytes) -> Any:
    """The same for display; None where the value is nested deeper than Python decodes."""
    try:
        return decoded(raw)
    except NotebookRefused:
        return None


def joined_text(value: Any, *, in_worksheet: bool = False) -> str:
    """A multi-line string of nbformat (a string, or a list of strings) as one text; anything else is empty.

    In a worksheet the lines of a list may have no line breaks: nbformat 2 wrote them so, and nbformat reads them by the
    first one (`_join_lines` in `nbformat/v3/rwbase.py`).
    """
    if isinstance(value, list):
        lines = [item for item in value if isinstance(item, str)]
        bare = in_worksheet and bool(lines) and not lines[0].endswith(("\n", "\r"))
        return ("\n" if bare else "").join(lines)
    return value if isinstance(value, str) else ""


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, each with its `\n`; no other character ends a line."""
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def compared_lines(source: str) -> list[str]:
    r"""The lines of a source as its diffs have them, without their `\n`; none for an empty one."""
    return source.split("\n") if source else []
