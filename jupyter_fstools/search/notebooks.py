"""Searches notebooks by their cells, outputs included where asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from ..backends.protocol import Backend, FileStat
from ..content.source import BytesContent, all_of
from ..documents.notebook import SOURCE_KEYS, NotebookDocument, joined_text
from ..documents.text.shown_lines import collapsed, without_ansi
from ..errors import FsToolsError
from ..walking.names import Folder, joined
from ..walking.stopping import Stop
from ..walking.trail import opened_folders
from .batches import Batch, Counted
from .excerpts import Place, excerpts
from .python.matcher import Matcher, TooSlow
from .query import TextMatch, TextQuery

_SPACES = re.compile(r"[ \t\n\r]*")
_MOST_AT_ONCE = 1 << 20
"""Characters of a notebook that is parsed as a whole, which is faster."""


class CellText(NamedTuple):
    """One text: its cell's index and id (None where the file has none), and its output's index (None: the source)."""

    cell_index: int
    cell_id: str | None
    output_index: int | None
    text: str


class BrokenNotebook(ValueError):
    """The file is not JSON in UTF-8 without a byte order mark, or has no list of cells."""


def cell_texts(raw: bytes, *, outputs: bool) -> list[CellText]:
    """The texts to search, cell after cell; outputs only as text, never pictures.

    Raises:
        BrokenNotebook
    """
    try:
        found = _texts(_members(raw.decode()), outputs)
    except (ValueError, RecursionError) as error:
        raise BrokenNotebook(str(error)) from error
    if found is None:
        raise BrokenNotebook("there is no list of cells")
    return found


def _members(text: str) -> Iterable[tuple[str, Any]]:
    """The keys and values of a notebook; the cells of a long one are an iterator, to be used before the next member."""
    if len(text) > _MOST_AT_ONCE:
        return _Json(text).members()
    notebook = json.loads(text, parse_int=float)
    return notebook.items() if isinstance(notebook, dict) else ()


class _Json:
    """Reads a notebook's JSON cell by cell: while Python's parser is at a value, no other thread can do anything."""

    # No integer is shown, and Python converts none of thousands of digits; any float it does.
    _decode = json.JSONDecoder(parse_int=float).raw_decode

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def members(self) -> Iterator[tuple[str, Any]]:
        """The keys and values of the object that is all of the text; `cells` as an iterator.

        Raises:
            JSONDecodeError
        """
        self._require("{")
        if not self._passes("}"):
            while True:
                if self._sign() != '"':
                    self._require('"')
                key = self._value()
                self._require(":")
                yield key, self._elements() if key == "cells" and self._sign() == "[" else self._value()
                if not self._passes(","):
                    break
            self._require("}")
        if self._sign():
            raise json.JSONDecodeError("something follows the notebook", self._text, self._at)

    def _elements(self) -> Iterator[Any]:
        self._require("[")
        if self._passes("]"):
            return
        yield self._value()
        while self._passes(","):
            yield self._value()
        self._require("]")

    def _value(self) -> Any:
        self._sign()
        value, self._at = self._decode(self._text, self._at)
        return value

    def _sign(self) -> str:
        """The next character that is no space; "" at the end."""
        self._at = _SPACES.match(self._text, self._at).end()  # type: ignore[union-attr]  # It matches anywhere.
        return self._text[self._at : self._at + 1]

    def _passes(self, sign: str) -> bool:
        """Whether this character is the next one; goes on behind it."""
        is_next = self._sign() == sign
        self._at += is_next
        return is_next

    def _require(self, sign: str) -> None:
        if not self._passes(sign):
            raise json.JSONDecodeError(f"expected {sign!r}", self._text, self._at)


def _texts(members: Iterable[tuple[str, Any]], outputs: bool) -> list[CellText] | None:
    """The texts of the cells, or of all worksheets without a list of cells; of a key that is there twice, the last."""
    found: dict[str, list[CellText] | None] = {}
    for key, value in members:
        if key == "cells":
            found[key] = _of_cells(value, outputs) if isinstance(value, (list, Iterator)) else None
        elif key == "worksheets":
            sheets = (_list(sheet.get("cells")) for sheet in _list(value) if isinstance(sheet, dict))
            cells = chain.from_iterable(sheets)
            found[key] = _of_cells(cells, outputs, in_worksheet=True) if isinstance(value, list) else None
    newer = found.get("cells")
    return found.get("worksheets") if newer is None else newer


def _of_cells(cells: Iterable[Any], outputs: bool, *, in_worksheet: bool = False) -> list[CellText]:
    joined_as = partial(joined_text, in_worksheet=in_worksheet)
    return [
        text
        for index, cell in enumerate(cells)
        if isinstance(cell, dict)
        for text in _of_cell(index, cell, outputs, joined_as)
    ]


def ids_of(raw: bytes, texts: list[CellText]) -> list[str]:
    """The id of every cell by its index, as read_notebook shows it: a synthetic one where the cell has none."""
    real = {text.cell_index: text.cell_id for text in texts}
    count = max(real, default=-1) + 1
    if all(real.get(index) for index in range(count)):
        return [real[index] or "" for index in range(count)]
    try:
        return [cell.cell_id for cell in NotebookDocument(BytesContent(raw)).cells]
    except FsToolsError:  # read_notebook cannot show this file either.
        return [real.get(index) or "" for index in range(count)]


def _of_cell(index: int, cell: dict[str, Any], outputs: bool, joined_as: Callable[[Any], str]) -> Iterator[CellText]:
    found = cell.get("id")
    cell_id = found if isinstance(found, str) else None
    source = next((cell[key] for key in SOURCE_KEYS if key in cell), None)
    yield CellText(index, cell_id, None, joined_as(source))
    if outputs:
        for number, output in enumerate(_list(cell.get("outputs"))):
            if isinstance(output, dict):
                yield CellText(index, cell_id, number, _of_output(output, joined_as))


def _of_output(output: dict[str, Any], joined_as: Callable[[Any], str]) -> str:
    """The text of a stream, of an error (name, value, traceback) or of the text forms of other outputs."""
    parts = [collapsed(joined_as(output.get("text")))]
    if output.get("output_type") in ("error", "pyerr"):
        parts += [f"{output.get('ename')}: {output.get('evalue')}"]
        trace = output.get("traceback")
        parts += [line for line in (trace if isinstance(trace, list) else [trace]) if isinstance(line, str)]
    bundle = output.get("data")
    if isinstance(bundle, dict):
        parts += [joined_as(value) for mime, value in bundle.items() if str(mime).startswith("text/")]
    return "\n".join(without_ansi(part).removesuffix("\n") for part in parts if part)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


class NotebookSearch:
    """Counts the matching lines of notebooks' cells."""

    def __init__(self, backend: Backend, query: TextQuery, matcher: Matcher, stop: Stop) -> None:
        self._backend = backend
        self._query = query
        self._matcher = matcher
        self._stop = stop

    def search(self, batch: Batch) -> None:
        """Search the notebooks of a batch."""
        for folder, part in opened_folders(self._backend, ((part.folder, part) for part in batch.notebooks)):
            for name in part.names:
                if self._stop.now():
                    return
                self._search_file(folder, name, batch)
        for shown, file in batch.named_notebooks:
            self._search_named(shown, file, batch)

    def _search_file(self, folder: Folder, name: str, batch: Batch) -> None:
        try:
            raw = folder.read(name, self._query.max_file_bytes)
        except FileNotFoundError:
            return
        except (OSError, FsToolsError):
            batch.skipped["unreadable"] += 1
            return
        if raw is None:
            batch.skipped["large"] += 1
            return
        path = joined(folder.path, name)
        self._count(path, path, raw, batch)

    def _search_named(self, shown: str, file: FileStat, batch: Batch) -> None:
        try:
            with self._backend.read(file.path) as opened:
                raw = all_of(opened)
        except FsToolsError:
            batch.skipped["unreadable"] += 1
            return
        self._count(shown, file.path, raw, batch)

    def matches(self, path: str, shown: str, page: slice) -> list[TextMatch]:
        """A part of one notebook's matching lines, under the path they are shown with."""
        with self._backend.read(path) as opened:
            raw = all_of(opened)
        texts = cell_texts(raw, outputs=self._query.include_outputs)
        ids: list[str] = []
        found: list[TextMatch] = []
        passed = 0
        for text in texts:
            if passed >= page.stop:
                break
            count, hits = self._matcher.find(text.text, page.stop - passed + 1)
            part = slice(max(0, page.start - passed), page.stop - passed)
            passed += count
            if hits and part.start < count:
                ids = ids or ids_of(raw, texts)
                place = Place(shown, ids[text.cell_index], text.cell_index, text.output_index)
                found += excerpts(place, [text.text], hits, part, self._query)
        return found

    def _count(self, shown: str, path: str, raw: bytes, batch: Batch) -> None:
        try:
            texts = cell_texts(raw, outputs=self._query.include_outputs)
            lines = sum(self._matcher.find(text.text, 0)[0] for text in texts)
        except BrokenNotebook:
            batch.skipped["notebook"] += 1
        except TooSlow:
            batch.skipped["slow"] += not self._stop.now()
        else:
            if lines:
                batch.found.append(Counted(shown, path, lines))
