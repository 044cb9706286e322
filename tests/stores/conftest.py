"""A SQLite store in a folder that does not exist yet."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from jupyter_fstools.stores.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fstools" / "store.sqlite"


@pytest.fixture
def store(path):
    with SqliteStore(path) as store:
        yield store


@pytest.fixture
def query(path):
    """`query(statement)`: the first row that another connection to the file gets."""

    def first_row(statement):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return connection.execute(statement).fetchone()

    return first_row
