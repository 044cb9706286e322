"""Searching with Python alone: for backends that are no disk, and where there is no ripgrep."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError, NotFound
from .decoding import decoded, text_blocks
from .dialect import Expression
from .folders import Folder, joined
from .match_lines import Hit
from .matcher import Matcher, TooSlow
from .stopping import Stop
from .sweep import Area

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class PythonEngine:
    """Counts the matching lines of files one after the other.

    Attributes:
        counts: matching lines by canonical path, for files that have some.
        skipped: files that were not searched, by reason.
    """

    name: Literal["python"] = "python"

    def __init__(
        self, backend: Backend, expression: Expression, matcher: Matcher, stop: Stop, *, max_file_bytes: int
    ) -> None:
        self.counts: dict[str, int] = {}
        self.skipped: Counter[str] = Counter()
        self._backend = backend
        self._matcher = matcher
        self._multiline = expression.multiline
        self._required = expression.required.encode()
        self._stop = stop
        self._most = max_file_bytes

    def expect(self, area: Area | None) -> None:
        """Every file is searched when it is taken."""

    def take(self, folder: Folder, names: list[str]) -> None:
        """Search files of an open folder."""
        for name in names:
            if self._stop.now():
                return
            try:
                raw = folder.read(name, self._most)
            except FileNotFoundError:
                continue
            except (OSError, FsToolsError):
                self.skipped["unreadable"] += 1
                continue
            if raw is None:
                self.skipped["large"] += 1
            else:
                self._count(folder.path, name, raw)

    def take_file(self, file: FileStat, *, whatever_size: bool = False) -> None:
        """Search one file by its canonical path."""
        if file.size > self._most and not whatever_size:
            self.skipped["large"] += 1
        else:
            self.take_path(file.path)

    def take_path(self, path: str) -> None:
        """Search one file of whatever size."""
        if self._stop.now():
            return
        try:
            with self._backend.read(path) as opened:
                if opened.size <= self._most:
                    self._count("", path, opened.read(0, opened.size))
                else:
                    self._count_blocks(path, opened.size)
        except NotFound:
            return
        except FsToolsError:
            self.skipped["unreadable"] += 1

    def finish(self) -> None:
        """Everything taken has been searched already."""

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of files, as many as asked for by canonical path."""
        return {path: found for path, number in most.items() if (found := self._hits(path, number))}

    def close(self) -> None:
        """Nothing is held."""

    def _count(self, folder: str, name: str, raw: bytes) -> None:
        if raw.startswith(UTF16_MARKS):
            text = decoded(raw)
            binary = "\0" in text
        else:
            binary = b"\0" in raw
            if not binary and self._required not in raw:
                return
            text = "" if binary else decoded(raw)
        if binary:
            self.skipped["binary"] += 1
            return
        try:
            count, _ = self._matcher.find(text, 0)
        except TooSlow:
            self._slow()
            return
        if count:
            self.counts[joined(folder, name)] = count

    def _count_blocks(self, path: str, size: int) -> None:
        """A file that was named although it is large: in blocks, but whole where a match may go over their edges."""
        total = 0
        try:
            with self._backend.read(path) as opened:
                for text in text_blocks(opened, size) if self._multiline else text_blocks(opened):
                    if "\0" in text:
                        self.skipped["binary"] += 1
                        return
                    total += self._matcher.find(text, 0)[0]
        except TooSlow:
            self._slow()
        if total:
            self.counts[path] = total

    def _slow(self) -> None:
        if not self._stop.now():
            self.skipped["slow"] += 1

    def _hits(self, path: str, most: int) -> list[Hit]:
        found: list[Hit] = []
        before = 0
        try:
            with self._backend.read(path) as opened:
                for text in text_blocks(opened, opened.size) if self._multiline else text_blocks(opened):
                    _, hits = self._matcher.find(text, most - len(found))
                    found += [(line + before, column, length) for line, column, length in hits]
                    before += text.count("\n")
                    if len(found) >= most:
                        break
        except (TooSlow, FsToolsError):
            pass
        return found
