"""Reads, patches and saves an unsaved document through its page."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.fingerprint import fingerprint_of
from ..content.source import BytesContent
from ..content.splices import SplicedContent
from ..documents.notebook.saved import saved_bytes
from ..errors import Conflict, FsToolsError, InputOutput, Unsaved, may_be_modified
from ..stores.records import Place
from .heard_states import Heard, Snapshot
from .page import Answer, PageDocument, change_message, lines_end
from .protocol import DOCUMENT, Applied, Rewrite
from .saved_document import changed_meanwhile

_MOST_SAVES = 3
"""Saves by the person that one edit tolerates."""
_SAVE_SECONDS = 60.0
"""Longest wait for a page's save, in seconds: a large notebook takes some, and nobody else can save it."""
_LAST_SAVE_SECONDS = 3.0
"""Time in which a save lands whose page went or lost its request: Jupyter carries it out all the same."""


class LiveFile(BytesContent):
    """A copy of a document's content, as bytes that saving would write; `names` are the page's ids of the cells."""

    origin = DOCUMENT

    def __init__(self, stat: FileStat, data: bytes, names: Sequence[str] = ()) -> None:
        super().__init__(data)
        version = f"{self.origin}{hashlib.sha256(data).hexdigest()}"
        self.stat = replace(stat, size=len(data), version=version, look="")
        self.names = names

    def unchanged(self) -> bool:
        """True: a copy does not change."""
        return True


class UnsavedDocument:
    """The holder of a file of which pages hold the same unsaved changes.

    Args:
        backend: where the bytes are.
        stat: the file.
        documents: the open ones.
        seconds: how long a page may take to answer.
        heard: the states that pages reported last.
        check: refuses a file of which pages elsewhere have unsaved changes.
    """

    place: Place = "document"

    def __init__(
        self,
        backend: Backend,
        stat: FileStat,
        documents: Sequence[PageDocument],
        seconds: float,
        heard: Heard,
        check: Callable[[FileStat], None],
    ) -> None:
        self._backend, self._stat, self._heard, self._check = backend, stat, heard, check
        self._unsaved = [one for one in documents if not one.saved]
        self._saved = [one for one in documents if one.saved]
        self._seconds = seconds

    def content(self) -> AbstractContextManager[OpenFile]:
        """The content that the person sees.

        Raises:
            Unsaved: the page does not answer. Conflict: two pages hold different unsaved changes.
        """
        first, *others = [self._snapshot(one) for one in self._unsaved]
        if any(one.data != first.data for one in others):
            raise different_states(self._stat.path)
        return nullcontext(LiveFile(self._stat, first.data, first.names))

    def on_disk(self) -> str:
        """The digest of the file, which lacks the unsaved changes."""
        with self._backend.read(self._stat.path) as opened:
            return fingerprint_of(opened.chunks()).exact

    def apply(self, rewrite: Rewrite) -> Applied:
        """Have the page patch the document and save it; the other pages follow."""
        before = rewrite.before
        assert isinstance(before, LiveFile)
        after = SplicedContent(before, rewrite.splices)
        old, new = fingerprint_of(before.chunks()), fingerprint_of(after.chunks())
        rewrite.begin(old, new)
        with self._patched(rewrite, before.names, old.exact, new.exact) as (saver, on_disk):
            if on_disk == new.exact:
                saved = on_disk
            else:
                self._check(self._stat)
                saved = self._saved_by(saver, {on_disk, old.exact}, new.exact)
        for document in self._unsaved:
            # A page that has gone reports no newer state, and its last one lacks the change.
            self._heard.forget(self._stat.key, document.page.name)
            # The others do not show yet what was typed in the saving page meanwhile.
            document.hash = saved if document is saver else new.exact
            document.tell("written", hash=document.hash, last_modified=None)
        for document in [*self._unsaved, *self._saved]:
            if document is not saver and document.hash != saved:
                document.tell("follow")
        stat = replace(self._stat, size=after.size, version=f"{DOCUMENT}{new.exact}", look="")
        if saved == new.exact:
            with suppress(FsToolsError):
                stat = self._backend.stat(self._stat.path)
        return Applied(stat, old, new)

    def remove(self, before: OpenFile) -> None:
        """Refuse: a document with unsaved changes is never deleted.

        Raises:
            Unsaved
        """
        raise unreachable(self._stat.path)

    def _snapshot(self, document: PageDocument) -> Snapshot:
        key, page = self._stat.key, document.page.name
        last = self._heard.last(key, page)
        if last is not None and last.number != document.number:
            last = None
        asked = document.ask("content", known=None if last is None else last.counter)
        answer = self._answer(document, asked, self._seconds)
        if not answer.done:
            raise unreachable(self._stat.path)
        if last is not None and answer.content is None and answer.counter == last.counter:
            return last
        try:
            data = self._bytes(answer.content)
        except Exception as problem:  # The page's answer may be anything but a document.
            raise unreachable(self._stat.path) from problem
        return self._heard.keep(key, page, Snapshot(document.number, answer.counter, data, answer.names))

    def _bytes(self, content: Any) -> bytes:
        """The bytes that Jupyter writes when it saves the document."""
        if isinstance(content, str):
            with self._backend.read(self._stat.path) as opened:
                return content.replace("\n", lines_end(opened)).encode()
        return saved_bytes(content)

    def _saved_by(self, saver: PageDocument, before: Collection[str], expected: str) -> str:
        """Have a page save a file that has one of the hashes `before`; returns the hash of the saved file.

        Raises:
            Unsaved: the page does not answer, and has not saved. InputOutput: it could not save, or reports a save that
                did not happen; or the file has changed, and it is not known whether by this save.
        """
        refusal: FsToolsError = self._not_saved()
        try:
            saved = self._answer(saver, saver.ask("save", to=expected), _SAVE_SECONDS)
        except Unsaved as gone:
            saved, refusal = Answer(done=False, reason="closed"), gone
        if saved.reason in ("closed", "failed"):
            self._wait_for_last_save(expected)
        on_disk = self.on_disk()
        if on_disk == expected:
            return expected  # For any answer: the page may hang or be gone, or its person saved and closed it.
        if saved.done and saved.hash is not None and (on_disk not in before or on_disk == saved.hash):
            return saved.hash
        # A page does not save if it finds a hash other than that of its own last save.
        if on_disk in before or saved.reason == "hash":
            raise refusal
        raise self._unknown(saver)

    def _require_saved_by_itself(self, lost: PageDocument, before: Collection[str], expected: str) -> None:
        """Require that a page which was lost while it patched a file with one of the hashes `before` has saved it.

        Raises:
            Unsaved: it has not. InputOutput: the file has changed, and it is not known whether by this save.
        """
        self._wait_for_last_save(expected)
        on_disk = self.on_disk()
        if on_disk in before:
            raise unreachable(self._stat.path)
        if on_disk != expected:
            raise self._unknown(lost)

    def _unknown(self, saver: PageDocument) -> InputOutput:
        self._heard.forget(self._stat.key, saver.page.name)
        return InputOutput(
            f"{self._stat.path} was saved while the browser was asked to, which does not say whether with this change",
            hint="Read it before changing it again.",
            path=self._stat.path,
            modified=True,
        )

    def _wait_for_last_save(self, expected: str) -> None:
        """Wait until the file has the hash `expected`, or a save under way would have landed."""
        until = time.monotonic() + _LAST_SAVE_SECONDS
        while self.on_disk() != expected and time.monotonic() < until:
            time.sleep(0.05)

    def _not_saved(self) -> InputOutput:
        return InputOutput(
            f"{self._stat.path} could not be saved in the browser (not modified)",
            hint="Ask the person to save it and to look at what JupyterLab says.",
            path=self._stat.path,
        )

    @contextmanager
    def _patched(
        self, rewrite: Rewrite, names: Sequence[str], old: str, new: str
    ) -> Iterator[tuple[PageDocument, str]]:
        """The document to save, and the hash of its file; if the block fails, the pages revert their patches.

        The hash is `new`, that of the content after the change, if a page has saved the patch by itself; `old` is that
        of the content before it. If the block may have written the file before it failed, the pages are not told: each
        finds out itself.
        """
        patched: list[PageDocument] = []
        found = ""
        try:
            for document in self._unsaved:
                change = change_message(document.kind, rewrite, names or None)
                if change is None:
                    raise Unsaved(
                        f"{self._stat.path} is open in a browser, with changes that are not saved, and this change "
                        "affects more than its text or cells (not modified)",
                        hint="Ask the person to save it; then read it again and repeat the change.",
                        path=self._stat.path,
                    )
                # A page that does not answer may still apply the patch.
                patched.append(document)
                answer, on_disk = self._patch(document, change)
                if answer is not None and answer.done:
                    found = found or on_disk
                    continue
                if answer is None:
                    self._require_saved_by_itself(document, {on_disk, old}, new)
                else:
                    patched.remove(document)
                    if on_disk != new or not patched:
                        raise self._changed_meanwhile(answer)
                found = new
                break
            yield patched[0], found
        except BaseException as problem:
            for document in [] if may_be_modified(problem) else patched:
                document.tell("written", hash=None, last_modified=None)
            raise

    def _patch(self, document: PageDocument, change: dict[str, Any]) -> tuple[Answer | None, str]:
        """Have a page patch a document, given the file's hash; try again if the person has just saved it.

        The answer is None if the page does not answer.
        """
        for _ in range(_MOST_SAVES):
            exact = self.on_disk()
            asked = document.ask("patch", hash=exact, to=None, change=change)
            answer = self._answer_or_none(document, asked, self._seconds)
            if answer is None or answer.reason != "hash" or exact == self.on_disk():
                break
        return answer, exact

    def _changed_meanwhile(self, answer: Answer) -> FsToolsError:
        """The refusal where a page did not patch, as its person is typing or somebody else has changed the file."""
        if answer.reason != "hash":
            return changed_meanwhile(self._stat.path, {answer.reason})
        return Conflict(
            f"{self._stat.path} has unsaved changes in a browser, and other changes on the disk (not modified)",
            hint="Ask the person to save it, which asks which of the two to keep; then read it again.",
            path=self._stat.path,
        )

    def _answer(self, document: PageDocument, asked: Any, seconds: float) -> Answer:
        answer = self._answer_or_none(document, asked, seconds)
        if answer is None:
            raise unreachable(self._stat.path)
        return answer

    def _answer_or_none(self, document: PageDocument, asked: Any, seconds: float) -> Answer | None:
        document.is_silent = False  # Always wait in full: only this page has the unsaved changes.
        answer = document.answer(asked, seconds)
        return None if answer is None or answer.reason == "closed" else answer


def unreachable(path: str) -> Unsaved:
    """The refusal where the page with the unsaved changes cannot be reached."""
    return Unsaved(
        f"{path} is open in a browser that does not answer: it has changes that are not saved, or is in "
        "a collaboration room of another server (not modified)",
        hint="Ask the person to save and close it; then read it again and repeat the change.",
        path=path,
    )


def different_states(path: str) -> Conflict:
    """The refusal where two pages hold different unsaved changes."""
    return Conflict(
        f"{path} is open more than once, with different unsaved changes (not modified)",
        hint="Ask the person to save one of them and to reload the other; then read it again.",
        path=path,
    )
