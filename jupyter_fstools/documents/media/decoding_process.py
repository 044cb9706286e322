"""Runs in the decoding process: reads one request, answers as JSON."""

from __future__ import annotations

import base64
import contextlib
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ...errors import FsToolsError, TooLarge
from .image import Room, shown_image
from .pdf import PageRange, PageRoom, shown_pages

_CPU_GRACE_SECONDS = 5


def main() -> None:
    """Read a line of JSON and the bytes of files from standard input, write the answer to standard output."""
    asked = json.loads(sys.stdin.buffer.readline())
    _limit(asked["memory"], asked["seconds"])
    if asked["kind"] == "images":
        answers = [_answer(partial(_image, asked, *image), image[-1], asked["memory"]) for image in asked["images"]]
        answer: dict[str, Any] = {"images": answers}
    else:
        answer = _answer(partial(_pages, asked), asked["path"], asked["memory"])
    sys.stdout.write(json.dumps(answer))


def _answer(decode: Callable[[], dict[str, Any]], path: str, memory: int) -> dict[str, Any]:
    """The decoded pictures or pages, or the refusal."""
    try:
        return decode()
    except FsToolsError as refusal:
        return {"refusal": refusal.as_dict()}
    except MemoryError:
        return {"refusal": _too_large(path, memory).as_dict()}


def _image(asked: dict[str, Any], size: int, media_type: str, path: str) -> dict[str, Any]:
    image = shown_image(sys.stdin.buffer.read(size), media_type, path, Room(*asked["room"]))
    return {**image._asdict(), "data": _sent(image.data)}


def _pages(asked: dict[str, Any]) -> dict[str, Any]:
    text, picture, seconds = asked["room"]
    room = PageRoom(text, Room(*picture), seconds)
    shown = shown_pages(sys.stdin.buffer.read(), asked["path"], PageRange(*asked["wanted"]), room)
    return {"total": shown.total, "pages": [{**page._asdict(), "picture": _sent(page.picture)} for page in shown.pages]}


def _too_large(path: str, memory: int) -> TooLarge:
    return TooLarge(
        f"{path} needs more than {memory} bytes of memory to be decoded",
        hint="Make it smaller first.",
        limit=memory,
    )


def _sent(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _limit(memory: int, seconds: float) -> None:
    """Limit memory and CPU time where the system can, so that the process ends even if its parent has gone."""
    try:
        import resource
    except ImportError:  # Windows has none.
        return
    cpu = int(seconds) + _CPU_GRACE_SECONDS
    for limit, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, cpu), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (most, most))
