"""Decodes pictures and PDFs in a bounded child process."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ...errors import Binary, FsToolsError, InputOutput, OutOfRange, TimedOut, TooLarge
from .image import Room, ShownImage
from .pdf import PageRange, PageRoom, ShownPage, ShownPages

MOST_MEMORY_BYTES = 2 << 30
"""Address space of that process, where the system can limit it."""

# This package's folder is appended to the path last, so that installed packages are found first.
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from jupyter_fstools.documents.media.decoding_process import main; main()"
)
_PACKAGES = str(Path(__file__).parents[3])
_LOOKS_SECONDS = 0.1
_REFUSALS: dict[str, type[FsToolsError]] = {one.code: one for one in (Binary, OutOfRange, TooLarge)}


class SentImage(NamedTuple):
    """A picture to decode: its bytes, their media type, and its name in refusals."""

    data: bytes
    media_type: str
    path: str


def decoded_image(
    data: bytes, media_type: str, path: str, room: Room, seconds: float, ended: Callable[[], bool]
) -> ShownImage:
    """A picture as `shown_image` makes it; `seconds` and `ended` as for `decoded_images`.

    Raises:
        TimedOut, InputOutput (the process cannot be started), and as `shown_image`
    """
    (found,) = decoded_images([SentImage(data, media_type, path)], path, room, seconds, ended)
    if isinstance(found, FsToolsError):
        raise found
    return found


def decoded_images(
    images: Sequence[SentImage], path: str, room: Room, seconds: float, ended: Callable[[], bool]
) -> list[ShownImage | FsToolsError]:
    """Pictures as `shown_image` makes them, or why it refuses them, from one process.

    Args:
        images: the pictures.
        path: the file they are from, where all of them are refused.
        room: of each.
        seconds: how long all of them together may take.
        ended: polled while they are waited for; once true, the time is up or the caller has gone.

    Raises:
        TimedOut, InputOutput (the process cannot be started), Binary (it crashed)
    """
    asked = {"kind": "images", "path": path, "room": room}
    asked["images"] = [(len(one.data), one.media_type, one.path) for one in images]
    answers = _answer(asked, b"".join([one.data for one in images]), seconds, ended)["images"]
    return [_refused(answer["refusal"]) if "refusal" in answer else _image(answer) for answer in answers]


def _image(answer: dict[str, Any]) -> ShownImage:
    return ShownImage(**{**answer, "data": _bytes(answer["data"])})


def decoded_pages(
    data: bytes, path: str, wanted: PageRange, room: PageRoom, seconds: float, ended: Callable[[], bool]
) -> ShownPages:
    """Pages as `shown_pages` shows them; `seconds` and `ended` as for `decoded_images`.

    Raises:
        TimedOut, InputOutput (the process cannot be started), and as `shown_pages`
    """
    answer = _answer({"kind": "pdf", "path": path, "wanted": wanted, "room": room}, data, seconds, ended)
    pages = [ShownPage(**{**page, "picture": _bytes(page["picture"])}) for page in answer["pages"]]
    return ShownPages(answer["total"], pages)


def _bytes(sent: str | None) -> bytes | None:
    return None if sent is None else base64.b64decode(sent)


def _answer(asked: dict[str, Any], data: bytes, seconds: float, ended: Callable[[], bool]) -> dict[str, Any]:
    """The answer of the process to one line of JSON and the bytes of a file."""
    asked |= {"seconds": seconds, "memory": MOST_MEMORY_BYTES}
    code, said, complaints = _run(json.dumps(asked).encode() + b"\n" + data, asked["path"], seconds, ended)
    try:
        answer: dict[str, Any] = json.loads(said)
    except ValueError:
        _refuse_crash(asked["path"], code, complaints)
    if "refusal" in answer:
        raise _refused(answer["refusal"])
    return answer


def _refused(told: dict[str, Any]) -> FsToolsError:
    return _REFUSALS[told["code"]](told["message"], hint=told["hint"], **told["details"])


def _run(sent: bytes, path: str, seconds: float, ended: Callable[[], bool]) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-P", "-W", "ignore", "-c", _START, _PACKAGES]
    pipe = subprocess.PIPE
    try:
        # In a session of its own, so that a keyboard interrupt reaches only this process.
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise InputOutput(f"{path} cannot be decoded: no process can be started ({error.strerror})") from None
    answered, given_up = threading.Event(), threading.Event()

    def watch() -> None:
        while not answered.wait(_LOOKS_SECONDS):
            if ended():
                given_up.set()
                return process.kill()

    # A thread watches the time instead of a timeout of `communicate`, which would lose the input not sent by then.
    threading.Thread(target=watch, name="fstools-decoding", daemon=True).start()
    try:
        said, complaints = process.communicate(sent)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    finally:
        answered.set()
    if given_up.is_set():
        raise TimedOut(
            f"{path} was not decoded within {seconds:g} seconds",
            hint="Ask for fewer pages; an administrator can raise document_seconds.",
        )
    return process.returncode, said, complaints


def _refuse_crash(path: str, code: int, complaints: bytes) -> NoReturn:
    if code >= 0:
        last = complaints.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        raise InputOutput(f"{path} cannot be decoded: {last or 'the decoding process ended'}")
    with contextlib.suppress(ValueError):
        last = signal.Signals(-code).name
        raise Binary(
            f"{path} is broken, or needs more than {MOST_MEMORY_BYTES} bytes of memory: decoding failed with {last}",
            hint="Make it smaller, or save it again with the program that made it.",
        )
    raise InputOutput(f"{path} cannot be decoded: the decoding process was killed")
