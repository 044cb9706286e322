"""edit_file: replaces exact strings in one file or several, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..backends.protocol import OpenFile
from ..content.splices import Splice, SplicedContent
from ..documents.media.media_bytes import HEAD_BYTES, PDF, media_type
from ..documents.notebook import is_notebook_name
from ..documents.text.diff import changed_lines, diff_of_changes, line_numbers
from ..documents.text.edits import TextEdit, apply_edits
from ..documents.text.encoding import TextEncoding, encoding_of
from ..documents.text.touched_lines import touched_lines
from ..documents.text.utf8_view import Utf8View
from ..documents.text.written_text import require_declared
from ..errors import Ambiguous, Binary, FsToolsError, Invalid, NoMatch, NotebookRefused, NotRead, naming_file
from ..gate.accepted_stale import has_changed, receipts_of_changed, were_shown
from ..gate.draft import Draft, Step
from ..gate.line_check import LineCheck
from ..gate.line_ranges import covers
from ..gate.policy import checked_path
from ..gate.unchanged_lines import UnchangedLines
from ..gate.workspace import Workspace
from ..stores.records import Receipt
from .arguments import Arguments, AsList, Flag, PathArgument, Text, beside_others, paths_of
from .change_result import OUTSIDE_NAMED, EditedFile, TextSnippet, edited_result
from .tool import Tool, ToolResult, answer_named

OldString = Annotated[Text, Field(description="The exact text to replace.")]
NewString = Annotated[Text, Field(description="Its replacement; empty deletes it.")]
ReplaceAll = Annotated[Flag, Field(description="Replace every occurrence.")]


class OneEdit(Arguments):
    """One replacement."""

    path: Annotated[PathArgument | None, Field(description="The file, if not the call's.")] = None
    old_string: OldString
    new_string: NewString
    replace_all: ReplaceAll = False


class EditFileArguments(Arguments):
    """The arguments of edit_file: a list of edits, or the fields of one at top level."""

    path: PathArgument | None = None
    edits: Annotated[
        list[OneEdit] | None,
        AsList,
        Field(description="Applied in order, each to the result of the one before; all or nothing over all files."),
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
        # Many clients send defaults for arguments that they leave out: an empty list, empty strings, false.
        if self.edits and (self.old_string or self.new_string or self.replace_all):
            raise beside_others("edits", "give either edits or old_string and new_string, not both")
        if not self.edits and self.old_string:
            self.edits = None
        if self.edits is None and (self.old_string is None or self.new_string is None):
            missing = "old_string" if self.old_string is None else "new_string"
            raise beside_others(missing, "is required (or a list of edits)")
        return self

    def text_edits(self) -> list[tuple[str, TextEdit]]:
        """The edits from either form of the arguments, each with the path of its file.

        Raises:
            Invalid: as `paths_of`
        """
        if self.edits is None:
            assert self.old_string is not None and self.new_string is not None
            [path] = paths_of(self.path, [None], single=True)
            return [(path, TextEdit(self.old_string, self.new_string, self.replace_all))]
        paths = paths_of(self.path, [one.path for one in self.edits], single=False)
        edits = [TextEdit(one.old_string, one.new_string, one.replace_all) for one in self.edits]
        return list(zip(paths, edits, strict=True))


def run(workspace: Workspace, arguments: EditFileArguments) -> ToolResult:
    """Edit text files through the gate.

    Raises:
        Invalid: as `text_edits`, or `replace_all` in a file that may be stale; as `change_texts`
    """
    edits = arguments.text_edits()
    match_stale = arguments.if_stale == "match"
    if match_stale and any(edit.replace_all for _, edit in edits):
        raise Invalid(
            'if_stale: "match" cannot be combined with replace_all',
            hint="Read the file again, or replace one place at a time.",
            field="if_stale",
        )
    return change_texts(workspace, edits, match_stale=match_stale)


EDIT_FILE = Tool(
    name="edit_file",
    title="Edit files",
    description=(
        "Replace exact text in a file that was read in this session (by read_file, or a line that grep showed whole) "
        "and has not changed since. Copy old_string exactly, with its indentation and without line numbers; it must "
        "occur once, or set replace_all. edits with paths change several files as one change. Encoding and line "
        "endings are kept."
    ),
    arguments=EditFileArguments,
    run=run,
    reads_only=False,
    destructive=True,
    answer=answer_named("EditFileAnswer"),
)


def change_texts(workspace: Workspace, edits: Sequence[tuple[str, TextEdit]], *, match_stale: bool) -> ToolResult:
    """Carry out (or propose) edits, each of the file that its path names; all or none, as one change.

    Raises:
        as `Workspace.drafts`, `apply_edits` and `Workspace.commit_all`; a refusal names its file and edit.
    """
    paths = [path for path, _ in edits]
    for path in paths:
        _require_no_notebook(checked_path(path))
    check = LineCheck(workspace.tracker, workspace.versions, accept_stale=match_stale)
    with workspace.drafts(paths, check) as drafts:
        files = [
            _edited(
                workspace,
                draft,
                edits,
                numbers,
                match_stale=match_stale,
                unchanged=check.unchanged.get(draft.stat.key),
            )
            for draft, numbers in drafts
        ]
        change = workspace.commit_all([(file.draft, file.step) for file in files])
    in_order = sorted(files, key=lambda file: file.numbers[0])
    return edited_result(in_order, change)


def _edited(
    workspace: Workspace,
    draft: Draft,
    edits: Sequence[tuple[str, TextEdit]],
    numbers: Sequence[int],
    *,
    match_stale: bool,
    unchanged: UnchangedLines | None,
) -> EditedFile:
    path = draft.stat.path
    _require_no_notebook(path)
    assert draft.before is not None and draft.receipt is not None
    opened = draft.before
    _refuse_shown_as_picture(opened, draft.receipt)
    own = [edits[number][1] for number in numbers]
    shown = draft.receipt
    if unchanged is not None:
        shown = shown.model_copy(update={"lines": unchanged.ranges(), "full": False})
    several = len(own) < len(edits)
    with naming_file(path), _naming_edit(path, several=several), _proposing_one_place(match_stale):
        encoding = encoding_of(opened, path, draft.receipt.encoding)
        try:
            outcome = apply_edits(
                Utf8View(opened, encoding),
                own,
                workspace.limits.max_edit_bytes,
                numbers=numbers,
                total=len(edits),
                shown=shown.lines,
            )
        except NoMatch:
            if unchanged is not None and were_shown(unchanged.shown, own):
                raise unchanged.refusal() from None
            raise
        if unchanged is not None:
            line_at = line_numbers(opened, encoding, workspace.versions.line_at(opened))
            if not all(unchanged.hold(*lines) for lines in _matched_lines(outcome.splices, line_at, encoding)):
                raise unchanged.refusal()
        if draft.receipt.encoding is None:
            require_declared(SplicedContent(opened, outcome.splices), path, encoding)
    if match_stale and has_changed(draft):
        found, kept = workspace.versions.fingerprint(opened), workspace.tracker.shown_text(draft.stat.key)
        shown, current = receipts_of_changed(draft.receipt, draft.stat, found, were_shown=were_shown(kept, own))
        draft = replace(draft, receipt=current)
    step, snippet, outside = _effect(workspace, draft, shown, outcome.splices, encoding)
    if unchanged is not None:
        step = replace(step, receipt=unchanged.receipt_after(step.diff))
    if outside and workspace.rules.refuse_unseen_edits:
        raise NotRead(
            f"the match at line {outside[0]} of {path} lies outside every line shown to this session",
            hint=f"Read around line {outside[0]} first.",
            lines=outside,
        )
    return EditedFile(draft, step, numbers, outcome.replacements, snippet, outside)


@contextmanager
def _naming_edit(path: str, *, several: bool) -> Iterator[None]:
    """Name the file in a refusal of several."""
    try:
        yield
    except FsToolsError as refusal:
        if several and path not in refusal.message:
            refusal.say_which_file(path)
            refusal.details.setdefault("path", path)
        raise


@contextmanager
def _proposing_one_place(match_stale: bool) -> Iterator[None]:
    """Propose no `replace_all`, which `if_stale` excludes, in the refusal of an ambiguous edit."""
    try:
        yield
    except Ambiguous as refusal:
        if match_stale:
            refusal.hint = "Quote more of the text around the one you mean."
        raise


def _require_no_notebook(path: str) -> None:
    if is_notebook_name(path):
        raise NotebookRefused(
            f"{path} is a notebook; editing its JSON as text would break it",
            hint="Edit its cells with `edit_notebook`.",
        )


def _refuse_shown_as_picture(opened: OpenFile, receipt: Receipt) -> None:
    """Refuse a picture, or a PDF that was shown as pages: its text was not shown.

    Raises:
        Binary
    """
    kind = media_type(opened.read(0, HEAD_BYTES))
    if kind is None or receipt.encoding is not None or receipt.lines or receipt.full:
        return
    hint = "Edit the file that it was made from; pictures and PDFs can only be read."
    if kind == PDF:
        hint += " If this PDF was written as text, read it with an encoding (such as utf-8) first, then edit that text."
    what = "a PDF that was not shown as text" if kind == PDF else f"a picture ({kind})"
    raise Binary(f"{opened.stat.path} is {what}", hint=hint, media_type=kind)


def _effect(
    workspace: Workspace, draft: Draft, shown: Receipt, splices: Sequence[Splice], encoding: TextEncoding
) -> tuple[Step, str, list[int]]:
    """The step with its diff, the snippet, and the lines that are changed without having been shown."""
    assert draft.before is not None
    opened = draft.before
    line_at = workspace.versions.line_at(opened)
    snippet = TextSnippet()
    changes = changed_lines(opened, splices, encoding, line_at, context=snippet.context)
    diff = diff_of_changes(draft.stat.path, "edit", snippet.passed(changes), encoding)
    outside = _outside_shown_lines(shown, splices, line_numbers(opened, encoding, line_at), encoding)
    touched = touched_lines(opened, splices, encoding, line_at)
    step = Step(splices, diff, "edit_file", encoding=shown.encoding, touched=touched)
    return step, snippet.text, outside


def _outside_shown_lines(
    receipt: Receipt, splices: Sequence[Splice], line_at: Callable[[int], int], encoding: TextEncoding
) -> list[int]:
    """The first line of each match that no read has shown; bounded."""
    if receipt.full:
        return []
    outside = []
    for first, last in _matched_lines(splices, line_at, encoding):
        unseen = next((line for line in range(first, last + 1) if not covers(receipt.lines, line, line)), None)
        if unseen is not None:
            outside.append(unseen)
        if len(outside) == OUTSIDE_NAMED:
            break
    return outside


def _matched_lines(
    splices: Sequence[Splice], line_at: Callable[[int], int], encoding: TextEncoding
) -> Iterator[tuple[int, int]]:
    """The first and the last line of each match."""
    for splice in splices:
        first = line_at(splice.offset)
        yield first, first + splice.removed.decode(encoding.codec, "replace")[:-1].count("\n")
