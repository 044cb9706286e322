"""Tests what every `Store` must do; subclass `StoreContract`.

class TestMyStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return lambda limits: MyStore(limits)
"""

from __future__ import annotations

from .change_contract import BoundsContract, ChangeContract, PendingContract, SeveralFilesContract
from .open_contract import OpenContract
from .receipt_contract import ReceiptContract
from .token_contract import TokenContract


class StoreContract(
    ReceiptContract,
    ChangeContract,
    PendingContract,
    SeveralFilesContract,
    BoundsContract,
    OpenContract,
    TokenContract,
):
    """All that a store must do.

    A subclass gives the fixture `make_store`: called with `StoreLimits` it makes an empty store, a different one each
    time. `store` is one with the default limits; override it where making one costs much. Bounds of less than
    32 are taken exactly, larger ones may be passed by a few for a while.
    """
