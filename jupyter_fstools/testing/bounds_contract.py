"""Tests that every `Store` bounds its journal and its proposals."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..errors import TooLarge
from ..limits import StoreLimits
from ..stores.protocol import ChangeFilter, Store
from ..stores.records import Reader
from .store_samples import ANN, MakeStore, StoreFixtures, change_of, diff_of_rows, names, receipt_of


class BoundsContract(StoreFixtures):
    """The journal's bounds: changes made or decided first are dropped first, but never a proposal or the newest one."""

    def test_proposals_are_bounded_per_session_and_in_all(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(max_proposals=3, session_proposals=2))
        for name in ("c1", "c2"):
            store.add_change(change_of(name, status="proposed"), b"")
        with pytest.raises(TooLarge, match="2 changes of this session"):
            store.add_change(change_of("c3", status="proposed"), b"")
        store.add_change(change_of("c3", reader=Reader("ann", "other"), status="proposed"), b"")
        with pytest.raises(TooLarge, match="3 changes of all sessions"):
            store.add_change(change_of("c4", reader=Reader("bob", "third"), status="proposed"), b"")
        assert store.change("c4") is None
        store.decide("c1", "proposed", "rejected", decided_at=1.0)
        store.add_change(change_of("c4", status="proposed"), b"")

    def test_the_bytes_of_proposals_are_bounded_and_push_nothing_out(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(session_proposal_bytes=100_000, journal_max_bytes=50_000))
        store.add_change(change_of("undoable"), b"x" * 40_000)
        store.add_change(change_of("c1", status="proposed"), b"x" * 90_000)
        with pytest.raises(TooLarge, match=r"1 changes of this session \(9\d{4} bytes\)"):
            store.add_change(change_of("c2", status="proposed"), b"x" * 10_001)
        store.add_change(change_of("newest"), b"")
        assert store.splices("undoable") == b"x" * 40_000

    def test_the_bytes_of_proposals_are_bounded_in_all(self, make_store: MakeStore) -> None:
        """The bound per session is not enough, as readers choose the names of their sessions."""
        store = make_store(StoreLimits(max_proposal_bytes=100_000))
        for session in ("s1", "s2"):
            store.add_change(change_of(session, reader=Reader("ann", session), status="proposed"), b"x" * 40_000)
        with pytest.raises(TooLarge, match=r"2 changes of all sessions \(8\d{4} bytes\)"):
            store.add_change(change_of("s3", reader=Reader("ann", "s3"), status="proposed"), b"x" * 40_000)
        assert (store.change("s3"), store.count_changes(ChangeFilter(status="proposed"))) == (None, 2)

    def test_the_rows_of_a_diff_are_bytes_too(self, make_store: MakeStore) -> None:
        """Repetitive text has small splices, as they are compressed, but a large diff."""
        store = make_store(StoreLimits(session_proposal_bytes=100_000, journal_max_bytes=100_000))
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name, diff=diff_of_rows(40_000)), b"")
        assert names(store.changes(ChangeFilter())) == ["c3", "c2"]
        waiting = [change_of(name, status="proposed", diff=diff_of_rows(40_000)) for name in ("p1", "p2", "p3")]
        for one in waiting[:2]:
            store.add_change(one, b"")
        with pytest.raises(TooLarge, match="100000 bytes may wait"):
            store.add_change(waiting[2], b"")
        smaller = waiting[0].model_copy(update={"diff": diff_of_rows(1)})
        store.decide("p1", "proposed", "proposed", decided_at=None, record=smaller)
        store.add_change(waiting[2], b"")

    def test_the_oldest_changes_go_first_and_proposed_ones_stay(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_changes=3))
        store.add_change(change_of("p", status="proposed"), b"")
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name), b"")
        store.add_change(change_of("c4"), b"")
        assert names(store.changes(ChangeFilter())) == ["c4", "c3", "c2", "p"]
        assert store.change("c1") is None
        assert store.splices("c1") is None

    def test_the_bytes_are_bounded(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_bytes=100_000))
        for name in ("c1", "c2", "c3", "c4"):
            store.add_change(change_of(name), b"x" * 40_000)
        assert names(store.changes(ChangeFilter())) == ["c4", "c3"]

    def test_what_alone_is_too_large_stays_while_it_is_the_newest(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_bytes=10))
        store.add_change(change_of("c1"), b"x" * 100)
        assert names(store.changes(ChangeFilter())) == ["c1"]
        store.add_change(change_of("c2"), b"")
        assert names(store.changes(ChangeFilter())) == ["c2"]

    def test_old_changes_go(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_changes=10, journal_max_days=30))
        store.add_change(change_of("old", created_at=time.time() - 31 * 86400), b"")
        store.add_change(change_of("young", created_at=time.time() - 29 * 86400), b"")
        store.add_change(change_of("new"), b"")
        assert names(store.changes(ChangeFilter())) == ["new", "young"]

    def test_old_changes_go_though_few_are_made(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_days=0.1 / 86400))
        store.add_change(change_of("old"), b"")
        time.sleep(0.2)
        store.add_change(change_of("new"), b"")
        assert names(store.changes(ChangeFilter())) == ["new"]

    def test_what_was_decided_late_goes_as_late(self, make_store: MakeStore) -> None:
        """A proposal can be undone for as long as a change that was made when it was approved."""
        store = make_store(StoreLimits(journal_max_changes=3))
        store.add_change(change_of("p", status="proposed"), b"")
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name), b"")
        store.decide("p", "proposed", "pending", decided_at=time.time(), splices=b"undo")
        store.finish("p")
        store.add_change(change_of("c4"), b"")
        assert names(store.changes(ChangeFilter())) == ["c4", "c3", "p"]
        assert store.splices("p") == b"undo"
        store.add_change(change_of("c5"), b"")
        assert names(store.changes(ChangeFilter())) == ["c5", "c4", "p"]
        store.add_change(change_of("c6"), b"")
        assert names(store.changes(ChangeFilter())) == ["c6", "c5", "c4"]

    def test_the_age_of_a_decided_change_is_that_of_the_decision(self, make_store: MakeStore) -> None:
        store, now, day = make_store(StoreLimits(journal_max_changes=10, journal_max_days=30)), time.time(), 86400
        for name in ("approved", "rejected"):
            store.add_change(change_of(name, status="proposed", created_at=now - 40 * day), b"")
        store.decide("approved", "proposed", "applied", decided_at=now - 20 * day)
        store.decide("rejected", "proposed", "rejected", decided_at=now - 31 * day)
        store.add_change(change_of("new"), b"")
        assert names(store.changes(ChangeFilter())) == ["new", "approved"]

    def test_revisions_rise_over_what_has_gone(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_changes=1))
        store.add_change(change_of("p", status="proposed"), b"")
        store.add_change(change_of("c1"), b"")
        store.decide("p", "proposed", "rejected", decided_at=1.0)
        before = store.revision()
        assert store.add_change(change_of("c2"), b"").revision > before
        assert names(store.changes(ChangeFilter())) == ["c2"]
        assert store.add_change(change_of("c3"), b"").revision > before + 1

    def test_threads_lose_nothing(self, store: Store) -> None:
        def work(worker: int) -> list[int]:
            revisions = []
            for number in range(20):
                name = f"{worker}-{number}"
                store.put_receipt(receipt_of(name))
                revisions.append(store.add_change(change_of(name, name), b"").revision)
            return revisions

        with ThreadPoolExecutor(4) as pool:
            revisions = sorted(revision for part in pool.map(work, range(4)) for revision in part)
        assert len(set(revisions)) == store.count_changes(ChangeFilter()) == 80
        assert len(store.receipts(ANN)) == 80
