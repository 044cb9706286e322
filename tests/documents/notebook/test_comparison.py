"""Comparison of the cells of two versions of a notebook."""

from __future__ import annotations

import copy
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.diffs.line_diff import MAX_ROWS
from jupyter_fstools.documents.notebook import compared, notebook_diff
from jupyter_fstools.documents.notebook.moves import moved_origins

from . import samples
from .samples import apply, code, document, markdown, notebook, spliced

CELLS = (markdown("# A"), code("x = 1\ny = 1"), code("same", id="d"), code("same", id="d"), markdown("end"))


def actions(before, after):
    found = compared(before and document(before), after and document(after))
    return [(diff.cell_id, diff.index, diff.action) for diff in found.diffs]


def changed(**changes):
    told = copy.deepcopy(notebook(*CELLS))
    for name, value in changes.items():
        told["cells"][int(name[1:])].update(value)
    return samples.minified(told)


BASE = changed()


def test_what_did_not_change_is_not_told():
    assert actions(BASE, BASE) == []


def test_each_kind_of_change_has_its_name():
    assert actions(BASE, changed(c1={"source": "x"})) == [("c1", 1, "edit")]
    assert actions(BASE, changed(c1={"outputs": []})) == [("c1", 1, "clear_outputs")]
    assert actions(changed(c1={"outputs": []}), BASE) == [("c1", 1, "edit")]
    assert actions(BASE, changed(c4={"cell_type": "raw"})) == [("c4", 4, "convert")]
    assert actions(None, BASE) == [(cell["id"], at, "insert") for at, cell in enumerate(notebook(*CELLS)["cells"])]
    assert {action for _, _, action in actions(BASE, None)} == {"delete"}


def test_only_the_cell_that_was_taken_elsewhere_moved():
    told = notebook(*copy.deepcopy(CELLS))
    told["cells"].append(told["cells"].pop(0))
    assert actions(BASE, samples.minified(told)) == [("c0", 4, "move")]


def test_one_of_two_alike_can_go():
    told = notebook(*copy.deepcopy(CELLS))
    del told["cells"][3]
    assert actions(BASE, samples.minified(told)) == [("d", 3, "delete")]


def test_cells_without_ids_are_the_same_by_their_source():
    before = samples.minified(notebook(code("a"), code("b"), minor=4))
    after = samples.minified(notebook(code("b"), code("c"), minor=4))
    found = compared(document(before), document(after))
    assert [cell.origin for cell in found.after] == [1, 0]
    assert [cell.written for cell in found.after] == [None, ("code", "c")]


@given(st.permutations(range(5)), st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4)))
def test_origins_and_what_is_written_are_those_of_the_edits(order, deleted, edited):
    data = samples.minified(notebook(*(code(f"cell {number}") for number in range(5))))
    edits = [{"edit_mode": "move", "cell_id": f"c{at}", "at": "end"} for at in order if at not in deleted]
    edits += [{"cell_id": f"c{at}", "new_source": f"new {at}"} for at in sorted(edited - deleted)]
    edits += [{"edit_mode": "delete", "cell_id": f"c{at}"} for at in sorted(deleted)]
    result = apply(data, *edits)
    found = compared(document(data), document(spliced(data, result.splices)))
    same = {"whole": True, "touched": (), "replaced": ()}
    assert [cell._replace(**same) for cell in found.after] == [cell._replace(**same) for cell in result.after]


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_moves_are_as_few_as_possible_and_spare_the_cells_that_should_stay(order, staying):
    def rises(numbers):
        return numbers == sorted(numbers)

    def longest(numbers):
        return max(len(row) for size in range(len(numbers) + 1) for row in combinations(numbers, size) if rises([*row]))

    moved = moved_origins(order, staying)
    assert rises([at for at in order if at not in moved])
    assert len(staying - moved) == longest([at for at in order if at in staying])
    assert len(moved_origins(order)) == len(order) - longest(order)


def of_many_cells(tag, kept):
    cells = [code(f"{tag}\n{at}", id=f"c{at}", metadata={"tags": [tag]}) for at in range(2400) if at % 7 != kept]
    return document(samples.minified(notebook(*cells, kernelspec={"name": tag})))


def rows_in(found):
    hunks = [*found.hunks, *(hunk for diff in found.diffs for hunk in (*diff.hunks, *diff.carried))]
    return sum(len(hunk.rows) for hunk in hunks)


def test_of_very_many_cells_few_hunks_are_made_and_the_diff_is_the_same():
    """Cells come, go and change; a notebook of 100,000 took a gigabyte for rows that were left out of its diff."""
    before, after = of_many_cells("old", 2), of_many_cells("new", 5)
    made, everything = compared(before, after), compared(before, after, whole=True)
    assert rows_in(made) < 2 * MAX_ROWS + 30 < rows_in(everything) / 2
    assert rows_in(made) + sum(made.left_out) <= rows_in(everything)
    told, whole = (
        notebook_diff("a", "edit", found.diffs, "python", hunks=found.hunks, left_out=found.left_out)
        for found in (made, everything)
    )
    assert (told == whole) is told.truncated is True
    assert [diff.action for diff in made.diffs] == [diff.action for diff in everything.diffs]


def test_of_very_many_lines_of_one_output_few_rows_are_made_and_the_diff_is_the_same():
    """An undo that gave 40 MB of output back took a gigabyte for rows that were left out of its diff."""
    output = {"output_type": "stream", "name": "stdout", "text": ["line\n"] * 3 * MAX_ROWS}
    before, after = (document(samples.minified(notebook(code("x", outputs=out)))) for out in ([], [output]))
    made, everything = compared(before, after), compared(before, after, whole=True)
    assert rows_in(made) == MAX_ROWS + 1 < rows_in(everything) / 2
    told, whole = (
        notebook_diff("a", "edit", found.diffs, "python", hunks=found.hunks, left_out=found.left_out)
        for found in (made, everything)
    )
    assert (told == whole) is told.truncated is True and told.added > 3 * MAX_ROWS


def test_of_a_very_long_source_few_rows_are_made_and_those_of_cells_above_come_first():
    """A source of ten million lines took ten gigabytes for rows that were left out of its diff."""
    data = samples.minified(notebook(code("x", id="a"), code("y", id="b")))
    long = {"cell_id": "b", "new_source": "line\n" * 3 * MAX_ROWS}
    result = apply(data, long, {"cell_id": "a", "new_source": "z"})
    assert [sum(len(hunk.rows) for hunk in diff.hunks) for diff in result.diffs] == [2, MAX_ROWS - 1]
    told = notebook_diff("a", "edit", result.diffs, "python", left_out=result.left_out)
    assert told.truncated and (told.added, told.removed) == (3 * MAX_ROWS + 2, 2)
