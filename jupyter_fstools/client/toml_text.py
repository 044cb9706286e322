"""Adds or changes one table of a TOML text."""

from __future__ import annotations

import json
from typing import Any

from ..errors import Invalid
from .json_text import line_end

MEMBERS = ("url", "http_headers", "command", "args", "env")
"""The members of a server's table that are written here; a person may add others."""


def table(key: str, name: str, entry: dict[str, Any]) -> str:
    """A table below a key: its header, and a line for each member.

    Args:
        key: the key of the table of tables.
        name: the table's name below it.
        entry: strings, and lists and dictionaries of strings, by name.

    Raises:
        Invalid: a string has bytes that are not UTF-8.
    """
    return "\n".join([f"[{key}.{_value(name)}]", *(f"{member} = {_value(one)}" for member, one in entry.items()), ""])


def added(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """The text with a table at its end."""
    end = line_end(text)
    whole = text if not text or text.endswith("\n") else text + end
    return whole + f"\n{table(key, name, entry)}"[not text :].replace("\n", end)


def replaced(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """The text with a table's `MEMBERS` replaced by an entry; unchanged if the table's header is not found.

    Values of several lines are not recognised: the caller compares what the result says with what was meant.
    """
    header, *rows = table(key, name, entry).rstrip("\n").split("\n")
    headers = header, f"[{key}.{name}]"
    lines = text.split("\n")
    begin = next((number for number, line in enumerate(lines, 1) if line.strip() in headers), None)
    if begin is None:
        return text
    stop = next((number for number in range(begin, len(lines)) if lines[number].lstrip().startswith("[")), len(lines))
    kept = [line for line in lines[begin:stop] if line.partition("=")[0].strip() not in MEMBERS]
    end = "\r" if lines[begin - 1].endswith("\r") else ""
    return "\n".join([*lines[:begin], *(row + end for row in rows), *kept, *lines[stop:]])


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(name)} = {_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if any("\ud800" <= one <= "\udfff" for one in value):
        raise Invalid(f"{value!a} cannot be written in TOML: it is not UTF-8", hint="Rename the folder.")
    # TOML shares JSON's escapes up to U+FFFF; beyond that JSON writes surrogate pairs, which are invalid in TOML.
    return '"' + "".join(json.dumps(one)[1:-1] if one <= "\uffff" else f"\\U{ord(one):08x}" for one in value) + '"'
