"""Keeps receipts of what was read; refuses `not_read` and `stale` writes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from ..backends.protocol import FileStat
from ..content.fingerprint import Fingerprint
from ..diffs.file_diff import FileDiff
from ..documents.text.shown_lines import Shown
from ..documents.text.touched_lines import TouchedLines
from ..errors import InputOutput, NotRead, Stale
from ..sessions import client_of
from ..stores.protocol import MomentFilter, Store
from ..stores.records import FileState, Reader, Receipt
from .line_changes import line_changes
from .line_ranges import UNSEEN, SeenLines, covers, is_whole, ranges_as_text, ranges_in, spelled, whole_lines
from .shown_text import ShownText, line_count

ReceiptAfter = Callable[["ReadTracker", FileStat, FileState], tuple[Receipt, bytes]]
"""Makes the receipt, and the copy kept with it, after its reader's own step; takes the file's state after the step."""

_BY_DIFF = "diff "
"""Prefix of a receipt's view after a refusal's diff showed the changes; the lines shown since then follow."""
_MOST_VIEWS = 32
_log = logging.getLogger("jupyter_fstools")
_RENEWED_SECONDS = 60
_ONE_SESSION = (
    "If you have just done so, this client opens a session for every call, and reading again does not help: a person "
    "has to configure it to send the header X-Fstools-Session with a name of its own (as a command: jupyter fstools "
    "mcp --session NAME), use a token made for it, or keep one session open."
)


def seen_lines(receipt: Receipt) -> SeenLines:
    """The lines of a text that its reader has seen."""
    mark = next((view for view in receipt.views if view.startswith(_BY_DIFF)), None)
    since_diff = None if mark is None else ranges_in(mark.removeprefix(_BY_DIFF))
    return SeenLines(receipt.lines, receipt.partly, since_diff)


def renewed(receipt: Receipt, stat: FileStat, found: Fingerprint, **shown: Any) -> Receipt:
    """A reader's receipt of the present content of a file, of which nothing was shown but what `shown` says."""
    now = {"version": stat.content_version, "text_sha": found.text, "exact_sha": found.exact}
    return receipt.model_copy(update={**now, "lines": [], "partly": {}, "full": False, "views": [], **shown})


class ReadTracker:
    """The receipts of one reader."""

    def __init__(self, store: Store, reader: Reader, *, overwrite_needs_full_read: bool = True) -> None:
        self._store = store
        self.reader = reader
        self._overwrite_needs_full_read = overwrite_needs_full_read

    def of(self, reader: Reader) -> ReadTracker:
        """The receipts of another reader."""
        return ReadTracker(self._store, reader, overwrite_needs_full_read=self._overwrite_needs_full_read)

    def now(self) -> float:
        """The time by the clock of the store."""
        return self._store.now()

    def lookup(self, key: str) -> Receipt | None:
        """The receipt of a file, current or not; None also while the store does not answer."""
        try:
            return self._store.receipt(self.reader, key)
        except InputOutput as problem:
            _log.warning("Whether %s was read is not known: %s", key, problem.message)
            return None

    def forget(self, key: str | None = None) -> int:
        """Drop the receipt of one file, or all; says how many."""
        return self._store.forget(self.reader, key)

    def require(
        self,
        stat: FileStat,
        fingerprint: Callable[[], Fingerprint],
        *,
        whole: bool,
        total_lines: Callable[[Receipt], int | None] = lambda _: None,
    ) -> Receipt:
        """The current receipt of a file.

        Args:
            stat: the file as it is now.
            fingerprint: computes that of its content.
            whole: the change replaces the whole file.
            total_lines: counts the lines of its content, in the receipt's encoding; None: they cannot be counted.

        Raises:
            NotRead: never shown, dropped since, or (`whole`) only a part was shown.
            Stale: other content than the reader was shown.
        """
        receipt = self._store.receipt(self.reader, stat.key)
        if receipt is None:
            raise self.not_read(stat, hint="Read the file (or the part you mean to change) with `read_file` first.")
        if receipt.version != stat.content_version:
            if receipt.text_sha is None or fingerprint().text != receipt.text_sha:
                raise Stale(
                    f"{stat.path} changed since it was read",
                    hint="Read the file again, then repeat the call; an edit whose old strings still match exactly "
                    'once may be repeated with `if_stale="match"`.',
                    path=stat.path,
                )
            receipt.version = stat.content_version
            receipt.exact_sha = fingerprint().exact
            self._store.put_receipt(receipt)
        if whole and self._overwrite_needs_full_read and not receipt.full:
            seen = seen_lines(receipt)
            lines, since = seen.for_overwrite, seen.since_diff
            # The reader's own edits may have written the lines that no window showed; an empty file has none, and a
            # diff that showed it becoming empty does not permit overwriting it either.
            if (lines or since is None) and len(lines) < 2 and is_whole(lines, total_lines(receipt)):
                return receipt
            if since is not None:
                hint = "Only a diff of what changed was shown: read it again before overwriting it, or use `edit_file`."
            elif receipt.lines or receipt.partly:
                hint = "Read the rest of it with `read_file` before overwriting it, or use `edit_file`."
            else:  # A picture is shown without lines, and there is no rest of it to read.
                hint = "Text cannot replace it; write another file."
            told = f" (lines {spelled(lines)})" if lines else ""
            raise NotRead(
                f"only a part of {stat.path} was shown to this session{told}",
                hint=hint,
                path=stat.path,
                lines=lines,
            )
        return receipt

    def record_read(
        self,
        stat: FileStat,
        fingerprint: Fingerprint | None,
        shown: Shown,
        earlier: Receipt | None,
        *,
        view: str,
        encoding: str | None = None,
        keeps_encoding: bool = False,
    ) -> Receipt:
        """Leave a receipt for lines that are being shown; earlier windows of the same content stay shown.

        `earlier` is the result of the latest `lookup`, which saves a round trip to a remote store. `view` identifies
        the window as it was requested; `encoding` is the one that the reader named: edits use the encoding of the last
        read. With `keeps_encoding` the encoding named before is kept, as a search names none.
        """
        if earlier is None or not _same_content(earlier, stat, fingerprint):
            earlier = None
        if keeps_encoding and earlier is not None:
            encoding = earlier.encoding
        seen = (seen_lines(earlier) if earlier else UNSEEN).with_shown(shown)
        full = bool(earlier and earlier.full) or seen.are_all(shown.total_lines)
        views = [one for one in (earlier.views if earlier else []) if one != view and not one.startswith(_BY_DIFF)]
        now = self.now()
        receipt = Receipt(
            user=self.reader.user,
            session=self.reader.session,
            key=stat.key,
            version=stat.content_version,
            text_sha=fingerprint.text if fingerprint else earlier.text_sha if earlier else None,
            exact_sha=fingerprint.exact if fingerprint else earlier.exact_sha if earlier else None,
            lines=seen.lines,
            partly=seen.partly,
            full=full,
            views=[*_mark(None if full else seen.since_diff), *[*views, view][-_MOST_VIEWS:]],
            encoding=encoding,
            read_at=earlier.read_at if earlier else now,
        )
        if earlier is not None and receipt == earlier and now - earlier.read_at <= _RENEWED_SECONDS:
            return earlier  # The earlier receipt proves the same, and is recent enough to be kept.
        receipt.read_at = now
        text = None
        if earlier is None or not covers(earlier.lines, shown.first, shown.last):
            kept = self.shown_text(stat.key) if earlier else None
            text = (kept or ShownText()).with_window(shown.first, shown.text, whole_lines(shown, {})).packed()
        self.put(receipt, text)
        return receipt

    def record_diff(self, receipt: Receipt, stat: FileStat, fingerprint: Fingerprint, text: str) -> None:
        """Renew the receipt of a fully shown file, for edits only, after a diff showed how the file changed."""
        now = renewed(receipt, stat, fingerprint, lines=_all_lines(text), views=_mark([]), read_at=self.now())
        self._store.put_receipt(now, ShownText().with_lines(1, text).packed())

    def after_own_write(
        self, stat: FileStat, state: FileState, text: str, encoding: str | None
    ) -> tuple[Receipt, bytes]:
        """The receipt after the reader wrote the whole file, and the text to keep with it.

        The whole file counts as shown, but its next read must not be answered "unchanged".
        """
        receipt = Receipt(
            user=self.reader.user,
            session=self.reader.session,
            key=stat.key,
            version=stat.content_version,
            text_sha=state.text_sha,
            exact_sha=state.exact_sha,
            lines=_all_lines(text),
            full=True,
            encoding=encoding,
            read_at=self.now(),
            own_write=True,
        )
        return receipt, ShownText().with_lines(1, text).packed()

    def after_own_edit(
        self,
        earlier: Receipt,
        stat: FileStat,
        state: FileState,
        diff: FileDiff,
        touched: Sequence[TouchedLines],
    ) -> tuple[Receipt, bytes]:
        """The receipt after the reader's own edit, and the text to keep with it.

        Lines that were shown stay shown; lines that were written (`touched`) are added.
        """
        changes = line_changes(diff)
        now = {"version": stat.content_version, "text_sha": state.text_sha, "exact_sha": state.exact_sha}
        seen = seen_lines(earlier).after(touched)
        shown = {"lines": seen.lines, "partly": seen.partly, "views": _mark(seen.since_diff)}
        receipt = earlier.model_copy(update={**now, **shown})
        # If no line of this content was shown, the kept lines are of an older content.
        kept = self.shown_text(stat.key) if earlier.lines or earlier.full else None
        return receipt, kept.with_changes(changes).packed() if kept is not None and changes is not None else b""

    def put(self, receipt: Receipt, shown: bytes | None) -> None:
        """Keep a receipt and a copy of the text shown; a store that fails does not keep the reader from its text."""
        try:
            self._store.put_receipt(receipt, shown)
        except InputOutput as problem:
            _log.warning("The read of %s leaves no receipt: %s", receipt.key, problem.message)

    def kept(self, key: str) -> bytes | None:
        """The copy beside a receipt, as it was put there."""
        return self._store.shown_text(self.reader, key)

    def shown_text(self, key: str) -> ShownText | None:
        """The lines shown, as far as they were kept."""
        data = self.kept(key)
        return ShownText.unpacked(data) if data else None

    def not_read(self, stat: FileStat, *, hint: str) -> NotRead:
        """The refusal of a file without a receipt."""
        if self._store.was_dropped(self.reader, stat.key):
            return NotRead(
                f"{stat.path} was read, but so long ago that the receipt was evicted",
                hint="Read the file again before changing it.",
                path=stat.path,
                evicted=True,
            )
        said = f"{stat.path} has not been read in this session ({self.reader.session})"
        if self._was_read_by_kin(stat.key):
            # A new conversation, or a client whose next call comes in yet another session: here they are alike.
            return NotRead(
                f"{said}, which is new; another session of this client has read it",
                hint=f"{hint} {_ONE_SESSION}",
                path=stat.path,
            )
        return NotRead(said, hint=hint, path=stat.path)

    def _was_read_by_kin(self, key: str) -> bool:
        """Whether this session has read nothing, but another one of the same client has just read the file."""
        client, user = client_of(self.reader.session), self.reader.user
        if client is None or self._store.receipts(self.reader):
            return False
        recent = self._store.reads(MomentFilter(key_prefix=key, after=self.now() - _RENEWED_SECONDS))
        return any(read.user == user and client_of(read.session) == client for read in recent)


def _all_lines(text: str) -> list[tuple[int, int]]:
    return [(1, line_count(text))] if text else []


def _mark(since: Sequence[tuple[int, int]] | None) -> list[str]:
    """The view that marks a receipt renewed by a diff, with the lines shown since; no view for None."""
    return [] if since is None else [f"{_BY_DIFF}{ranges_as_text(since)}"]


def _same_content(receipt: Receipt, stat: FileStat, fingerprint: Fingerprint | None) -> bool:
    if receipt.version == stat.content_version:
        return True
    return fingerprint is not None and receipt.text_sha == fingerprint.text
