"""Names cells by id, by a stable synthetic id or by index."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from ...errors import Ambiguous, FsToolsError, Invalid, NotFound, OutOfRange, counted
from .cell import Cell, Cells

_LISTED = 20
_FIRST_LINE = 80
_HEX_START = re.compile(r"[0-9a-f-]{6,}")
_SYNTHETIC = re.compile(r"(?P<name>auto-[0-9a-f]{12})(?P<tag>-[0-9a-f]{8}(?P<ordinal>-\d+of\d+)?)?(?:-x)*")


def named(
    real_ids: Sequence[str | None], source_at: Callable[[int], str], digest_at: Callable[[int], bytes]
) -> list[str]:
    """The id of every cell; those without one get `auto-` and a hash of their source.

    A synthetic id is the same on every read of the same cells, survives changes of cells that are not beside it, and is
    never a real one. If several cells have the same source, each id ends in a tag: a hash of the sources before and
    after the cell. If these are equal too, and for consecutive equal cells, the tag is a hash of the whole cell as
    well, and changes with its outputs. Cells that even this does not distinguish are counted: `-1of3`, `-2of3`, …

    Args:
        real_ids: the ids in the file.
        source_at: the source of the cell at an index.
        digest_at: a hash of the whole cell at an index; called only where it is needed.
    """
    ids = [real_id or "" for real_id in real_ids]
    if all(ids):
        return ids
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for index, real_id in enumerate(ids):
        if not real_id:
            alike[f"auto-{_hash(source_at(index)).hex()[:12]}"].append(index)
    taken = {real_id for real_id in ids if real_id}
    for name, indexes in alike.items():
        tags = _tags(_places(indexes, len(ids), source_at), digest_at) if len(indexes) > 1 else [""]
        for index, tag in zip(indexes, tags, strict=True):
            wanted = name + tag
            while wanted in taken:
                wanted += "-x"
            taken.add(wanted)
            ids[index] = wanted
    return ids


def former_indexes(cells: Sequence[Cell], ids: Collection[str]) -> dict[str, int]:
    """The indexes of cells that had these tagged synthetic ids; without those that are not certain.

    An id finds a cell only if its tag fits that cell and no other: the only cell left may be another one.
    """
    tagged = {cell_id for cell_id in ids if (told := _SYNTHETIC.fullmatch(cell_id)) and told["tag"]}
    if not tagged:
        return {}
    names = {without_tag(cell_id) for cell_id in tagged}
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for cell in cells:
        if cell.real_id is None and (name := without_tag(cell.cell_id)) in names:
            alike[name].append(cell.index)
    found: dict[str, int] = {}
    for name, indexes in alike.items():
        places = _places(indexes, len(cells), lambda at: cells[at].source)
        both = [(place.tag, place.at) for place in places if place.is_lone]
        both += [(place.tag_with(cells[place.at].digest), place.at) for place in places]
        times = Counter(tag for tag, _ in both)
        found |= {name + tag: index for tag, index in both if times[tag] == 1 and name + tag in tagged}
    return found


def without_tag(cell_id: str) -> str:
    """The part of a synthetic id that identifies the source; any other id as it is."""
    # Asked of every cell of large notebooks, few of which have one.
    told = _SYNTHETIC.fullmatch(cell_id) if cell_id.startswith("auto-") else None
    return told["name"] if told else cell_id


def is_synthetic(cell_id: str | None) -> bool:
    """Whether a cell's id has the form of a synthetic one, or is missing."""
    return cell_id is None or _SYNTHETIC.fullmatch(cell_id) is not None


class _Place(NamedTuple):
    """The place of one of several cells with the same source; `is_lone` if none of them is beside it."""

    at: int
    is_lone: bool
    around: bytes

    @property
    def tag(self) -> str:
        """A tag made of the neighbours' sources: it distinguishes cells of equal source."""
        return f"-{hashlib.sha256(self.around).hexdigest()[:8]}"

    def tag_with(self, digest: bytes) -> str:
        """A tag made of the neighbours' sources and a hash of the whole cell."""
        return f"-{hashlib.sha256(self.around + digest).hexdigest()[:8]}"


def _places(indexes: Sequence[int], total: int, source_at: Callable[[int], str]) -> list[_Place]:
    alike = set(indexes)

    def told(index: int) -> bytes:
        return _hash(source_at(index)) if 0 <= index < total else b"end"

    return [
        _Place(index, alike.isdisjoint((index - 1, index + 1)), told(index - 1) + told(index + 1)) for index in indexes
    ]


def _tags(places: Sequence[_Place], digest_at: Callable[[int], bytes]) -> list[str]:
    times = Counter(place.around for place in places if place.is_lone)
    tags = [
        place.tag if place.is_lone and times[place.around] == 1 else place.tag_with(digest_at(place.at))
        for place in places
    ]
    total, seen = Counter(tags), Counter[str]()
    for number, tag in enumerate(tags):
        seen[tag] += 1
        tags[number] = tag if total[tag] == 1 else f"{tag}-{seen[tag]}of{total[tag]}"
    return tags


def _hash(source: str) -> bytes:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()


def fresh_id(taken: Collection[str]) -> str:
    """A valid id that no cell has: eight hexadecimal digits, as nbformat makes them."""
    while (new := uuid.uuid4().hex[:8]) in taken:
        pass
    return new


def duplicate_ids(ids: Sequence[str]) -> set[str]:
    """Ids that more than one cell has."""
    return {cell_id for cell_id, count in Counter(ids).items() if count > 1}


def index_of(cells: Cells, cell_id: str | None, index: int | None, field: str = "") -> int:
    """The cell named by id, or by index, or by both if they agree.

    `field` is the prefix of the arguments' names (such as "after_"). A synthetic id names a cell only if that is
    certainly the one that was shown with it: the only one with this source, or the only one that its tag fits.

    Raises:
        NotFound: no such id; with a bounded list of those there are (of a synthetic one: those with the same source).
        Ambiguous: several cells have the id, or the source that it stands for; `indexes` names them.
        OutOfRange: no such index; Invalid: id and index disagree, or neither is given.
    """
    if index is not None:
        _check_index(cells, index, f"{field}index")
        if cell_id is not None and cells[index].cell_id != cell_id and index not in _former(cells, cell_id):
            raise Invalid(
                f"cell_id {cell_id!r} and index {index} are different cells",
                hint=f"The cell at index {index} has the id {cells[index].cell_id!r}. Give one of the two.",
                field=f"{field}index",
            )
        return index
    if cell_id is None:
        raise Invalid("name a cell", hint="Give `cell_id`, as `read_notebook` shows it, or `index`.", field="cell_id")
    found = cells.by_id.get(cell_id) or _forgiven(cells, cell_id)
    if not found:
        raise _with_same_source(cells, cell_id) or _unknown(cells, cell_id)
    if len(found) > 1:
        by_index = f"{field}index" if field else "`index`"  # A name of one word is translated only where it is marked.
        raise Ambiguous(
            f"{len(found)} cells have the id {cell_id!r}: indexes {', '.join(map(str, found[:_LISTED]))}",
            hint=f"Name the cell by {by_index} instead.",
            indexes=found,
            count=len(found),
        )
    return found[0]


def _check_index(cells: Sequence[Cell], index: int, field: str) -> None:
    if index < 0:
        raise Invalid(f"{field}: cells are counted from 0, got {index}", hint="Use 0 or more.", field=field)
    if index >= len(cells):
        raise OutOfRange(
            f"{field} {index}: the notebook has {counted(len(cells), 'cell')}",
            hint=f"Use an index from 0 to {len(cells) - 1}." if cells else "Insert a cell first.",
            total=len(cells),
        )


def _forgiven(cells: Cells, cell_id: str) -> list[int]:
    """The cell for an id with a copied `#`, or for the beginning of a hexadecimal id; only where a single cell fits."""
    bare = cell_id.removeprefix("#")
    found = cells.by_id.get(bare) or _former(cells, bare)
    if not found and _HEX_START.fullmatch(bare):
        found = [cell.index for cell in cells if cell.cell_id.startswith(bare) and _HEX_START.fullmatch(cell.cell_id)]
    return found if len(found) == 1 else []


def _former(cells: Sequence[Cell], cell_id: str) -> list[int]:
    return list(former_indexes(cells, [cell_id]).values())


def _with_same_source(cells: Sequence[Cell], cell_id: str) -> FsToolsError | None:
    """The refusal of a synthetic id with which several cells share their source; None where no cell has it."""
    told = _SYNTHETIC.fullmatch(cell_id.removeprefix("#"))
    found = [cell for cell in cells if cell.real_id is None and told and without_tag(cell.cell_id) == told["name"]]
    if not found or told is None:
        return None
    rows = [_row(cell) | {"after": _first_line(cells[cell.index - 1]) if cell.index else None} for cell in found]
    shown = "\n".join(
        f"{row['index']}: {row['cell_id']}  " + ("first cell" if row["after"] is None else f"after {row['after']!r}")
        for row in rows[:_LISTED]
    )
    hint = f"Read the notebook again and name the cell you mean. Cells with the source that it had:\n{shown}"
    hint += f"\n… and {len(rows) - _LISTED} more" if len(rows) > _LISTED else ""
    listed: dict[str, Any] = {"cells": rows[:_LISTED], "total_cells": len(cells)}
    if told["tag"] or len(found) == 1:
        return NotFound(
            f"no cell has the id {cell_id[:100]!r}: the cell, or one beside it, changed or moved", hint=hint, **listed
        )
    indexes = [cell.index for cell in found]
    return Ambiguous(
        f"{len(found)} cells have the source that the id {cell_id[:100]!r} stands for: "
        f"indexes {', '.join(map(str, indexes[:_LISTED]))}",
        hint=hint,
        indexes=indexes,
        count=len(found),
        **listed,
    )


def _unknown(cells: Sequence[Cell], cell_id: str) -> FsToolsError:
    rows = [_row(cell) for cell in cells[:_LISTED]]
    lines = "\n".join(f"{row['index']}: {row['cell_id']}  {row['first_line']}" for row in rows)
    more = f"\n… and {len(cells) - len(rows)} more" if len(cells) > len(rows) else ""
    return NotFound(
        f"no cell has the id {cell_id[:100]!r}",
        hint=f"The cells are:\n{lines}{more}" if cells else "The notebook has no cells.",
        cells=rows,
        total_cells=len(cells),
    )


def _row(cell: Cell) -> dict[str, Any]:
    return {"cell_id": cell.cell_id, "index": cell.index, "first_line": _first_line(cell)}


def _first_line(cell: Cell) -> str:
    return cell.source.split("\n", 1)[0][:_FIRST_LINE]
