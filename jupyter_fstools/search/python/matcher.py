"""Matches patterns with a time limit, slow ones in a killable process."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

from ...errors import Invalid
from ...walking.stopping import Stop, check_descriptors
from .. import match_lines
from ..match_lines import SIZE, Expensive, Finder, Hit, ManyMatches
from ..regex.dialect import Expression
from ..regex.emit import SET

SECONDS_PER_TEXT, LEAST_SECONDS = 5.0, 0.05
"""Time limit for one text, because a pattern such as (a+)+$ may take exponential time. Each text that exceeds it halves
the limit for the next, down to the least, so that a folder of such texts does not use up the search."""
CHEAP_STEPS = 100_000_000
"""Most steps of a text that is matched in this process: about a second of Python's `re` in the worst case."""
MOST_SETS = 40
"""Most Unicode sets such as `\\w` in a pattern that is compiled in this process: Python takes 10 ms for each."""
_PROGRAM = Path(match_lines.__file__)


class TooSlow(Exception):
    """A text took too long, or the search was stopped while it was matched."""


class Matcher:
    """Finds the matching lines of texts, in this process where that cannot take long, else in another one.

    Python's `re` cannot be interrupted and holds the interpreter while it works: a bad pattern would stop every
    thread of a server. Use the matcher as a context manager, which ends the other process.
    """

    def __init__(self, expression: Expression, stop: Stop) -> None:
        self._expression = expression
        self._stop = stop
        self._seconds = SECONDS_PER_TEXT
        self._finder = Finder(
            expression.plain,
            expression.write_full,
            required=expression.required,
            folded=expression.folded,
            ignore_case=expression.ignore_case,
            multiline=expression.over_lines,
            degree=expression.degree or 0,
            factor=expression.factor,
            steps=CHEAP_STEPS,
        )
        self._long_to_compile = expression.full.count(SET) > MOST_SETS
        self._other: subprocess.Popen[bytes] | None = None
        self._busy_since: float | None = None
        self._ended = threading.Event()

    def __enter__(self) -> Matcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def renew(self) -> None:
        """Restore the time limit, doubled: texts that were counted within it are searched again."""
        self._seconds = 2 * SECONDS_PER_TEXT

    def find(self, text: str, most: int, *, count: bool = True, patient: bool = True) -> tuple[int, list[Hit]]:
        """How many lines of `text` match, and the first `most` of them; without `count` the number may be too low.

        Raises:
            TooSlow: it took longer than `SECONDS_PER_TEXT`, or was stopped; without `patient`, it may take long.
            Invalid: Python cannot compile the pattern.
        """
        bounded = self._expression.degree is not None
        if not bounded or (self._long_to_compile and not text.isascii()):
            if self._expression.required not in text:
                return 0, []
            if bounded and not patient:
                raise TooSlow
            return self._ask(text, most)
        try:
            return self._finder.find(text, most, count=count)
        except Expensive as error:
            # With many matches over lines ripgrep would be slow too: it searches for each one's line again.
            if not patient and not isinstance(error, ManyMatches):
                raise TooSlow from None
            return self._ask(text, most)
        except (re.error, OverflowError, RecursionError) as error:
            raise Invalid(f"pattern: {error}") from error

    def _ask(self, text: str, most: int) -> tuple[int, list[Hit]]:
        if self._seconds < LEAST_SECONDS:
            raise TooSlow
        try:
            other = self._other or self._start()
        except OSError as error:
            check_descriptors(error)
            raise TooSlow from error
        self._busy_since = time.monotonic()
        try:
            assert other.stdin and other.stdout
            other.stdin.write(SIZE.pack(most) + _framed(text))
            other.stdin.flush()
            count, kept = struct.unpack("<2Q", other.stdout.read(2 * SIZE.size))
            numbers = struct.unpack(f"<{4 * kept}Q", other.stdout.read(4 * SIZE.size * kept))
        except (OSError, struct.error) as error:
            self._end()
            self._seconds /= 2
            raise TooSlow from error
        finally:
            self._busy_since = None
        return count, list(zip(*[iter(numbers)] * 4, strict=True))

    def _watch(self, other: subprocess.Popen[bytes], ended: threading.Event) -> None:
        """Kill the other process when it takes too long, which ends the stream that `_ask` reads."""
        while not ended.wait(0.05):
            since = self._busy_since
            if since is not None and (time.monotonic() - since > self._seconds or self._stop.now()):
                other.kill()
                return

    def _start(self) -> subprocess.Popen[bytes]:
        expression = self._expression
        plain, full = expression.plain, expression.write_full()
        self._check(plain, *([] if self._long_to_compile else [full]))
        command = [sys.executable, "-I", "-S", str(_PROGRAM)]
        self._other = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._other.stdin
        texts = b"".join(map(_framed, (plain, full, expression.required, expression.folded)))
        self._other.stdin.write(texts + SIZE.pack(expression.ignore_case) + SIZE.pack(expression.over_lines))
        self._ended = threading.Event()
        threading.Thread(target=self._watch, args=(self._other, self._ended), daemon=True).start()
        return self._other

    @staticmethod
    def _check(*patterns: str) -> None:
        try:
            for pattern in patterns:
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise Invalid(f"pattern: {error}") from error

    def _end(self) -> None:
        self._ended.set()
        if self._other is not None:
            self._other.kill()
            self._other.communicate()
            self._other = None


def _framed(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return SIZE.pack(len(encoded)) + encoded
