"""The store in memory does what every store does."""

from __future__ import annotations

import pytest

from jupyter_fstools.stores import in_memory
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.testing.store_contract import StoreContract
from jupyter_fstools.testing.store_samples import ANN, receipt_of


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return InMemoryStore


def test_a_session_unused_for_long_is_forgotten(monkeypatch):
    store = InMemoryStore()
    store.put_receipt(receipt_of())
    later = in_memory.time.time() + 31 * 86400
    monkeypatch.setattr(in_memory.time, "time", lambda: later)
    store.put_receipt(receipt_of(reader=Reader("ann", "new"), read_at=later))
    assert store.receipts(ANN) == []
    assert len(store.receipts(Reader("ann", "new"))) == 1
