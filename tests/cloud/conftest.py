"""One PostgreSQL server, S3 API and Azure emulator for all tests of this folder; a part of its own for each."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from tests import emulators, google, postgresql

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


@pytest.fixture
def plain_account(database):
    """The address as of an account that may make a schema in the database, and nothing else."""
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE plain_{name} LOGIN PASSWORD 'plain'")
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO plain_{name}")
    return database.replace("ada:the-password", f"plain_{name}:plain")


@pytest.fixture(scope="session")
def emptied():
    """Databases that tests gave back: making one takes longer than most tests."""
    return []


@pytest.fixture
def take_database(make_database, emptied):
    """Gives the address of a database without our tables, for one store, and takes them back after the test."""
    taken = []

    def take() -> str:
        taken.append(emptied.pop() if emptied else make_database())
        return taken[-1]

    yield take
    for address in taken:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS fstools CASCADE")
    emptied.extend(taken)


@pytest.fixture(scope="session")
def s3_environment(tmp_path_factory):
    with emulators.s3(tmp_path_factory.mktemp("s3")) as environment:
        emulators.make_bucket(environment, "team")
        yield environment


@pytest.fixture(scope="session")
def azure_environment(tmp_path_factory):
    with emulators.azure(tmp_path_factory.mktemp("azure")) as environment:
        emulators.make_container(environment, "team")
        yield environment


@pytest.fixture(scope="session")
def google_environment(tmp_path_factory):
    with google.running(tmp_path_factory.mktemp("google")) as environment:
        yield environment


def _prefix(scheme, environment):
    """A fixture: the address of a prefix of the test's own, with what it takes to reach it."""

    @pytest.fixture(name=scheme)
    def prefix(request, monkeypatch):
        for name, value in request.getfixturevalue(environment).items():
            monkeypatch.setenv(name, value)
        return f"{scheme}://team/test-{next(NUMBERS)}"

    return prefix


s3 = _prefix("s3", "s3_environment")
az = _prefix("az", "azure_environment")
gs = _prefix("gs", "google_environment")
