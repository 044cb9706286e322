"""Any part of any change of cells is written exactly, and all else stays."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.notebook import CellEdit, cell_anchors, hunks_in, notebook_with

from .independent_scanner import around_cells, cell_texts
from .samples import STYLES, apply, code, document, markdown, notebook, spliced

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "d\r", "é", "# ... rest of the code ..."]), max_size=24)
EVERYWHERE: list[dict[str, Any]] = [{"at": "start"}, {"at": "end"}]


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    kinds = st.sampled_from([code, markdown])
    cells = [draw(kinds)("\n".join(draw(LINES))) for _ in range(draw(st.integers(1, 6)))]
    return draw(st.sampled_from(STYLES))(notebook(*cells, minor=draw(st.sampled_from([4, 5]))))


@st.composite
def batches(draw: st.DrawFn, data: bytes) -> list[CellEdit]:
    """Edits of some cells, up to three of each, and new cells beside those that none deletes."""
    found = document(data).cells
    edits: list[dict[str, Any]] = []
    named = draw(st.lists(st.sampled_from(range(len(found))), unique=True, max_size=4))
    modes = {
        at: draw(st.sets(st.sampled_from(["replace", "edit", "move", "convert", "clear_outputs"]))) for at in named
    }
    gone = {at for at in named if not modes[at]}
    for at in named:
        cell, around = found[at], [one for one in range(len(found)) if one != at and one not in gone]
        if at in gone:
            edits.append({"edit_mode": "delete", "index": at})
        if "edit" in modes[at] or "replace" in modes[at]:
            source, new = cell.source, draw(LINES)
            lines = source.split("\n")
            for line in draw(st.lists(st.integers(0, len(lines) - 1), max_size=3)):
                lines[line : line + 1] = [*new[:1], f"new {line}"]
            if "replace" in modes[at]:
                text = "\n".join(lines).replace("\r", "").replace("...", "") + "!"
                edits.append(
                    {"edit_mode": "replace", "index": at, "new_source": text, "keep_outputs": draw(st.booleans())}
                )
            else:
                edits += [
                    {"edit_mode": "edit", "index": at, "old_string": old, "new_string": f"{new}{old}"}
                    for old, new in draw(st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy\n"))).items()
                    if source.count(old) == 1
                ]
        if "move" in modes[at]:
            places = EVERYWHERE + [{side: one} for one in around for side in ("after_index", "before_index")]
            edits.append({"edit_mode": "move", "index": at, **draw(st.sampled_from(places))})
        if "convert" in modes[at]:
            kind = draw(st.sampled_from([kind for kind in ("code", "markdown", "raw") if kind != cell.cell_type]))
            edits.append({"edit_mode": "convert", "index": at, "cell_type": kind})
        elif "clear_outputs" in modes[at] and cell.cell_type == "code":
            edits.append({"edit_mode": "clear_outputs", "index": at})
    staying = [at for at in range(len(found)) if at not in gone]
    for _ in range(draw(st.integers(0 if edits else 1, 2))):
        places = EVERYWHERE + [{side: one} for one in staying for side in ("after_index", "before_index")]
        source = draw(st.sampled_from(["", "a", "new\nb"]))
        edits.append(
            {"edit_mode": "insert", "cell_type": "code", "new_source": source, **draw(st.sampled_from(places))}
        )
    return [CellEdit(**edit) for edit in draw(st.permutations(edits))]


def mixed(diff, source, taken):
    """The source of a cell with some hunks of its diff."""
    lines, at = source.split("\n") if source else [], 0
    made = []
    for position, hunk in enumerate(diff.hunks):
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        made += lines[at:start]
        unwanted = "remove" if position in taken else "add"
        made += [row.text + "\r" * row.crlf for row in hunk.rows if row.kind != unwanted]
        at = start + hunk.old_count
    return "\n".join([*made, *lines[at:]])


def wanted(before, after, result, taken):
    """The cells of a notebook with the chosen ones, by what each of them was."""
    old, new = ([*map(json.loads, cell_texts(document.content.data))] for document in (before, after))
    told = {diff.index: diff for diff in result.diffs if diff.action != "delete"}
    cells = {at: old[at] for at in range(len(old))}
    for diff in result.diffs:
        if diff.action == "delete" and diff.cell_id in taken:
            del cells[diff.index]
    origins = [cell.origin if cell.origin is not None else -1 - at for at, cell in enumerate(result.after)]
    placed = []
    for at, diff in sorted(told.items()):
        if diff.cell_id not in taken:
            continue
        origin = origins[at]
        made = new[at]
        if len(taken[diff.cell_id]) < len(hunks_in(diff)):
            source = mixed(diff, "".join(old[origin]["source"]), taken[diff.cell_id])
            made = made | {"source": source}
        cells[origin] = made
        if diff.action == "insert" or diff.moved_from is not None:
            placed.append(at)
    order = [at for at in range(len(old)) if at in cells and at not in [origins[one] for one in placed]]
    for at in placed:
        before_it = [origins[one] for one in range(at) if one in placed or waits_for_nothing(told.get(one))]
        order.insert(order.index(before_it[-1]) + 1 if before_it else 0, origins[at])
    return [cells[at] | {"source": "".join(cells[at]["source"])} for at in order]


def waits_for_nothing(diff):
    return diff is None or (diff.action != "insert" and diff.moved_from is None)


def joined(data):
    cells = [*map(json.loads, cell_texts(data))]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=200)
@given(notebooks(), st.data())
def test_any_cells_and_hunks_are_written_and_all_else_stays(data, draws) -> None:
    batch = draws.draw(batches(data))
    assume(len(batch) > 1 or batch[0].edit_mode != "move")
    result = apply(data, *batch)
    names = [diff.cell_id for diff in result.diffs]
    assume(names and len(set(names)) == len(names))
    before, after = document(data), document(spliced(data, result.splices))
    taken = {
        diff.cell_id: positions
        for diff in result.diffs
        if (positions := draws.draw(st.sets(st.sampled_from(list(hunks_in(diff))))))
    }
    splices = notebook_with(before, after, result.splices, result.diffs, taken, {})
    found = spliced(data, splices)
    assert around_cells(found) == around_cells(data)
    assert joined(found) == wanted(before, after, result, taken)
    if not before.duplicate_ids and taken:
        named = {
            diff.cell_id: "all" if taken[diff.cell_id] == set(hunks_in(diff)) else taken[diff.cell_id]
            for diff in result.diffs
            if diff.cell_id in taken
        }
        moved = [diff.cell_id for diff in result.diffs if diff.moved_from is not None]
        anchors = cell_anchors(before, after, result.splices, moved=moved)
        part = anchors and anchors.of_hunks(named)
        placed = part and part.placed(BytesContent(data))
        if placed is not None:
            assert joined(spliced(data, placed)) == joined(found)
