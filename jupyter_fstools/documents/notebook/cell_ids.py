"""How cells are named: by their own id, by a stable synthetic one, or by index."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence

from ...errors import Ambiguous, FsToolsError, Invalid, NotFound, OutOfRange
from .cell import Cell

_LISTED = 20
_FIRST_LINE = 80
_HEX_START = re.compile(r"[0-9a-f-]{6,}")


def named(real_ids: Sequence[str | None], source_at: Callable[[int], str]) -> list[str]:
    """The id of every cell; those without one get `auto-` and a hash of their source.

    A synthetic id is the same on every read of the same cells, survives changes of other cells, and is never a real
    one. Cells with the same source get `-1of3`, `-2of3`, …: when one of them changes, no old name points at another.
    """
    ids = [real_id or "" for real_id in real_ids]
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for index, real_id in enumerate(ids):
        if not real_id:
            digest = hashlib.sha256(source_at(index).encode("utf-8", "surrogatepass")).hexdigest()
            alike[f"auto-{digest[:12]}"].append(index)
    taken = {real_id for real_id in ids if real_id}
    for name, indexes in alike.items():
        for count, index in enumerate(indexes, 1):
            wanted = f"{name}-{count}of{len(indexes)}" if len(indexes) > 1 else name
            while wanted in taken:
                wanted += "-x"
            taken.add(wanted)
            ids[index] = wanted
    return ids


def fresh_id(taken: Collection[str]) -> str:
    """A valid id that no cell has: eight hexadecimal digits, as nbformat makes them."""
    while (new := uuid.uuid4().hex[:8]) in taken:
        pass
    return new


def duplicate_ids(ids: Sequence[str]) -> set[str]:
    """Ids that more than one cell has."""
    return {cell_id for cell_id, count in Counter(ids).items() if count > 1}


def index_of(cells: Sequence[Cell], cell_id: str | None, index: int | None, field: str = "") -> int:
    """The cell named by id, or by index, or by both if they agree.

    `field` is the prefix of the arguments' names ("after_", say).

    Raises:
        NotFound: no such id; with a bounded list of those there are.
        Ambiguous: several cells have the id; `indexes` names them.
        OutOfRange: no such index; Invalid: id and index disagree, or neither is given.
    """
    if index is not None:
        _check_index(cells, index, f"{field}index")
        if cell_id is not None and cells[index].cell_id != cell_id:
            raise Invalid(
                f"cell_id {cell_id!r} and index {index} are different cells",
                hint=f"The cell at index {index} has the id {cells[index].cell_id!r}. Give one of the two.",
                field=f"{field}index",
            )
        return index
    if cell_id is None:
        raise Invalid("name a cell", hint="Give cell_id, as read_notebook shows it, or index.", field="cell_id")
    found = [cell.index for cell in cells if cell.cell_id == cell_id] or _forgiven(cells, cell_id)
    if not found:
        raise _unknown(cells, cell_id)
    if len(found) > 1:
        raise Ambiguous(
            f"{len(found)} cells have the id {cell_id!r}: indexes {', '.join(map(str, found[:_LISTED]))}",
            hint=f"Name the cell by {field}index instead.",
            indexes=found,
            count=len(found),
        )
    return found[0]


def _check_index(cells: Sequence[Cell], index: int, field: str) -> None:
    if index < 0:
        raise Invalid(f"{field}: cells are counted from 0, got {index}", hint="Use 0 or more.", field=field)
    if index >= len(cells):
        raise OutOfRange(
            f"{field} {index}: the notebook has {len(cells)} cells",
            hint=f"Use an index from 0 to {len(cells) - 1}." if cells else "Insert a cell first.",
            total=len(cells),
        )


def _forgiven(cells: Sequence[Cell], cell_id: str) -> list[int]:
    """A copied `#`, or the beginning of a hexadecimal id: taken only where one cell fits."""
    bare = cell_id.removeprefix("#")
    found = [cell.index for cell in cells if cell.cell_id == bare]
    if not found and _HEX_START.fullmatch(bare):
        found = [cell.index for cell in cells if cell.cell_id.startswith(bare) and _HEX_START.fullmatch(cell.cell_id)]
    return found if len(found) == 1 else []


def _unknown(cells: Sequence[Cell], cell_id: str) -> FsToolsError:
    rows = []
    for cell in cells[:_LISTED]:
        first = cell.source.split("\n", 1)[0][:_FIRST_LINE]
        rows.append({"cell_id": cell.cell_id, "index": cell.index, "first_line": first})
    lines = "\n".join(f"{row['index']}: {row['cell_id']}  {row['first_line']}" for row in rows)
    more = f"\n… and {len(cells) - len(rows)} more" if len(cells) > len(rows) else ""
    return NotFound(
        f"no cell has the id {cell_id[:100]!r}",
        hint=f"The cells are:\n{lines}{more}" if cells else "The notebook has no cells.",
        cells=rows,
        total_cells=len(cells),
    )
