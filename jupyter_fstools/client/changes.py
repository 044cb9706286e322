"""Asks a server for changes, and makes records of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ..journal.listing import ChangeQuery
from ..stores.records import Change


def changes_route(query: ChangeQuery) -> str:
    """The route, below `api/fstools`, that answers with the changes a query describes."""
    asked = {name: getattr(query, name) for name in ("path", "session", "status", "limit", "offset")}
    given = {name: value for name, value in asked.items() if value is not None}
    parameters = urlencode({**given, "diffs": "true" if query.rows else "false"}, errors="surrogateescape")
    return f"/changes?{parameters}"


def changes_of(told: Mapping[str, Any]) -> tuple[list[Change], int]:
    """The changes in the answer of such a route, and how many there are on all its pages.

    Raises:
        KeyError, TypeError, ValueError: it has another form.
    """
    return [change_of(one) for one in told["changes"]], int(told["total"])


def change_of(told: Mapping[str, Any]) -> Change:
    """A change from a server's JSON.

    Raises:
        ValueError: it has another form.
    """
    # A server sends no keys, which would reveal the place of its root. Here the path identifies a file.
    files = [{"key": one["path"], **one} for one in told.get("files", [])]
    return Change.model_validate({"key": told["path"], **told, "files": files})
