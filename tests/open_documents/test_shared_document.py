"""A change as a room takes it: in UTF-8 bytes, beside text that was typed elsewhere meanwhile."""

from __future__ import annotations

import json
import subprocess

import nbformat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_fstools.content.splices import Splice, spliced
from jupyter_fstools.documents.notebook.saved import is_saved_as, saved_bytes
from jupyter_fstools.documents.text.spans import spans_between, splices_of
from jupyter_fstools.errors import Conflict
from jupyter_fstools.open_documents.shared_cells import moved_splices
from tests.legs import python_of

texts = st.text(alphabet="aß€😀\n ", max_size=30)


@given(texts, texts)
def test_spans_become_splices_of_the_texts_bytes(old, new):
    splices = splices_of(spans_between(old, new), old)
    assert spliced(old.encode(), splices) == new.encode()
    assert all(old.encode()[splice.offset : splice.end] == splice.removed for splice in splices)


@given(texts, texts, texts, texts, st.booleans())
def test_what_was_typed_in_another_line_meanwhile_stays(first, last, change, typed, before):
    """The change is in one line and the typing in another, in either order."""
    lines = [f"1{first}\n", "between\n", f"2{last}\n"]
    at, elsewhere = (0, 2) if before else (2, 0)
    changed, now, both = list(lines), list(lines), list(lines)
    changed[at] = both[at] = f"3{change}\n"
    now[elsewhere] = both[elsewhere] = f"4{typed}\n"
    old = "".join(lines)
    splices = splices_of(spans_between(old, "".join(changed)), old)
    moved = moved_splices(splices, old.encode(), "".join(now).encode())
    assert spliced("".join(now).encode(), moved) == "".join(both).encode()


@given(texts, texts)
def test_what_was_typed_in_the_same_place_meanwhile_is_a_conflict(text, typed):
    assume(text and typed != text)
    old = f"<{text}>".encode()
    with pytest.raises(Conflict, match="not modified"):
        moved_splices([Splice(0, old, b"new")], old, f"<{typed}>".encode())


def test_a_notebook_is_known_by_what_it_holds_not_by_how_it_is_laid_out():
    output = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": ["x\n", "y"], "execution_count": 1}
    notebook = {"cells": [cell | {"outputs": [output]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    data = json.dumps(notebook).encode()
    value = nbformat.reads(data.decode(), as_version=4)
    value["cells"][0]["metadata"]["trusted"] = True
    assert is_saved_as(data, value) and is_saved_as(saved_bytes(value), value)
    value["cells"][0]["source"] = "x\nz"
    assert not is_saved_as(data, value)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"cells": 1}', b'{"cells": [1]}', b'{"cells": [{"metadata": 1}]}', b"\xff"]
)
def test_what_is_no_notebook_is_told_apart(data):
    assert not is_saved_as(data, {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


COPIES = """
import json, sys
from jupyter_fstools.documents.notebook.operations import NotebookOperations
from jupyter_fstools.open_documents.shared_cells import CARET
from jupyter_fstools.open_documents.shared_document import SharedNotebook
from jupyter_ydoc import YNotebook
from pycrdt import Awareness, Doc

operation, caret = json.load(sys.stdin)
ydoc = Doc()
document = YNotebook(ydoc, Awareness(ydoc))
output = {"output_type": "stream", "name": "stdout", "text": "out"}
cell = {"cell_type": "code", "source": "x", "execution_count": None, "metadata": {}, "outputs": [output]}
cells = [cell | {"id": name} for name in "abc"]
document.set({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
document.ycells.insert(1, document.create_ycell(cells[0]))
if caret:
    document.awareness.set_local_state({CARET: "a"})
shared = SharedNotebook(document)
assert [cell["id"] for cell in shared.value()["cells"]] == shared.ids == ["a", "b", "c"]
told = NotebookOperations.model_validate({"total": 3, "operations": [operation]})
try:
    shared.patch(told, shared.ids, {})
except Exception as refusal:
    json.dump(str(refusal), sys.stdout)
else:
    found = [(cell["id"], str(cell["source"]), len(cell["outputs"])) for cell in document.ycells]
    json.dump(["%s %s %s" % one for one in found], sys.stdout)
"""


def changed_beside_copies(operation, *, caret=False):
    """The cells a, b and c of a room in which there is a copy of a behind it, which no file has, after an operation."""
    command = [python_of("collaboration"), "-c", COPIES]
    told = json.dumps([operation, caret])
    return json.loads(subprocess.run(command, input=told, capture_output=True, text=True, check=True).stdout)


A, B, C = ({"id": name, "index": at} for at, name in enumerate("abc"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "cells"),
    [
        ({"do": "members", "cell": B, "set": {"outputs": []}}, "a x 1, a x 1, b x 0, c x 1"),
        ({"do": "move", "cell": C, "after": A}, "a x 1, c x 1, a x 1, b x 1"),
        ({"do": "delete", "cell": B, "source": "x"}, "a x 1, a x 1, c x 1"),
        ({"do": "source", "cell": A, "spans": [[0, "x", "y", "", ""]]}, "a y 1, b x 1, c x 1"),
        ({"do": "delete", "cell": A, "source": "x"}, "b x 1, c x 1"),
    ],
)
def test_a_cell_that_a_room_has_twice_stands_for_one(operation, cells):
    """Two people who move a cell at once double it; jupyter_ydoc saves one of them."""
    assert ", ".join(changed_beside_copies(operation)) == cells


@pytest.mark.slow
def test_a_copy_in_which_somebody_types_is_left_to_them():
    assert "somebody is typing" in changed_beside_copies(
        {"do": "members", "cell": A, "set": {"outputs": []}}, caret=True
    )


ROOM = """
import json, sys
from jupyter_fstools.documents.notebook.operations import CellName, Members, NotebookOperations, SourceSpans
from jupyter_fstools.errors import Conflict
from jupyter_fstools.open_documents.shared_cells import CARET
from jupyter_fstools.open_documents.shared_document import SharedNotebook
from jupyter_ydoc import YNotebook
from pycrdt import Awareness, Doc

outputs, caret, running, source = json.load(sys.stdin)
ydoc = Doc()
document = YNotebook(ydoc, Awareness(ydoc))
metadata = {"trusted": True, "tags": ["t"]}
cell = {"cell_type": "code", "id": "a", "source": "x", "execution_count": 1, "metadata": metadata}
mine = {"output_type": "stream", "name": "stdout", "text": "mine"}
document.set({"cells": [cell | {"outputs": [mine]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
if caret:
    document.awareness.set_local_state({CARET: "a"})
if running:
    document.ycells[0]["execution_state"] = "running"
shared, replaced = SharedNotebook(document), []
subscription = document.ycells.observe(replaced.append)
name = CellName(id="a", index=0)
operations = [Members(cell=name, set={"outputs": outputs, "execution_count": None})]
if source:
    operations.insert(0, SourceSpans(cell=name, spans=[(0, "x", source, "", "")]))
try:
    is_whole = shared.patch(NotebookOperations(total=1, operations=operations), ["a"], {})
except Conflict as refusal:
    json.dump(refusal.message, sys.stdout)
else:
    json.dump([document.get()["cells"][0], not replaced, is_whole], sys.stdout)
"""


def outputs_set_in_a_room(*outputs, caret=False, running=False, source=""):
    """Set these outputs and maybe a source in a room's cell, which is trusted and has an output of its own.

    Gives the cell, and whether it is still the same one and got all of it.
    """
    command, told = [python_of("collaboration"), "-c", ROOM], json.dumps([outputs, caret, running, source])
    ran = subprocess.run(command, input=told, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


MINE = {"output_type": "stream", "name": "stdout", "text": "mine"}
THEIRS = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>window.ran = 1</script>"}}


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [[THEIRS], [MINE, THEIRS]])
def test_a_cell_loses_its_trust_with_outputs_that_it_did_not_have(outputs):
    """It is created again: a page checks the trust of a cell only when it first sees it."""
    cell, is_same, _ = outputs_set_in_a_room(*outputs)
    assert (cell["outputs"], cell["metadata"], is_same) == (outputs, {"tags": ["t"]}, False)
    assert (cell["id"], cell["source"], cell["execution_count"]) == ("a", "x", None)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [[], [MINE]])
def test_a_cell_keeps_its_trust_with_outputs_of_its_own(outputs):
    cell, is_same, is_whole = outputs_set_in_a_room(*outputs)
    assert (cell["outputs"], cell["metadata"]["trusted"], is_same, is_whole) == (outputs, True, True, True)


@pytest.mark.slow
def test_a_cell_that_would_lose_its_trust_is_left_to_who_types_in_it():
    assert "somebody is typing" in outputs_set_in_a_room(THEIRS, caret=True)
    assert outputs_set_in_a_room(caret=True)[0]["outputs"] == []


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [[], [THEIRS]])
def test_a_running_cell_gets_its_source_and_keeps_its_outputs(outputs):
    """Only its kernel knows which outputs these are."""
    cell, is_same, is_whole = outputs_set_in_a_room(*outputs, running=True, source="y")
    assert (cell["source"], cell["outputs"], cell["execution_count"]) == ("y", [MINE], 1)
    assert is_same and not is_whole
    assert "running" in outputs_set_in_a_room(*outputs, running=True)


TYPED = """
import json, sys
from jupyter_fstools.documents.notebook.operations import CellName, NotebookOperations, SourceSpans
from jupyter_fstools.errors import Conflict
from jupyter_fstools.open_documents.shared_document import SharedNotebook
from jupyter_ydoc import YNotebook
from pycrdt import Awareness, Doc

now = json.load(sys.stdin)
ydoc = Doc()
document = YNotebook(ydoc, Awareness(ydoc))
cell = {"cell_type": "code", "id": "a", "source": now, "execution_count": None, "metadata": {}, "outputs": []}
document.set({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
spans = [(2, "x", "X", "", ""), (8, "z", "Z", "", "")]
told = NotebookOperations(total=1, operations=[SourceSpans(cell=CellName(id="a", index=0), spans=spans)])
try:
    SharedNotebook(document).patch(told, ["a"], {0: "😀x\\n1\\ny\\nz"})
except Conflict as refusal:
    json.dump(refusal.message, sys.stdout)
else:
    json.dump(str(document.ycells[0]["source"]), sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("😀x\n1 🎈\ny\nz", "😀X\n1 🎈\ny\nZ"),
        ("🎈\n😀x\n1\ny\nz", "🎈\n😀X\n1\ny\nZ"),
        ("😀x\n1\ny\nmine", "the same place was changed while the change was made (not modified)"),
    ],
)
def test_what_was_typed_elsewhere_in_a_cell_meanwhile_stays(now, then):
    """Between the moment in which a change is made of the cell's text and that in which it arrives in the room."""
    command = [python_of("collaboration"), "-c", TYPED]
    ran = subprocess.run(command, input=json.dumps(now), capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == then
