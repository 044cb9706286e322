"""Makes and migrates the tables in PostgreSQL."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from ..errors import Invalid

VERSION = 2
"""Of the tables below; a server refuses a database that a newer one has migrated."""

# Names are bytes: file names may hold what is no UTF-8. A pending change has no revision.
_MIGRATIONS = [
    """
CREATE TABLE fstools.state (revision bigint NOT NULL, refused bigint NOT NULL);
INSERT INTO fstools.state VALUES (0, 0);
CREATE TABLE fstools.receipts (
    owner bytea, session bytea, key bytea, used bigint NOT NULL, read_at double precision NOT NULL,
    own_write boolean NOT NULL, body text NOT NULL, shown bytea, PRIMARY KEY (owner, session, key)
);
CREATE INDEX receipts_used ON fstools.receipts (owner, session, used);
CREATE INDEX receipts_read ON fstools.receipts (read_at);
CREATE TABLE fstools.dropped (
    owner bytea, session bytea, key bytea, used bigint NOT NULL, PRIMARY KEY (owner, session, key)
);
CREATE TABLE fstools.changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, revision bigint UNIQUE, id bytea NOT NULL UNIQUE,
    keys bytea[] NOT NULL, owner bytea NOT NULL, session bytea NOT NULL, status text NOT NULL,
    created_at double precision NOT NULL, decided_at double precision, decided_by bytea,
    body text NOT NULL, splices bytea NOT NULL
);
CREATE INDEX changes_waiting ON fstools.changes (status) WHERE status IN ('pending', 'proposed');
CREATE INDEX changes_keys ON fstools.changes USING gin (keys);
CREATE TABLE fstools.refusals (
    number bigint PRIMARY KEY, key bytea NOT NULL, session bytea NOT NULL, body text NOT NULL
);
CREATE TABLE fstools.open (
    key bytea, page bytea, number integer, until double precision NOT NULL, saved boolean NOT NULL, hash text,
    counter bigint NOT NULL, PRIMARY KEY (key, page, number)
);
CREATE TABLE fstools.locks (key bytea PRIMARY KEY, fence bigint NOT NULL, process integer NOT NULL, until timestamptz);
""",
    """
CREATE TABLE fstools.tokens (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest text NOT NULL UNIQUE, id text NOT NULL,
    owner bytea NOT NULL, created_at double precision NOT NULL, last_used_at double precision, body text NOT NULL
);
""",
]

_STARTING = 0x66737430
"""One number for all: two servers that start at once make the tables one after the other."""


def migrate(connection: Connection[Any]) -> None:
    """Bring the tables to this version, all or nothing.

    Raises:
        Invalid: a newer server has migrated them.
    """
    if _version(connection) == VERSION:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_STARTING,))
        found = _version(connection)
        if found > VERSION:
            raise Invalid(
                f"store: the database has tables of version {found}, and this server knows {VERSION}",
                hint="Update jupyter-fstools here: a newer server uses the same database.",
                field="store",
            )
        if not found:
            connection.execute("CREATE SCHEMA IF NOT EXISTS fstools")
            connection.execute("CREATE TABLE fstools.version (version integer NOT NULL)")
            connection.execute("INSERT INTO fstools.version VALUES (0)")
        for statements in _MIGRATIONS[found:]:
            connection.execute(statements)
        connection.execute("UPDATE fstools.version SET version = %s", (VERSION,))


def _version(connection: Connection[Any]) -> int:
    # A look at the catalog's rows: the names that a connection has looked up it may remember as missing.
    query = "SELECT 1 FROM pg_tables WHERE schemaname = 'fstools' AND tablename = 'version'"
    if connection.execute(query).fetchone() is None:
        return 0
    row = connection.execute("SELECT version FROM fstools.version").fetchone()
    return int(row[0]) if row else 0
