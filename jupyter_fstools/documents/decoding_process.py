"""What runs in the process that decodes: reads one request and a file, answers as JSON."""

from __future__ import annotations

import base64
import contextlib
import json
import sys
from typing import Any

from ..errors import FsToolsError, TooLarge
from .image import Room, shown_image
from .pdf import PageRange, PageRoom, shown_pages

_CPU_GRACE_SECONDS = 5


def main() -> None:
    """Read a line of JSON and a file's bytes from standard input, write the answer to standard output."""
    asked = json.loads(sys.stdin.buffer.readline())
    _limit(asked["memory"], asked["seconds"])
    try:
        answer = _answer(asked, sys.stdin.buffer.read())
    except FsToolsError as refusal:
        answer = {"refusal": refusal.as_dict()}
    except MemoryError:
        answer = {"refusal": _too_large(asked["path"], asked["memory"]).as_dict()}
    sys.stdout.write(json.dumps(answer))


def _answer(asked: dict[str, Any], data: bytes) -> dict[str, Any]:
    if asked["kind"] == "image":
        image = shown_image(data, asked["media_type"], asked["path"], Room(*asked["room"]))
        return {**image._asdict(), "data": _sent(image.data)}
    text, picture, seconds = asked["room"]
    room = PageRoom(text, Room(*picture), seconds)
    shown = shown_pages(data, asked["path"], PageRange(*asked["wanted"]), room)
    return {"total": shown.total, "pages": [{**page._asdict(), "picture": _sent(page.picture)} for page in shown.pages]}


def _too_large(path: str, memory: int) -> TooLarge:
    return TooLarge(
        f"{path} needs more than {memory} bytes of memory to be decoded",
        hint="Have it made smaller first.",
        limit=memory,
    )


def _sent(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _limit(memory: int, seconds: float) -> None:
    """Take no more than that, also when nobody is left to end this process; where the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows has none.
        return
    cpu = int(seconds) + _CPU_GRACE_SECONDS
    for limit, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, cpu), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (most, most))
