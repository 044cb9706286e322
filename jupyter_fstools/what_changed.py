"""What became of a content since it was known: the diff that a stale refusal carries."""

from __future__ import annotations

from .documents.text_encoding import encoding_of
from .draft import Draft, KnownContent
from .errors import FsToolsError, Stale
from .records import Receipt
from .text_diff import unified

_MOST_BYTES = 16 << 20


def explain(refusal: Stale, draft: Draft, known: KnownContent | None, receipt: Receipt | None, *, whole: bool) -> None:
    """Put into a refusal what changed, as far as it can be told.

    Args:
        refusal: gets the diff among its details.
        draft: the file as it is now.
        known: what is remembered of the content before.
        receipt: the reader's, which may name the encoding.
        whole: what is remembered was all there was.
    """
    assert draft.before is not None
    if known is None or draft.stat.size > _MOST_BYTES:
        return
    try:
        encoding = encoding_of(draft.before, draft.stat.path, receipt.encoding if receipt else None)
    except FsToolsError:
        return
    text = draft.before.read(len(encoding.bom), draft.stat.size).decode(encoding.codec, "replace")
    diff = known.diff(draft.stat.path, text, whole=whole)
    if diff is not None and (diff.hunks or diff.cells):
        refusal.details["diff"] = unified(diff)
