"""Defines every refusal with its code and HTTP status.

FsToolsError
├── Invalid                 400  an argument is wrong
├── OutsideRoot             403  the path leads out of the root
├── Denied                  403  a deny rule, a device, or the system's permission
├── Rejected                403  a person decided against it
├── Disabled                403  the tool is switched off
├── NotFound                404  no such file, cell or change
├── IsDirectory             409  a file was expected
├── NotADirectory           409  a folder was expected
├── Conflict                409  somebody else was faster
├── Stale                   412  changed since it was read
├── TooLarge                413  over a limit
├── Binary                  415  not text
├── EncodingRefused         415  text, but not in this encoding
├── OutOfRange              416  a line or page that is not there
├── NoMatch                 422  the old string is not in the file
├── Ambiguous               422  the old string is there more than once
├── NoOp                    422  nothing would change
├── NotebookRefused         422  a notebook is edited by cells, or cannot be read as one
├── Unsaved                 423  unsaved state that cannot be reached
├── NotRead                 428  read it first
├── InputOutput             500  what the system said
└── TimedOut                504  over the time limit
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar


class FsToolsError(Exception):
    """A call was refused and modified nothing (`details["modified"]` says so where that could not be guaranteed).

    Attributes:
        code: the stable word for programs to act on (the first column of the refusal table).
        status: the HTTP status of that code.
        message: what was wrong, for the caller.
        hint: the caller's next step; empty where there is none.
        details: JSON-ready facts (totals, offsets, line numbers, a diff).
        places: canonical paths of the links that were followed to resolve a path, and of the place where that ended.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    places: tuple[str, ...] = ()

    def __init__(self, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = details

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f"\nHint: {self.hint}" if self.hint else "")

    def texts(self) -> list[str]:
        """The refusal, what changed, and what people decided since the last call; empty ones are left out.

        A diff counts as shown, and a decision is told only once, so no caller may be given the first text alone.
        """
        more = (self.details.get(name) for name in ("diff", "since_last_call"))
        return [text for text in (str(self), *more) if text]

    @property
    def text(self) -> str:
        """All that a model should be shown: the refusal, what changed, and what people decided since the last call."""
        return "\n".join(self.texts())

    def as_dict(self) -> dict[str, Any]:
        """`{"code", "message", "hint", "details"}`: the body every surface sends."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }

    def say_unmodified(self) -> None:
        """Add to the message that nothing was modified, unless it says so already or something was."""
        if "not modified" not in self.message and not may_be_modified(self):
            self._say(f"{self.message.removesuffix('.')} (not modified)")

    def say_which_file(self, path: str) -> None:
        """Begin the message with the file that it concerns."""
        self._say(f"{path}: {self.message}")

    def say_which_edit(self, number: int, total: int) -> None:
        """Begin the message with the edit that it concerns, counted from 0, if there are several."""
        if total > 1:
            self._say(f"edit {number + 1} of {total}: {self.message}")

    def say_which_argument(self, name: str) -> None:
        """Begin the message with the argument that it concerns, and name it in the details."""
        self._say(f"{name}: {self.message}")
        self.details["field"] = name

    def say_more(self, more: str) -> None:
        """Add to the message what was found out later."""
        self._say(f"{self.message}: {more}")

    def _say(self, message: str) -> None:
        self.message = message
        self.args = (message,)

    def _render_traceback_(self) -> list[str]:
        # IPython calls this instead of printing a traceback: a refusal is an answer, not a crash. A name in it may hold
        # what a terminal obeys.
        return [
            "".join([sign if sign.isprintable() or sign == "\t" else ascii(sign)[1:-1] for sign in line])
            for line in str(self).split("\n")
        ]


def may_be_modified(problem: BaseException) -> bool:
    """True if a call that ended with this problem may still have modified something."""
    return isinstance(problem, FsToolsError) and bool(problem.details.get("modified"))


def counted(number: int, what: str) -> str:
    """A number with its noun: `1 line`, `2 lines`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


@contextmanager
def saying_unmodified() -> Iterator[None]:
    """Adds to every refused change, in the same words, that nothing was modified."""
    try:
        yield
    except FsToolsError as refusal:
        refusal.say_unmodified()
        raise


@contextmanager
def naming_argument(name: str) -> Iterator[None]:
    """Name the argument in the details of a refusal that names none; code that resolves a path does not know it."""
    try:
        yield
    except FsToolsError as refusal:
        refusal.details.setdefault("field", name)
        raise


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Add the file's name to a refusal of its content; code that reads bytes does not know their file."""
    try:
        yield
    except (Binary, EncodingRefused) as refusal:
        refusal.say_which_file(path)
        raise


class Invalid(FsToolsError):
    """An argument is wrong: names the field, what it takes, what it got."""

    code, status = "invalid", 400


class OutsideRoot(FsToolsError):
    """The path leads out of the root; never says whether something is there."""

    code, status = "outside_root", 403


class Denied(FsToolsError):
    """A deny rule, a device or FIFO, or the system's permission."""

    code, status = "denied", 403


class Rejected(FsToolsError):
    """A person rejected a change or a command; the message has their reason, if they gave one."""

    code, status = "rejected", 403


class Disabled(FsToolsError):
    """The tool is switched off here."""

    code, status = "disabled", 403


class NotFound(FsToolsError):
    """No such file, cell or change; with up to three near names from inside the root."""

    code, status = "not_found", 404


class IsDirectory(FsToolsError):
    """A file was expected, a folder is there."""

    code, status = "is_directory", 409


class NotADirectory(FsToolsError):
    """A folder was expected, a file is there."""

    code, status = "not_a_directory", 409


class Conflict(FsToolsError):
    """Somebody else was faster, or `create_only` met an existing file."""

    code, status = "conflict", 409


class Stale(FsToolsError):
    """The file changed since this reader was shown it; `details["diff"]` says how.

    Attributes:
        diff: the `FileDiff` that `details["diff"]` was made from, for a person's page; None where there is none.
    """

    code, status = "stale", 412
    diff: Any = None


class TooLarge(FsToolsError):
    """Over a limit: names size, limit and remedy."""

    code, status = "too_large", 413


class Binary(FsToolsError):
    """Not text (or a broken picture): names the byte offset."""

    code, status = "binary", 415


class EncodingRefused(FsToolsError):
    """Text that this encoding cannot hold or decode: names the offset and what would work."""

    code, status = "encoding", 415


class OutOfRange(FsToolsError):
    """A line, cell or page past the end: names the total."""

    code, status = "out_of_range", 416


class NoMatch(FsToolsError):
    """The old string is not in the file; the hint shows the nearest text, never takes it."""

    code, status = "no_match", 422


class Ambiguous(FsToolsError):
    """The old string (or cell id) is there more than once: counts and line numbers."""

    code, status = "ambiguous", 422


class NoOp(FsToolsError):
    """Old and new are the same, or differ only in line endings."""

    code, status = "no_op", 422


class NotebookRefused(FsToolsError):
    """A notebook is edited by cells, or this file cannot be read as a notebook."""

    code, status = "notebook", 422


class Unsaved(FsToolsError):
    """The file is open in a browser that cannot be asked for its unsaved state."""

    code, status = "unsaved", 423


class NotRead(FsToolsError):
    """This reader has not been shown what it wants to change."""

    code, status = "not_read", 428


class InputOutput(FsToolsError):
    """Disk full, device error: what the system said."""

    code, status = "io", 500


class TimedOut(FsToolsError):
    """Over the time limit; partial results are said to be partial.

    Attributes:
        lock: identifies the file's lock that another call holds, for callers that retry once it is free; else None.
    """

    code, status = "timeout", 504
    lock: Hashable = None
