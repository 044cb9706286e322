"""Parses request JSON strictly and writes valid UTF-8."""

from __future__ import annotations

import json
from typing import Any, Literal, NoReturn, TypeVar

import orjson
from pydantic import ValidationError

from ..errors import Invalid, TooLarge
from ..stores.records import Change
from ..tools import ToolResult
from ..tools.arguments import Arguments, refused

_A = TypeVar("_A", bound=Arguments)
_HINT = "Send the arguments as one JSON object in UTF-8."


def parsed_object(body: bytes, limit: int) -> dict[str, Any]:
    """A request's body as an object; an empty body is an empty object.

    Raises:
        Invalid: no object, and as `parsed`; TooLarge
    """
    value = parsed(body, limit) if body.strip() or len(body) > limit else {}
    if not isinstance(value, dict):
        raise Invalid(f"the body is a {_kind(value)}, not an object", hint=_HINT, field="body")
    return value


def parsed(body: bytes, limit: int) -> Any:
    """A request's body as the value it is.

    Args:
        body: as it came.
        limit: bytes it may have.

    Raises:
        Invalid: not UTF-8, not JSON (which has no NaN and Infinity), or nested too deeply.
        TooLarge: over the limit.
    """
    if len(body) > limit:
        raise TooLarge(
            f"the body has {len(body)} bytes, more than {limit}",
            hint="Send less at once.",
            size=len(body),
            limit=limit,
        )
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _loads(body)


def as_json(value: Any) -> bytes:
    """A value as JSON; lone surrogates (names that are not UTF-8) are written as escapes."""
    try:
        return orjson.dumps(value)
    except TypeError:  # A lone surrogate, or a number beyond 64 bits.
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def rendered_result(result: ToolResult, answer: Literal["content", "data", "both"] = "both") -> bytes:
    """A result as JSON: `{"tool", "content", "data", "change"}`, with both of content and data or with one of them."""
    told: dict[str, Any] = {"tool": result.tool}
    if answer != "data":
        told["content"] = result.content
    if answer != "content":
        told["data"] = result.data
    return as_json(told | {"change": result.change and rendered_change(result.change)})


def rendered_change(change: Change, *, rows: bool = True) -> dict[str, Any]:
    """A change as clients see it: without its key, which would reveal where the root is on the disk.

    `rows` False leaves the hunks and cells of its diffs empty.
    """
    if not rows:
        change = change.with_each(
            {"diff": file.diff.model_copy(update={"hunks": [], "cells": None})} for file in change.all_files
        )
    return change.model_dump(exclude={"key": True, "files": {"__all__": {"key"}}})


def checked(model: type[_A], given: dict[str, Any], who: str = "It") -> _A:
    """Arguments, if they fit their model; `who` takes them.

    Raises:
        Invalid: names each field, what it takes and what it got.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise refused(error, model, who) from None


def _loads(body: bytes) -> Any:
    # JSON allows two things that orjson refuses: lone surrogates written as escapes, and numbers of any length.
    try:
        return json.loads(body.decode("utf-8"), parse_int=_whole_number, parse_constant=_not_a_number)
    except UnicodeDecodeError as error:
        raise Invalid(f"the body is not UTF-8 at byte {error.start}", hint=_HINT, field="body") from None
    except RecursionError:
        raise Invalid(
            "the body is nested too deeply", hint="Send values that are nested less deeply.", field="body"
        ) from None
    except ValueError as error:
        raise Invalid(f"the body is not valid JSON: {str(error)[:200]}", hint=_HINT, field="body") from None


def _whole_number(spelled: str) -> int:
    try:
        return int(spelled)
    except ValueError:  # Python refuses numbers of thousands of digits: converting one takes quadratic time.
        hint = "Send numbers of at most 19 digits."
        raise Invalid(f"the body holds a number of {len(spelled)} digits", hint=hint, field="body") from None


def _not_a_number(spelled: str) -> NoReturn:
    raise Invalid(f"the body holds {spelled}, which is not JSON", hint=_HINT, field="body")


def _kind(value: Any) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
