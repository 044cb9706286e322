"""Turns names, filters and records into values for SQL."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from .protocol import ChangeFilter, MomentFilter
from .steps import ChangeRow, Step

LARGEST = 2**62
"""Larger numbers than this do not fit into a query."""

_FAR_SECONDS = 1e12
_LONGEST, _BEGINNING = 2000, 1968


@lru_cache(maxsize=1024)
def as_bytes(text: str) -> bytes:
    """Any string as bytes: databases refuse text with lone surrogates, which file names may hold.

    An index takes some 2,700 bytes: of a longer string the beginning is kept, by which folders are asked for.
    """
    data = text.encode("utf-8", "surrogatepass")
    return data if len(data) <= _LONGEST else data[:_BEGINNING] + hashlib.sha256(data).digest()


def as_text(name: bytes) -> str:
    """The text that `as_bytes` was given, unless it was long."""
    return bytes(name).decode("utf-8", "surrogatepass")


def as_bigint(number: int) -> bytes:
    """A number in PostgreSQL's binary format of a `bigint`."""
    return number.to_bytes(8, "big", signed=True)


def bytes_or_null(text: str | None) -> bytes | None:
    """`as_bytes`, with None as it is."""
    return None if text is None else as_bytes(text)


def prefix_values(prefix: str | None) -> dict[str, bytes | None]:
    """The folder itself, and the bounds `below <= key < beyond` of what lies below it ("0" follows "/")."""
    if prefix is None:
        return {"folder": None, "below": None, "beyond": None}
    folder = as_bytes(prefix.removesuffix("/"))
    return {"folder": folder, "below": folder + b"/", "beyond": folder + b"0"}


def moment_values(wanted: MomentFilter) -> dict[str, Any]:
    """A filter's values by the names that queries give them."""
    times = {"after": wanted.after, "before": wanted.before}
    return {
        **prefix_values(wanted.key_prefix),
        **{name: one and max(-_FAR_SECONDS, min(one, _FAR_SECONDS)) for name, one in times.items()},
        "session": bytes_or_null(wanted.session),
        "limit": max(0, min(wanted.limit, LARGEST)),
    }


def change_values(wanted: ChangeFilter) -> dict[str, Any]:
    """A filter's values by the names that queries give them."""
    reader_user, reader_session = wanted.reader or (None, None)
    texts = {
        "key": wanted.key,
        "reader_user": reader_user,
        "reader_session": reader_session,
        "user": wanted.user,
        "session": wanted.session,
    }
    return {
        **prefix_values(wanted.key_prefix),
        **{name: bytes_or_null(text) for name, text in texts.items()},
        "status": wanted.status,
        "after": max(-LARGEST, min(wanted.after or 0, LARGEST)),
        "before": wanted.before,
        "rows": wanted.rows,
        "limit": max(0, min(wanted.limit, LARGEST)),
        "offset": max(0, min(wanted.offset, LARGEST)),
    }


def change_row(row: Any) -> ChangeRow:
    """A row of the columns that every query for changes selects."""
    revision, status, decided_at, decided_by, body = row
    return ChangeRow(revision, status, decided_at, None if decided_by is None else as_text(decided_by), body)


def step_values(step: Step) -> dict[str, Any]:
    """The values of a step that every database takes alike."""
    decided_at, decided_by = step.decided or (None, None)
    return {
        "id": as_bytes(step.change_id),
        "expected": step.expected,
        "status": step.status,
        "is_new": step.decided is not None,
        "decided_at": decided_at,
        "decided_by": bytes_or_null(decided_by),
    }
