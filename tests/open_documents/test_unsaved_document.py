"""An edit of a document with unsaved changes: its page patches and saves it, or all is as it was."""

from __future__ import annotations

import json
import threading
import time
from functools import partial

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.gate.write_ahead import WriteAhead
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.standing import changed_since, is_stale, waiting_count
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import OpenDocument
from tests.open_documents.pages import PageHere, Typed, calls_in, sha

X1, X2 = "x = 1\n", "x = 2\n"


@pytest.fixture
def typed(call, pages):
    """Opens a file in a page that has unsaved changes of it, which the assistant has read."""

    def opened(name, text, *, kind="text", **answers):
        page = Typed(call.root / name, text, **answers)
        pages.heard(page, [page.document(page.file, kind=kind, saved=False)])
        call(f"read_{'file' if kind == 'text' else kind}", path=name)
        return page

    return opened


def test_an_edit_of_several_files_is_taken_back_in_a_document_that_was_saved_with_it(call, pages, typed):
    a, b = call.put("a.py", X1), call.put("b.py", X1)
    page = typed("a.py", "x = 1  # typed\n")
    typing = PageHere("browser-0002", patch={"done": False, "reason": "text"})
    pages.heard(typing, [typing.document(b)])
    call("read_file", path="b.py")
    edits = [{"path": path, "old_string": "x = 1", "new_string": "x = 2"} for path in ("a.py", "b.py")]
    call.refused("stale", "edit_file", edits=edits)
    assert (a.read_text(), b.read_text(), page.text) == ("x = 1  # typed\n", X1, "x = 1  # typed\n")
    assert not call.workspace.store.unfinished(call.workspace.backend.root_key)


def test_a_killed_edit_of_several_files_is_taken_back_though_the_page_of_one_is_gone(call, pages, typed, monkeypatch):
    def killed(_):
        raise KeyboardInterrupt

    a, b = call.put("a.py", X1), call.put("b.py", X1)
    page = typed("b.py", "x = 1  # typed\n", patch=killed)
    call("read_file", path="a.py")
    edits = [{"path": path, "old_string": "x = 1", "new_string": "x = 2"} for path in ("a.py", "b.py")]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(WriteAhead, "take_back", lambda *_: None)
        call("edit_file", edits=edits)
    assert (a.read_text(), b.read_text()) == (X2, X1)
    pages.left(page)
    call.workspace.unfinished.settle_free()
    assert (a.read_text(), b.read_text()) == (X1, X1)
    assert call.workspace.store.changes(ChangeFilter()) == []


@pytest.mark.parametrize("answer", [None, {"done": False, "reason": "failed"}])
def test_an_edit_whose_page_may_have_saved_it_is_not_called_undone(call, typed, answer, monkeypatch):
    """The file has what was typed on afterwards, and the journal says that the outcome of the edit is unknown."""
    monkeypatch.setattr("jupyter_fstools.open_documents.unsaved_document._LAST_SAVE_SECONDS", 0.1)

    def save(_):
        page.file.write_text("x = 2\ny = 1  # typed on\n", "utf-8")
        return answer

    call.put("a.py", "x = 1\ny = 1\n")
    page = typed("a.py", "x = 1\ny = 1\n", save=save)
    edit = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    with pytest.raises(InputOutput, match="was saved") as caught:
        call("edit_file", **edit)
    assert caught.value.details["modified"] and "not modified" not in caught.value.message
    assert "Read it" in caught.value.hint and page.asked("written") == []
    page.answers["content"] = None
    call.refused("unsaved", "edit_file", **edit)
    (change,) = call.workspace.store.changes(ChangeFilter())
    assert (change.status, change.interrupted) == ("applied", True)


@pytest.mark.parametrize("answer", [None, {"done": False, "reason": "failed"}])
def test_an_edit_whose_page_goes_or_loses_its_request_while_its_save_is_on_its_way_has_landed(call, typed, answer):
    """The page's last request is carried out after its connection is lost."""
    saves = []

    def save(_):
        saves.append(threading.Timer(0.3, page.file.write_text, [page.text]))
        saves[0].start()
        return answer

    file = call.put("a.py", X1)
    page = typed("a.py", "x = 1  # typed\n", save=save)
    assert call("edit_file", path="a.py", old_string="x = 1", new_string="x = 2").data["status"] == "applied"
    saves[0].join()
    assert file.read_text() == "x = 2  # typed\n"
    (change,) = call.workspace.store.changes(ChangeFilter())
    assert (change.status, change.interrupted) == ("applied", False)


def test_an_edit_that_its_page_failed_to_save_is_taken_back(call, typed, monkeypatch):
    monkeypatch.setattr("jupyter_fstools.open_documents.unsaved_document._LAST_SAVE_SECONDS", 0.1)
    file = call.put("a.py", X1)
    page = typed("a.py", "x = 1  # typed\n", save={"done": False, "reason": "failed"})
    refusal = call.refused("io", "edit_file", path="a.py", old_string="x = 1", new_string="x = 2")
    assert "could not be saved in the browser (not modified)" in refusal.message
    assert (file.read_text(), call.workspace.store.changes(ChangeFilter())) == (X1, [])
    assert [one["hash"] for one in page.asked("written")] == [None]


def lost_after(page, text):
    """A page that patches its document, saves it by itself with this text, and is lost before it has answered."""

    def patch(message):
        Typed.patch(page, message)
        page.file.write_text(text, "utf-8")

    page.answers["patch"] = patch
    return page


def test_an_edit_that_its_page_saved_by_itself_before_it_was_lost_has_landed(call, typed):
    file = call.put("a.py", X1)
    lost_after(typed("a.py", "x = 1  # typed\n"), "x = 2  # typed\n")
    assert call("edit_file", path="a.py", old_string="x = 1", new_string="x = 2").data["status"] == "applied"
    assert file.read_text() == "x = 2  # typed\n"
    (change,) = call.workspace.store.changes(ChangeFilter())
    assert (change.status, change.interrupted) == ("applied", False)


def test_an_edit_that_one_page_saved_by_itself_before_the_next_was_asked_has_landed(call, pages, typed):
    file = call.put("a.py", X1)
    two = [typed("a.py", "x = 1  # typed\n"), Typed(file, "x = 1  # typed\n")]
    two[1].name = "browser-0002"
    pages.heard(two[1], [two[1].document(file, saved=False)])

    def patch(page, message):
        if message["hash"] != sha(X1.encode()):
            return {"done": False, "reason": "hash"}
        Typed.patch(page, message)
        page.save(message)
        return {"done": True}

    for page in two:
        page.answers["patch"] = partial(patch, page)
    assert call("edit_file", path="a.py", old_string="x = 1", new_string="x = 2").data["status"] == "applied"
    assert file.read_text() == "x = 2  # typed\n"
    assert [one["hash"] for page in two for one in page.asked("written")] == [sha(file.read_bytes())] * 2


@pytest.mark.parametrize("saved", ["x = 1  # typed\n", "x = 2  # typed on\n"], ids=["without it", "unknown"])
def test_an_edit_whose_page_saved_something_else_before_it_was_lost_is_not_called_made(call, typed, saved, monkeypatch):
    monkeypatch.setattr("jupyter_fstools.open_documents.unsaved_document._LAST_SAVE_SECONDS", 0.1)
    call.put("a.py", X1)
    page = lost_after(typed("a.py", "x = 1  # typed\n"), saved)
    edit = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    if saved == "x = 1  # typed\n":
        assert "not modified" in call.refused("unsaved", "edit_file", **edit).message
        assert call.workspace.store.changes(ChangeFilter()) == []
    else:
        with pytest.raises(InputOutput, match="was saved"):
            call("edit_file", **edit)
        page.answers["content"] = None
        call.refused("unsaved", "edit_file", **edit)
        (change,) = call.workspace.store.changes(ChangeFilter())
        assert (change.status, change.interrupted) == ("applied", True)
        assert page.asked("written") == []


def test_an_edit_that_its_page_saved_before_it_went_is_read_afterwards(call, pages, typed):
    def save(_):
        page.file.write_text(page.text)
        page.answers.update(content=None)

    call.put("a.py", X1)
    page = typed("a.py", "x = 1  # typed\n", save=save)
    call("edit_file", path="a.py", old_string="x = 1", new_string="x = 2")
    assert call("read_file", path="a.py", offset=1).data["content"] == "x = 2  # typed\n"


def test_an_edit_that_its_page_does_not_save_over_the_change_of_another_is_taken_back(call, typed):
    def save(_):
        page.file.write_text("x = 9\n", "utf-8")
        return {"done": False, "reason": "hash"}

    call.put("a.py", X1)
    page = typed("a.py", X1, save=save)
    call.refused("io", "edit_file", path="a.py", old_string="x = 1", new_string="x = 2")
    assert [one["hash"] for one in page.asked("written")] == [None]


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_a_page_that_names_more_or_fewer_cells_than_it_has_is_told_of_them_by_their_ids(call, typed, names):
    cells = [{"cell_type": "raw", "id": name, "metadata": {}, "source": X1} for name in ("one", "two")]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    call.put("n.ipynb", json.dumps(notebook))
    said = {"done": True, "content": notebook, "names": names}
    page = typed("n.ipynb", "", kind="notebook", content=said, patch={"done": False, "reason": "text"})
    call.refused("stale", "edit_notebook", path="n.ipynb", cell_id="two", new_source=X2)
    assert [one["cell"]["id"] for one in page.asked("patch")[0]["change"]["operations"]] == ["two"]


def test_an_edit_is_taken_back_where_a_page_elsewhere_has_unsaved_changes_just_before_it_is_saved(
    call, typed, monkeypatch
):
    file, store = call.put("a.py", X1), call.workspace.store
    page, add = typed("a.py", "x = 1  # typed\n"), store.add_change

    def typed_meanwhile(pending, splices):
        document = OpenDocument("browser-0002", str(file.resolve()), saved=False)
        store.note_open(document.page, [document], time.time() + 60)
        return add(pending, splices)

    monkeypatch.setattr(store, "add_change", typed_meanwhile)
    call.refused("unsaved", "edit_file", path="a.py", old_string="x = 1", new_string="x = 2")
    assert (file.read_text(), page.asked("save")) == (X1, [])
    assert page.asked("written")[0]["hash"] is None


def noted(call, *, saved):
    """Let the store know the document of a page, as a server does."""
    document = OpenDocument("browser-0001", str((call.root / "a.py").resolve()), saved=saved)
    call.workspace.store.note_open(document.page, [document], time.time() + 60)


TYPED = "x = 1  # typed\ny = 1\n"


@pytest.fixture
def proposed(tmp_path, pages):
    """A caller with a proposal for a line that the person has typed and not saved, and the page that shows it."""
    with calls_in(tmp_path, pages, approval="always") as call:
        page = Typed(call.put("a.py", "x = 1\ny = 1\n"), TYPED)
        pages.heard(page, [page.document(page.file, saved=False)])
        call("read_file", path="a.py")
        yield call, page, call("edit_file", path="a.py", old_string="x = 1  # typed", new_string="x = 2").change


def test_a_proposal_for_what_is_not_saved_waits_while_the_file_is_what_it_was(proposed):
    call, page, change = proposed
    noted(call, saved=False)
    assert (is_stale(call.workspace, change), waiting_count(call.workspace)) == (False, 1)
    assert changed_since(call.workspace, change) == []
    page.file.write_text("z = 1\n")
    assert (is_stale(call.workspace, change), waiting_count(call.workspace)) == (True, 0)
    page.save(None)
    noted(call, saved=True)
    assert (is_stale(call.workspace, change), waiting_count(call.workspace)) == (False, 1)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_proposal_for_what_was_never_saved_is_out_of_date_once_its_text_is_gone(proposed, is_open):
    call, _, change = proposed
    if is_open:
        noted(call, saved=True)
    assert (is_stale(call.workspace, change), waiting_count(call.workspace)) == (True, 0)


def test_what_was_saved_since_the_proposal_is_in_the_record_of_its_approval(proposed, pages):
    call, page, change = proposed
    assert change.before.on_disk is not None
    page.save(None)
    pages.left(page)
    done = Journal(call.workspace).approve(change.id)
    assert (done.status, done.before.on_disk, page.file.read_text()) == ("applied", None, "x = 2\ny = 1\n")
