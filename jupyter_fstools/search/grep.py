"""Searches the text of files and returns one page of matching lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..backends.local_disk import LocalDisk
from ..backends.protocol import Backend, FileStat, ReadsAhead
from ..documents.notebook import is_notebook_name
from ..errors import FsToolsError, InputOutput, Invalid
from ..globs.patterns import GlobPattern, glob_in
from ..walking.listing import EVERYTHING, Visible
from ..walking.names import joined
from ..walking.stopping import Cancelled, Stop, check_descriptors, refusing_too_many_open
from ..walking.walk import Tally, Walk
from .batches import Batch, Counted, Engine, EngineName, Part, notebooks_among
from .decoding import MOST_AT_ONCE
from .notebooks import NotebookSearch
from .page import MatchingFiles, Page
from .python.engine import PythonEngine
from .python.matcher import Matcher
from .query import FoundText, MatchingFile, TextQuery, file_filter, unwanted_files
from .regex.dialect import Expression, compile_expression
from .ripgrep.engine import LITTLE_FILES, RipgrepEngine
from .ripgrep.name_rules import name_rules
from .ripgrep.process import RipgrepFailed, is_since, ripgrep_binary
from .start import start_of

GRACE_SECONDS = 2.0
"""Extra time in which a search that timed out reads the lines it has found."""
FIRST_BATCH, LARGEST_BATCH = 200, 8000
"""Files in the first and in the largest batch: few at first, so that all cores and the first answers start early."""


@refusing_too_many_open()
def search_text(
    backend: Backend,
    query: TextQuery,
    path: str = ".",
    *,
    visible: Visible = EVERYTHING,
    seconds: float | None = None,
    cancelled: Cancelled = None,
    engine: Literal["auto", "ripgrep", "python"] = "auto",
) -> FoundText:
    """Search the text of files.

    Both engines give the same answer: one walk chooses the files for both.
    Only a line feed ends a line; UTF-8, and UTF-16 with a byte order mark, are text; a file with a NUL is binary.

    Args:
        backend: where the files are.
        query: the pattern and options, and the page to return.
        path: a folder, or one file, as the caller spells it. A file is searched even if it is ignored, hidden or large;
            one that was named by a link is shown under the link's name.
        visible: decides what is shown.
        seconds: the time limit; a search that reaches it returns a partial result and says so.
        cancelled: an event or a function; once it is true the search ends.
        engine: `auto` uses ripgrep for a disk if it is installed.

    Raises:
        Invalid: the pattern, the glob, the file type or a number.
        OutsideRoot, NotFound, Denied: the path.
        InputOutput: too many files are open, or ripgrep alone was asked for and failed.
    """
    query.check_numbers()
    expression = compile_expression(
        query.pattern,
        literal=query.literal,
        case_insensitive=query.case_insensitive,
        multiline=query.multiline,
    )
    query = query.model_copy(update={"multiline": expression.over_lines})  # Otherwise lines are searched one by one.
    shown, start = start_of(backend, path, visible)
    stop = Stop(seconds, cancelled)
    binary = ripgrep_binary() if engine != "python" and isinstance(backend, LocalDisk) else None
    if engine == "ripgrep" and binary is None:
        raise Invalid("engine: ripgrep is not installed, or the files are not on this machine")
    if binary is not None and not is_since(binary, expression.oldest):
        binary = None
    search = _Search(backend, query, expression, visible, stop, shown, start)
    if binary is not None:
        try:
            return search.run(binary, alone=engine == "ripgrep")
        except RipgrepFailed as error:
            _refuse_pattern(error)
            if engine == "ripgrep":
                raise InputOutput(f"ripgrep failed: {error}", hint='engine="auto" searches without it.') from error
    return search.run(None)


def _refuse_pattern(error: RipgrepFailed) -> None:
    said = re.search(r"(?s)(regex parse error|error: )(.*)", str(error))
    if said and ("regex" in str(error) or "pattern" in str(error)):
        raise Invalid(f"pattern: {said[0].strip()[:1000]}", hint="`literal=true` takes the pattern as plain text.")


def _told(skipped: Counter[str]) -> dict[str, int]:
    return {reason: number for reason, number in sorted(skipped.items()) if number}


class _Search:
    """One search: the walk, the engine and the resulting page."""

    def __init__(
        self,
        backend: Backend,
        query: TextQuery,
        expression: Expression,
        visible: Visible,
        stop: Stop,
        shown: str,
        start: FileStat,
    ) -> None:
        self._backend = backend
        self._query = query
        self._expression = expression
        self._visible = visible
        self._stop = stop
        self._shown = shown
        self._start = start
        self._chosen = 1
        unwanted = unwanted_files(query, backend)
        self._fitting = file_filter(query, start.path, unwanted)
        glob = "**" if query.glob is None or unwanted else query.glob
        self._pattern: GlobPattern = glob_in(backend, glob, include_hidden=query.include_hidden)
        if self._pattern.malformed:
            raise self._pattern.malformed
        self._rules = name_rules(self._pattern, query, unwanted)
        self._tells_all = unwanted is None or (self._rules is not None and self._rules.tells_unwanted)

    def run(self, binary: str | None, *, alone: bool = False) -> FoundText:
        """Walk, search, and read the page.

        Args:
            binary: the ripgrep program; None: search with Python.
            alone: let ripgrep search small batches, too.

        Raises:
            RipgrepFailed: its results are discarded.
        """
        with Matcher(self._expression, self._stop) as matcher:
            notebooks = NotebookSearch(self._backend, self._query, matcher, self._stop)
            walk = self._walk() if self._start.kind == "directory" else None
            engine = self._engine(binary, matcher, alone=alone)
            files = self._batches(walk, engine) if walk else self._one_file()
            found, skipped = MatchingFiles(self._query), Counter[str]()
            try:
                full = self._gather(engine.searched(files), notebooks, found, skipped)
                answer = self._answer(found, skipped, walk.tally if walk else Tally(), engine.name)
                if full:
                    answer.total = None
                if answer.partial == "timeout":
                    self._stop.extend(GRACE_SECONDS)
                if self._query.output_mode == "content" and answer.partial != "cancelled":
                    page = Page(self._backend, self._query, engine, matcher, notebooks, self._stop)
                    answer.matches = page.matches(found.parts())
                    answer.versions = page.versions
                    answer.skipped = _told(skipped + Counter(slow=page.slow))
                    if self._stop.reason is not None:
                        answer.partial, answer.truncated = answer.partial or self._stop.reason, True
            except BaseException as error:
                if not isinstance(error, RipgrepFailed):
                    self._stop.end()  # Otherwise `close` would wait for programs that still run.
                raise
            finally:
                engine.close()
        return answer

    def _engine(self, binary: str | None, matcher: Matcher, *, alone: bool) -> Engine:
        most = self._query.max_file_bytes
        python = PythonEngine(self._backend, self._expression, matcher, self._stop, max_file_bytes=most)
        if binary is None or not isinstance(self._backend, LocalDisk):
            return python
        return RipgrepEngine(
            self._backend,
            self._expression,
            binary,
            self._stop,
            max_file_bytes=most,
            rules=self._rules,
            python=python,
            alone=alone or self._expression.degree is None,
        )

    def _gather(
        self, batches: Iterator[Batch], notebooks: NotebookSearch, found: MatchingFiles, skipped: Counter[str]
    ) -> bool:
        """Collect the results; True if the search was ended because the page is full."""
        for batch in batches:
            notebooks.search(batch)
            found.add(batch.found)
            skipped.update(batch.skipped)
            if found.fill_the_page and not self._query.exact_total:
                return True
        return False

    def _one_file(self) -> Iterator[Batch]:
        file = self._start
        batch = Batch(size=1)
        as_a_whole = is_notebook_name(file.path) or self._expression.over_lines
        if as_a_whole and file.size > MOST_AT_ONCE:
            batch.skipped["long"] += 1
        else:
            batch.add_file(self._shown, file)
        yield batch

    def _batches(self, walk: Walk, engine: Engine) -> Iterator[Batch]:
        """The files to search, in the order of paths if the search may end early."""
        fitting = self._fitting
        batch, most = Batch(), LITTLE_FILES if self._query.exact_total else FIRST_BATCH
        self._chosen = 0
        for folder, files, links, complete in walk:
            chosen = fitting(folder.path, files) if fitting else files
            cells = notebooks_among(chosen)
            if cells:
                batch.notebooks.append(Part(folder.path, cells))
            texts = [name for name in chosen if not is_notebook_name(name)] if cells else chosen
            if texts:
                told = self._tells_all or len(chosen) == len(files)
                engine.take(folder, Part(folder.path, texts, complete and told), batch)
            for name, target in links:
                if not fitting or fitting(folder.path, [name]):
                    self._chosen += 1
                    if target.size > self._query.max_file_bytes:
                        batch.skipped["large"] += 1
                    else:
                        batch.add_file(joined(folder.path, name), target)
            self._chosen += len(chosen)
            batch.size += len(chosen) + len(links)
            if batch.size >= most:
                yield batch
                batch, most = Batch(), min(2 * most, LARGEST_BATCH)
        if batch.size:
            yield batch

    def _walk(self) -> Walk:
        return Walk(
            self._backend,
            "" if self._pattern.from_root else self._start.path,
            self._pattern,
            include_ignored=self._query.include_ignored,
            visible=self._visible,
            in_order=not self._query.exact_total,
            stop=self._stop,
        )

    def _answer(self, found: MatchingFiles, skipped: Counter[str], tally: Tally, engine: EngineName) -> FoundText:
        page = found.page() if self._query.output_mode != "content" else []
        skipped["unreadable"] += tally.unreadable
        return FoundText(
            path=self._shown,
            files=[MatchingFile(path=file.shown, count=file.lines) for file in page if self._is_there(file)],
            total=found.total,
            truncated=found.fill_the_page or self._stop.reason is not None,
            skipped=_told(skipped),
            ignored=tally.ignored,
            excluded=sorted(tally.excluded),
            partial=self._stop.reason,
            none_fits=not self._chosen and self._query.is_choosy,
            engine=engine,
        )

    def _is_there(self, file: Counted) -> bool:
        """Whether the file is still at its path, without a link put in its way since."""
        if isinstance(self._backend, ReadsAhead):
            return True  # It has no links, and each look would be a request.
        try:
            found = self._backend.stat(file.path)
        except FsToolsError as error:
            check_descriptors(error.__cause__)
            return False
        return found.path == file.path and found.kind == "file"
