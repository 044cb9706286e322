"""Changes a file together with the saved documents that show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..errors import Conflict, Stale
from ..stores.records import Place
from .holders import Disk
from .page import PageDocument, change_message
from .protocol import Applied, Rewrite


class SavedDocument:
    """The holder of a file whose open documents are all saved: the disk is authoritative, and the pages follow it.

    Args:
        backend: where the bytes are.
        stat: the file.
        documents: the open ones.
        seconds: how long a page may take to answer.
        check: refuses a file of which pages elsewhere have unsaved changes.
    """

    place: Place = "document"

    def __init__(
        self,
        backend: Backend,
        stat: FileStat,
        documents: Sequence[PageDocument],
        seconds: float,
        check: Callable[[FileStat], None] | None = None,
    ) -> None:
        self._backend, self._stat, self._disk = backend, stat, Disk(backend, stat, check)
        self._documents, self._seconds = list(documents), seconds

    def content(self) -> AbstractContextManager[OpenFile]:
        """The file's bytes; pages that show other ones, as they missed a program's change, are told to reload."""
        for document in self._documents:
            document.follow(self._stat.version)
        return self._disk.content()

    def on_disk(self) -> None:
        """None: the file itself has the content."""

    def apply(self, rewrite: Rewrite) -> Applied:
        """Write the file; the pages patch their documents just before it is replaced, and get its new hash after."""
        if rewrite.before is None:
            return self._disk.apply(rewrite)
        patched: list[PageDocument] = []

        def begin(old: Fingerprint | None, new: Fingerprint) -> None:
            rewrite.begin(old, new)
            before = old or rewrite.known
            assert before is not None
            patched.extend(self._patched(rewrite, before.exact, new.exact))

        try:
            applied = self._disk.apply(replace(rewrite, hash_before=rewrite.known is None, begin=begin))
        except BaseException:
            _tell_written(patched, None, None)
            raise
        _tell_written(patched, applied.after.exact, applied.stat)
        for document in self._documents:
            if document not in patched:
                document.follow(applied.stat.version)
        return applied

    def remove(self, before: OpenFile) -> None:
        """Delete the file, and close the documents that show it."""
        self._disk.remove(before)
        for document in self._documents:
            document.tell("close")

    def _patched(self, rewrite: Rewrite, old: str, new: str) -> list[PageDocument]:
        """The documents that show the change, or will as soon as their pages wake up.

        Raises:
            Stale, Conflict: somebody is changing one of them; none of them shows it.
        """
        same = [one for one in self._documents if one.hash == old]
        messages = {kind: change_message(kind, rewrite) for kind in {one.kind for one in same}}
        targets = [one for one in same if messages[one.kind] is not None]
        asked = [(one, one.ask("patch", hash=old, to=new, change=messages[one.kind])) for one in targets]
        answers = [(one, one.answer(future, self._seconds)) for one, future in asked]
        patched = [one for one, answer in answers if answer is None or answer.done]
        refusals = {answer.reason for _, answer in answers if answer is not None and not answer.done} - {"closed"}
        if refusals:
            _tell_written(patched, None, None)
            raise changed_meanwhile(self._stat.path, refusals)
        return patched


def changed_meanwhile(path: str, reasons: Collection[str]) -> Stale | Conflict:
    """The refusal where a page did not have the expected text, or its person is typing."""
    for reason in _STAYS.keys() & set(reasons):
        return has_to_stay(reason)
    kind = Stale if "text" in reasons else Conflict
    return kind(
        f"{path} is being changed in a browser at this moment (not modified)",
        hint="Read it again, then repeat the call.",
        path=path,
    )


def has_to_stay(reason: str, cell: int | None = None) -> Conflict:
    """The refusal to recreate a cell that is `running`, or has the `caret` of somebody who types in it."""
    which = "a cell that this change deletes or replaces" if cell is None else f"the cell at index {cell}"
    why, hint = _STAYS[reason]
    return Conflict(f"{why.format(which)} (not modified)", hint=hint)


_STAYS = {
    "caret": ("somebody is typing in {}", "Ask the person to leave the cell (Escape does), then repeat the call."),
    "running": ("{} is running, and would lose its outputs", "Wait until it has ended, then repeat the call."),
}


def _tell_written(documents: Sequence[PageDocument], new: str | None, stat: FileStat | None) -> None:
    """Tell the pages the file's new hash after the change, or that the change was not written."""
    moment = None if stat is None else datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC).isoformat()
    for document in documents:
        if stat is not None:
            document.hash, document.version = new, stat.version
        document.tell("written", hash=new, last_modified=moment)
