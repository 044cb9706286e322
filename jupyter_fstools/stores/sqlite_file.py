"""Opens the SQLite file privately; sets a damaged one aside."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from ..own_folders import FULL, PASSING

BUSY_SECONDS = 10.0

_APPLICATION = 0x66737431
_VERSION = 6
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PROTOCOL,
}
"""SQLite's error codes where a file, or the shared memory of WAL, cannot be made or written."""

_FOR_NOW = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_FSYNC}
"""Its error codes for a disk that is full or fails for now: a store in memory would be lost with the process."""


Identity = tuple[int, int]
"""Device and inode of the file at a path."""


class Unusable(Exception):
    """This file cannot or must not be used; it stays as it is."""


def primary_code(problem: BaseException) -> int:
    """SQLite's error code without its refinement; 0 if the error has none."""
    return (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(problem: BaseException) -> bool:
    """True if the error says that the file is no (whole) database."""
    return primary_code(problem) in _DAMAGE


def is_text(path: Path) -> bool:
    """True if a file that is no database is a text: no damage makes one of a database, whose header has null bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        return False
    return bool(head) and b"\0" not in head


def identity(path: Path) -> Identity | None:
    """The identity of the file at the path; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def connected(path: Path, schema: str, first_revision: int) -> sqlite3.Connection:
    """A connection in autocommit mode to the database at the path, made (0600, in a folder of 0700) if missing.

    Raises:
        Unusable: it cannot be made or written, is another program's, or a newer version's.
        sqlite3.DatabaseError: it is damaged, or SQLite failed otherwise.
    """
    _make(path)
    try:
        return _connected(path, schema, first_revision, wal=True)
    except sqlite3.OperationalError as problem:
        if primary_code(problem) not in _UNWRITABLE:
            raise
    try:
        return _connected(path, schema, first_revision, wal=False)
    except sqlite3.OperationalError as problem:
        if primary_code(problem) not in _UNWRITABLE or problem.sqlite_errorcode in _FOR_NOW:
            raise
        _require_room(path.parent)
        raise Unusable(f"{path} cannot be written ({problem})") from problem


def _connected(path: Path, schema: str, first_revision: int, *, wal: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if not wal:
            # A connection in exclusive mode shares no memory, so a file that was left in WAL mode opens too.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        known = _schema_version(connection)
        if not wal:
            connection.execute("PRAGMA journal_mode = DELETE")
        elif not known:
            _switch_to_wal(connection)
        _prepare(connection, schema, first_revision)
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_size_limit = 8388608")
        connection.execute("SELECT 1 FROM beginning").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only a new file is opened here: closing a file that SQLite has open too would drop SQLite's locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    except OSError as problem:
        if problem.errno in PASSING:
            raise _no_room(problem) from problem
        raise Unusable(f"{path} cannot be made ({problem.strerror})") from problem
    # The mode bits are checked too: for the superuser `os.access` calls everything writable.
    for place, is_kind in ((path.parent, stat.S_ISDIR), (path, stat.S_ISREG)):
        try:
            mode = os.stat(place).st_mode
        except OSError as problem:
            if not os.path.lexists(place):
                return _make(path)  # Another process has just set it aside.
            # A link that leads nowhere.
            raise Unusable(f"{place} cannot be opened ({problem.strerror})") from problem
        if not is_kind(mode) or not mode & 0o222 or not os.access(place, os.W_OK):
            raise Unusable(f"{place} cannot be written")


def _require_room(folder: Path) -> None:
    """Raise what SQLite raises on a full disk, if no file can be made there for want of room: SQLite does not tell."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as problem:
        if problem.errno in PASSING:
            raise _no_room(problem) from problem


def _no_room(problem: OSError) -> sqlite3.OperationalError:
    told = sqlite3.OperationalError(problem.strerror)
    told.sqlite_errorcode = sqlite3.SQLITE_FULL if problem.errno in FULL else sqlite3.SQLITE_CANTOPEN
    return told


def _schema_version(connection: sqlite3.Connection) -> int:
    """The version of our tables in the database; 0 for an empty one.

    Raises:
        Unusable: it is another program's, or a newer version's.
    """
    version, application, tables = _look(connection)
    if application == _APPLICATION:
        if version > _VERSION:
            raise Unusable(f"it was written by a newer version of jupyter-fstools (schema {version})")
        return version
    if version or application or tables:
        raise Unusable("it is another program's database")
    return 0


def _look(connection: sqlite3.Connection) -> tuple[int, int, int]:
    if not connection.in_transaction:
        # All three are read in one snapshot: another process may make the tables between two queries.
        connection.execute("BEGIN")
        try:
            return _look(connection)
        finally:
            connection.rollback()
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    return version, application, connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _prepare(connection: sqlite3.Connection, schema: str, first_revision: int) -> None:
    """Make missing tables; begin a write in any case, since only that shows whether the file can be written."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        known = _schema_version(connection)
        if known == _VERSION:
            return
        for statement in schema.split(";"):
            connection.execute(statement)
        if not known:
            connection.execute("INSERT INTO beginning VALUES (?)", (first_revision,))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # Only for an empty file: one in another mode was found to need it. SQLite does not always honour its timeout here.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as problem:
            if primary_code(problem) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def set_aside(path: Path, damaged: Identity) -> Path | None:
    """Move the damaged file and its companions into a folder beside it; None if somebody else already did.

    Raises:
        OSError: it cannot be moved.
        TimeoutError: another process has been at it for too long.
    """
    from filelock import FileLock

    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = path.with_name(f"{path.name}.damaged") / moment
    with FileLock(f"{path}.lock", timeout=BUSY_SECONDS, mode=0o600):
        if identity(path) != damaged:
            return None
        aside.parent.mkdir(mode=0o700, exist_ok=True)
        # The database is moved last: a journal left behind without it would be taken for the new file's.
        for ending in ("-wal", "-shm", "-journal", ""):
            part = path.with_name(path.name + ending)
            if part.is_file():
                part.rename(aside.with_name(aside.name + ending))
    return aside
