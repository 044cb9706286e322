"""Any part of any change of cells is written exactly, and all else stays."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import trimmed
from jupyter_fstools.documents.notebook import CellEdit, cell_anchors, compared, hunks_in, notebook_with, replayed

from . import samples
from .independent_scanner import around_cells, cell_texts
from .samples import STYLES, apply, code, document, markdown, notebook, spliced

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "d\r", "é", "# ... rest of the code ..."]), max_size=24)
EVERYWHERE: list[dict[str, Any]] = [{"at": "start"}, {"at": "end"}]


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    kinds = st.sampled_from([code, markdown])
    cells = [draw(kinds)("\n".join(draw(LINES))) for _ in range(draw(st.integers(1, 6)))]
    whole = notebook(*cells, minor=draw(st.sampled_from([4, 5])))
    for cell in whole["cells"]:
        if draw(st.integers(0, 5)) == 5:
            cell.pop("id", None)
        elif "id" in cell and draw(st.integers(0, 5)) == 5:
            cell["id"] = "twice"
    return draw(st.sampled_from(STYLES))(whole)


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


def wanted(before, after, change, taken, sources):
    """The cells that the chosen part of a change leads to, each with its JSON text where that is unchanged."""
    texts = [cell_texts(document.content.data) for document in (before, after)]
    old, new = ([*map(json.loads, cells)] for cells in texts)
    told = {diff.index: diff for diff in change.diffs if diff.action != "delete"}
    gone = [diff.index for diff in change.diffs if diff.action == "delete" and diff.cell_id in taken]
    cells = {at: (cell, texts[0][at]) for at, cell in enumerate(old) if at not in gone}
    origins = [cell.origin if cell.origin is not None else -1 - at for at, cell in enumerate(change.after)]
    coming = {at for at, diff in told.items() if diff.action == "insert" or diff.moved_from is not None}
    placed = sorted(at for at in coming if told[at].cell_id in taken)
    for at, diff in told.items():
        if diff.cell_id not in taken:
            continue
        made = new[at]
        if diff.cell_id in sources:
            made = made | {"source": sources[diff.cell_id]}
        elif len(taken[diff.cell_id]) < len(hunks_in(diff)):
            source = mixed(diff, "".join(old[origins[at]]["source"]), taken[diff.cell_id])
            made = made | {"source": source}
        cells[origins[at]] = made, None
    order = [at for at in range(len(old)) if at in cells and at not in [origins[one] for one in placed]]
    for at in placed:
        earlier = [origins[one] for one in range(at) if one in placed or one not in coming]
        order.insert(order.index(earlier[-1]) + 1 if earlier else 0, origins[at])
    return [(_joined(cells[at][0]), cells[at][1]) for at in order]


def _joined(cell):
    return cell | {"source": "".join(cell["source"])}


def joined(data):
    return [_joined(json.loads(text)) for text in cell_texts(data)]


@st.composite
def parts(draw: st.DrawFn, change: Any) -> tuple[dict[str, set[int]], dict[str, str]]:
    """Some hunks of some cells, and texts that a person writes into cells instead."""
    names = [diff.cell_id for diff in change.diffs]
    assume(names and len(set(names)) == len(names))
    drawn = {diff.cell_id: draw(st.sets(st.sampled_from(list(hunks_in(diff))))) for diff in change.diffs}
    written = {
        diff.cell_id: "\n".join(draw(LINES))
        for diff in change.diffs
        if diff.action != "delete" and drawn[diff.cell_id] and draw(st.integers(0, 5)) == 5
    }
    return {name: positions for name, positions in drawn.items() if positions}, written


def require_exact(data, change, splices, part):
    """The notebook after a part of a change."""
    before, after = document(data), document(spliced(data, splices))
    taken, sources = part
    found = spliced(data, notebook_with(before, after, splices, change.diffs, taken, sources))
    assert around_cells(found) == around_cells(data)
    expected = wanted(before, after, change, taken, sources)
    assert joined(found) == [cell for cell, _ in expected]
    assert all(text in (None, now) for (_, text), now in zip(expected, cell_texts(found), strict=True))
    return found


def typed(data, cell_id):
    """A notebook in which somebody has typed into a cell and run it."""
    whole = json.loads(data)
    for cell in whole["cells"]:
        if cell.get("id", "") == cell_id:
            cell |= {"source": "typed\nby a person", "metadata": {"x": 1}}
    return samples.jupyterlab(whole)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=200)
@given(notebooks(), st.data())
def test_any_cells_and_hunks_are_written_and_all_else_stays(data, draws) -> None:
    batch = draws.draw(batches(data))
    assume(len(batch) > 1 or batch[0].edit_mode != "move")
    change = apply(data, *batch)
    taken, sources = part = draws.draw(parts(change))
    found = require_exact(data, change, change.splices, part)
    # Where the file has changed elsewhere, the same is done.
    before, after = document(data), document(spliced(data, change.splices))
    named = {
        diff.cell_id: "all" if taken[diff.cell_id] == set(hunks_in(diff)) else taken[diff.cell_id]
        for diff in change.diffs
        if diff.cell_id in taken
    }
    moved = [diff.cell_id for diff in change.diffs if diff.moved_from is not None]
    anchors = cell_anchors(before, after, change.splices, moved=moved)
    some = anchors.of_hunks(named) if anchors and taken and not sources else None
    if some is None:
        return
    theirs = draws.draw(st.sampled_from([cell.cell_id for cell in before.cells if cell.cell_id not in taken] or [None]))
    now = typed(data, theirs)
    placed = replayed(some, BytesContent(now))
    if placed is not None:
        assert joined(spliced(now, placed)) == joined(typed(found, theirs))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=200)
@given(notebooks(), st.data())
def test_any_part_of_a_notebook_that_is_written_as_a_whole_is_written_exactly(data, draws) -> None:
    """Any part of its undo, too."""
    whole = json.loads(data)
    kept = draws.draw(st.lists(st.sampled_from(whole["cells"]), unique_by=id, max_size=len(whole["cells"])))
    cells = [cell | draws.draw(st.sampled_from([{}, {}, {"source": "a\nb"}, {"metadata": {"x": 1}}])) for cell in kept]
    for number in range(draws.draw(st.integers(0, 2))):
        new = markdown("\n".join(draws.draw(LINES)), **({"id": f"n{number}"} if whole["nbformat_minor"] > 4 else {}))
        cells.insert(draws.draw(st.integers(0, len(cells))), new)
    written = draws.draw(st.sampled_from(STYLES))(whole | {"cells": cells, "metadata": {"x": 1}})
    before, after = draws.draw(st.sampled_from([(data, written), (written, data)]))
    splices = trimmed(before, after)
    change = compared(document(before), document(after), splices, whole=True)
    require_exact(before, change, splices, draws.draw(parts(change)))
