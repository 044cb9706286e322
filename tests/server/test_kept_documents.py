"""Other processes find the last report of a page's newest connection, in whatever order connections end."""

from __future__ import annotations

import pytest

from jupyter_fstools.open_documents.browser import Pages
from jupyter_fstools.server.rest.kept_documents import KeptDocuments
from jupyter_fstools.stores.in_memory import InMemoryStore
from tests.open_documents.pages import PageHere


@pytest.mark.parametrize("end", ["lose", "forget"])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_connection_that_ends_after_the_page_came_back_changes_nothing(tmp_path, end, is_open):
    file, store, pages = tmp_path / "a.py", InMemoryStore(), Pages()
    file.write_text("x = 1\n")

    def connected():
        page = PageHere()
        pages.connected(page)
        return page, KeptDocuments(store, pages, page, 60)

    def saved():
        return [one.saved for one in store.open_documents(str(file.resolve()))]

    lost, lost_kept = connected()
    lost_kept.say([lost.document(file, saved=False)])
    assert saved() == [False]
    back, kept = connected()
    kept.say([back.document(file)] if is_open else [])
    assert saved() == [True] * is_open
    lost_kept.say([])
    lost_kept.stop()
    getattr(lost_kept, end)()
    assert saved() == [True] * is_open
