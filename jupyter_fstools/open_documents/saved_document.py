"""Changes a file together with the saved documents that show it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.splices import Splice, SplicedStream, spliced_chunks
from ..errors import Conflict, Stale
from ..stores.records import Place
from .change_message import change_message
from .disk import Disk
from .page import PageDocument
from .protocol import Applied, Begin


class SavedDocument:
    """The holder of a file whose open documents are all saved: the disk is the truth, and the pages go along.

    Args:
        backend: where the bytes are.
        stat: the file.
        documents: those that are open.
        seconds: how long a page may take to answer.
    """

    place: Place = "document"

    def __init__(self, backend: Backend, stat: FileStat, documents: Sequence[PageDocument], seconds: float) -> None:
        self._backend, self._stat, self._disk = backend, stat, Disk(backend, stat)
        self._documents, self._seconds = list(documents), seconds

    def content(self) -> AbstractContextManager[OpenFile]:
        """The file's bytes."""
        return self._disk.content()

    def apply(
        self, before: OpenFile | None, splices: Sequence[Splice], *, hash_before: bool, begin: Begin | None = None
    ) -> Applied:
        """Have the pages patch what they show, write the file, have them take over its new hash."""
        if before is None:
            return self._disk.apply(before, splices, hash_before=hash_before, begin=begin)
        stream = SplicedStream(before, splices, old_wanted=True)
        deque(stream.chunks(), maxlen=0)
        old, new = stream.fingerprints()
        assert old is not None
        if begin is not None:
            begin(old, new)
        patched = self._patched(before, splices, old.exact, new.exact)
        try:
            chunks = spliced_chunks(before, splices)
            stat = self._backend.write(self._stat.path, chunks, if_match=before.stat.version)
        except BaseException:
            _tell_written(patched, None, None)
            raise
        _tell_written(patched, new.exact, stat)
        for document in self._documents:
            if document not in patched:
                document.tell("follow")
        return Applied(stat, old, new)

    def remove(self, before: OpenFile) -> None:
        """Delete the file, and close what shows it."""
        self._disk.remove(before)
        for document in self._documents:
            document.tell("close")

    def _patched(self, before: OpenFile, splices: Sequence[Splice], old: str, new: str) -> list[PageDocument]:
        """The documents that show the change by now, or will as soon as their pages wake up.

        Raises:
            Stale, Conflict: somebody is changing one of them; none of them shows it.
        """
        messages = {kind: change_message(kind, before, splices) for kind in {one.kind for one in self._documents}}
        targets = [one for one in self._documents if one.hash == old and messages[one.kind] is not None]
        asked = [(one, one.ask("patch", hash=old, to=new, change=messages[one.kind])) for one in targets]
        answers = [(one, one.answer(future, self._seconds)) for one, future in asked]
        patched = [one for one, answer in answers if answer is None or answer.done]
        refusals = {answer.reason for _, answer in answers if answer is not None and not answer.done} - {"closed"}
        if refusals:
            _tell_written(patched, None, None)
            raise changed_meanwhile(self._stat.path, refusals)
        return patched


def changed_meanwhile(path: str, reasons: Collection[str]) -> Stale | Conflict:
    """The refusal where a page had something else than it was thought to have."""
    kind = Stale if "text" in reasons else Conflict
    return kind(
        f"{path} is being changed in a browser at this moment (not modified)",
        hint="Read it again, then repeat the call.",
        path=path,
    )


def _tell_written(documents: Sequence[PageDocument], new: str | None, stat: FileStat | None) -> None:
    """Tell the pages that the file has the change (by its new hash), or that it will not have it."""
    moment = None if stat is None else datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC).isoformat()
    for document in documents:
        document.hash = new or document.hash
        document.tell("written", hash=new, last_modified=moment)
