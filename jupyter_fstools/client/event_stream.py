"""Parses server-sent events as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Event(NamedTuple):
    """One event: its kind ("message" unless it says so) and its data."""

    kind: str
    data: bytes


def events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Each event that has data, as soon as it is complete.

    Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

    Args:
        lines: the answer's lines, with their ends.
    """
    kind, data = "message", list[bytes]()
    for line in lines:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text.removeprefix(b"data:").removeprefix(b" "))
        elif text.startswith(b"event:"):
            kind = text.removeprefix(b"event:").removeprefix(b" ").decode("ascii", "replace")
        elif not text:
            if any(data):
                yield Event(kind, b"\n".join(data))
            kind, data = "message", []
