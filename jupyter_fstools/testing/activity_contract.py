"""Tests how a `Store` lets others follow activity."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..limits import StoreLimits
from ..stores.protocol import MAX_REFUSALS, ChangeFilter, MomentFilter, Store
from ..stores.records import Reader, Receipt, Refusal
from .store_samples import ANN, NO_UTF8, MakeStore, StoreFixtures, change_of, names, receipt_of, refusal_of, token_of

OTHER = Reader("bob", "other")


def keys(reads: list[Receipt]) -> list[str]:
    """The keys of the files that were read."""
    return [receipt.key for receipt in reads]


def messages(refusals: list[Refusal]) -> list[str]:
    """The messages of the refusals."""
    return [refusal.message for refusal in refusals]


class ReadsContract(StoreFixtures):
    """Reads: the receipts of all readers, ordered by time."""

    def test_reads_of_all_readers_are_listed_latest_first(self, store: Store) -> None:
        for number, reader in enumerate((ANN, OTHER, ANN)):
            store.put_receipt(receipt_of(f"/r/{number}", reader, read_at=float(number)))
        assert keys(store.reads(MomentFilter())) == ["/r/2", "/r/1", "/r/0"]
        assert keys(store.reads(MomentFilter(limit=1))) == ["/r/2"]
        assert keys(store.reads(MomentFilter(session="other"))) == ["/r/1"]

    def test_reads_are_asked_for_by_folder_and_time(self, store: Store) -> None:
        for number, key in enumerate(("/r/a/1", "/r/ab/2", "/r/a/3", "/r/a", NO_UTF8)):
            store.put_receipt(receipt_of(key, read_at=float(number)))
        assert keys(store.reads(MomentFilter(key_prefix="/r/a"))) == ["/r/a", "/r/a/3", "/r/a/1"]
        assert keys(store.reads(MomentFilter(key_prefix="/r/", after=0.0, before=3.0))) == ["/r/a/3", "/r/ab/2"]
        assert keys(store.reads(MomentFilter(after=3.0))) == [NO_UTF8]
        assert store.reads(MomentFilter(before=0.0)) == []

    def test_the_time_goes_on(self, store: Store) -> None:
        began, here = store.now(), time.monotonic()
        time.sleep(0.01)
        passed, passed_here = store.now() - began, time.monotonic() - here
        assert began > 1.7e9
        assert 0.005 <= passed <= passed_here + 1.0

    def test_a_file_read_again_is_one_read(self, store: Store) -> None:
        for moment in (1.0, 5.0):
            store.put_receipt(receipt_of("a", read_at=moment))
            store.put_receipt(receipt_of("b", read_at=3.0))
        assert keys(store.reads(MomentFilter())) == ["a", "b"]

    def test_what_the_reader_wrote_itself_is_no_read(self, store: Store) -> None:
        store.put_receipt(receipt_of("read"))
        store.put_receipt(receipt_of("written", own_write=True))
        assert keys(store.reads(MomentFilter())) == ["read"]

    def test_a_read_that_is_forgotten_is_listed_no_more(self, store: Store) -> None:
        store.put_receipt(receipt_of())
        store.forget(ANN)
        assert store.reads(MomentFilter()) == []


class RefusalsContract(StoreFixtures):
    """Refusals: the newest are kept, each with a later time than the one before."""

    def test_a_refusal_comes_back_as_it_was(self, store: Store) -> None:
        given = refusal_of("no", NO_UTF8, path=None, at=float(int(time.time())))
        assert store.add_refusal(given) == given
        assert store.refusals(MomentFilter()) == [given]

    def test_refusals_are_listed_newest_first(self, store: Store) -> None:
        for key, reader in (("/r/a", ANN), ("/r/a/b", OTHER), ("/r/ab", ANN)):
            store.add_refusal(refusal_of(key, key, reader))
        assert messages(store.refusals(MomentFilter())) == ["/r/ab", "/r/a/b", "/r/a"]
        assert messages(store.refusals(MomentFilter(limit=2))) == ["/r/ab", "/r/a/b"]
        assert messages(store.refusals(MomentFilter(key_prefix="/r/a/"))) == ["/r/a/b", "/r/a"]
        assert messages(store.refusals(MomentFilter(session="other"))) == ["/r/a/b"]

    def test_each_refusal_is_later_than_the_one_before(self, store: Store) -> None:
        now = time.time()
        kept = [store.add_refusal(refusal_of(str(number), at=now)) for number in range(3)]
        assert [refusal.at for refusal in kept] == sorted({refusal.at for refusal in kept})
        assert messages(store.refusals(MomentFilter(after=kept[0].at))) == ["2", "1"]
        assert messages(store.refusals(MomentFilter(before=kept[2].at))) == ["1", "0"]
        assert messages(store.refusals(MomentFilter(after=kept[0].at, before=kept[2].at))) == ["1"]

    def test_the_number_of_refusals_is_bounded(self, store: Store) -> None:
        for number in range(MAX_REFUSALS + 100):
            store.add_refusal(refusal_of(str(number)))
        kept = messages(store.refusals(MomentFilter(limit=10**9)))
        assert MAX_REFUSALS <= len(kept) <= MAX_REFUSALS + 32
        assert kept[0] == str(MAX_REFUSALS + 99)

    def test_threads_lose_no_refusal(self, store: Store) -> None:
        with ThreadPoolExecutor(4) as pool:
            kept = list(pool.map(lambda number: store.add_refusal(refusal_of(str(number))), range(100)))
        assert len({refusal.at for refusal in kept}) == len(store.refusals(MomentFilter())) == 100


class ActivityContract(ReadsContract, RefusalsContract):
    """Tests that activity can be followed and paged through."""

    @pytest.mark.parametrize("moment", [-1e300, -1.0, 0.0, 1e18, 1e300])
    def test_any_time_can_be_asked_for(self, store: Store, moment: float) -> None:
        store.put_receipt(receipt_of())
        store.add_refusal(refusal_of("no"))
        store.add_change(change_of("c"), b"")
        later, earlier = MomentFilter(after=moment), MomentFilter(before=moment)
        expected = int(moment <= 0)
        assert (len(store.reads(later)), len(store.refusals(later))) == (expected, expected)
        assert (len(store.reads(earlier)), len(store.refusals(earlier))) == (1 - expected, 1 - expected)
        assert len(store.changes(ChangeFilter(before=moment))) == 1 - expected

    def test_the_mark_changes_with_everything_that_is_kept(self, store: Store) -> None:
        steps: tuple[Callable[[], object], ...] = (
            lambda: store.put_receipt(receipt_of()),
            lambda: store.add_refusal(refusal_of("no")),
            lambda: store.add_change(change_of("c", status="proposed"), b""),
            lambda: store.decide("c", "proposed", "rejected", decided_at=1.0),
            lambda: store.forget(ANN),
            lambda: store.token("digest", time.time()),
            lambda: store.drop_token("ann", "t"),
        )
        store.add_token(token_of("t"), "digest")
        seen = {store.mark()}
        for number, step in enumerate(steps, 2):
            step()
            seen.add(store.mark())
            assert len(seen) == number

    def test_the_mark_stays_while_nothing_is_kept(self, store: Store) -> None:
        store.put_receipt(receipt_of())
        before = store.mark()
        store.reads(MomentFilter())
        store.revision()
        assert store.mark() == before

    def test_changes_made_before_a_time_are_a_page(self, store: Store) -> None:
        now = time.time()
        for number in range(4):
            store.add_change(change_of(str(number), created_at=now + number), b"")
        assert names(store.changes(ChangeFilter(before=now + 3, limit=2))) == ["2", "1"]
        assert names(store.changes(ChangeFilter(before=now + 1, limit=2))) == ["0"]
        assert names(store.changes(ChangeFilter(after=0, before=now))) == ["0", "1", "2", "3"]

    def test_changes_are_listed_without_the_rows_of_their_diffs(self, store: Store) -> None:
        given = change_of("c", diff=change_of("c").diff.model_copy(update={"cells": []}))
        store.add_change(given, b"")
        (listed,) = store.changes(ChangeFilter(rows=False))
        assert listed == given.model_copy(
            update={"revision": listed.revision, "diff": given.diff.model_copy(update={"hunks": [], "cells": None})}
        )
        assert store.changes(ChangeFilter(after=0, rows=False)) == [listed]
        assert store.changes(ChangeFilter())[0].diff == given.diff

    def test_old_refusals_go(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_days=1))
        store.add_refusal(refusal_of("old", at=time.time() - 2 * 86400))
        for number in range(40):
            store.add_refusal(refusal_of(str(number)))
            store.put_receipt(receipt_of(str(number)))
        assert "old" not in messages(store.refusals(MomentFilter()))

    def test_a_time_without_end_keeps_all_refusals(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_days=1e12))
        for number in range(40):
            store.add_refusal(refusal_of(str(number)))
        assert len(store.refusals(MomentFilter(limit=100, before=1e300))) == 40
