"""Carries out edits of text files through the gate and reports them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..backends.protocol import OpenFile
from ..content.splices import Splice, SplicedContent
from ..diffs.line_diff import grouped
from ..documents.media.media_types import HEAD_BYTES, PDF, media_type
from ..documents.text.declared_encoding import require_declared
from ..documents.text.diff import ChangedLines, changed_lines, diff_of_changes, line_numbers
from ..documents.text.edits import TextEdit, apply_edits
from ..documents.text.encoding import TextEncoding, Utf8View, encoding_of
from ..documents.text.shown_lines import shown_body
from ..errors import Binary, FsToolsError, NotebookRefused, NotRead, naming_file
from ..gate.draft import Draft, Step
from ..gate.policy import checked_path
from ..gate.workspace import Workspace
from ..stores.records import Change, Receipt
from .tool import ToolResult, text_block

_SNIPPET_ROWS = 40
_SNIPPET_CHARACTERS = 200
_SNIPPET_CONTEXT = 4
_OUTSIDE_NAMED = 20


class EditedFile(NamedTuple):
    """One file of a change: its step, and what is told of it.

    Attributes:
        draft: the file as it was.
        step: what becomes of it.
        numbers: which of the call's edits are of this file, from 0.
        replacements: how many places each of these edits replaced.
        snippet: the new lines with some around them.
        outside: lines that were changed unseen.
    """

    draft: Draft
    step: Step
    numbers: Sequence[int]
    replacements: Sequence[int]
    snippet: str
    outside: Sequence[int]


def change_texts(workspace: Workspace, edits: Sequence[tuple[str, TextEdit]], *, match_stale: bool) -> ToolResult:
    """Carry out (or propose) edits, each of the file that its path names; all or none, as one change.

    Raises:
        as `Workspace.drafts`, `apply_edits` and `Workspace.commit_all`; a refusal names its file and edit.
    """
    paths = list(dict.fromkeys(path for path, _ in edits))
    for path in paths:
        _require_no_notebook(checked_path(path))
    with workspace.drafts(paths, accept_stale=match_stale) as drafts:
        of_file: dict[str, list[int]] = {}
        for number, (path, _) in enumerate(edits):
            of_file.setdefault(drafts[path].stat.key, []).append(number)
        by_key = {draft.stat.key: draft for draft in drafts.values()}
        files = [
            _edited(workspace, by_key[key], edits, of_file[key], match_stale=match_stale) for key in sorted(by_key)
        ]
        change = workspace.commit_all([(file.draft, file.step) for file in files])
    in_order = sorted(files, key=lambda file: file.numbers[0])
    return _result(in_order[0], change) if len(files) == 1 else _result_of_several(in_order, change)


def _edited(
    workspace: Workspace,
    draft: Draft,
    edits: Sequence[tuple[str, TextEdit]],
    numbers: Sequence[int],
    *,
    match_stale: bool,
) -> EditedFile:
    path = draft.stat.path
    _require_no_notebook(path)
    assert draft.before is not None and draft.receipt is not None
    _refuse_shown_as_picture(draft.before, draft.receipt)
    own = [edits[number][1] for number in numbers]
    with naming_file(path), _naming_edit(path, several=len(own) < len(edits)):
        encoding = encoding_of(draft.before, path, draft.receipt.encoding)
        outcome = apply_edits(
            Utf8View(draft.before, encoding),
            own,
            workspace.limits.max_edit_bytes,
            numbers=numbers,
            total=len(edits),
            shown=draft.receipt.lines,
        )
        if draft.receipt.encoding is None:
            require_declared(SplicedContent(draft.before, outcome.splices), path, encoding)
    shown = draft.receipt
    if match_stale and _has_changed(workspace, draft):
        shown, draft.receipt = _receipts_of_changed(workspace, draft.receipt, own)
    step, snippet, outside = _effect(workspace, draft, shown, outcome.splices, encoding)
    if outside and workspace.rules.refuse_unseen_edits:
        raise NotRead(
            f"the match at line {outside[0]} of {path} lies outside every line shown to this session",
            hint=f"Read around line {outside[0]} first.",
            lines=outside,
        )
    return EditedFile(draft, step, numbers, outcome.replacements, snippet, outside)


@contextmanager
def _naming_edit(path: str, *, several: bool) -> Iterator[None]:
    """Of several files a refusal names the one that it is about."""
    try:
        yield
    except FsToolsError as refusal:
        if several and path not in refusal.message:
            refusal.message = f"{path}: {refusal.message}"
            refusal.details.setdefault("path", path)
        raise


def _require_no_notebook(path: str) -> None:
    if path.lower().endswith(".ipynb"):
        raise NotebookRefused(
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
) -> tuple[Step, str, list[int]]:
    """The step with its diff, the snippet, and the lines that are changed unseen."""
    assert draft.before is not None
    opened = draft.before
    index = workspace.index(opened)

    def line_at(offset: int) -> int:
        return index.line_at(opened, offset)

    snippet = _Snippet()
    changes = changed_lines(opened, splices, encoding, line_at, context=_SNIPPET_CONTEXT)
    diff = diff_of_changes(draft.stat.path, "edit", snippet.passed(changes))
    outside = _outside_shown_lines(shown, splices, line_numbers(opened, encoding, line_at), encoding)
    return Step("edit", splices, diff, "edit_file", encoding=shown.encoding), snippet.text, outside


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


def _result(file: EditedFile, change: Change | None) -> ToolResult:
    path = file.draft.stat.path
    places = _places(file)
    if change is None:
        said = f"The edits cancel each other: {path} is unchanged; nothing was written."
    elif change.status == "proposed":
        said = f"Not written yet: change {change.id} of {path} ({places}) waits for a person's approval."
    else:
        said = f"Edited {path} ({places})."
    if file.outside:
        said += f" Note: line {file.outside[0]} had not been shown in this session."
    content = [text_block(f"{said}\n{file.snippet}" if file.snippet and change is not None else said)]
    data = {**_told(file, change), **_status(change), "files": []}
    return ToolResult(tool="edit_file", content=content, data=data, change=change)


def _result_of_several(files: Sequence[EditedFile], change: Change | None) -> ToolResult:
    named = "; ".join(f"{file.draft.stat.path} ({_places(file)})" for file in files)
    if change is None:
        said = f"The edits cancel each other: {named}: nothing was written."
    elif change.status == "proposed":
        said = f"Not written yet: change {change.id} of {len(files)} files waits for a person's approval: {named}."
    else:
        said = f"Edited {len(files)} files as one change ({change.id}): {named}."
    unseen = [f"line {file.outside[0]} of {file.draft.stat.path}" for file in files if file.outside]
    if unseen:
        said += f" Note: not shown in this session: {', '.join(unseen[:_OUTSIDE_NAMED])}."
    shown, room = [said], _SNIPPET_ROWS
    for file in files if change is not None else ():
        rows = file.snippet.split("\n")[:room]
        room -= len(rows)
        shown += [f"{file.draft.stat.path}:", *rows] if rows and room >= 0 else []
    replacements = {
        number: count for file in files for number, count in zip(file.numbers, file.replacements, strict=True)
    }
    data: dict[str, Any] = {
        **_told(files[0], change),
        "files": [_told(file, change) for file in files],
        "replacements": [replacements[number] for number in sorted(replacements)],
        "outside_shown_lines": bool(unseen),
        **_status(change),
    }
    return ToolResult(tool="edit_file", content=[text_block("\n".join(shown))], data=data, change=change)


def _places(file: EditedFile) -> str:
    total = sum(file.replacements)
    return f"{total} place{'' if total == 1 else 's'}"


def _told(file: EditedFile, change: Change | None) -> dict[str, Any]:
    after = {one.key: one.after for one in change.all_files}.get(file.draft.stat.key) if change is not None else None
    return {
        "path": file.draft.stat.path,
        "replacements": list(file.replacements),
        "snippet": file.snippet,
        "outside_shown_lines": bool(file.outside),
        "fingerprint": after.text_sha if after is not None else None,
    }


def _status(change: Change | None) -> dict[str, Any]:
    return {
        "changed": change is not None,
        "status": change.status if change is not None else "unchanged",
        "change_id": change.id if change is not None else None,
    }


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
