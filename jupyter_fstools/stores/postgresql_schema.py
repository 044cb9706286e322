"""Makes and migrates tables and functions in PostgreSQL."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from ..errors import Invalid

VERSION = 3
"""Version of the tables below; a server refuses a database that a newer server has migrated."""
_STARTING = 0x66737430
"""Key of the advisory lock that all servers take: two that start at once make the tables one after the other."""
# A step of the gate is one round trip, and each statement of a function sees what the one before it waited for.
# Revisions become visible in their order: each locks the one row of `state` until its transaction ends.
# `files` and `fences` are the locks that the caller holds; a step that finds one of them lost fails.
LOCK_LOST = "FS001"
FUNCTIONS = """
DROP INDEX fstools.changes_keys;
CREATE INDEX changes_file ON fstools.changes ((keys[1]));
CREATE INDEX changes_files ON fstools.changes USING gin (keys) WHERE cardinality(keys) > 1;
DROP TABLE fstools.locks;
CREATE UNLOGGED TABLE fstools.locks (key bytea PRIMARY KEY, fence bigint NOT NULL);

CREATE FUNCTION fstools.is_below(one bytea, folder bytea) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT one = folder OR (one >= folder || '/'::bytea AND one < folder || '0'::bytea)
$$;

-- Locks files, or none where one is taken and `wait` is false; tells what their next user will ask.
CREATE FUNCTION fstools.take(
    numbers bigint[], files bytea[], wait boolean, whose bytea, visit bytea, stamp bigint, hot bigint
) RETURNS TABLE (fenced bigint, receipt text, text_shown bytea, is_pending boolean, is_open boolean)
LANGUAGE plpgsql AS $$
DECLARE last_used bigint;
BEGIN
    FOR taken IN 1 .. cardinality(numbers) LOOP
        IF wait THEN
            PERFORM pg_advisory_lock(numbers[taken]);
        ELSIF NOT pg_try_advisory_lock(numbers[taken]) THEN
            PERFORM pg_advisory_unlock(one) FROM unnest(numbers[:taken - 1]) one;
            RETURN;
        END IF;
    END LOOP;
    FOR taken IN 1 .. cardinality(files) LOOP
        SELECT body, shown, used INTO receipt, text_shown, last_used FROM fstools.receipts
        WHERE owner = whose AND session = visit AND key = files[taken];
        SELECT EXISTS (SELECT FROM fstools.changes WHERE status = 'pending'
            AND EXISTS (SELECT FROM unnest(keys) one WHERE fstools.is_below(one, files[taken]))),
            EXISTS (SELECT FROM fstools.open WHERE key = files[taken]) INTO is_pending, is_open;
        IF last_used < stamp - hot THEN
            -- A crash may forget that a receipt was used.
            PERFORM set_config('synchronous_commit', 'off', true);
            UPDATE fstools.receipts SET used = stamp WHERE owner = whose AND session = visit AND key = files[taken];
        END IF;
        INSERT INTO fstools.locks AS locks VALUES (files[taken], 1)
        ON CONFLICT (key) DO UPDATE SET fence = locks.fence + 1 RETURNING fence INTO fenced;
        RETURN NEXT;
    END LOOP;
END $$;

-- Until the end of the transaction nobody else takes a lock that is still held here.
CREATE FUNCTION fstools.require_held(files bytea[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE count_held bigint;
BEGIN
    PERFORM FROM fstools.locks JOIN unnest(files, fences) mine (file, number) ON key = file AND fence = number
    FOR SHARE OF locks;
    GET DIAGNOSTICS count_held = ROW_COUNT;
    IF count_held <> cardinality(files) THEN
        RAISE EXCEPTION 'a lock is lost' USING ERRCODE = 'FS001';
    END IF;
END $$;

CREATE FUNCTION fstools.put(
    owners bytea[], sessions bytea[], files bytea[], stamps bigint[], moments double precision[], own boolean[],
    bodies text[], texts bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(files) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO fstools.receipts SELECT * FROM unnest(owners, sessions, files, stamps, moments, own, bodies, texts)
    ON CONFLICT (owner, session, key) DO UPDATE SET used = excluded.used, read_at = excluded.read_at,
    own_write = excluded.own_write, body = excluded.body, shown = coalesce(excluded.shown, receipts.shown);
    DELETE FROM fstools.dropped USING unnest(owners, sessions, files) back (whose, visit, file)
    WHERE owner = whose AND session = visit AND key = file;
END $$;

-- The revision; 0 for a pending change.
CREATE FUNCTION fstools.add(
    files bytea[], fences bigint[], its_id bytea, its_keys bytea[], whose bytea, visit bytea, its_status text,
    created double precision, decided double precision, decider bytea, its_body text, its_splices bytea
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE stepped bigint;
BEGIN
    PERFORM fstools.require_held(files, fences);
    IF its_status <> 'pending' THEN
        UPDATE fstools.state SET revision = revision + 1 RETURNING revision INTO stepped;
    END IF;
    INSERT INTO fstools.changes
    (revision, id, keys, owner, session, status, created_at, decided_at, decided_by, body, splices)
    VALUES (stepped, its_id, its_keys, whose, visit, its_status, created, decided, decider, its_body, its_splices);
    RETURN coalesce(stepped, 0);
END $$;

-- No row: the change has another status than the expected one.
CREATE FUNCTION fstools.decide(
    files bytea[], fences bigint[], its_id bytea, expected text, next_status text, is_new boolean,
    decided double precision, decider bytea, its_splices bytea, its_body text
) RETURNS TABLE (stepped bigint, new_status text, new_at double precision, new_by bytea, new_body text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM fstools.require_held(files, fences);
    PERFORM FROM fstools.changes WHERE id = its_id AND status = expected FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE fstools.state SET revision = revision + 1 RETURNING revision INTO stepped;
    RETURN QUERY UPDATE fstools.changes SET revision = stepped, status = next_status,
    decided_at = CASE WHEN is_new THEN decided ELSE decided_at END,
    decided_by = CASE WHEN is_new THEN decider ELSE decided_by END,
    splices = coalesce(its_splices, splices), body = coalesce(its_body, body)
    WHERE id = its_id RETURNING revision, status, decided_at, decided_by, body;
END $$;
"""

# Names are bytes: file names may hold what is not UTF-8. A pending change has no revision.
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
    FUNCTIONS,
]


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
    # Reads rows of the catalog: a connection may cache that a name it has looked up is missing.
    query = "SELECT 1 FROM pg_tables WHERE schemaname = 'fstools' AND tablename = 'version'"
    if connection.execute(query).fetchone() is None:
        return 0
    row = connection.execute("SELECT version FROM fstools.version").fetchone()
    return int(row[0]) if row else 0
