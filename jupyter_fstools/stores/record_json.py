"""Encodes records as JSON; tells which ones a filter describes."""

from __future__ import annotations

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from .protocol import MomentFilter

Record = TypeVar("Record", bound=BaseModel)

_REPLACEMENT = "\ufffd"
_NOT_ASCII = re.compile("[^\\x00-\\x7f]+")


class UnreadableRecord(Exception):
    """A kept value is no valid record: the store is damaged."""


def to_json(record: BaseModel) -> str:
    """The record as JSON; lone surrogates, which pydantic refuses or (in keys) replaces, are escaped."""
    try:
        told = record.model_dump_json()
    except ValueError:
        told = _REPLACEMENT
    return json.dumps(record.model_dump()) if _REPLACEMENT in told else told


def to_ascii_json(record: BaseModel) -> str:
    """The same in ASCII, which a database keeps in whichever encoding it has."""
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], to_json(record))


def from_json(kind: type[Record], body: str | bytes) -> Record:
    """The record that `to_json` was given.

    Raises:
        UnreadableRecord: the text is something else.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError:
        return _from_escaped_json(kind, body)


def _from_escaped_json(kind: type[Record], body: str | bytes) -> Record:
    try:
        return kind.model_validate(json.loads(body))
    except ValueError as problem:
        raise UnreadableRecord(f"no {kind.__name__}: {problem}") from problem


def is_below(key: str, prefix: str) -> bool:
    """A key is a folder's own, or lies below it."""
    folder = prefix.removesuffix("/")
    return key == folder or key.startswith(folder + "/")


def is_wanted(wanted: MomentFilter, key: str, session: str) -> bool:
    """A filter asks for this file and this session."""
    return wanted.session in (None, session) and (wanted.key_prefix is None or is_below(key, wanted.key_prefix))


def is_within(wanted: MomentFilter, moment: float) -> bool:
    """A filter asks for this time."""
    return (wanted.after is None or moment > wanted.after) and (wanted.before is None or moment < wanted.before)
