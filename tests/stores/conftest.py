"""A SQLite store in a folder that does not exist yet."""

from __future__ import annotations

import pytest

from jupyter_fstools.stores.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fstools" / "store.sqlite"


@pytest.fixture
def store(path):
    store = SqliteStore(path)
    yield store
    store.close()
