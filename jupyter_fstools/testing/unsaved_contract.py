"""Tests what every `Store` must do with open documents."""

from __future__ import annotations

import time

from ..stores.protocol import Store
from .store_samples import NO_UTF8, StoreFixtures

A, B = "/root/a.txt", "/root/b.txt"


class UnsavedContract(StoreFixtures):
    """Unsaved documents."""

    def test_nothing_is_unsaved_at_first(self, store: Store) -> None:
        assert not store.has_unsaved(A)

    def test_what_a_holder_says_replaces_what_it_said_before(self, store: Store) -> None:
        soon = time.time() + 60
        store.note_unsaved("one", [A, A, NO_UTF8], soon)
        assert [store.has_unsaved(key) for key in (A, B, NO_UTF8)] == [True, False, True]
        store.note_unsaved("one", [B], soon)
        assert [store.has_unsaved(key) for key in (A, B, NO_UTF8)] == [False, True, False]

    def test_every_holder_counts(self, store: Store) -> None:
        for holder in ("one", "two"):
            store.note_unsaved(holder, [A], time.time() + 60)
        store.note_unsaved("one", [], time.time() + 60)
        assert store.has_unsaved(A)
        store.note_unsaved("two", [], time.time() + 60)
        assert not store.has_unsaved(A)

    def test_a_holder_that_falls_silent_counts_for_a_while_only(self, store: Store) -> None:
        store.note_unsaved("one", [A], time.time() + 0.2)
        store.note_unsaved("two", [B], time.time() - 1)
        assert [store.has_unsaved(key) for key in (A, B)] == [True, False]
        time.sleep(0.25)
        assert not store.has_unsaved(A)

    def test_what_is_unsaved_outlives_close(self, store: Store) -> None:
        store.note_unsaved("one", [A], time.time() + 60)
        store.close()
        assert store.has_unsaved(A)
