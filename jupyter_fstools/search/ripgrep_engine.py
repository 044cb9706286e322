"""Searching a disk with ripgrep: it says in which files how many lines match; what they say is read anew."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, TypeVar

from ..backends.local_disk import LocalDisk
from ..errors import FsToolsError
from .batches import Batch, Counted, EngineName, Part
from .dialect import Expression
from .folders import Folder, FolderTrail, look_at
from .match_lines import Hit
from .python_engine import PythonEngine
from .ripgrep_process import Ripgrep, Stopped
from .stopping import Stop
from .sweep import OPTIONS, Report, Touchstone, Wanted, can_be_told, path_of

NAMES_BYTES = 256 << 10
"""File names given to one run: systems take 1 to 2 MiB of arguments in all."""
LISTED_AT_ONCE = 100
"""Files whose matches over lines are listed in one run: all of what they hold may come back."""
RUNS_AT_ONCE = min(8, os.cpu_count() or 1)
LITTLE_FILES, LITTLE_BYTES = 200, 1 << 20
"""Up to here Python has read the files before ripgrep has been started."""
_NUL = r"\x00"
_LISTED = ("--no-ignore", "--hidden", "--text", "--threads=1")
"""For files given by name: what ripgrep would leave out by itself has been left out before."""
_T = TypeVar("_T")


class RipgrepEngine:
    """Counts the matching lines of files; see `Engine`.

    Ripgrep is given the folders that the walk came through, and looks at what lies directly in them. That may be more
    than is wanted, and only what is wanted counts; so nothing depends on how it reads ignore files or globs. Files
    that it cannot be told of like that are given by name, which takes up to three runs: which of them hold a match or
    a NUL (nearly all hold neither); which of those hold a NUL; how many lines of the others match.

    Args:
        backend: the disk.
        expression: what to look for.
        binary: the ripgrep program.
        stop: when to end.
        max_file_bytes: larger files are skipped.
        name_options: what names are wanted, in its words; None: that cannot be said in them.
        may_end_early: whoever asks may have enough after the first batches.
        small: takes over what is too little for programs to be started for it; None: ripgrep searches everything.
    """

    def __init__(
        self,
        backend: LocalDisk,
        expression: Expression,
        binary: str,
        stop: Stop,
        *,
        max_file_bytes: int,
        name_options: list[str] | None,
        may_end_early: bool = False,
        small: PythonEngine | None = None,
    ) -> None:
        self.name: EngineName = "ripgrep"
        self.hits_by_python = small is not None
        self._small = small
        self._multiline = expression.multiline
        self._pattern = [*(["--multiline"] if expression.multiline else []), "-e", expression.rust]
        self._name_options = name_options
        self._may_end_early = may_end_early
        self._stop = stop
        self._most = max_file_bytes
        self._backend = backend
        self._held = contextlib.ExitStack()
        root = self._held.enter_context(backend.opened_folder(""))
        self._ripgrep = Ripgrep(binary, root.dir_fd, backend.root_key, stop)
        self._touchstone: Touchstone | None = None
        self._runner = ThreadPoolExecutor(RUNS_AT_ONCE, "ripgrep")

    def take(self, folder: Folder, part: Part, batch: Batch) -> None:
        """Note them for later."""
        batch.add(part)

    def searched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches in the same order; some are searched while the walk goes on."""
        batches = iter(batches)
        head = list(islice(batches, 1 if self._may_end_early else 2))
        if self._small is not None and len(head) == 1 and self._is_little(head[0]):
            self.name = self._small.name
            yield self._small.search(head.pop())
        waiting: deque[Future[Batch]] = deque()
        for batch in chain(head, batches):
            self.name = "ripgrep"
            self._touchstone = self._touchstone or Touchstone(self._held, self._most)
            waiting.append(self._runner.submit(self._search, batch))
            while waiting and (waiting[0].done() or len(waiting) > RUNS_AT_ONCE):
                yield self._awaited(waiting.popleft())
        while waiting:
            yield self._awaited(waiting.popleft())

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of files, as many as asked for by canonical path; none if the search has been stopped."""
        bound = [] if self._multiline else [f"--max-count={max(most.values(), default=1)}"]
        found: dict[str, list[Hit]] = {}
        with contextlib.suppress(Stopped):
            for paths in _by_length(most):
                for path, hit in self._awaited(self._runner.submit(self._json, bound, paths)):
                    found.setdefault(path, []).append(hit)
        return {path: hits[: most[path]] for path, hits in found.items() if path in most}

    def close(self) -> None:
        """End the runs, give back the threads and the root's descriptor."""
        self._ripgrep.end()
        self._runner.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def _awaited(self, future: Future[_T]) -> _T:
        while True:
            try:
                return future.result(timeout=0.05)
            except TimeoutError:
                if self._stop.now():
                    self._ripgrep.end()

    def _is_little(self, batch: Batch) -> bool:
        if batch.size > LITTLE_FILES:
            return False
        sizes = [size for part in batch.parts for _, _, size in look_at(self._backend, part.paths)]
        return sum(sizes) + sum(file.size for _, file in batch.named) <= LITTLE_BYTES

    def _search(self, batch: Batch) -> Batch:
        """Search a batch; where it is stopped, what has been found by then counts."""
        parts, batch.parts = batch.parts, []
        swept: list[Part] = []
        left: list[str] = []
        for part in parts:
            if self._can_be_swept(part):
                swept.append(part)
            else:
                left += part.paths
        with contextlib.suppress(Stopped):
            if swept:
                left += self._sweep(Wanted(swept), batch)
            shown = [*((path, path) for path in left), *((shown, file.path) for shown, file in batch.named)]
            if shown:
                self._search_by_name(shown, batch)
        return batch

    def _can_be_swept(self, part: Part) -> bool:
        # Over several lines it counts other lines than it lists, and does not look for a NUL to the end.
        if self._multiline or self._name_options is None or part.left_out:
            return False
        return can_be_told(part.folder, part.names)

    def _sweep(self, wanted: Wanted, batch: Batch) -> list[str]:
        """Search folders one level deep; the files that have to be given by name after that."""
        assert self._touchstone is not None
        options = [*OPTIONS, f"--max-filesize={self._most}", *(self._name_options or []), *self._pattern]
        try:
            report = Report(self._ripgrep.run(options, [self._touchstone.folder, *wanted.folders]))
        except Stopped as stopped:
            batch.found += self._inside(Report(stopped.said), wanted)
            raise
        if not self._touchstone.is_told(report):
            return wanted.paths
        closed = [folder for folder in wanted.folders if folder in report.passed_over]
        batch.skipped.update(reason for path, reason in report.passed_over.items() if path in wanted)
        batch.found += self._inside(report, wanted)
        return wanted.paths_in(closed)

    def _inside(self, report: Report, wanted: Wanted) -> list[Counted]:
        """The files wanted that match, without those of a folder whose name has led elsewhere meanwhile."""
        matching = sorted(path for path in report.counts if path in wanted)
        found = []
        folder, is_there = None, False
        with FolderTrail(self._backend) as trail:
            for path in matching:
                if path.rpartition("/")[0] != folder:
                    folder = path.rpartition("/")[0]
                    is_there = _can_be_opened(trail, folder)
                if is_there:
                    found.append(Counted(path, path, report.counts[path]))
        return found

    def _search_by_name(self, shown: list[tuple[str, str]], batch: Batch) -> None:
        """Search files one by one: paths to show, with the files that they are."""
        paths = list({path: None for _, path in shown})
        passed_over: dict[str, str] = {}
        if not batch.whatever_size:
            looks = look_at(self._backend, paths)
            passed_over |= {path: "large" for _, path, size in looks if size > self._most}
            paths = [path for path in paths if path not in passed_over]
        counts: dict[str, int] = {}
        try:
            for some in _by_length(paths):
                self._count(some, counts, passed_over)
        finally:
            batch.found += [Counted(name, path, counts[path]) for name, path in shown if path in counts]
            batch.skipped.update(passed_over[path] for _, path in shown if path in passed_over)

    def _count(self, paths: list[str], counts: dict[str, int], passed_over: dict[str, str]) -> None:
        said = self._ripgrep.run([*_LISTED, "--files-with-matches", *self._pattern, "-e", _NUL], paths)
        passed_over |= Report(said).passed_over
        some = _listed(said.printed)
        if not some:
            return
        binary = set(_listed(self._ripgrep.run([*_LISTED, "--files-with-matches", "-e", _NUL], some).printed))
        passed_over |= dict.fromkeys(binary, "binary")
        text = [path for path in some if path not in binary]
        if self._multiline:
            for first in range(0, len(text), LISTED_AT_ONCE):
                counts |= Counter(path for path, _ in self._json([], text[first : first + LISTED_AT_ONCE]))
        elif text:
            counts |= Report(self._ripgrep.run([*_LISTED, "--count", *self._pattern], text)).counts

    def _json(self, options: list[str], paths: list[str]) -> list[tuple[str, Hit]]:
        said = self._ripgrep.run([*_LISTED, "--json", *options, *self._pattern], paths)
        found: list[tuple[str, Hit]] = []
        for row in said.printed.split(b"\n"):
            if self._stop.now():
                raise Stopped
            if row.startswith(b'{"type":"match"'):
                match = json.loads(row)["data"]
                path = path_of(_bytes(match["path"]))
                found += [(path, hit) for hit in _match_hits(match, every_line=self._multiline)]
        return found


def _can_be_opened(trail: FolderTrail, folder: str) -> bool:
    try:
        trail.at(folder)
    except (OSError, FsToolsError):
        return False
    return True


def _by_length(paths: Iterable[str]) -> Iterator[list[str]]:
    """The paths in lists that fit on a command line."""
    some: list[str] = []
    size = 0
    for path in paths:
        some.append(path)
        size += len(path) + 12
        if size >= NAMES_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _listed(printed: bytes) -> list[str]:
    return [path_of(path) for path in printed.split(b"\0")[:-1]]  # behind them there are statistics


def _bytes(value: dict[str, str]) -> bytes:
    """Text as ripgrep's JSON holds it: as it is, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _match_hits(found: dict[str, Any], *, every_line: bool) -> Iterator[Hit]:
    """The hit of one matched line; with `every_line` one for each line that a match begins on."""
    raw = _bytes(found["lines"])  # with every_line all the lines that follow each other
    line, line_start, previous = 0, 0, -1
    end_of_line = len(raw.removesuffix(b"\n"))  # where an empty match is that ripgrep does not list
    for match in found["submatches"] or [{"start": end_of_line, "end": end_of_line}]:
        start, end = match["start"], match["end"]
        if start == len(raw) and raw.endswith(b"\n"):
            continue
        counted, line_start = line_start, raw.rfind(b"\n", line_start, start) + 1 or line_start
        line += raw.count(b"\n", counted, line_start)
        if line != previous:
            yield found["line_number"] + line, _length(raw[line_start:start]), _length(raw[start:end]), -1
        if not every_line:
            return
        previous = line


def _length(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogateescape"))
