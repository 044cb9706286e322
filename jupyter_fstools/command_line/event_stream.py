"""Server-sent events: the messages in an answer that comes piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def events(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event, as soon as it is complete.

    Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

    Args:
        lines: the answer's lines, with their ends.
    """
    data: list[bytes] = []
    for line in lines:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text.removeprefix(b"data:").removeprefix(b" "))
        elif not text:
            if any(data):
                yield b"\n".join(data)
            data = []
