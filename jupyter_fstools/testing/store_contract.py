"""Tests any store: receipts, tokens, open documents and changes.

class TestMyStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return lambda limits: MyStore(limits)
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from unittest import mock

import pytest

from ..limits import StoreLimits
from ..stores.protocol import ChangeFilter, MomentFilter, Store
from ..stores.records import OpenDocument, Reader
from .activity_contract import ActivityContract
from .bounds_contract import BoundsContract
from .change_contract import ChangeContract, PendingContract, SeveralFilesContract
from .store_samples import (
    ANN,
    NO_UTF8,
    MakeStore,
    StoreFixtures,
    change_of,
    names,
    receipt_of,
    refusal_of,
    token_of,
)


class ReceiptContract(StoreFixtures):
    """Receipts: kept per reader and file; the least recently used are dropped first."""

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
        """T18: a lookup counts as use; a dropped receipt is known as dropped."""
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

    def test_receipts_are_bounded_in_all(self, make_store: MakeStore) -> None:
        """A client that uses a new session for each call cannot keep more receipts than the total bound."""
        store = make_store(StoreLimits(max_receipts=10, max_all_receipts=20))
        readers = [Reader("ann", f"s{number}") for number in range(30)]
        for reader in readers:
            store.put_receipt(receipt_of(reader=reader), b"shown")
        kept = [store.receipt(reader, "/root/a.txt") is not None for reader in readers]
        assert kept == [False] * 10 + [True] * 20
        assert store.was_dropped(readers[0], "/root/a.txt")

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
        store.add_change(change_of("c", NO_UTF8, status="pending"), b"")
        store.finish("c", [(receipt_of(NO_UTF8, version="2"), None)])
        kept = store.receipt(ANN, NO_UTF8)
        assert kept is not None
        assert (kept.key, kept.version) == (NO_UTF8, "2")
        assert names(store.changes(ChangeFilter(key=NO_UTF8, key_prefix="/root"))) == ["c"]
        assert store.changes(ChangeFilter(key=NO_UTF8))[0].key == NO_UTF8
        store.put_receipt(receipt_of("a", cells={"\ud800": "f1"}))
        assert [receipt.cells for receipt in store.receipts(ANN, "a")] == [{"\ud800": "f1"}]

    def test_the_longest_path_is_a_name(self, store: Store) -> None:
        """Random names, as the index of a database cannot compress them."""
        chance = random.Random(1)  # noqa: S311 - no secret
        folder = "/root/" + "/".join(f"{chance.getrandbits(600):x}" for _ in range(25))
        first, second = f"{folder}/a.txt", f"{folder}/b.txt"
        assert len(second) > 3500
        store.put_receipt(receipt_of(first), b"one")
        store.put_receipt(receipt_of(second), b"two")
        assert store.shown_text(ANN, first) == b"one"
        assert {kept.key for kept in store.receipts(ANN, "/root")} == {first, second}
        store.add_change(change_of("c", first, status="pending"), b"")
        assert names(store.unfinished(first)) == names(store.unfinished("/root")) == ["c"]
        assert store.unfinished(second) == []
        store.note_open("one", [opened(second)], time.time() + 60)
        assert (store.open_documents(first), store.open_documents(second)) == ([], [opened(second)])

    @pytest.mark.parametrize("length", [1900, 1967, 1968, 1995, 2000, 2001, 3500])
    def test_what_lies_below_a_long_folder_is_found(self, store: Store, length: int) -> None:
        """Even if an index holds only the beginning of its name, which other names share."""
        folder = ("/root/" + "long/" * 1000)[: length - 1] + "x"
        keys = [f"{folder}/a.txt", f"{folder}y/other.txt", f"{folder}/b/c.txt", folder, f"{folder[:-1]}y/other.txt"]
        mine = [keys[3], keys[2], keys[0]]
        for number, key in enumerate(keys):
            store.put_receipt(receipt_of(key, read_at=float(number)))
            store.add_change(change_of(key, key), b"")
            store.add_refusal(refusal_of(key, key))
        below, of_moments = ChangeFilter(key_prefix=folder), MomentFilter(key_prefix=folder)
        assert names(store.changes(below)) == mine
        assert names(store.changes(replace(below, limit=1, offset=1))) == mine[1:2]
        assert names(store.changes(replace(below, after=0, limit=2, offset=1))) == [keys[0], keys[2]]
        assert store.count_changes(replace(below, limit=1)) == 3
        assert [kept.key for kept in store.reads(of_moments)] == mine
        assert [kept.key for kept in store.refusals(replace(of_moments, limit=2))] == mine[:2]
        assert [kept.key for kept in store.receipts(ANN, folder)] == mine

    def test_what_is_kept_outlives_close(self, store: Store) -> None:
        store.put_receipt(receipt_of())
        store.add_change(change_of("c"), b"packed")
        store.close()
        store.close()
        assert store.receipt(ANN, "/root/a.txt") is not None
        assert store.splices("c") == b"packed"


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
        store.note_open("one", [opened(A)], time.time() + 60)
        store.note_open("two", [opened(B, "two")], time.time() - 1)
        assert (store.open_documents(A), store.open_documents(B)) == ([opened(A)], [])
        store.note_open("one", [opened(A)], time.time() - 0.001)
        assert store.open_documents(A) == []

    def test_what_is_open_stays_so_while_the_clock_is_set(self, store: Store) -> None:
        store.note_open("one", [opened(A)], time.time() + 60)
        for now in (time.time() - 86_400, time.time() + 86_400):
            with mock.patch.object(time, "time", return_value=now):
                assert store.open_documents(A) == [opened(A)]
        store.note_open("one", [opened(A)], time.time() - 0.001)
        assert store.open_documents(A) == []

    def test_what_is_open_outlives_close(self, store: Store) -> None:
        store.note_open("one", [SAVED], time.time() + 60)
        store.close()
        assert store.open_documents(A) == [SAVED]


class TokenContract(StoreFixtures):
    """Tokens: found by the digest of their secret, listed and dropped by their user."""

    def test_there_are_no_tokens_at_first(self, store: Store) -> None:
        assert store.token("d", 1.0) is None
        assert store.tokens("ann") == []
        assert not store.drop_token("ann", "a")

    def test_a_token_is_found_by_its_digest_and_its_use_is_noted(self, store: Store) -> None:
        given = token_of("a", tools="read", expires_at=None)
        store.add_token(given, "d")
        assert store.tokens("ann") == [given]
        assert store.token("a", 5.0) is None
        used = given.model_copy(update={"last_used_at": 500.0})
        assert store.token("d", 500.0) == used
        assert store.token("d", 501.0) == used
        assert store.tokens("ann") == [used]
        later = store.token("d", 600.0)
        assert later is not None and later.last_used_at == 600.0

    def test_tokens_are_listed_newest_first_for_their_user_alone(self, store: Store) -> None:
        for id, user, created_at in (("a", "ann", 1.0), ("b", "bob", 2.0), ("c", "ann", 3.0), ("d", "ann", 3.0)):
            store.add_token(token_of(id, user, created_at), f"digest {id}")
        assert [token.id for token in store.tokens("ann")] == ["d", "c", "a"]
        assert [token.id for token in store.tokens("bob")] == ["b"]

    def test_only_its_user_drops_a_token_and_then_it_is_gone(self, store: Store) -> None:
        store.add_token(token_of("a"), "d")
        assert not store.drop_token("bob", "a")
        assert store.drop_token("ann", "a")
        assert store.token("d", 5.0) is None
        assert store.tokens("ann") == []

    def test_tokens_outlive_close(self, store: Store) -> None:
        store.add_token(token_of("a"), "d")
        store.close()
        assert store.token("d", 5.0) is not None


class StoreContract(
    ReceiptContract,
    ChangeContract,
    PendingContract,
    SeveralFilesContract,
    ActivityContract,
    BoundsContract,
    OpenContract,
    TokenContract,
):
    """Tests everything that a store must do.

    A subclass gives the fixture `make_store`, which makes a new, empty store for given `StoreLimits`. The fixture
    `store` gives one with the default limits; override it if making a store is slow. Bounds below 32 must be exact;
    larger ones may be exceeded by a few for a while.
    """
