"""Reads, patches and saves an unsaved document through its page."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.fingerprint import fingerprint_of
from ..content.source import BytesContent
from ..content.splices import Splice, SplicedContent
from ..errors import Conflict, FsToolsError, InputOutput, Unsaved
from ..stores.records import Place
from .change_message import change_message
from .page import Answer, PageDocument
from .protocol import Applied, Begin
from .saved_document import changed_meanwhile
from .saved_notebook import saved_bytes

_SAVE_SECONDS = 60.0
"""A save of a large notebook takes some seconds, and nobody else can do it."""


class Snapshot(NamedTuple):
    """What a page said of a document: the bytes that saving it would write, and its names of the cells."""

    document: PageDocument
    data: bytes
    names: list[str]


@dataclass(frozen=True)
class LiveFile(BytesContent):
    """A document's content, as a file that holds it would be."""

    data: bytes
    stat: FileStat
    names: tuple[str, ...]

    def unchanged(self) -> bool:
        """It is a copy."""
        return True


class UnsavedDocument:
    """The holder of a file of which pages hold unsaved changes, all of them the same ones.

    Args:
        backend: where the bytes are.
        stat: the file.
        documents: those that are open.
        seconds: how long a page may take to answer.
    """

    place: Place = "document"

    def __init__(self, backend: Backend, stat: FileStat, documents: Sequence[PageDocument], seconds: float) -> None:
        self._backend, self._stat = backend, stat
        self._unsaved = [one for one in documents if not one.saved]
        self._saved = [one for one in documents if one.saved]
        self._seconds = seconds

    def content(self) -> AbstractContextManager[OpenFile]:
        """What the person sees.

        Raises:
            Unsaved: the page does not answer. Conflict: two pages hold different unsaved changes.
        """
        first, *others = [self._snapshot(one) for one in self._unsaved]
        if any(one.data != first.data for one in others):
            raise Conflict(
                f"{self._stat.path} is open more than once, with different unsaved changes (not modified)",
                hint="Ask the person to save one of them and to reload the other; then read it again.",
                path=self._stat.path,
            )
        version = f"document:{hashlib.sha256(first.data).hexdigest()}"
        stat = replace(self._stat, size=len(first.data), version=version)
        return nullcontext(LiveFile(first.data, stat, tuple(first.names)))

    def apply(
        self, before: OpenFile | None, splices: Sequence[Splice], *, hash_before: bool, begin: Begin | None = None
    ) -> Applied:
        """Have the page patch the document and save it; the other pages go along."""
        assert isinstance(before, LiveFile)
        self._require_same_file()
        after = SplicedContent(before, splices)
        old, new = fingerprint_of(before.chunks()), fingerprint_of(after.chunks())
        if begin is not None:
            begin(old, new)
        with self._patched(before, splices) as saver:
            saved = self._answer(saver, saver.ask("save"), _SAVE_SECONDS)
            if not saved.done or saved.hash is None:
                raise InputOutput(
                    f"{self._stat.path} could not be saved in the browser (not modified)",
                    hint="Ask the person to save it and to look at what JupyterLab says.",
                    path=self._stat.path,
                )
        for document in self._unsaved:
            document.hash = saved.hash
            document.tell("written", hash=saved.hash, last_modified=None)
        for document in self._saved:
            document.tell("follow")
        stat = replace(self._stat, size=after.size, version=f"document:{new.exact}")
        if saved.hash == new.exact:
            with suppress(FsToolsError):
                stat = self._backend.stat(self._stat.path)
        return Applied(stat, old, new)

    def remove(self, before: OpenFile) -> None:
        """A document with unsaved changes is never deleted.

        Raises:
            Unsaved
        """
        raise unreachable(self._stat.path)

    def _snapshot(self, document: PageDocument) -> Snapshot:
        answer = self._answer(document, document.ask("content"), self._seconds)
        if not answer.done:
            raise unreachable(self._stat.path)
        try:
            data = self._bytes(answer.content)
        except Exception as problem:  # Whatever a page may say that is no document.
            raise unreachable(self._stat.path) from problem
        return Snapshot(document, data, answer.names)

    def _bytes(self, content: Any) -> bytes:
        """What Jupyter writes when it saves the document."""
        if isinstance(content, str):
            return content.replace("\n", self._line_ending()).encode()
        return saved_bytes(content)

    def _line_ending(self) -> str:
        """JupyterLab writes the one that it found first in this order."""
        with self._backend.read(self._stat.path) as opened:
            data = opened.read(0, opened.size)
        return "\r\n" if b"\r\n" in data else "\r" if b"\r" in data else "\n"

    def _require_same_file(self) -> None:
        """A page whose file was changed by somebody else would ask its person before it saves."""
        with self._backend.read(self._stat.path) as opened:
            exact = fingerprint_of(opened.chunks()).exact
        if any(one.hash != exact for one in self._unsaved):
            raise Conflict(
                f"{self._stat.path} has unsaved changes in a browser, and other changes on the disk (not modified)",
                hint="Ask the person to save it, which asks which of both to keep; then read it again.",
                path=self._stat.path,
            )

    @contextmanager
    def _patched(self, before: LiveFile, splices: Sequence[Splice]) -> Iterator[PageDocument]:
        """The document to save; where the block fails, the pages take back what they patched."""
        patched: list[PageDocument] = []
        try:
            for document in self._unsaved:
                change = change_message(document.kind, before, splices, before.names or None)
                if change is None:
                    raise unreachable(self._stat.path)
                asked = document.ask("patch", hash=document.hash, to=None, change=change)
                # One that does not answer may still do it.
                patched.append(document)
                answer = self._answer(document, asked, self._seconds)
                if not answer.done:
                    patched.remove(document)
                    raise changed_meanwhile(self._stat.path, {answer.reason})
            yield patched[0]
        except BaseException:
            for document in patched:
                document.tell("written", hash=None, last_modified=None)
            raise

    def _answer(self, document: PageDocument, asked: Any, seconds: float) -> Answer:
        document.is_silent = False  # What is nowhere else is always waited for.
        answer = document.answer(asked, seconds)
        if answer is None or answer.reason == "closed":
            raise unreachable(self._stat.path)
        return answer


def unreachable(path: str) -> Unsaved:
    """The refusal where nobody can be asked for what is not saved."""
    return Unsaved(
        f"{path} is open in a browser, with changes that are not saved, and the browser does not answer (not modified)",
        hint="Ask the person to save it, or to close it; then read it again and repeat the change.",
        path=path,
    )
