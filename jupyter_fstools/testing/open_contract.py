"""Tests what every `Store` must do with open documents."""

from __future__ import annotations

import time

from ..stores.protocol import Store
from ..stores.records import OpenDocument
from .store_samples import NO_UTF8, StoreFixtures

A, B = "/root/a.txt", "/root/b.txt"
SAVED = OpenDocument("one", A, saved=True, hash="0" * 64, counter=7)


def opened(key: str, page: str = "one") -> OpenDocument:
    """A document with unsaved changes."""
    return OpenDocument(page, key, saved=False)


class OpenContract(StoreFixtures):
    """Open documents."""

    def test_nothing_is_open_at_first(self, store: Store) -> None:
        assert store.open_documents(A) == []

    def test_what_a_page_has_open_is_told_as_it_said_it(self, store: Store) -> None:
        store.note_open("one", [SAVED, opened(A), opened(NO_UTF8)], time.time() + 60)
        assert store.open_documents(A) == [SAVED, opened(A)]
        assert store.open_documents(NO_UTF8) == [opened(NO_UTF8)] and store.open_documents(B) == []

    def test_what_a_page_says_replaces_what_it_said_before(self, store: Store) -> None:
        store.note_open("one", [opened(A)], time.time() + 60)
        store.note_open("one", [opened(B)], time.time() + 60)
        assert (store.open_documents(A), store.open_documents(B)) == ([], [opened(B)])

    def test_every_page_counts(self, store: Store) -> None:
        for page in ("one", "two"):
            store.note_open(page, [opened(A, page)], time.time() + 60)
        store.note_open("one", [], time.time() + 60)
        assert store.open_documents(A) == [opened(A, "two")]

    def test_a_page_that_falls_silent_counts_for_a_while_only(self, store: Store) -> None:
        store.note_open("one", [opened(A)], time.time() + 0.2)
        store.note_open("two", [opened(B, "two")], time.time() - 1)
        assert (store.open_documents(A), store.open_documents(B)) == ([opened(A)], [])
        time.sleep(0.25)
        assert store.open_documents(A) == []

    def test_what_is_open_outlives_close(self, store: Store) -> None:
        store.note_open("one", [SAVED], time.time() + 60)
        store.close()
        assert store.open_documents(A) == [SAVED]
