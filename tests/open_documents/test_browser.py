"""Several connections, and their reports of open documents."""

from __future__ import annotations

import time

import pytest

from jupyter_fstools.stores.records import OpenDocument
from tests.open_documents.pages import PageHere

X1 = "x = 1\n"
EDIT = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}


def test_a_page_that_is_connected_again_counts_once(call, pages):
    """The new connection repeats the last report of the lost one, which is sent nothing more."""
    file = call.put("a.py", "x = 1  # saved since\n")
    lost, back = PageHere(content={"done": True, "content": X1}), PageHere(patch={"done": True})
    pages.heard(lost, [lost.document(file, saved=False)])
    pages.heard(back, [back.document(file)])
    assert "saved since" in call("read_file", path="a.py").content[0]["text"]
    call("edit_file", **EDIT)
    assert (lost.heard, lost.is_closed, len(back.asked("patch"))) == ([], True, 1)
    pages.left(lost)
    assert pages.names() == {back.name}


@pytest.mark.parametrize("is_saved", [True, False])
def test_what_was_saved_or_closed_since_is_not_the_last_known_content(call, pages, is_saved):
    """A page that does not answer shows its file, and not what its person saved over or threw away."""
    file, page = call.put("a.py", X1), PageHere(content={"done": True, "counter": 1, "content": "early draft\n"})
    pages.heard(page, [page.document(file, saved=False, counter=1)])
    assert "early draft" in call("read_file", path="a.py").content[0]["text"]
    page.answers = {"content": None}
    pages.heard(page, [page.document(file, counter=2)] if is_saved else [])
    pages.heard(page, [page.document(file, number=0 if is_saved else 1, saved=False, counter=3)])
    answer = call("read_file", path="a.py")
    assert (answer.data["content"], answer.data["last_known"]) == (X1, True)


def test_a_notebook_that_is_paired_with_a_text_while_it_is_open_is_no_longer_changed_below_its_page(call, pages):
    file, page = call.put("n.ipynb", "{}"), PageHere(patch={"done": True})
    for kind in ("notebook", "converted"):
        new = pages.heard(page, [page.document(file, kind=kind)])
        assert [one.kind for one in new] == [kind] == [one.kind for one in pages.all()]
    assert pages.heard(page, [page.document(file, kind="converted", counter=1)]) == []
    assert "no tool can change" in call.refused("unsaved", "write_file", path="n.ipynb", content="z").message


@pytest.mark.parametrize("change", ["edit", "undo"])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_file_of_which_a_page_elsewhere_has_unsaved_changes_just_before_it_is_changed_stays(
    call, pages, monkeypatch, is_open, change
):
    """The other server's page waits for changes that were begun before its report, and for no others."""
    made = call("write_file", path="a.py", content=X1).change
    file, store, page = call.root / "a.py", call.workspace.store, PageHere(patch={"done": True})
    pages.heard(page, [page.document(file)] if is_open else [])
    add = store.add_change

    def typed_meanwhile(pending, splices):
        document = OpenDocument("browser-0002", str(file.resolve()), saved=False)
        store.note_open(document.page, [document], time.time() + 60)
        return add(pending, splices)

    monkeypatch.setattr(store, "add_change", typed_meanwhile)
    if change == "edit":
        call.refused("unsaved", "edit_file", **EDIT)
    else:
        call.refused("unsaved", "undo", change_id=made.id)
    assert file.read_text() == X1
    assert [one["hash"] for one in page.asked("written")] == [None] * len(page.asked("patch"))
    assert not page.asked("close")
    assert not store.unfinished(call.workspace.backend.root_key)
