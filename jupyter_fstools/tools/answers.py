"""Defines the types of the tools' `data`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ..documents.notebook import CellView, OutputSummary
from ..documents.text.line_index import Eol
from ..search.glob import FoundFiles
from ..search.query import OutputMode, TextMatch
from ..walking.stopping import Reason

Status = Literal["applied", "proposed", "unchanged"]


class ListedFile(BaseModel):
    """One entry of a folder."""

    path: str
    name: str
    is_directory: bool
    size_bytes: int | None = None
    modified_at: str


class ListFilesAnswer(BaseModel):
    """The data of a listing."""

    path: str
    entries: list[ListedFile]
    total: int
    truncated: bool
    next_offset: int | None
    not_entered: list[str]
    skipped: list[str]
    partial: Reason | None


class GlobAnswer(FoundFiles):
    """The data of a search for names."""

    path: str
    next_offset: int | None


class FileWithMatches(BaseModel):
    """One file, with the number of its matching lines in mode `count`."""

    path: str
    count: int | None = None


class GrepAnswer(BaseModel):
    """The data of a search: `matches` in mode `content`, else `files`; `total` is null where it was not counted."""

    path: str
    output_mode: OutputMode
    matches: list[TextMatch] | None = None
    files: list[FileWithMatches] | None = None
    total: int | None
    truncated: bool
    skipped: dict[str, int]
    ignored: int
    excluded: list[str]
    partial: Reason | None
    next_offset: int | None


class ShownFile(BaseModel):
    """The data of every file shown; `last_known`: a browser that holds unsaved changes of it did not answer."""

    success: Literal[True]
    path: str
    file_size: int
    truncated: bool
    unchanged: bool
    last_known: bool = False


class CutLine(BaseModel):
    """A line of which only a part is shown."""

    line: int
    column: int
    shown: int
    omitted: int


class TextAnswer(ShownFile):
    """Lines of a text file; no content where the reader has them already (`unchanged`)."""

    kind: Literal["text"]
    content: str | None
    total_lines: int | None
    lines_read: int
    start_line: int | None
    end_line: int | None
    next_offset: int | None
    eol: Eol | None
    encoding: str
    bom: bool
    final_newline: bool | None
    cut_lines: list[CutLine]


class PictureAnswer(ShownFile):
    """A picture, which is in `content`."""

    kind: Literal["image"]
    content: None
    mime_type: str
    shown_mime_type: str
    shown_bytes: int
    width: int
    height: int
    original_width: int
    original_height: int
    frames: int


class PageAnswer(BaseModel):
    """One page of a PDF."""

    page: int
    shown_as: Literal["text", "image", "blank", "broken"]
    text: str
    omitted_characters: int
    mime_type: str | None = None
    width: int | None = None
    height: int | None = None


class PdfAnswer(ShownFile):
    """Pages of a PDF."""

    kind: Literal["pdf"]
    content: str
    mime_type: str
    total_pages: int
    pages: list[PageAnswer]
    next_pages: str | None


class OutputAnswer(OutputSummary):
    """An output; where it was asked for by its index, the part of its text that is shown."""

    offset: int | None = None
    next_output_offset: int | None = None
    total_characters: int | None = None


class CellAnswer(CellView):
    """A cell; where one of its outputs was asked for, without its source."""

    source: str = ""
    outputs: list[OutputAnswer] = Field(default_factory=list)  # type: ignore[assignment]  # Summaries that say more.


class NotebookAnswer(ShownFile):
    """Cells of a notebook; its version is null where it names none."""

    kind: Literal["notebook"]
    content: None
    language: str
    nbformat: list[int | None]
    total_cells: int
    cells: list[CellAnswer]
    next_offset: int | None


ReadFileAnswer = TextAnswer | PictureAnswer | PdfAnswer | NotebookAnswer


class ChangedFile(BaseModel):
    """The data of every change of a file; `proposed` waits for a person."""

    path: str
    changed: bool
    status: Status
    change_id: str | None
    fingerprint: str | None


class WriteFileAnswer(ChangedFile):
    """The data of a written file."""

    created: bool
    bytes: int
    lines: int
    eol: Eol
    encoding: str


class EditedFileAnswer(BaseModel):
    """One file of an edit of several; `replacements` is per edit of this file."""

    path: str
    replacements: list[int]
    snippet: str
    outside_shown_lines: bool
    fingerprint: str | None


class EditFileAnswer(ChangedFile):
    """The data of edited files."""

    replacements: list[int]
    snippet: str
    outside_shown_lines: bool
    files: list[EditedFileAnswer]


class EditedCellAnswer(BaseModel):
    """One edit's cell after the batch."""

    cell_id: str
    index: int
    edit_mode: str


class RenamedCellAnswer(BaseModel):
    """A cell that has no id of its own, and that another edit gives another name."""

    old_id: str
    cell_id: str
    index: int


class EditedNotebookAnswer(BaseModel):
    """One notebook of an edit of several."""

    path: str
    cells: list[EditedCellAnswer]
    renamed: list[RenamedCellAnswer]
    total_renamed: int
    total_cells: int
    snippet: str
    outside_shown_lines: bool
    newer_pair: str | None
    fingerprint: str | None


class EditNotebookAnswer(ChangedFile, EditedNotebookAnswer):
    """The data of edited notebooks: of the first, and each in `files`."""

    files: list[EditedNotebookAnswer]


class UndoAnswer(BaseModel):
    """The data of an undo: the change that takes back the other."""

    path: str
    change: str
    undoes: str
    status: Literal["applied", "proposed"]


class ExecuteAnswer(BaseModel):
    """The data of a command that ran; `exit_code` is 128 + n where signal n ended it."""

    cwd: str
    output: str
    truncated: bool
    exit_code: int
    timed_out: bool
    cancelled: bool
    seconds: float
    changed_files: list[str]
    changed_files_truncated: bool
