"""Tests what every `Store` must do with receipts."""

from __future__ import annotations

from ..stores.protocol import ChangeFilter, Store, StoreLimits
from ..stores.records import Reader
from .store_samples import ANN, NO_UTF8, MakeStore, StoreFixtures, change_of, names, receipt_of


class ReceiptContract(StoreFixtures):
    """Receipts: kept per reader and file, least recently used out first."""

    def test_a_receipt_comes_back_as_it_was(self, store: Store) -> None:
        given = receipt_of(full=True, encoding="cp1252", cell_order="o")
        store.put_receipt(given)
        assert store.receipt(ANN, given.key) == given

    def test_nobody_has_a_receipt_at_first(self, store: Store) -> None:
        assert store.receipt(ANN, "/root/a.txt") is None
        assert store.shown_text(ANN, "/root/a.txt") is None
        assert store.receipts(ANN) == []

    def test_receipts_belong_to_one_reader(self, store: Store) -> None:
        store.put_receipt(receipt_of())
        assert store.receipt(Reader("ann", "other"), "/root/a.txt") is None
        assert store.receipt(Reader("bob", "default"), "/root/a.txt") is None

    def test_a_later_receipt_replaces_the_earlier_one(self, store: Store) -> None:
        store.put_receipt(receipt_of(version="1"))
        store.put_receipt(receipt_of(version="2"))
        assert [kept.version for kept in store.receipts(ANN)] == ["2"]

    def test_what_the_caller_does_to_its_copy_stays_with_the_caller(self, store: Store) -> None:
        given = receipt_of()
        store.put_receipt(given)
        given.lines.clear()
        taken = store.receipt(ANN, given.key)
        assert taken is not None
        taken.views.append("x")
        assert store.receipt(ANN, given.key) == receipt_of(read_at=given.read_at)

    def test_shown_text_is_kept_until_another_is_given(self, store: Store) -> None:
        for shown, expected in ((b"one\x00", b"one\x00"), (None, b"one\x00"), (b"", b""), (b"two", b"two")):
            store.put_receipt(receipt_of(), shown)
            assert store.shown_text(ANN, "/root/a.txt") == expected

    def test_the_least_recently_used_receipts_go_first(self, make_store: MakeStore) -> None:
        """T18: being asked for counts as use; what was pushed out is known as such."""
        store = make_store(StoreLimits(max_receipts=2))
        for name in "ab":
            store.put_receipt(receipt_of(name), b"shown")
        store.receipt(ANN, "a")
        store.put_receipt(receipt_of("c"))
        assert [kept.key for kept in store.receipts(ANN)] == ["c", "a"]
        assert [store.was_dropped(ANN, name) for name in "abcd"] == [False, True, False, False]
        assert store.shown_text(ANN, "b") is None

    def test_a_dropped_receipt_that_is_put_again_is_not_dropped(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(max_receipts=1))
        for name in "aba":
            store.put_receipt(receipt_of(name))
        assert not store.was_dropped(ANN, "a")
        assert store.was_dropped(ANN, "b")

    def test_a_hot_file_outlives_many_one_off_reads(self, make_store: MakeStore) -> None:
        """T19: least recently used, not first in, first out."""
        store = make_store(StoreLimits(max_receipts=50))
        store.put_receipt(receipt_of("hot"))
        for number in range(200):
            store.put_receipt(receipt_of(f"once-{number}"))
            assert store.receipt(ANN, "hot") is not None
        assert len(store.receipts(ANN)) <= 52

    def test_the_bound_is_per_reader(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(max_receipts=1))
        store.put_receipt(receipt_of())
        store.put_receipt(receipt_of(reader=Reader("ann", "other")))
        assert store.receipt(ANN, "/root/a.txt") is not None

    def test_the_memory_of_dropped_receipts_is_bounded(self, make_store: MakeStore) -> None:
        store = make_store(StoreLimits(max_receipts=2))
        for number in range(100):
            store.put_receipt(receipt_of(str(number)))
        assert 1 <= sum(store.was_dropped(ANN, str(number)) for number in range(100)) <= 20
        assert store.was_dropped(ANN, "97")

    def test_receipts_are_listed_below_a_folder_by_whole_names(self, store: Store) -> None:
        for key in ("/r/a_b", "/r/a_b/1", "/r/a_b/2", "/r/a_bc/3", "/r/axb/4", "/r/a_b0", "/r/A_b/5"):
            store.put_receipt(receipt_of(key))
        assert [kept.key for kept in store.receipts(ANN, "/r/a_b")] == ["/r/a_b/2", "/r/a_b/1", "/r/a_b"]

    def test_one_receipt_or_all_of_a_reader_are_forgotten(self, store: Store) -> None:
        other = Reader("ann", "other")
        for reader, key in ((ANN, "a"), (ANN, "b"), (ANN, "c"), (other, "a")):
            store.put_receipt(receipt_of(key, reader), b"shown")
        assert (store.forget(ANN, "a"), store.forget(ANN, "a"), store.forget(ANN)) == (1, 0, 2)
        assert store.shown_text(ANN, "b") is None
        assert not store.was_dropped(ANN, "b")
        assert store.receipt(other, "a") is not None

    def test_names_that_are_no_utf8_are_names(self, store: Store) -> None:
        store.put_receipt(receipt_of(NO_UTF8), b"shown")
        store.add_change(change_of("c", NO_UTF8), b"", receipt_of(NO_UTF8, version="2"))
        kept = store.receipt(ANN, NO_UTF8)
        assert kept is not None
        assert (kept.key, kept.version) == (NO_UTF8, "2")
        assert names(store.changes(ChangeFilter(key=NO_UTF8, key_prefix="/root"))) == ["c"]
        assert store.changes(ChangeFilter(key=NO_UTF8))[0].key == NO_UTF8

    def test_what_is_kept_outlives_close(self, store: Store) -> None:
        store.put_receipt(receipt_of())
        store.add_change(change_of("c"), b"packed")
        store.close()
        store.close()
        assert store.receipt(ANN, "/root/a.txt") is not None
        assert store.splices("c") == b"packed"
