"""Makes receipts for edits of a text that has changed unseen."""

from __future__ import annotations

from collections.abc import Iterable

from ..backends.protocol import FileStat
from ..content.fingerprint import Fingerprint
from ..documents.text.edits import TextEdit
from ..stores.records import Receipt
from .draft import Draft
from .read_tracker import renewed
from .shown_text import ShownText


def has_changed(draft: Draft) -> bool:
    """Whether the file's content has changed since it was shown."""
    assert draft.receipt is not None
    # Where only the version was another one, `ReadTracker.require` has put the present one into the receipt.
    return draft.receipt.version != draft.stat.content_version


def receipts_of_changed(
    receipt: Receipt, stat: FileStat, found: Fingerprint, *, were_shown: bool
) -> tuple[Receipt, Receipt]:
    """The receipts after an outsider's change: one for these edits, and one for later calls.

    The line numbers belong to other content, so the check is that each old string was in a text that was shown. The
    outsider's change itself was not shown, so the file must not count as shown for an overwrite or a later read.

    Args:
        receipt: the reader's, of the former content.
        stat: the file as it is.
        found: the fingerprint of its content.
        were_shown: each old string was in a text that was shown.
    """
    # A receipt without any line, or piece of one, would be that of a picture.
    nothing = renewed(receipt, stat, found, partly={1: 0})
    return nothing.model_copy(update={"full": were_shown}), nothing


def were_shown(shown: ShownText | None, edits: Iterable[TextEdit]) -> bool:
    """Whether each old string was in a text that was shown, or that earlier edits made of it."""
    if shown is None:
        return False
    texts = [_plain(text) for text in shown.texts()]
    for edit in edits:
        old, new = _plain(edit.old).removeprefix("\ufeff"), _plain(edit.new)
        if not any(old in text for text in texts):
            return False
        texts = [text.replace(old, new) for text in texts]
    return True


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
