"""Tests what every `Store` must do with changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..limits import StoreLimits
from ..stores.protocol import ChangeFilter, Store
from ..stores.records import Change, Decided, Reader
from .store_samples import ANN, MakeStore, StoreFixtures, change_of, names, receipt_of, two_files


class ChangeContract(StoreFixtures):
    """Changes: in order, followed by revision, decided once, bounded."""

    def test_a_change_comes_back_with_its_revision(self, store: Store) -> None:
        given = change_of("c1", decided_by="bob", decided_at=5.0, undoes="c0", undoable=False)
        added = store.add_change(given, b"\x00packed")
        assert added == given.model_copy(update={"revision": store.revision()})
        assert store.change("c1") == added
        assert store.splices("c1") == b"\x00packed"

    def test_an_unknown_change_is_none(self, store: Store) -> None:
        for name in ("", "c1", "\ud800", "x" * 10_000):
            assert store.change(name) is None
            assert store.splices(name) is None
            assert store.decide(name, "proposed", "applied", decided_at=1.0) is None

    def test_every_step_raises_the_revision(self, store: Store) -> None:
        seen = [store.revision()]
        steps: tuple[Callable[[], Change | None], ...] = (
            lambda: store.add_change(change_of("c1", status="proposed"), b""),
            lambda: store.add_change(change_of("c2"), b""),
            lambda: store.decide("c1", "proposed", "applied", decided_at=1.0),
            lambda: store.decide("c1", "applied", "undone", decided_at=2.0),
            lambda: store.add_change(change_of("c3"), b""),
        )
        for step in steps:
            change = step()
            assert change is not None
            assert change.revision == store.revision() > seen[-1]
            seen.append(store.revision())

    def test_a_decision_may_replace_the_record(self, store: Store) -> None:
        store.add_change(change_of("c1", status="proposed"), b"")
        decided = Decided(taken=[0], rejected=[1], reason="why")
        record = change_of("c1", status="proposed", decided=decided, seen_by=["bob"])
        store.decide("c1", "proposed", "applied", decided_at=1.0, decided_by="ann", record=record)
        kept = store.change("c1")
        assert kept is not None
        assert (kept.status, kept.decided_by, kept.decided, kept.seen_by) == ("applied", "ann", decided, ["bob"])
        assert store.decide("c1", "proposed", "rejected", decided_at=2.0, record=change_of("c1", path="b")) is None
        assert store.change("c1") == kept

    def test_what_is_no_step_leaves_the_revision(self, store: Store) -> None:
        store.add_change(change_of("c1"), b"")
        before = store.revision()
        assert store.decide("c1", "proposed", "applied", decided_at=1.0) is None
        store.put_receipt(receipt_of())
        assert store.revision() == before

    def test_a_decision_is_remembered(self, store: Store) -> None:
        store.add_change(change_of("c1", status="proposed"), b"both ways")
        decided = store.decide("c1", "proposed", "applied", decided_at=7.0, decided_by="bob", splices=b"back")
        assert decided is not None
        assert decided == store.change("c1")
        assert (decided.status, decided.decided_at, decided.decided_by) == ("applied", 7.0, "bob")
        assert store.splices("c1") == b"back"

    def test_a_decision_without_splices_leaves_them(self, store: Store) -> None:
        store.add_change(change_of("c1"), b"packed")
        store.decide("c1", "applied", "undone", decided_at=7.0)
        assert store.splices("c1") == b"packed"

    def test_of_many_who_decide_one_does(self, store: Store) -> None:
        store.add_change(change_of("c1", status="proposed"), b"")
        together = threading.Barrier(8)

        def decide(number: int) -> Change | None:
            together.wait()
            return store.decide("c1", "proposed", "applied", decided_at=1.0, decided_by=str(number))

        with ThreadPoolExecutor(8) as pool:
            winners = [change for change in pool.map(decide, range(8)) if change is not None]
        assert winners == [store.change("c1")]

    def test_changes_are_listed_newest_first_and_keep_their_place(self, store: Store) -> None:
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name, created_at=time.time()), b"")
        store.decide("c1", "applied", "undone", decided_at=1.0)
        assert names(store.changes(ChangeFilter())) == ["c3", "c2", "c1"]
        assert names(store.changes(ChangeFilter(limit=1, offset=1))) == ["c2"]
        assert names(store.changes(ChangeFilter(limit=0))) == []

    def test_following_gives_each_step_in_order(self, store: Store) -> None:
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name), b"")
        cursor = store.revision()
        store.decide("c1", "applied", "undone", decided_at=time.time())
        store.add_change(change_of("c4"), b"")
        assert names(store.changes(ChangeFilter(after=cursor))) == ["c1", "c4"]
        assert names(store.changes(ChangeFilter(after=cursor, limit=1))) == ["c1"]
        assert names(store.changes(ChangeFilter(after=0))) == ["c2", "c3", "c1", "c4"]
        assert store.changes(ChangeFilter(after=store.revision())) == []

    def test_huge_numbers_in_a_filter_are_only_huge(self, store: Store) -> None:
        store.add_change(change_of("c1"), b"")
        assert store.changes(ChangeFilter(after=2**80, limit=2**80)) == []
        assert store.changes(ChangeFilter(offset=2**80)) == []
        assert names(store.changes(ChangeFilter(after=-(2**80), limit=2**80))) == ["c1"]

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            (ChangeFilter(key="/r/a%b"), ["folder"]),
            (ChangeFilter(key_prefix="/r/a%b"), ["session", "user", "inside", "folder"]),
            (ChangeFilter(key_prefix="/r/a%b/"), ["session", "user", "inside", "folder"]),
            (ChangeFilter(key_prefix="/r", status="proposed"), ["like"]),
            (ChangeFilter(reader=ANN), ["like", "inside", "folder"]),
            (ChangeFilter(user="ann"), ["session", "like", "inside", "folder"]),
            (ChangeFilter(session="default"), ["user", "like", "inside", "folder"]),
            (ChangeFilter(reader=ANN, session="other"), []),
            (ChangeFilter(key_prefix="/r/a%b", session="other", after=0), ["session"]),
        ],
    )
    def test_a_filter_describes(self, store: Store, wanted: ChangeFilter, expected: list[str]) -> None:
        store.add_change(change_of("folder", "/r/a%b"), b"")
        store.add_change(change_of("inside", "/r/a%b/x"), b"")
        store.add_change(change_of("like", "/r/a-b/x", status="proposed"), b"")
        store.add_change(change_of("user", "/r/a%b/y", Reader("bob", "default")), b"")
        store.add_change(change_of("session", "/r/a%b/z", Reader("ann", "other")), b"")
        assert names(store.changes(wanted)) == expected
        assert store.count_changes(wanted) == len(expected)

    def test_counting_leaves_the_page_aside(self, store: Store) -> None:
        for number in range(3):
            store.add_change(change_of(str(number)), b"")
        assert store.count_changes(ChangeFilter(limit=1, offset=2, after=10**6)) == 3


class PendingContract(StoreFixtures):
    """Changes written ahead: in the store before the file is replaced, in the journal once it is."""

    def test_a_pending_change_is_shown_only_to_who_asks_for_it(self, store: Store) -> None:
        before = store.revision()
        pending = store.add_change(change_of("c1", status="pending"), b"packed")
        assert pending.revision == 0
        assert store.change("c1") == pending
        assert store.splices("c1") == b"packed"
        assert store.changes(ChangeFilter()) == store.changes(ChangeFilter(after=-1)) == []
        assert store.count_changes(ChangeFilter()) == 0
        assert store.changes(ChangeFilter(status="pending")) == store.unfinished("/root") == [pending]
        assert store.revision() == before

    def test_finishing_and_its_receipts_are_one_step(self, store: Store) -> None:
        store.add_change(change_of("c1", status="pending"), b"packed")
        cursor = store.revision()
        receipts = [(receipt_of("/root/a.txt"), b"shown"), (receipt_of("/root/b.txt"), None)]
        assert store.finish("c1", receipts, splices=b"other") == store.revision() > cursor
        assert names(store.changes(ChangeFilter(after=cursor))) == ["c1"]
        assert store.splices("c1") == b"other"
        assert (store.shown_text(ANN, "/root/a.txt"), len(store.receipts(ANN))) == (b"shown", 2)
        assert store.unfinished("/root") == []
        finished = store.change("c1")
        assert finished is not None
        assert (finished.status, finished.decided_at) == ("applied", None)

    def test_finishing_may_revise_the_change(self, store: Store) -> None:
        pending = store.add_change(change_of("c1", status="pending"), b"packed")
        store.finish("c1", record=pending.model_copy(update={"interrupted": True}))
        (found,) = store.changes(ChangeFilter())
        assert (found.interrupted, found.status) == (True, "applied")

    def test_only_a_pending_change_is_finished_or_dropped(self, store: Store) -> None:
        store.add_change(change_of("c1"), b"")
        for name in ("c1", "unknown"):
            assert store.finish(name, [(receipt_of(), b"shown")]) is None
            assert not store.drop(name)
        assert store.receipt(ANN, "/root/a.txt") is None
        assert names(store.changes(ChangeFilter())) == ["c1"]

    def test_a_dropped_change_has_never_been(self, store: Store) -> None:
        store.add_change(change_of("c1"), b"")
        before = store.revision()
        store.add_change(change_of("c2", status="pending", files=two_files()), b"")
        assert store.drop("c2")
        assert store.change("c2") is None
        assert store.splices("c2") is None
        assert store.unfinished("") == []
        assert store.revision() == before

    def test_the_journal_follows_the_order_of_finishing(self, store: Store) -> None:
        store.add_change(change_of("slow", status="pending"), b"")
        store.add_change(change_of("quick", status="pending"), b"")
        store.finish("quick")
        cursor = store.revision()
        store.finish("slow")
        assert names(store.changes(ChangeFilter(after=0))) == ["quick", "slow"]
        assert names(store.changes(ChangeFilter(after=cursor))) == ["slow"]

    def test_a_proposal_may_be_pending_and_proposed_again(self, store: Store) -> None:
        store.add_change(change_of("c1", status="proposed"), b"packed")
        assert store.decide("c1", "proposed", "pending", decided_at=7.0, decided_by="bob") is not None
        assert store.changes(ChangeFilter(after=0)) == []
        assert store.decide("c1", "pending", "proposed", decided_at=None) is not None
        (again,) = store.changes(ChangeFilter(status="proposed"))
        assert (again.decided_at, again.decided_by) == (None, None)

    def test_a_finished_proposal_keeps_who_decided(self, store: Store) -> None:
        store.add_change(change_of("c1", status="proposed"), b"packed")
        store.decide("c1", "proposed", "pending", decided_at=7.0, decided_by="bob")
        store.finish("c1")
        found = store.change("c1")
        assert found is not None
        assert (found.status, found.decided_at, found.decided_by) == ("applied", 7.0, "bob")

    def test_a_pending_change_is_never_pushed_out(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(journal_max_changes=1, journal_max_bytes=10))
        store.add_change(change_of("p", status="pending", created_at=1.0), b"x" * 100)
        for name in ("c1", "c2", "c3"):
            store.add_change(change_of(name), b"x" * 100)
        assert names(store.unfinished("/root")) == ["p"]
        store.finish("p")
        assert names(store.changes(ChangeFilter())) == ["p"]

    def test_unfinished_changes_are_asked_for_by_any_of_their_files(self, store: Store) -> None:
        store.add_change(change_of("c1", "/r/a/x", status="pending", files=two_files("/r/a/x", "/r/b/y")), b"")
        for key in ("/r", "/r/", "/r/a", "/r/b", "/r/b/y"):
            assert names(store.unfinished(key)) == ["c1"], key
        for key in ("/r/b/y/z", "/r/c", "/r/a/xx"):
            assert store.unfinished(key) == [], key


class SeveralFilesContract(StoreFixtures):
    """A change of several files is one change, found by each of them."""

    def test_it_is_found_by_each_of_its_files(self, store: Store) -> None:
        given = change_of("c1", "/r/a/x", files=two_files("/r/a/x", "/r/b/y"))
        added = store.add_change(given, b"packed")
        assert added.files == given.files
        for wanted in (ChangeFilter(key="/r/b/y"), ChangeFilter(key_prefix="/r/b"), ChangeFilter(key_prefix="/r/a")):
            assert store.changes(wanted) == [added]
            assert store.count_changes(wanted) == 1
        assert store.changes(ChangeFilter(key="/r/b")) == []

    def test_a_list_without_rows_leaves_out_those_of_every_file(self, store: Store) -> None:
        store.add_change(change_of("c1", files=two_files()), b"")
        (found,) = store.changes(ChangeFilter(rows=False))
        assert [(file.diff.added, file.diff.hunks) for file in found.all_files] == [(1, []), (1, [])]
