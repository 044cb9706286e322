"""Counts matching lines with Python, on any backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy

from ...backends.protocol import Backend, FileStat
from ...content.source import all_of
from ...errors import FsToolsError, NotFound, TooLarge
from ...walking.names import Folder, joined
from ...walking.stopping import Stop
from ...walking.trail import opened_folders
from ..batches import Batch, Counted, EngineName, Part
from ..decoding import decoded, is_utf16, text_blocks
from ..match_lines import Hit
from ..regex.dialect import Expression
from .matcher import Matcher, TooSlow


class PythonEngine:
    """Counts the matching lines of files one after the other; see `Engine`. Files are searched when they are taken."""

    name: EngineName = "python"
    hits_by_python = True

    def __init__(
        self, backend: Backend, expression: Expression, matcher: Matcher, stop: Stop, *, max_file_bytes: int
    ) -> None:
        self._backend = backend
        self._matcher = matcher
        self._over_lines = expression.over_lines
        self._required = expression.required.encode()
        self._stop = stop
        self._most = max_file_bytes
        self._patient = True

    def hurried(self) -> PythonEngine:
        """A copy that gives up on texts that may take long, for a caller that has a faster engine."""
        hurried = copy(self)
        hurried._patient = False
        return hurried

    def take(self, folder: Folder, part: Part, batch: Batch) -> None:
        """Search files of an open folder."""
        folder.expect(part.names, self._most, self._stop.now)
        for name in part.names:
            if self._stop.now():
                return
            try:
                raw = folder.read(name, self._most)
            except FileNotFoundError:
                continue
            except (OSError, FsToolsError):
                if self._stop.now():
                    return
                batch.skipped["large" if folder.larger([name], self._most) else "unreadable"] += 1
                continue
            lines = self._lines(raw, batch.skipped)
            if lines:
                path = joined(part.folder, name)
                batch.found.append(Counted(path, path, lines))

    def searched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, with their `named` files searched too."""
        for batch in batches:
            yield self.search(batch)

    def search(self, batch: Batch) -> Batch:
        """Search the files of a batch that are left."""
        parts, batch.parts = batch.parts, []
        for folder, part in opened_folders(self._backend, ((part.folder, part) for part in parts)):
            self.take(folder, part, batch)
        for shown, file in batch.named:
            if lines := self._lines_of_file(file, batch.skipped):
                batch.found.append(Counted(shown, file.path, lines))
        return batch

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """No hits: there are none for a text on which Python's matcher gives up."""
        return {}

    def close(self) -> None:
        """Do nothing: this engine holds no resources."""

    def _lines(self, raw: bytes | None, skipped: Counter[str]) -> int:
        """How many lines of a file match; `raw` is None for a file that is too large."""
        if raw is None:
            skipped["large"] += 1
            return 0
        if is_utf16(raw):
            text = decoded(raw)
            binary = "\0" in text
        else:
            binary = b"\0" in raw
            if not binary and self._required not in raw:
                return 0
            text = "" if binary else decoded(raw)
        if binary:
            skipped["binary"] += 1
            return 0
        return self._matching(text, skipped)

    def _lines_of_file(self, file: FileStat, skipped: Counter[str]) -> int:
        """The same of a file by its path, read in blocks if it is large, or as a whole where a match may span lines."""
        if self._stop.now():
            return 0
        total = 0
        try:
            with self._backend.read(file.path) as opened:
                if opened.size <= self._most:
                    return self._lines(all_of(opened), skipped)
                for text in text_blocks(opened, whole=self._over_lines):
                    if self._stop.now():
                        break
                    if "\0" in text:
                        skipped["binary"] += 1
                        return 0
                    total += self._matching(text, skipped)
        except NotFound:
            return 0
        except TooLarge:
            skipped["long"] += 1
            return 0
        except FsToolsError:
            skipped["unreadable"] += 1
        return total

    def _matching(self, text: str, skipped: Counter[str]) -> int:
        try:
            return self._matcher.find(text, 0, patient=self._patient)[0]
        except TooSlow:
            if not self._stop.now():
                skipped["slow"] += 1
            return 0
