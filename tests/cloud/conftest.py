"""One PostgreSQL server for all tests of this folder, and a database of its own for each."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from tests import postgresql

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def database_server():
    with postgresql.running() as server:
        yield server


@pytest.fixture
def make_database(database_server):
    """Makes an empty database; gives its address."""

    def make() -> str:
        name = f"test_{next(NUMBERS)}"
        with psycopg.connect(database_server.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return database_server.address.removesuffix("/postgres") + f"/{name}"

    return make


@pytest.fixture
def database(make_database):
    return make_database()


@pytest.fixture(scope="session")
def emptied():
    """Databases that tests gave back: making one takes longer than most tests."""
    return []
