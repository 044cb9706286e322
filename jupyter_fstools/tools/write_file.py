"""write_file: creates a file, or overwrites one that was read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated

from pydantic import Field

from ..backends.protocol import OpenFile
from ..content.source import BytesContent, all_of
from ..content.splices import Splice, trimmed
from ..diffs.file_diff import FileDiff
from ..documents.notebook import NotebookDocument, is_notebook_name
from ..documents.notebook.schema import refuse_invalid_notebook
from ..documents.text.diff import diff_of_creation, diff_of_splices
from ..documents.text.disguises import has_line_numbers
from ..documents.text.encoding import UTF_8, TextEncoding, encoding_of, known_encoding
from ..documents.text.line_index import LineIndex
from ..documents.text.window import text_index
from ..documents.text.written_text import encoding_for, placeholder_line, require_declared
from ..errors import EncodingRefused, Invalid, NotebookRefused, TooLarge, counted, naming_file
from ..gate.draft import Draft, Step
from ..gate.notebook_steps import told_by_cells
from ..gate.policy import checked_path
from ..gate.workspace import Workspace
from ..stores.records import Change
from .arguments import Arguments, Flag, PathArgument, Text
from .change_result import written_result
from .tool import Tool, ToolResult, answer_named

_MOST_COMPARED_BYTES = 64 << 20


class WriteFileArguments(Arguments):
    """The arguments of write_file."""

    path: PathArgument
    content: Annotated[Text, Field(description="The whole content.")]
    create_only: Annotated[Flag, Field(description="Refuse if the file exists.")] = False
    encoding: Annotated[
        Text | None,
        Field(description="Encoding of a new file; by default what it declares, else UTF-8."),
    ] = None


def run(workspace: Workspace, arguments: WriteFileArguments) -> ToolResult:
    """Write a whole file through the gate.

    Raises:
        Invalid: a folder, or what is no whole text; TooLarge, EncodingRefused, NotebookRefused: the content; and as
            `Workspace.draft` and `Workspace.commit`
    """
    path = checked_path(arguments.path)
    if path.endswith(("/", "/.")) or path == ".":
        raise Invalid(f"path {path!r} names a folder, not a file", hint="Name the file to write.", field="path")
    _require_writable_text(workspace, arguments)
    # An empty notebook needs no receipt: it has nothing to show and nothing to lose.
    check = _EmptyNotebookCheck() if is_notebook_name(path) else None
    with workspace.draft(path, whole=True, may_create=True, exclusive=arguments.create_only, check=check) as draft:
        is_notebook = check is not None or is_notebook_name(draft.stat.path)
        if is_notebook:
            if draft.before is not None:
                _require_empty(draft.before)
            _require_notebook_encoding(arguments.encoding)
            refuse_invalid_notebook(arguments.content)
        remembered = draft.receipt.encoding if draft.receipt and not is_notebook else None
        encoding = _encoding(draft, remembered, arguments)
        named = arguments.encoding or remembered
        text = _with_file_endings(workspace, draft, encoding, arguments.content)
        data = encoding.bom + encoding.encode(text)
        if named is None:
            with naming_file(draft.stat.path):
                require_declared(BytesContent(data), draft.stat.path, encoding)
        _require_whole_text(draft, encoding, arguments.content)
        if is_notebook:
            _require_whole_sources(arguments.content)
        splices, diff = _difference(workspace, draft, encoding, data)
        step = Step(splices, diff, "write_file", named, written=text)
        if is_notebook:
            step = told_by_cells(step, None)
        change = workspace.commit(draft, step)
        if change is None:
            workspace.record_own_content(draft, text, named)
    return _result(draft, change, encoding, text, data)


def _require_writable_text(workspace: Workspace, arguments: WriteFileArguments) -> None:
    limit = workspace.limits.max_write_bytes
    size = len(arguments.content)
    if size <= limit:
        size = len(UTF_8.encode(arguments.content))
    if size > limit:
        raise TooLarge(
            f"content has {size} bytes or more; one call writes at most {limit}",
            hint="Write a smaller file, or write it in parts with `edit_file`.",
            size=size,
            limit=limit,
        )
    if "\0" in arguments.content:
        raise Invalid("content holds a NUL character", hint="Remove it; text files hold none.", field="content")


class _EmptyNotebookCheck:
    """Lets a notebook be written only if it is empty."""

    def receipt(self, numbers: Sequence[int], opened: OpenFile) -> None:
        """Return None, as an empty notebook needs no receipt.

        Raises:
            NotebookRefused
        """
        path = opened.stat.path
        if not is_notebook_name(path):
            raise NotebookRefused(
                f"the path is a link to {path}, which is not a notebook (.ipynb)",
                hint=f"Use `read_file` and `write_file` with path {path!r}.",
            )
        _require_empty(opened)


def _require_empty(opened: OpenFile) -> None:
    if opened.size:
        # One that cannot be read is refused with its fault and the way out: no other tool edits it either.
        NotebookDocument(opened)
        raise NotebookRefused(
            f"{opened.stat.path} is a notebook; its cells are edited one by one", hint="Use `edit_notebook`."
        )


def _require_notebook_encoding(named: str | None) -> None:
    encoding = known_encoding(named) if named is not None else None
    if encoding is not None and (encoding.bom or encoding.codec not in ("utf-8", "ascii")):
        raise NotebookRefused(
            f"a notebook is written in UTF-8 without a BOM, not in {(named or '')[:50]}",
            hint="Leave encoding out.",
        )


def _encoding(draft: Draft, remembered: str | None, arguments: WriteFileArguments) -> TextEncoding:
    """The encoding to write in: that in which the file was read, for a new, empty or ASCII one the one asked for.

    Raises:
        EncodingRefused: another one is asked for than the file has.
    """
    opened, path, asked = draft.before, draft.stat.path, arguments.encoding
    if opened is None or not opened.size:
        named = asked or remembered
        return known_encoding(named) if named else encoding_for(arguments.content, path)
    with naming_file(path):
        kept = encoding_of(opened, path, remembered)
        other = encoding_of(opened, path, asked) if asked else kept
        if other == kept or (other.is_utf8 and kept.is_utf8):
            return kept
        if not (_is_ascii_in(kept, opened) and _is_ascii_in(other, opened)):
            raise EncodingRefused(
                f"it was read as {kept.codec}, which an overwrite keeps",
                hint="Leave encoding out; only a new file can be written in another `encoding`.",
                encoding=kept.codec,
            )
    return other


def _is_ascii_in(encoding: TextEncoding, opened: OpenFile) -> bool:
    """Whether each byte of a file is the ASCII character with that number."""
    own = all(chr(byte).encode(encoding.codec, "replace") == bytes([byte]) for byte in range(1, 128))
    return own and not encoding.bom and all(bytes(chunk).isascii() for chunk in opened.chunks())


def _with_file_endings(workspace: Workspace, draft: Draft, encoding: TextEncoding, content: str) -> str:
    """The content with the line endings of most of the file's lines, or of each if all its lines are the file's."""
    text = content.removeprefix("\ufeff") if encoding.bom else content
    if draft.before is None or "\n" not in text:
        return text
    if encoding.counts_newline_bytes:
        index = workspace.versions.index(draft.before)
        index.scan_to_line(draft.before, 1 << 62)
    else:
        index = text_index(draft.before, encoding)
    if index.eol in ("cr", "none"):
        return text
    plain = text.replace("\r\n", "\n")
    if index.eol == "mixed" and draft.before.size <= _MOST_COMPARED_BYTES:
        old = all_of(draft.before)[len(encoding.bom) :].decode(encoding.codec, "replace")
        if old.replace("\r\n", "\n") == plain:  # A change of line endings alone is none.
            return old
    return plain.replace("\n", "\r\n") if index.mostly_crlf else plain


def _require_whole_text(draft: Draft, encoding: TextEncoding, content: str) -> None:
    """Refuse placeholders for omitted text, and copied line numbers, unless the file has the same text."""

    @cache
    def old() -> str:
        if draft.before is None:
            return ""
        return draft.before.read(0, min(draft.before.size, _MOST_COMPARED_BYTES)).decode(encoding.codec, "replace")

    line = placeholder_line(content, lambda line: line in old())
    if line is not None:
        raise Invalid(
            f"content holds a placeholder instead of text: {line.strip()[:100]!r}",
            hint="Write out the whole file, or change a part of it with `edit_file`.",
            field="content",
        )
    if has_line_numbers(content, old):
        raise Invalid(
            "content begins each line with its line number",
            hint="Leave out the numbers and the tab after each: they are not part of the file.",
            field="content",
        )


def _require_whole_sources(content: str) -> None:
    """Refuse placeholders in the cells of a new notebook, whose lines are strings in the content."""
    for cell in NotebookDocument(BytesContent(content.encode())).cells:
        line = placeholder_line(cell.source, lambda line: False)
        if line is not None:
            raise Invalid(
                f"the cell at index {cell.index} holds a placeholder instead of text: {line.strip()[:100]!r}",
                hint="Write out the whole cell.",
                field="content",
                index=cell.index,
            )


def _difference(
    workspace: Workspace, draft: Draft, encoding: TextEncoding, data: bytes
) -> tuple[list[Splice], FileDiff]:
    if draft.before is None:
        return [Splice(0, b"", data)], diff_of_creation(draft.stat.path, "create", data, encoding)
    opened = draft.before
    if opened.size > _MOST_COMPARED_BYTES:
        raise TooLarge(
            f"{draft.stat.path} has {opened.size} bytes; files above {_MOST_COMPARED_BYTES} are not overwritten whole",
            hint="Change parts of it with `edit_file`, or write another file.",
            size=opened.size,
            limit=_MOST_COMPARED_BYTES,
        )
    splices = trimmed(all_of(opened), data)
    line_at = workspace.versions.line_at(opened)
    return splices, diff_of_splices(draft.stat.path, "overwrite", opened, splices, encoding, line_at)


def _result(draft: Draft, change: Change | None, encoding: TextEncoding, text: str, data: bytes) -> ToolResult:
    index = LineIndex(0)
    index.count(text.encode("utf-8"))
    facts = {"bytes": len(data), "lines": index.total_lines, "eol": index.eol, "encoding": encoding.codec}
    return written_result(draft, change, f"{counted(index.total_lines, 'line')}, {counted(len(data), 'byte')}", facts)


WRITE_FILE = Tool(
    name="write_file",
    title="Write a file",
    description=(
        "Create a file, or overwrite one that was read completely in this session and has not changed since; its "
        "encoding and line endings are kept, missing folders are made. To change a part use edit_file."
    ),
    arguments=WriteFileArguments,
    run=run,
    reads_only=False,
    destructive=True,
    idempotent=True,
    answer=answer_named("WriteFileAnswer"),
)
