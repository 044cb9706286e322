"""The expected content of files, and the differences between it, the journal and the files."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from jupyter_fstools import open_workspace
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.stores.records import Change

FILES = 7
OPEN = FILES - 1
"""The file that a person has open and types in."""
LINKED = OPEN - 1
"""The file that has a second name (a hard link)."""
OTHER_NAME = "other-name.txt"
LINES = 400
MOST = 1_000_000
_VERSION = re.compile(r"v(\d+);")


def name(number: int) -> str:
    """A file's name."""
    return f"f{number}.txt"


def content(number: int, version: int) -> bytes:
    """A version of a file: every line names it, so that a mixture shows."""
    return f"v{version}; of f{number} {'x' * 60}\n".encode() * (40 if number == OPEN else LINES)


def version_in(text: str) -> int | None:
    """The version that a text names; None: it names none, as while Jupyter is writing the file."""
    found = _VERSION.match(text)
    return int(found[1]) if found else None


class State(NamedTuple):
    """Content of a file: a version, and how many numbers a person typed below it."""

    version: int
    typed: int


def state_of(number: int, data: bytes) -> State | None:
    """A file's state; None: it is a mixture of several, or there is something below it that nobody typed."""
    version = version_in(data[:100].decode("ascii", "replace"))
    if version is None or not data.startswith(content(number, version)):
        return None
    below = data.removeprefix(content(number, version)).decode("ascii", "replace")
    typed = counted(below.split("\n")) if number == OPEN or not below else None
    return None if typed is None else State(version, typed)


def counted(lines: list[str]) -> int | None:
    """The last number of a person who types one in each line; the last one may be incomplete. None: not in order."""
    *whole, last = lines
    if whole != [str(number) for number in range(1, len(lines))]:
        return None
    return len(lines) if last == str(len(lines)) else len(whole) if str(len(lines)).startswith(last) else None


@dataclass
class Found:
    """Findings of a soak.

    Attributes:
        accepted: changes that were answered as made.
        refused: calls by the code of their refusal.
        killed: processes that were killed at work.
        filled: times that the disk was filled.
        saved: the last number that a person typed and was told to be saved.
        lost: changes that were answered or recorded as made, and are not in the file; numbers that were saved.
        torn: files that hold no version.
        unknown: versions in a file that the journal does not know.
        raw: errors without a code, and whatever else should not be.
        uncertain: changes whose outcome the journal calls unknown.
    """

    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    filled: int = 0
    saved: int = 0
    lost: int = 0
    torn: int = 0
    unknown: int = 0
    raw: int = 0
    uncertain: int = 0

    @property
    def is_sound(self) -> bool:
        """Nothing is lost, torn or unknown, no refusal was without a code, and something was done at all."""
        return self.accepted.total() > 0 and not (self.lost or self.torn or self.unknown or self.raw)

    @property
    def done(self) -> set[str]:
        """Actions done at least once, and by whom."""
        edited = {f"{who} edited" for who, count in self.accepted.items() if count}
        killed = {f"{who} killed" for who, count in self.killed.items() if count}
        more = {"person saved": self.saved, "disk filled": self.filled}
        return {*edited, *killed, *(name for name, count in more.items() if count)}

    def line(self) -> str:
        """All counts in one line."""
        return (
            f"accepted {_told(self.accepted)}, refused {_told(self.refused)}, killed {_told(self.killed)}, "
            f"disk filled {self.filled} times, typed and saved {self.saved}, lost {self.lost}, torn {self.torn}, "
            f"unknown {self.unknown}, errors without a code {self.raw}, uncertain {self.uncertain}"
        )


def _told(counts: Counter[str]) -> str:
    each = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"{counts.total()} ({each or 'none'})"


def compare(root: Path, accepted: set[tuple[int, str]], found: Found) -> None:
    """Count the differences between files and journal, once every process has ended.

    Args:
        root: of the files.
        accepted: changes that were answered as made, by file and id.
        found: gets the counts.
    """
    with open_workspace(root, session="model") as workspace:
        journal = Journal(workspace)
        for number in range(FILES):
            state = state_of(number, (root / name(number)).read_bytes())
            if state is None:
                found.torn += 1
                sys.stderr.write(f"torn: {(root / name(number)).read_bytes()!r}\n")
                continue
            answered = {id for of, id in accepted if of == number}
            query = ChangeQuery(path=name(number), limit=MOST, rows=number == OPEN)
            made = [change for change in journal.changes(query) if change.status == "applied"]
            for id in sorted(answered - {change.id for change in made}):
                sys.stderr.write(f"answered as made, and not in the journal: {id} of {name(number)}\n")
                found.lost += 1
            _compare(number, state, made, found, answered)
            if number == LINKED and not (root / OTHER_NAME).samefile(root / name(LINKED)):
                sys.stderr.write(f"no longer one file: {name(LINKED)} and {OTHER_NAME}\n")
                found.torn += 1


def _compare(number: int, state: State, made: list[Change], found: Found, answered: set[str]) -> None:
    """The versions that a file went through, by the journal, and those that it must have gone through.

    A change that was `answered` as made is sure, whatever the journal says of it.
    """
    there = {_mark(number, version) for version in range(1, state.version + 1)}
    sure = Counter(_made(number, change) for change in made if change.id in answered or not change.interrupted)
    unsure = {_made(number, change) for change in made if change.interrupted and change.id not in answered}
    found.uncertain += len(unsure)
    for change in made:
        if sure[_made(number, change)] > 1 or not {_made(number, change)} <= there | unsure:
            sys.stderr.write(f"made twice, or lost: {change.model_dump_json(exclude={'diff'})}\n")
    found.unknown += len(there - set(sure) - unsure)
    found.lost += sum((sure - Counter(there)).values())
    if number == OPEN and state.typed < found.saved:
        sys.stderr.write(f"typed and saved: {found.saved}, in the file: {state.typed}\n")
        found.lost += found.saved - state.typed


def _mark(number: int, version: int) -> str:
    """The journal's mark of a version; text typed below it belongs to no change."""
    return str(version) if number == OPEN else hashlib.sha256(content(number, version)).hexdigest()


def _made(number: int, change: Change) -> str:
    if number != OPEN:
        return change.after.exact_sha or "" if change.after is not None else ""
    added = [row.text for hunk in change.diff.hunks for row in hunk.rows if row.kind == "add"]
    return str(version_in(added[0]) if added else None)
