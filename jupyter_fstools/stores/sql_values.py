"""Turns names, filters and records into values for SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from .protocol import ChangeFilter, MomentFilter
from .record_json import from_json, is_below
from .records import Change, Receipt, Refusal, Token
from .steps import ChangeRow, Step, without_rows

LARGEST = 2**62
"""Larger numbers than this do not fit into a query."""

Record = TypeVar("Record", Receipt, Refusal)

_FAR_SECONDS = 1e12
_MICROSECONDS = 1_000_000
_LONGEST, _BEGINNING = 2000, 1968


@lru_cache(maxsize=1024)
def as_bytes(text: str) -> bytes:
    """Any string as bytes: databases refuse text with lone surrogates, which file names may hold.

    An index takes some 2,700 bytes: a longer string becomes its beginning, by which folders are found, and a digest.
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
    """The folder itself, and the bounds `below <= key < beyond` of what lies below it ("0" follows "/").

    For a folder with a long name they are the bounds of all keys with the same beginning: see `changes_below` and
    `receipts_below`.
    """
    if prefix is None:
        return {"folder": None, "below": None, "beyond": None}
    folder = as_bytes(prefix.removesuffix("/"))
    if not is_long(prefix):
        return {"folder": folder, "below": folder + b"/", "beyond": folder + b"0"}
    beginning = folder[:_BEGINNING]
    return {"folder": folder, "below": beginning, "beyond": beginning + b"\xff" * (_LONGEST - _BEGINNING + 1)}


def is_long(prefix: str | None) -> bool:
    """Keys below this folder may be kept without all of its name: a query for them finds others, too."""
    return prefix is not None and len(prefix.removesuffix("/").encode("utf-8", "surrogatepass")) >= _BEGINNING


def moment_values(wanted: MomentFilter) -> dict[str, Any]:
    """A filter's values by the names that queries give them."""
    times = {"after": wanted.after, "before": wanted.before}
    return {
        **prefix_values(wanted.key_prefix),
        **{name: one and max(-_FAR_SECONDS, min(one, _FAR_SECONDS)) for name, one in times.items()},
        "session": bytes_or_null(wanted.session),
        "limit": LARGEST if is_long(wanted.key_prefix) else max(0, min(wanted.limit, LARGEST)),
    }


def receipts_below(wanted: MomentFilter, rows: Iterable[tuple[str]]) -> list[Receipt]:
    """The receipts that the filter describes, of the rows (body) found by its values."""
    return _below(wanted, [from_json(Receipt, body) for (body,) in rows])


def _below(wanted: MomentFilter, found: list[Record]) -> list[Record]:
    """The found receipts or refusals that the filter describes; its values also find others for a long folder."""
    prefix = wanted.key_prefix
    if prefix is None or not is_long(prefix):
        return found
    return [one for one in found if is_below(one.key, prefix)][: max(0, wanted.limit)]


def refusal_number(at: float) -> int:
    """A refusal's time in microseconds, by which it is numbered."""
    return round(max(-LARGEST, min(at * _MICROSECONDS, LARGEST)))


def refusal_values(wanted: MomentFilter) -> dict[str, Any]:
    """`moment_values` with the times as numbers of refusals."""
    values = moment_values(wanted)
    for bound in ("after", "before"):
        values[bound] = None if values[bound] is None else refusal_number(values[bound])
    return values


def numbered(refusal: Refusal, number: int) -> Refusal:
    """The refusal with the time that its number tells."""
    return refusal.model_copy(update={"at": number / _MICROSECONDS})


def refusals_below(wanted: MomentFilter, rows: Iterable[tuple[int, str]]) -> list[Refusal]:
    """The refusals that the filter describes, of the rows (number, body) found by `refusal_values`."""
    return _below(wanted, [numbered(from_json(Refusal, body), number) for number, body in rows])


def token_of(body: str, last_used_at: float | None) -> Token:
    """The token of a row; its last use is kept beside the body."""
    return from_json(Token, body).model_copy(update={"last_used_at": last_used_at})


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
    all_found = is_long(wanted.key_prefix)
    return {
        **prefix_values(wanted.key_prefix),
        **{name: bytes_or_null(text) for name, text in texts.items()},
        "status": wanted.status,
        "after": max(-LARGEST, min(wanted.after or 0, LARGEST)),
        "before": wanted.before,
        "rows": wanted.rows,
        "limit": LARGEST if all_found else max(0, min(wanted.limit, LARGEST)),
        "offset": 0 if all_found else max(0, min(wanted.offset, LARGEST)),
    }


def changes_below(wanted: ChangeFilter, rows: Iterable[Any]) -> list[Change]:
    """The changes that the filter describes, of the rows found by its values: others too, for a long folder."""
    found, prefix = [change_row(row).change() for row in rows], wanted.key_prefix
    if prefix is not None and is_long(prefix):
        first = max(0, wanted.offset) if wanted.after is None else 0
        below = [change for change in found if any(is_below(key, prefix) for key in change.keys)]
        found = below[first : first + max(0, wanted.limit)]
    return found if wanted.rows else [without_rows(change) for change in found]


def every_change(wanted: ChangeFilter) -> ChangeFilter:
    """The same filter without bounds, as changes are counted."""
    return replace(wanted, after=None, before=None, limit=LARGEST, offset=0, rows=False)


def change_row(row: Any) -> ChangeRow:
    """A row of the columns that every query for changes selects."""
    revision, status, decided_at, decided_by, body = row
    return ChangeRow(revision, status, decided_at, None if decided_by is None else as_text(decided_by), body)


def step_values(step: Step) -> dict[str, Any]:
    """The values of a step that are the same for every database."""
    decided_at, decided_by = step.decided or (None, None)
    return {
        "id": as_bytes(step.change_id),
        "expected": step.expected,
        "status": step.status,
        "is_new": step.decided is not None,
        "decided_at": decided_at,
        "decided_by": bytes_or_null(decided_by),
    }
