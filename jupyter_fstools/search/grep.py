"""Lines that match: what the grep tool answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

from ..backends.local_disk import LocalDisk
from ..backends.protocol import Backend, FileStat, Kind
from ..errors import Denied, FsToolsError, Invalid, NotFound
from .decoding import text_blocks
from .dialect import Expression, compile_expression
from .excerpts import Place, excerpts
from .file_filter import file_filter
from .folders import joined
from .matcher import Matcher, TooSlow
from .notebook_cells import BrokenNotebook, is_notebook, notebooks_among
from .notebook_search import NotebookSearch
from .patterns import compile_glob
from .python_engine import PythonEngine
from .ripgrep_engine import RipgrepEngine
from .ripgrep_process import RipgrepFailed, Stopped, ripgrep_binary
from .stopping import Cancelled, Stop
from .sweep import area_of
from .text_query import FoundText, MatchingFile, TextMatch, TextQuery
from .walk import NoneDenied, Tally, Walk

Engine = PythonEngine | RipgrepEngine
EngineName = Literal["auto", "ripgrep", "python"]
MayRead = Callable[[str], bool] | None
GRACE_SECONDS = 2.0
"""What a search that ran out of time may still take to read the lines it has found."""


def search_text(
    backend: Backend,
    query: TextQuery,
    path: str = ".",
    *,
    may_read: MayRead = None,
    none_denied: NoneDenied = None,
    seconds: float | None = None,
    cancelled: Cancelled = None,
    engine: EngineName = "auto",
) -> FoundText:
    """Search the text of files.

    Both engines give the same answer. Which files are searched is decided here for both, whatever ripgrep walks over.
    Only a line feed ends a line; UTF-8, and UTF-16 with a byte order mark, are text; a file with a NUL is binary.

    Args:
        backend: where the files are.
        query: what to look for, and how much of it to answer.
        path: a folder, or one file, as the caller spells it. A file is searched even if it is ignored, hidden or large.
        may_read: whether a canonical path may be shown; None: every one.
        none_denied: a quick yes for many names in a folder, which spares asking for each.
        seconds: the time limit; what was found by then is returned and said to be partial.
        cancelled: an event or a function; once it is true the search ends.
        engine: `auto` takes ripgrep for a disk where there is one.

    Raises:
        Invalid: the pattern, the glob, the file type or a number.
        OutsideRoot, NotFound, Denied: the path.
    """
    query.check_numbers()
    expression = compile_expression(
        query.pattern,
        literal=query.literal,
        case_insensitive=query.case_insensitive,
        multiline=query.multiline,
    )
    start = _start(backend, path, may_read)
    stop = Stop(seconds, cancelled)
    binary = ripgrep_binary() if engine != "python" and isinstance(backend, LocalDisk) else None
    if engine == "ripgrep" and binary is None:
        raise Invalid("engine: there is no ripgrep here, or the files are on no disk")
    most = query.max_file_bytes

    def python(matcher: Matcher) -> PythonEngine:
        return PythonEngine(backend, expression, matcher, stop, max_file_bytes=most)

    if binary is not None and isinstance(backend, LocalDisk):
        disk, program, alone = backend, binary, engine == "ripgrep" or expression.degree is None

        def ripgrep(matcher: Matcher) -> RipgrepEngine:
            small = None if alone else python(matcher)
            return RipgrepEngine(disk, expression, program, stop, max_file_bytes=most, small=small)

        try:
            return _Search(backend, query, expression, (may_read, none_denied), stop).run(start, ripgrep)
        except RipgrepFailed as error:
            _refuse_pattern(error)
            if engine == "ripgrep":
                raise
    return _Search(backend, query, expression, (may_read, none_denied), stop).run(start, python)


def _start(backend: Backend, path: str, may_read: MayRead) -> FileStat:
    found = backend.stat(path)
    if found.path and may_read is not None and not may_read(found.path):
        raise Denied(f"{path}: a deny rule keeps this path closed")
    if found.kind == "missing":
        raise NotFound(f"{path}: no such file or folder", hint="list_files shows what is there.")
    if found.kind == "other":
        raise Denied(f"{path}: is a device, a FIFO or a socket")
    return found


def _refuse_pattern(error: RipgrepFailed) -> None:
    said = re.search(r"(?s)(regex parse error|error: )(.*)", str(error))
    if said and ("regex" in str(error) or "pattern" in str(error)):
        raise Invalid(f"pattern: {said[0].strip()[:1000]}", hint="literal=true takes the pattern as plain text.")


class _Search:
    """One search: the walk, the engine and the page that comes of them."""

    def __init__(
        self,
        backend: Backend,
        query: TextQuery,
        expression: Expression,
        policy: tuple[MayRead, NoneDenied],
        stop: Stop,
    ) -> None:
        self._backend = backend
        self._query = query
        self._expression = expression
        self._may_read, self._none_denied = policy
        self._stop = stop
        self._taken: dict[str, list[str]] = {}
        self._links: list[tuple[str, FileStat]] = []

    def run(self, start: FileStat, make: Callable[[Matcher], Engine]) -> FoundText:
        """Walk, search, and read the page."""
        with Matcher(self._expression, self._stop) as matcher:
            notebooks = NotebookSearch(self._backend, self._query, matcher, self._stop)
            engine = make(matcher)
            try:
                tally = self._take(start, engine, notebooks)
                engine.finish()
                found = self._shown(engine.counts | notebooks.counts)
                skipped = engine.skipped + notebooks.skipped + Counter(unreadable=tally.unreadable)
                answer = self._answer(found, skipped, tally, engine)
                if answer.partial == "timeout":
                    self._stop.extend(GRACE_SECONDS)
                if self._query.output_mode == "content" and answer.partial != "cancelled":
                    answer.matches = self._page(found, engine, notebooks)
            except BaseException as error:
                if not isinstance(error, RipgrepFailed):
                    self._stop.end()  # Programs still running would be waited for.
                raise
            finally:
                engine.close()
        return answer

    def _take(self, start: FileStat, engine: Engine, notebooks: NotebookSearch) -> Tally:
        if start.kind == "file":
            searcher = notebooks if is_notebook(start.path) else engine
            searcher.take_file(start, whatever_size=True)
            self._links.append((start.path, start))
            return Tally()
        fits = file_filter(self._query, start.path, self._backend.root_key)
        walk = self._walk(start.path, engine)
        for folder, files, links in walk:
            chosen = [name for name in files if fits(folder.path, name)] if fits else files
            cells = notebooks_among(chosen)
            self._taken[folder.path] = chosen
            if cells:
                notebooks.take(folder, cells)
            engine.take(folder, [name for name in chosen if not is_notebook(name)] if cells else chosen)
            self._links += [
                (joined(folder.path, name), to) for name, to in links if not fits or fits(folder.path, name)
            ]
            if self._stop.now():
                break
        for path, target in {target.path: target for _, target in self._links}.items():
            if not self._was_taken(path):
                (notebooks if is_notebook(path) else engine).take_file(target)
        return walk.tally

    def _walk(self, base: str, engine: Engine) -> Walk:
        glob = self._query.glob
        pattern = compile_glob(
            glob if glob is not None and not glob.startswith("!") else "**",
            include_hidden=self._query.include_hidden,
            root=self._backend.root_key,
        )
        if pattern.malformed:
            raise pattern.malformed
        base = "" if pattern.from_root else base
        engine.expect(area_of(self._query, pattern, base))
        return Walk(
            self._backend,
            base,
            pattern,
            include_ignored=self._query.include_ignored,
            may_read=self._may_read,
            none_denied=self._none_denied,
            stop=self._stop,
        )

    def _was_taken(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return name in self._taken.get(folder, ())

    def _shown(self, counts: dict[str, int]) -> list[tuple[str, str, int]]:
        """Path to show, canonical path and count of each file with matches, in order.

        A folder that is none any more, or a link by now, may have led ripgrep elsewhere: what it holds is left out.
        """
        folders = {path.rpartition("/")[0] for path in counts}
        there = {folder for folder in folders if self._is_there(folder, "directory")}
        counts = {path: count for path, count in counts.items() if path.rpartition("/")[0] in there}
        shown = {path: (path, path, count) for path, count in counts.items() if self._was_taken(path)}
        for path, target in self._links:
            if target.path in counts:
                shown[path] = (path, target.path, counts[target.path])
        return sorted(shown.values())

    def _answer(
        self, found: list[tuple[str, str, int]], skipped: Counter[str], tally: Tally, engine: Engine
    ) -> FoundText:
        query, lines = self._query, sum(count for _, _, count in found)
        total = lines if query.output_mode == "content" else len(found)
        page = found[query.offset : query.offset + query.limit] if query.output_mode != "content" else []
        return FoundText(
            files=[MatchingFile(path=path, count=count) for path, real, count in page if self._is_there(real)],
            total=total,
            total_lines=lines,
            truncated=query.offset + query.limit < total or self._stop.reason is not None,
            skipped={reason: number for reason, number in sorted(skipped.items()) if number},
            ignored=tally.ignored,
            excluded=sorted(tally.excluded),
            partial=self._stop.reason,
            engine=engine.name,
        )

    def _is_there(self, path: str, kind: Kind = "file") -> bool:
        """Whether a path still leads there by itself, through no link put there since."""
        try:
            found = self._backend.stat(path or ".")
        except FsToolsError:
            return False
        return found.path == path and found.kind == kind

    def _page(self, found: list[tuple[str, str, int]], engine: Engine, notebooks: NotebookSearch) -> list[TextMatch]:
        parts = list(self._parts(found))
        most = {real: part.stop + 1 for _, real, part in parts if not is_notebook(real)}
        try:
            hits = engine.hits(most) if most else {}
        except Stopped:
            return []
        matches: list[TextMatch] = []
        room, size = self._query.max_output_characters, 0
        for shown, real, part in parts:
            if room is not None and size > room:
                break
            before = len(matches)
            try:
                if is_notebook(real):
                    matches += notebooks.matches(real, shown, part)
                elif real in hits:
                    with self._backend.read(real) as opened:
                        blocks = text_blocks(opened, opened.size) if self._query.multiline else text_blocks(opened)
                        matches += excerpts(Place(shown), blocks, hits[real], part, self._query)
            except (FsToolsError, TooSlow, BrokenNotebook):
                continue  # changed since it was counted
            size += sum(match.size for match in matches[before:])
        return matches

    def _parts(self, found: list[tuple[str, str, int]]) -> Iterator[tuple[str, str, slice]]:
        """Which of each file's matching lines are on the page."""
        first, end = self._query.offset, self._query.offset + self._query.limit
        passed = 0
        for shown, real, count in found:
            if passed >= end:
                return
            part = slice(max(0, first - passed), min(count, end - passed))
            if part.start < part.stop:
                yield shown, real, part
            passed += count
