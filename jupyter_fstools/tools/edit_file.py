"""edit_file: replaces exact strings, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ..backends.protocol import OpenFile
from ..content.splices import Splice, SplicedContent
from ..diffs.file_diff import FileDiff
from ..diffs.line_diff import grouped
from ..documents.media.media_types import HEAD_BYTES, PDF, media_type
from ..documents.text.declared_encoding import require_declared
from ..documents.text.diff import ChangedLines, changed_lines, diff_of_changes, line_numbers
from ..documents.text.edits import EditOutcome, TextEdit, apply_edits
from ..documents.text.encoding import TextEncoding, Utf8View, encoding_of
from ..documents.text.shown_lines import shown_body
from ..errors import Binary, Invalid, NotebookRefused, NotRead, naming_file
from ..gate.draft import Draft, Step
from ..gate.policy import checked_path
from ..gate.workspace import Workspace
from ..stores.records import Change, Receipt
from .arguments import Arguments, Flag, PathArgument, Text
from .tool import Tool, ToolResult, text_block

_SNIPPET_ROWS = 40
_SNIPPET_CHARACTERS = 200
_SNIPPET_CONTEXT = 4
_OUTSIDE_NAMED = 20

OldString = Annotated[
    Text,
    Field(
        description="The exact text to replace.",
    ),
]
NewString = Annotated[
    Text,
    Field(
        description="Its replacement; empty deletes it.",
    ),
]
ReplaceAll = Annotated[
    Flag,
    Field(
        description="Replace every occurrence.",
    ),
]


class OneEdit(Arguments):
    """One replacement."""

    old_string: OldString
    new_string: NewString
    replace_all: ReplaceAll = False


class EditFileArguments(Arguments):
    """What edit_file takes: a list of edits, or the fields of one at top level."""

    path: PathArgument
    edits: Annotated[
        list[OneEdit] | None,
        Field(description="Applied in order, each to the result of the one before; all or nothing."),
    ] = None
    old_string: OldString | None = None
    new_string: NewString | None = None
    replace_all: ReplaceAll = False
    if_stale: Annotated[
        Literal["refuse", "match"],
        Field(
            description="match: where the file changed since it was read, go on if every old_string still occurs once."
        ),
    ] = "refuse"

    @model_validator(mode="after")
    def _one_form(self) -> EditFileArguments:
        single = self.old_string is not None or self.new_string is not None or "replace_all" in self.model_fields_set
        if self.edits is not None and single:
            raise ValueError("give either edits or old_string and new_string, not both")
        if self.edits is None and (self.old_string is None or self.new_string is None):
            missing = "old_string" if self.old_string is None else "new_string"
            raise ValueError(f"{missing} is required (or a list of edits)")
        return self

    def text_edits(self) -> list[TextEdit]:
        """The edits, whichever form they came in."""
        if self.edits is not None:
            return [TextEdit(one.old_string, one.new_string, one.replace_all) for one in self.edits]
        assert self.old_string is not None and self.new_string is not None
        return [TextEdit(self.old_string, self.new_string, self.replace_all)]


def run(workspace: Workspace, arguments: EditFileArguments) -> ToolResult:
    """Edit a text file through the gate."""
    edits = arguments.text_edits()
    match_stale = arguments.if_stale == "match"
    if match_stale and any(edit.replace_all for edit in edits):
        raise Invalid(
            'if_stale: "match" cannot be combined with replace_all',
            hint="Read the file again, or replace one place at a time.",
            field="if_stale",
        )
    if checked_path(arguments.path).lower().endswith(".ipynb"):
        raise _notebook(arguments.path)
    with workspace.draft(arguments.path, accept_stale=match_stale) as draft:
        if draft.stat.path.lower().endswith(".ipynb"):
            raise _notebook(draft.stat.path)
        assert draft.before is not None and draft.receipt is not None
        _refuse_shown_as_picture(draft.before, draft.receipt)
        with naming_file(draft.stat.path):
            encoding = encoding_of(draft.before, draft.stat.path, draft.receipt.encoding)
            outcome = apply_edits(Utf8View(draft.before, encoding), edits)
            if draft.receipt.encoding is None:
                require_declared(SplicedContent(draft.before, outcome.splices), draft.stat.path, encoding)
        shown = draft.receipt
        if match_stale and _has_changed(workspace, draft):
            shown, draft.receipt = _receipts_of_changed(workspace, draft.receipt, edits)
        diff, snippet, outside = _effect(workspace, draft, shown, outcome.splices, encoding)
        if outside and workspace.rules.refuse_unseen_edits:
            raise NotRead(
                f"the match at line {outside[0]} of {draft.stat.path} lies outside every line shown to this session",
                hint=f"Read around line {outside[0]} first.",
                lines=outside,
            )
        change = workspace.commit(draft, Step("edit", outcome.splices, diff, "edit_file", encoding=shown.encoding))
    return _result(draft, outcome, snippet, change, outside)


def _notebook(path: str) -> NotebookRefused:
    return NotebookRefused(
        f"{path} is a notebook; editing its JSON as text would break it",
        hint="Edit its cells with `edit_notebook`.",
    )


def _refuse_shown_as_picture(opened: OpenFile, receipt: Receipt) -> None:
    """Refuse a picture, and a PDF of which only the pages were shown: they do not tell what its text says.

    Raises:
        Binary
    """
    kind = media_type(opened.read(0, HEAD_BYTES))
    if kind is None or receipt.encoding is not None or receipt.lines or receipt.full:
        return
    hint = "Edit what it was made from; a picture or PDF is only looked at."
    if kind == PDF:
        hint += " Where it was written as text, read it with an encoding (such as utf-8) first, then edit that text."
    raise Binary(f"{opened.stat.path} is {kind}: it was shown as it looks, not as text", hint=hint, media_type=kind)


def _effect(
    workspace: Workspace, draft: Draft, shown: Receipt, splices: Sequence[Splice], encoding: TextEncoding
) -> tuple[FileDiff, str, list[int]]:
    """The diff, the snippet, and the lines that were changed unseen."""
    assert draft.before is not None
    path, opened = draft.stat.path, draft.before
    index = workspace.index(opened)

    def line_at(offset: int) -> int:
        return index.line_at(opened, offset)

    snippet = _Snippet()
    changes = changed_lines(opened, splices, encoding, line_at, context=_SNIPPET_CONTEXT)
    diff = diff_of_changes(path, "edit", snippet.passed(changes))
    outside = _outside_shown_lines(shown, splices, line_numbers(opened, encoding, line_at), encoding)
    return diff, snippet.text, outside


def _has_changed(workspace: Workspace, draft: Draft) -> bool:
    """Since it was shown, the file got another content."""
    assert draft.before is not None and draft.receipt is not None
    if draft.receipt.version == draft.stat.version:
        return False
    return draft.receipt.text_sha is None or workspace.fingerprint(draft.before).text != draft.receipt.text_sha


def _receipts_of_changed(workspace: Workspace, receipt: Receipt, edits: Sequence[TextEdit]) -> tuple[Receipt, Receipt]:
    """What a receipt is worth after an outsider's change: for these edits, and from then on.

    The line numbers are of another content; what counts is that each old string was in a text that was shown. The
    change itself is accepted unseen: it must not count as shown for an overwrite or a later read.
    """
    kept = workspace.tracker.shown_text(receipt.key)
    nothing = receipt.model_copy(update={"full": False, "lines": []})
    known = kept is not None and _are_known(kept.texts(), edits)
    return nothing.model_copy(update={"full": known}), nothing


def _are_known(shown: Sequence[str], edits: Sequence[TextEdit]) -> bool:
    texts = [_plain(text) for text in shown]
    for edit in edits:
        old, new = _plain(edit.old).removeprefix("\ufeff"), _plain(edit.new)
        if not any(old in text for text in texts):
            return False
        texts = [text.replace(old, new) for text in texts]
    return True


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _outside_shown_lines(
    receipt: Receipt, splices: Sequence[Splice], line_at: Callable[[int], int], encoding: TextEncoding
) -> list[int]:
    """The first line of each match (bounded) that no read has shown."""
    if receipt.full:
        return []
    outside = []
    for splice in splices:
        first = line_at(splice.offset)
        ended = splice.removed.decode(encoding.codec, "replace")[:-1].count("\n")
        unseen = next((line for line in range(first, first + ended + 1) if not _is_shown(receipt.lines, line)), None)
        if unseen is not None:
            outside.append(unseen)
        if len(outside) == _OUTSIDE_NAMED:
            break
    return outside


def _is_shown(ranges: list[tuple[int, int]], line: int) -> bool:
    return any(first <= line <= last for first, last in ranges)


def _result(draft: Draft, outcome: EditOutcome, snippet: str, change: Change | None, outside: list[int]) -> ToolResult:
    path = draft.stat.path
    total = sum(outcome.replacements)
    places = f"{total} place{'' if total == 1 else 's'}"
    if change is None:
        said = f"The edits cancel each other: {path} is unchanged; nothing was written."
    elif change.status == "proposed":
        said = f"Not written yet: change {change.id} of {path} ({places}) waits for a person's approval."
    else:
        said = f"Edited {path} ({places})."
    if outside:
        said += f" Note: line {outside[0]} had not been shown in this session."
    content = [text_block(f"{said}\n{snippet}" if snippet and change is not None else said)]
    data: dict[str, Any] = {
        "path": path,
        "replacements": outcome.replacements,
        "snippet": snippet,
        "outside_shown_lines": bool(outside),
        "changed": change is not None,
        "status": change.status if change is not None else "unchanged",
        "change_id": change.id if change is not None else None,
        "fingerprint": change.after.text_sha if change is not None and change.after is not None else None,
    }
    return ToolResult(tool="edit_file", content=content, data=data, change=change)


class _Snippet:
    """The new lines with some around them, numbered, bounded: gathered while the changes pass on to the diff."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = _SNIPPET_ROWS

    @property
    def text(self) -> str:
        """What was gathered."""
        text = "\n...\n".join(self._parts)
        return text if self._room else f"{text}\n..."

    def passed(self, changes: Iterable[ChangedLines]) -> Iterator[ChangedLines]:
        """The same changes."""
        for change in changes:
            for blocks in grouped(change.blocks, _SNIPPET_CONTEXT):
                start, end = max(0, blocks[0][2] - _SNIPPET_CONTEXT), blocks[-1][3] + _SNIPPET_CONTEXT
                lines = change.new[start : min(end, start + self._room)]
                rows = [line.split("\n", 1)[0].removesuffix("\r")[:_SNIPPET_CHARACTERS] for line in lines]
                if rows:
                    self._parts.append(shown_body(rows, change.new_start + start, numbers=True))
                self._room -= len(rows)
            yield change


EDIT_FILE = Tool(
    name="edit_file",
    title="Edit a file",
    description=(
        "Replace exact text in a file that was read in this session and has not changed since. Copy old_string "
        "exactly, with its indentation and without line numbers; it must occur once, or set replace_all. Encoding "
        "and line endings are kept."
    ),
    arguments=EditFileArguments,
    run=run,
    reads_only=False,
    destructive=True,
)
