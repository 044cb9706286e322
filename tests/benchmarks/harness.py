"""Measure ours and a peer in turn; say median and spread beside the target, and never fail on time."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

Work = Callable[[], float | None]
"""One run: the harness takes the time, unless the run returns what it measured itself."""


class NotHere(Exception):
    """Something that a benchmark needs is not installed; the message names it."""


class Result(NamedTuple):
    """One line of the outcome; `unit` is "" for a ratio to the peer, `target` None where none was set."""

    name: str
    median: float
    low: float
    high: float
    target: float | None
    better: str = "lower"
    unit: str = ""
    rounds: int = 0

    @property
    def goal(self) -> str:
        """The target with its direction and unit; "" for none."""
        sign = "≤" if self.better == "lower" else "≥"
        return "" if self.target is None else f"{sign} {self.target:g} {self.unit}".rstrip()

    @property
    def missed_by(self) -> float:
        """The distance to the target; 0 where it is met, or there is none."""
        if self.target is None:
            return 0.0
        return max(0.0, self.median - self.target if self.better == "lower" else self.target - self.median)

    def line(self) -> str:
        aim = f", target {self.goal}" if self.goal else ""
        return f"{self.name}: {self.median:.3g} {self.unit or 'ratio'} ({self.low:.3g}–{self.high:.3g}){aim}"

    def row(self) -> str:
        """The result as a row of `table`."""
        missed = f"{self.missed_by:.2g}" if self.missed_by else ""
        ends = f"{self.low:.2g}–{self.high:.2g}"
        return f"| {self.name} | {f'{self.median:.2g} {self.unit}'.rstrip()} | {ends} | {self.goal} | {missed} |"


def table(results: Iterable[Result]) -> str:
    """The results in Markdown: a row each, with the lowest and the highest value of the run."""
    head = "| what, to which peer | median | from–to | goal | missed by |", "|---|---|---|---|---|"
    return "\n".join([*head, *[result.row() for result in results]])


Benchmark = Callable[[], Iterable[Result]]
"""The `BENCHMARKS` of a `bench_*.py`, by id; each may report several lines."""


def divided(ours: float, peer: float) -> float:
    """Ours as a multiple of the peer's."""
    return ours / peer


def compare(
    name: str,
    ours: Work,
    peer: Work,
    *,
    target: float | None,
    rounds: int = 9,
    ratio: Callable[[float, float], float] = divided,
    better: str = "lower",
) -> Result:
    """Run ours and the peer alternately, after one run of each to warm up, and report their paired ratios.

    Args:
        name: what is compared; its first word is the id.
        ours: one run of ours.
        peer: one run of the peer's.
        target: what the median ratio should be at most, or at least where `better` is "higher"; None: no target.
        rounds: pairs measured.
        ratio: makes one number of a pair, given ours first.
        better: "lower" or "higher".
    """
    ours_and_peer = (ours, peer)
    for work in ours_and_peer:
        timed(work)
    pairs = [tuple(timed(work) for work in ours_and_peer) for _ in range(rounds)]
    return reported(name, [ratio(*pair) for pair in pairs], target=target, better=better)


def measure(name: str, ours: Work, *, target: float | None, unit: str, rounds: int = 9, scale: float = 1.0) -> Result:
    """Report a measure without a peer: each run's seconds, or the value it returns, times `scale`."""
    timed(ours)
    return reported(name, [timed(ours) * scale for _ in range(rounds)], target=target, unit=unit)


def timed(work: Work) -> float:
    """The run's own measure, or else its seconds."""
    start = time.perf_counter()
    measured = work()
    return time.perf_counter() - start if measured is None else measured


def reported(name: str, values: list[float], *, target: float | None, better: str = "lower", unit: str = "") -> Result:
    """Print the line of these values and return it."""
    middle = statistics.median(values)
    result = Result(name, middle, min(values), max(values), target, better, unit, len(values))
    print(result.line(), flush=True)
    return result


def output_of(code: str, *arguments: str) -> str:
    """Output of `code` in a fresh Python; compiled modules are cached as they are for a user."""
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def peak_memory(code: str, *arguments: str) -> float:
    """The most memory that `code` held in a fresh Python, in MiB; take a baseline's from it for the growth.

    The child reports its own peak: measured from the parent, it would start at the parent's size.
    """
    return float(output_of(code + _TELL_PEAK, *arguments).splitlines()[-1])


_TELL_PEAK = """
import resource, sys
try:
    with open("/proc/self/status") as status:
        peak = next(int(row.split()[1]) for row in status if row.startswith("VmHWM")) / 1024
except FileNotFoundError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
print("\\n%.3f" % peak)
"""
