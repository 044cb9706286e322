"""Searching a disk with ripgrep: it says which lines match; what they say is read anew, inside the root."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

from ..backends.local_disk import LocalDisk
from ..backends.protocol import FileStat
from .dialect import Expression
from .folders import Folder, joined, look_at
from .match_lines import Hit
from .python_engine import PythonEngine
from .ripgrep_process import Stopped, run_ripgrep
from .stopping import Stop
from .sweep import Area, Swept

FIRST_BATCH_BYTES, BATCH_BYTES = 32 << 10, 256 << 10
"""File names given to the first run and, doubling, to later ones: systems take 1 to 2 MiB of arguments in all."""
RUNS_AT_ONCE = min(8, os.cpu_count() or 1)
"""Ripgrep searches files given by name one after the other; its own threads are for folders."""
LITTLE_FILES, LITTLE_BYTES = 200, 1 << 20
"""Up to here Python has read the files before ripgrep has been started four times."""
_Batch = tuple[dict[str, int], int, int]
"""Matching lines by path, unreadable files, binary files."""
_NUL = r"\x00"
_LISTED = ("--no-ignore", "--hidden", "--text", "--threads=1")
"""For files given by name: what ripgrep would leave out by itself has been left out before."""
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")


class RipgrepEngine:
    """Counts the matching lines of files. Attributes as in `PythonEngine`.

    Where it can be told what is wanted, ripgrep goes through the folder by itself while the walk goes on, and what it
    has not come across is searched afterwards, by name. A batch of names takes up to three runs: which files hold a
    match or a NUL (nearly all hold neither); which of those hold a NUL; how many lines of the others match.

    Args:
        backend: the disk.
        expression: what to look for.
        binary: the ripgrep program.
        stop: when to end.
        max_file_bytes: larger files are skipped.
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
        small: PythonEngine | None = None,
    ) -> None:
        self.name: Literal["ripgrep", "python"] = "ripgrep"
        self._small = small
        self._sizes = 0
        self.counts: dict[str, int] = {}
        self.skipped: Counter[str] = Counter()
        self._expression = expression
        self._pattern = ["--multiline"] if expression.multiline else []
        self._pattern += ["-e", expression.rust]
        self._binary = binary
        self._stop = stop
        self._most = max_file_bytes
        self._held = contextlib.ExitStack()
        self._backend = backend
        self._fd = self._held.enter_context(backend.opened_folder("")).dir_fd
        self._root = backend.root_key
        self._area: Area | None = None
        self._sweep: Future[tuple[bytes, bytes]] | None = None
        self._waiting: list[str] = []
        self._bytes = 0
        self._batch_bytes = FIRST_BATCH_BYTES
        self._runner = ThreadPoolExecutor(RUNS_AT_ONCE, "ripgrep")
        self._runs: list[Future[_Batch]] = []

    def expect(self, area: Area | None) -> None:
        """What the files that are taken from now on will be; None if it cannot be said."""
        # Over several lines ripgrep counts other lines than it lists: then there is more to do for each file.
        self._area = None if self._expression.multiline else area

    def take(self, folder: Folder, names: list[str]) -> None:
        """Search files of an open folder."""
        if self._area is not None and self._sweep is None and not (self._small and self._is_little()):
            self._sweep = self._runner.submit(self._go_through, self._area)
        if self._sweep is not None:
            self._waiting += [joined(folder.path, name) for name in names]
            return
        looks = folder.look(names)
        self._add([path for _, path, size in looks if size <= self._most], sum(size for _, _, size in looks))
        self.skipped["large"] += sum(size > self._most for _, _, size in looks)

    def take_file(self, file: FileStat, *, whatever_size: bool = False) -> None:
        """Search one file by its canonical path."""
        if file.size > self._most and not whatever_size:
            self.skipped["large"] += 1
        else:
            self._add([file.path], file.size)

    def finish(self) -> None:
        """Wait until everything taken has been searched.

        Raises:
            RipgrepFailed
        """
        if self._small is not None and not self._runs and self._is_little():
            self._hand_over(self._small)
            return
        if self._area is not None and self._sweep is not None:
            self._gather(self._area, self._sweep)
        self._submit()
        for run in self._runs:
            with contextlib.suppress(Stopped):
                counts, unreadable, binary = run.result()
                self.counts |= counts
                self.skipped.update(unreadable=unreadable, binary=binary)
        self._runs.clear()

    def close(self) -> None:
        """Give back the thread and the root's descriptor."""
        self._runner.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of files, as many as asked for by canonical path.

        Raises:
            RipgrepFailed, Stopped
        """
        if self.name == "python" and self._small is not None:
            return self._small.hits(most)
        bound = [] if self._expression.multiline else [f"--max-count={max(most.values(), default=1)}"]
        found: dict[str, list[Hit]] = {}
        for batch in _batches(list(most)):
            for path, hit in self._json(bound, batch):
                found.setdefault(path, []).append(hit)
        return {path: hits[: most[path]] for path, hits in found.items() if path in most}

    def _go_through(self, area: Area) -> tuple[bytes, bytes]:
        """Let ripgrep walk. It starts inside the folder: a link put in its place leads nowhere else."""
        options = ["--count", "--include-zero", "--stats", f"--max-filesize={self._most}", *area.options()]
        with self._backend.opened_folder(area.folder) as folder:
            path = f"{self._root.rstrip('/')}/{area.folder}"
            return run_ripgrep(self._binary, [*options, *self._pattern], [""], folder.dir_fd, path, self._stop)

    def _gather(self, area: Area, sweep: Future[tuple[bytes, bytes]]) -> None:
        """Take over what ripgrep found by itself; what it left open is searched by name.

        It reports text files, and of binary ones only how many: if it looked into as many files that it did not report
        as were taken, then those are binary.
        """
        taken, self._waiting = self._waiting, []
        try:
            printed, complaints = sweep.result()
        except Stopped as stopped:
            self.counts |= Swept(stopped.printed, area.folder).counts
            return
        swept = Swept(printed, area.folder)
        self.counts |= swept.counts
        left = [path for path in taken if path not in swept.texts]
        sure = not complaints and len(taken) - len(left) == len(swept.texts)
        if not sure or swept.searched != len(taken):
            left = self._fitting(left)
        if sure and swept.searched == len(swept.texts) + len(left):
            self.skipped["binary"] += len(left)
        else:
            self._waiting = left

    def _fitting(self, paths: list[str]) -> list[str]:
        """Those that are there and not too large."""
        looks = list(look_at(self._backend, paths))
        self.skipped["large"] += sum(size > self._most for _, _, size in looks)
        return [path for _, path, size in looks if size <= self._most]

    def _add(self, paths: list[str], size: int) -> None:
        self._sizes += size
        self._waiting += paths
        if self._area is not None:
            return
        self._bytes += sum(map(len, paths)) + 12 * len(paths)
        if self._bytes >= self._batch_bytes:
            self._submit()
            self._batch_bytes = min(2 * self._batch_bytes, BATCH_BYTES)

    def _is_little(self) -> bool:
        return len(self._waiting) <= LITTLE_FILES and self._sizes <= LITTLE_BYTES

    def _hand_over(self, small: PythonEngine) -> None:
        for path in self._waiting:
            small.take_path(path)
        self.name, self.counts = small.name, small.counts
        self.skipped += small.skipped

    def _submit(self) -> None:
        for batch in _batches(self._waiting):
            self._runs.append(self._runner.submit(self._search, batch))
        self._waiting, self._bytes = [], 0

    def _search(self, batch: list[str]) -> _Batch:
        if self._stop.now():
            raise Stopped
        printed, complaints = self._run(["--files-with-matches", *self._pattern, "-e", _NUL], batch)
        unreadable = sum(line.startswith(b"rg: ") and b"(os error 2)" not in line for line in complaints.split(b"\n"))
        some = _paths(printed)
        if not some:
            return {}, unreadable, 0
        binary = set(_paths(self._run(["--files-with-matches", "-e", _NUL], some)[0]))
        text = [path for path in some if path not in binary]
        return self._count(text) if text else {}, unreadable, len(binary)

    def _count(self, paths: list[str]) -> dict[str, int]:
        if self._expression.multiline:
            return dict(Counter(path for path, _ in self._json([], paths)))
        printed, _ = self._run(["--count", *self._pattern], paths)
        return {_name(path): int(count) for path, count in _COUNTED.findall(printed)}

    def _json(self, options: list[str], paths: list[str]) -> Iterator[tuple[str, Hit]]:
        printed, _ = self._run(["--json", *options, *self._pattern], paths)
        for row in printed.decode().split("\n"):  # what is no UTF-8 is in base64
            if row.startswith('{"type":"match"'):
                found = json.loads(row)["data"]
                path = _bytes(found["path"])
                for hit in _match_hits(found, every_line=self._expression.multiline):
                    yield _name(path), hit

    def _run(self, arguments: list[str], paths: list[str]) -> tuple[bytes, bytes]:
        return run_ripgrep(self._binary, [*_LISTED, *arguments], paths, self._fd, self._root, self._stop)


def _batches(paths: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += len(path) + 12
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _paths(printed: bytes) -> list[str]:
    return [_name(path) for path in printed.split(b"\0") if path]


def _name(path: bytes) -> str:
    return os.fsdecode(path.removeprefix(b"./"))


def _bytes(value: dict[str, str]) -> bytes:
    """Text as ripgrep's JSON holds it: as it is, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _match_hits(found: dict[str, Any], *, every_line: bool) -> Iterator[Hit]:
    """The hit of one matched line; with `every_line` one for each line that a match begins on."""
    raw = _bytes(found["lines"])
    previous = -1
    end_of_line = len(raw.removesuffix(b"\n"))  # where an empty match is that ripgrep does not list
    for match in found["submatches"] or [{"start": end_of_line, "end": end_of_line}]:
        start, end = match["start"], match["end"]
        if start == len(raw) and raw.endswith(b"\n"):
            continue
        line_start = raw.rfind(b"\n", 0, start) + 1
        line = raw.count(b"\n", 0, line_start)
        if line != previous:
            yield found["line_number"] + line, _length(raw[line_start:start]), _length(raw[start:end])
        if not every_line:
            return
        previous = line


def _length(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogateescape"))
