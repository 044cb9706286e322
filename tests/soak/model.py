"""What files must hold, and what of a journal and of files is not so."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_fstools import open_workspace
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery

FILES = 6
LINES = 400
MOST = 1_000_000


def name(number: int) -> str:
    """A file's; the last one has two names (hard links)."""
    return f"f{number}.txt"


def content(number: int, version: int) -> bytes:
    """A version of a file: every line tells it, so that a mixture shows."""
    return f"v{version}; of f{number} {'x' * 60}\n".encode() * LINES


def version_of(number: int, data: bytes) -> int | None:
    """Which version it is; None: it is none."""
    word = data[: data.find(b";")].decode("ascii", "replace")
    version = int(word[1:]) if word[1:].isdecimal() and len(word) < 12 else -1
    return version if data == content(number, version) else None


@dataclass
class Found:
    """What a soak found.

    Attributes:
        accepted: changes that were answered as made.
        refused: calls by the code of their refusal.
        killed: processes that were killed at work.
        lost: changes that were answered or recorded as made, and are not in the file.
        torn: files that hold no version.
        unknown: versions in a file that the journal does not know.
    """

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    lost: int = 0
    torn: int = 0
    unknown: int = 0
    raw: int = 0

    @property
    def is_sound(self) -> bool:
        """Nothing is lost, torn or unknown, no refusal was without a code, and something was done at all."""
        return self.accepted > 0 and not (self.lost or self.torn or self.unknown or self.raw)

    def line(self) -> str:
        """All of it."""
        codes = ", ".join(f"{code} {count}" for code, count in sorted(self.refused.items())) or "none"
        return (
            f"accepted {self.accepted}, refused {self.refused.total()} ({codes}), killed {self.killed}, "
            f"lost {self.lost}, torn {self.torn}, unknown {self.unknown}, errors without a code {self.raw}"
        )


def compare(root: Path, accepted: set[tuple[int, str]], found: Found) -> None:
    """Count what files and journal tell differently, once every process has ended.

    Args:
        root: of the files.
        accepted: what was answered as made: file and id of the change.
        found: gets the counts.
    """
    with open_workspace(root, session="model") as workspace:
        journal = Journal(workspace)
        for number in range(FILES):
            version = version_of(number, (root / name(number)).read_bytes())
            if version is None:
                found.torn += 1
                continue
            made = [
                change
                for change in journal.changes(ChangeQuery(path=name(number), limit=MOST, rows=False))
                if change.status == "applied"
            ]
            after = Counter(change.after.exact_sha for change in made if change.after is not None)
            there = {hashlib.sha256(content(number, one)).hexdigest() for one in range(1, version + 1)}
            odd = [change for change in made if after[change.after and change.after.exact_sha] > 1]
            for change in odd:
                sys.stderr.write(f"made twice: {change.model_dump_json(exclude={'diff'})}\n")
            for _, id in sorted(one for one in accepted if one[0] == number and one[1] not in {c.id for c in made}):
                sys.stderr.write(f"answered as made, and not in the journal: {id} of {name(number)}\n")
            found.unknown += len(there - set(after))
            found.lost += sum((after - Counter(there)).values())
            found.lost += len({id for of, id in accepted if of == number} - {change.id for change in made})
