"""Defines a text search: its question, files and answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ..backends.protocol import Backend, FileStat
from ..content.fingerprint import Fingerprint
from ..errors import Invalid
from ..globs.file_types import names_of_type
from ..globs.patterns import GlobPattern, glob_in
from ..walking.stopping import Reason

OutputMode = Literal["content", "files", "count"]
LARGEST_FILE = 32 << 20


class TextQuery(BaseModel):
    """A text search: the pattern, the files, and how much to answer.

    Attributes:
        pattern: a regular expression (`dialect.compile_expression` says which), or plain text with `literal`.
        glob: only files whose path below the folder searched fits; a leading `!` inverts it.
        file_type: only files of a kind ripgrep knows, such as `py`.
        case_insensitive: fold case.
        literal: take the pattern as plain text.
        multiline: let a match go over several lines. A match is listed under the line it begins on.
        before_lines: lines to show before each matching line.
        after_lines: lines to show after it.
        output_mode: `content` lists lines, `files` files, `count` files with the number of their matching lines.
        limit: entries in the page.
        offset: entries before the page.
        exact_total: search to the end, to say how much there is; else only until the page is full.
        include_hidden: names that begin with a dot as well.
        include_ignored: also files that ignore files or the default exclusions leave out.
        include_outputs: the text outputs of notebooks as well.
        max_file_bytes: larger files are passed over, unless one is named as the path.
        max_line_length: characters shown of one line.
        max_output_characters: once the matches hold so many, no further file is read for the page.
    """

    pattern: str
    glob: str | None = None
    file_type: str | None = None
    case_insensitive: bool = False
    literal: bool = False
    multiline: bool = False
    before_lines: int = 0
    after_lines: int = 0
    output_mode: OutputMode = "content"
    limit: int = 250
    offset: int = 0
    exact_total: bool = True
    include_hidden: bool = False
    include_ignored: bool = False
    include_outputs: bool = False
    max_file_bytes: int = LARGEST_FILE
    max_line_length: int = 500
    max_output_characters: int | None = None

    @property
    def is_choosy(self) -> bool:
        """Whether a glob or file type leaves out some files."""
        return self.glob is not None or self.file_type is not None

    def check_numbers(self) -> None:
        """Refuse numbers below zero.

        Raises:
            Invalid: names the field.
        """
        for name in ("before_lines", "after_lines", "limit", "offset"):
            if getattr(self, name) < 0:
                raise Invalid(f"{name}: takes a number from 0 up, not {getattr(self, name)}", field=name)


@dataclass(slots=True)
class TextMatch:
    """One matching line.

    Attributes:
        path: the file, from the root.
        line: its number, from 1; in a notebook within the cell's source (or the output's text).
        column: the character where the match begins, from 1.
        length: characters of the match.
        text: the line without its end, from `text_column` on where it was cut; with `multiline` all lines of the match.
        text_column: the column that `text` begins at; 1 unless it was cut.
        cut: characters of the line that `text` leaves out, before and after it.
        cut_lines: how many lines of the match `text` leaves out, at its end.
        before: the lines before it that no other match has shown, nearest last.
        after: the lines after it, up to the next match.
        cell_id: the notebook cell's id, as `read_notebook` shows it; None in other files.
        cell_index: the notebook cell's place, from 0.
        output_index: the output the line is from; None for a cell's source.
    """

    path: str
    line: int
    column: int
    length: int
    text: str
    text_column: int = 1
    cut: int = 0
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    cell_id: str | None = None
    cell_index: int | None = None
    output_index: int | None = None
    cut_lines: int = 0

    @property
    def last_line(self) -> int:
        """The number of the line on which the match ends."""
        return self.line + self.text.count("\n") + self.cut_lines

    @property
    def size(self) -> int:
        """The number of characters of all lines that it shows."""
        return len(self.text) + sum(map(len, self.before)) + sum(map(len, self.after))


class ReadVersion(NamedTuple):
    """The version of a file that a page's lines were read from.

    Attributes:
        stat: the file just before it was read.
        fingerprint: of the bytes read.
        total_lines: how many lines they have.
        final_newline: the last line ends with a newline.
    """

    stat: FileStat
    fingerprint: Fingerprint
    total_lines: int
    final_newline: bool


class MatchingFile(BaseModel):
    """One file, and how many of its lines match."""

    path: str
    count: int


class FoundText(BaseModel):
    """A page of what a text search found, ordered by path and line.

    Attributes:
        path: the folder or file searched, as matches show it; empty for the root.
        matches: the page in mode `content`.
        files: the page in the other modes.
        total: of what the mode lists: matching lines, or files; counted to the end unless `partial`. None: there are
            more than the page shows, and nobody wanted to know how many.
        truncated: there is more after this page, or the search ended early.
        skipped: files that were not searched, by reason: `binary` (holds a NUL), `large`, `unreadable`, `slow` (the
            pattern took too long on it), `long` (a line has too many bytes, or the file where a match may span lines),
            `notebook` (broken). A link counts as a file of its own name, as in matches.
        ignored: files and folders that an ignore file left out.
        excluded: names of folders that are passed over by default and were met.
        partial: why the search ended early; None if it is complete.
        versions: of the first text files on the page, by the path shown, the version that its lines are from.
        none_fits: there is no file that the glob and the file type let through.
        engine: which engine searched.
    """

    path: str
    matches: list[TextMatch] = Field(default_factory=list)
    files: list[MatchingFile] = Field(default_factory=list)
    total: int | None
    truncated: bool
    skipped: dict[str, int] = Field(default_factory=dict)
    ignored: int = 0
    excluded: list[str] = Field(default_factory=list)
    partial: Reason | None = None
    versions: dict[str, ReadVersion] = Field(default_factory=dict, exclude=True)
    none_fits: bool = False
    engine: Literal["ripgrep", "python"] = "python"


def file_filter(
    query: TextQuery, base: str, unwanted: GlobPattern | None
) -> Callable[[str, list[str]], list[str]] | None:
    """A function that chooses the files of a folder to search, by its path and their names; None: all are searched.

    Args:
        query: its `file_type`. The walk itself follows a glob that does not begin with `!`.
        base: canonical path of the folder searched.
        unwanted: the result of `unwanted_files`.

    Raises:
        Invalid: the file type.
    """
    of_type = names_of_type(query.file_type) if query.file_type is not None else None
    if of_type is None and unwanted is None:
        return None
    skip = len(base) + 1 if base and not (unwanted and unwanted.from_root) else 0

    def fitting(folder: str, names: list[str]) -> list[str]:
        if of_type is not None:
            names = of_type(names)
        kept_out = set(unwanted.matching(folder[skip:], names)) if unwanted else ()
        return [name for name in names if name not in kept_out] if kept_out else names

    return fitting


def unwanted_files(query: TextQuery, backend: Backend) -> GlobPattern | None:
    """The files that a `glob` with `!` leaves out; None if there is no such glob.

    Raises:
        Invalid: the glob.
    """
    if query.glob is None or not query.glob.startswith("!"):
        return None
    unwanted = glob_in(backend, query.glob[1:], include_hidden=True)
    if unwanted.malformed:
        raise unwanted.malformed
    return unwanted
