"""Counts matching lines with ripgrep, in batches of files and folders."""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, groupby
from typing import TypeVar

from ...backends.local_disk import LocalDisk
from ...walking.names import Folder, is_long, joined, may_be_long
from ...walking.stopping import Stop
from ...walking.trail import look_at, reachable
from ..batches import Batch, Counted, EngineName, Part
from ..decoding import binary_or_long
from ..match_lines import Hit
from ..python.engine import PythonEngine
from ..regex.dialect import Expression
from .folders import WholeFolders
from .json_rows import MatchRows
from .name_rules import NameRules
from .process import BEGINNING, NUL, Ripgrep, RipgrepFailed, Stopped, counts_of, listed, unreadable_at_end
from .run import LOOK_SECONDS

NAMES_BYTES = 256 << 10
"""Bytes of file names given to one run: systems take 1 to 2 MiB of arguments in all."""
LISTED_AT_ONCE = 100
"""Files whose matches over lines are listed in one run: the output may be as large as all of them."""
RUNS_AT_ONCE = min(8, os.cpu_count() or 1)
LITTLE_FILES, LITTLE_BYTES = 1000, 8 << 20
"""Files and bytes below which Python is faster than several runs of ripgrep, if all matches hold a known text, which is
searched for first."""
FEW_FILES, FEW_BYTES = 200, 1 << 20
"""The same limits for any other pattern."""
LONGEST_PATH_BYTES = 4096 - len(BEGINNING) - 1
"""Longest path that programs can open (`PATH_MAX` less the prefix); this package opens folder by folder instead."""
_LISTED = ("--no-ignore", "--hidden", "--text", "--threads=1")
"""Options for files given by name: the walk has already left out files that ripgrep would skip."""
_T = TypeVar("_T")


class RipgrepEngine:
    """Counts the matching lines of files; see `Engine`.

    The walk decides which files are searched, so that nothing depends on how ripgrep reads ignore files or globs.
    Ripgrep is given a whole folder if all files in it with fitting names are searched, and other files by name. These
    take up to three runs: which of them hold a match or a NUL (most hold neither); which of those hold a NUL; how many
    lines of the others match. If little is left after the first run, Python does the rest.

    Args:
        backend: the disk.
        expression: the pattern to search for.
        binary: the ripgrep program.
        stop: when to end.
        max_file_bytes: larger files are skipped.
        rules: choose the files of a folder that is searched as a whole; None: all files are given by name.
        python: searches batches that are too small for a program to pay off, and files whose paths are too long.
        alone: leave nothing to Python that ripgrep can search.
    """

    def __init__(
        self,
        backend: LocalDisk,
        expression: Expression,
        binary: str,
        stop: Stop,
        *,
        max_file_bytes: int,
        rules: NameRules | None = None,
        python: PythonEngine,
        alone: bool = False,
    ) -> None:
        self.name: EngineName = "ripgrep"
        self.hits_by_python = not alone
        self._python = python
        self._over_lines = expression.over_lines
        self._pattern = [*(["--multiline"] if self._over_lines else []), "-e", expression.rust]
        self._little_files, self._little_bytes = FEW_FILES, FEW_BYTES
        if expression.required or expression.folded:
            self._little_files, self._little_bytes = LITTLE_FILES, LITTLE_BYTES
        self._stop = stop
        self._most = max_file_bytes
        self._backend = backend
        self._held = contextlib.ExitStack()
        root = self._held.enter_context(backend.opened_folder(""))
        self._ripgrep = Ripgrep(binary, root.dir_fd, backend.root_key, stop)
        self._folders = WholeFolders(rules, self._ripgrep) if rules else None
        self._runner = ThreadPoolExecutor(RUNS_AT_ONCE, "ripgrep")

    def take(self, folder: Folder, part: Part, batch: Batch) -> None:
        """Note files for later, except large ones; files with long paths are searched at once."""
        if may_be_long(part.folder, LONGEST_PATH_BYTES):
            long = {name for name in part.names if is_long(joined(part.folder, name), LONGEST_PATH_BYTES)}
            self._python.take(folder, Part(part.folder, sorted(long)), batch)
            part = Part(part.folder, [name for name in part.names if name not in long])
        if not (self._folders and self._folders.can_search(part)):
            part = part._replace(complete=False)
            large = set(folder.larger(part.names, self._most))
            if large:
                batch.skipped["large"] += len(large)
                part = part._replace(names=[name for name in part.names if name not in large])
        batch.parts.append(part)

    def searched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, searched."""
        batches = iter(batches)
        first = next(batches, None)
        if first is None:
            return
        if first.size < self._little_files and (tried := self._by_python(first)) and not tried.skipped["slow"]:
            self.name = self._python.name
            yield tried
        else:
            batches = chain([first], batches)
        waiting: deque[Future[Batch]] = deque()
        for batch in batches:
            self.name = "ripgrep"
            waiting.append(self._begun(batch))
            while waiting and (waiting[0].done() or len(waiting) > RUNS_AT_ONCE):
                yield self._awaited(waiting.popleft())
        while waiting:
            yield self._awaited(waiting.popleft())

    def _begun(self, batch: Batch) -> Future[Batch]:
        """The search of a batch, in a thread; files with long paths are searched by Python first."""
        long = [each for each in batch.named if is_long(each[1].path, LONGEST_PATH_BYTES)]
        if long:
            by_python = self._python.search(replace(batch, parts=[], named=long))
            short = [each for each in batch.named if not is_long(each[1].path, LONGEST_PATH_BYTES)]
            batch = replace(by_python, parts=batch.parts, named=short)
        return self._submitted(self._search, batch)

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of files, see `Engine`; none if the search has been stopped."""
        bound = [] if self._over_lines else [f"--max-count={max(most.values(), default=1)}"]
        found: dict[str, list[Hit]] = {}
        with contextlib.suppress(Stopped):
            for paths in _by_length(path for path in most if not is_long(path, LONGEST_PATH_BYTES)):
                for path, hit in self._awaited(self._submitted(self._json, bound, paths)):
                    found.setdefault(path, []).append(hit)
        return {path: hits[: most[path]] for path, hits in found.items() if path in most}

    def close(self) -> None:
        """End the runs, and release the threads and the root's descriptor."""
        self._ripgrep.end()
        self._runner.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def _awaited(self, future: Future[_T]) -> _T:
        while True:
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if self._stop.now():
                    self._ripgrep.end()

    def _submitted(self, work: Callable[..., _T], *arguments: object) -> Future[_T]:
        try:
            return self._runner.submit(work, *arguments)
        except RuntimeError as error:  # No thread can be started.
            raise RipgrepFailed(str(error)) from error

    def _by_python(self, batch: Batch) -> Batch | None:
        """A copy of a batch, searched with Python; None if a program would be faster."""
        if not self.hits_by_python:
            return None
        sizes = [size for part in batch.parts for _, _, size in look_at(self._backend, part.paths)]
        if sum(sizes) + sum(file.size for _, file in batch.named) > self._little_bytes:
            return None
        return self._python.hurried().search(replace(batch, found=list(batch.found), skipped=batch.skipped.copy()))

    def _search(self, batch: Batch) -> Batch:
        """Search a batch; if the search is stopped, the results so far count."""
        parts, batch.parts = batch.parts, []
        named: list[tuple[str, str]] = []
        for name, file in batch.named:
            if reason := binary_or_long(self._backend, file, self._stop.now):
                batch.skipped[reason] += 1
            else:
                named.append((name, file.path))
        in_folders: dict[str, int] = {}
        counts: dict[str, int] = {}
        passed_over: dict[str, str] = {}
        given: list[str] = []
        with contextlib.suppress(Stopped):
            given = self._count_folders(parts, in_folders, batch.skipped)
            for some in _by_length(dict.fromkeys([*given, *(path for _, path in named)])):
                self._count(some, counts, passed_over)
        counts |= in_folders
        shown = [*((path, path) for path in chain(in_folders, given)), *named]
        there = set(reachable(self._backend, sorted(counts)))
        batch.found += [Counted(name, path, counts[path]) for name, path in shown if path in there]
        batch.skipped.update(passed_over[path] for _, path in shown if path in passed_over)
        return batch

    def _count_folders(self, parts: list[Part], counts: dict[str, int], skipped: Counter[str]) -> list[str]:
        """Search the folders that can be searched as a whole; returns the paths of all other files."""
        if self._folders is None:
            return [path for part in parts for path in part.paths]
        whole = {part.folder: part for part in parts if part.complete}
        left = [path for part in parts if part.folder not in whole for path in part.paths]
        for folders in _by_length(whole):
            some = [whole[folder] for folder in folders]
            try:
                found = self._folders.count(self._pattern, some, over_lines=self._over_lines)
            except RipgrepFailed:
                left += self._not_large(chain(*(part.paths for part in some)), skipped)
                continue
            skipped["binary"] += len(found.binary)
            counts |= self._lines_begun_on(list(found.lines)) if self._over_lines else found.lines
            for paths in _by_length(self._not_large(found.untold, skipped)):
                binary = set(self._with_nul(paths))
                skipped["binary"] += len(binary)
                left += [path for path in paths if path not in binary]
        return left

    def _not_large(self, paths: Iterable[str], skipped: Counter[str]) -> Iterator[str]:
        """The files that still exist and are not too large; ripgrep would wait for a FIFO in the place of one."""
        for _, path, size in look_at(self._backend, paths):
            if size <= self._most:
                yield path
            else:
                skipped["large"] += 1

    def _with_nul(self, paths: list[str]) -> list[str]:
        """The binary files among these."""
        return listed(self._ripgrep.output([*_LISTED, "--files-with-matches", "-e", NUL], paths)[0])

    def _count(self, paths: list[str], counts: dict[str, int], passed_over: dict[str, str]) -> None:
        options = [*_LISTED, "--files-with-matches"]
        printed, unreadable = self._ripgrep.output([*options, *self._pattern, "-e", NUL], paths)
        passed_over |= dict.fromkeys(unreadable, "unreadable")
        some = listed(printed)
        if not some:
            return
        if len(some) < self._little_files:
            folders = groupby(some, lambda path: path.rpartition("/")[0])
            parts = [Part(folder, [path.rpartition("/")[2] for path in paths]) for folder, paths in folders]
            tried = self._by_python(Batch(parts=parts))
            if tried and not tried.skipped:
                counts |= {file.path: file.lines for file in tried.found}
                return
        binary = set(self._with_nul(some))
        passed_over |= dict.fromkeys(binary, "binary")
        text = [path for path in some if path not in binary]
        if self._over_lines:
            counts |= self._lines_begun_on(text)
        elif text:
            counts |= counts_of(self._ripgrep.output([*_LISTED, "--count", *self._pattern], text)[0])

    def _lines_begun_on(self, paths: list[str]) -> dict[str, int]:
        """How many lines of each of these files begin a match, which may go over several lines."""
        counts = Counter[str]()
        for first in range(0, len(paths), LISTED_AT_ONCE):
            counts.update(path for path, _ in self._json([], paths[first : first + LISTED_AT_ONCE]))
        return counts

    def _json(self, options: list[str], paths: list[str]) -> list[tuple[str, Hit]]:
        rows = MatchRows(every_line=self._over_lines)
        found: list[tuple[str, Hit]] = []
        complaints: list[bytes] = []
        with self._ripgrep.started([*_LISTED, "--json", *options, *self._pattern], paths) as run:
            for block, complaint in run.said():
                complaints.append(complaint)
                for hit in rows.take(block):
                    if self._stop.now():
                        raise Stopped
                    found.append(hit)
            if run.code is None:
                raise Stopped
        unreadable_at_end(run.code, b"".join(complaints), paths)
        return found


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
