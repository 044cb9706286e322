"""Other processes find the last report of a page's newest connection, in whatever order connections end."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_fstools.errors import InputOutput
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


def test_a_report_that_the_store_could_not_keep_is_kept_once_it_answers(tmp_path, caplog):
    """Without another report, and with one warning: until then, another server would write below the page."""
    file, store, pages = tmp_path / "a.py", FailingStore(), Pages()
    file.write_text("x = 1\n")
    page = PageHere()
    pages.connected(page)
    kept = KeptDocuments(store, pages, page, 60)

    def saved():
        return [one.saved for one in store.open_documents(str(file.resolve()))]

    async def reported():
        for is_saved in (True, False):
            await asyncio.to_thread(kept.say, [page.document(file, saved=is_saved)])
            kept.keep_renewed()
            store.fails = True
        while len(store.failures) < 3:
            await asyncio.sleep(0.01)
        assert saved() == [True]
        store.fails = False
        while saved() != [False]:
            await asyncio.sleep(0.01)
        kept.stop()

    asyncio.run(asyncio.wait_for(reported(), 60))
    assert caplog.text.count("do not know what a page has open") == 1
    store.fails = True
    kept.forget()
    assert saved() == [False]


class FailingStore(InMemoryStore):
    def __init__(self):
        super().__init__()
        self.fails, self.failures = False, []

    def note_open(self, browser, documents, until):
        if self.fails:
            self.failures.append(until)
            raise InputOutput("the database is away")
        super().note_open(browser, documents, until)
