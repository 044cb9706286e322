"""Encodes records as JSON, names that are no UTF-8 included."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Record = TypeVar("Record", bound=BaseModel)


class UnreadableRecord(Exception):
    """What a store kept is no record any more: the store is damaged."""


def to_json(record: BaseModel) -> str:
    """The record as JSON; lone surrogates, which pydantic refuses, are escaped."""
    try:
        return record.model_dump_json()
    except ValueError:
        return json.dumps(record.model_dump())


def from_json(kind: type[Record], body: str) -> Record:
    """The record that `to_json` was given.

    Raises:
        UnreadableRecord: the text is something else.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError:
        return _from_escaped_json(kind, body)


def _from_escaped_json(kind: type[Record], body: str) -> Record:
    try:
        return kind.model_validate(json.loads(body))
    except ValueError as problem:
        raise UnreadableRecord(f"no {kind.__name__}: {problem}") from problem
