"""Tells in refusals what changed since a reader was shown a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from ..backends.protocol import OpenFile
from ..content.fingerprint import fingerprint_of
from ..diffs.file_diff import FileDiff, unified
from ..diffs.line_diff import MAX_ROW_CHARACTERS
from ..documents.text.encoding import BOM_OF, UTF_8, TextEncoding, encoding_by_itself, encoding_of, known_encoding
from ..errors import EncodingRefused, FsToolsError, Stale
from ..stores.records import Receipt
from .draft import ExpectedFile, KnownContent
from .line_ranges import covers
from .read_tracker import seen_lines
from .shown_text import ShownText

_SAID = {
    "byte_order_mark": "its byte order mark was {how}; the text is the same",
    "encoding": "it was {how}; the text is the same",
    "other_encoding": "it was read {how} now",
    "line_endings": "only its line endings changed",
    "final_newline": "its final newline was {how}; the other lines are the same",
    "cell_type": "it was a {how} cell; its source is the same",
    "outside_shown_lines": "the changes lie outside the lines that were shown whole",
    "outside_change": "the changes lie outside the lines that this change covers",
    "undecodable": "it can no longer be decoded with the encoding it was read in",
    "too_large": "the file is too large to tell what changed",
    "unknown": "too little of what was shown is kept to tell what changed",
}


SHOWN_BY_DIFF = "Look at what changed (diff), then repeat the call, corrected if need be."
"""The hint of a refusal after which an edit may be repeated."""


def show_diff(refusal: Stale, diff: FileDiff | None) -> bool:
    """Put a diff among the details of a refusal; returns whether it shows any change."""
    if diff is None or not (diff.hunks or diff.cells):
        return False
    refusal.details["diff"] = unified(diff)
    refusal.diff = diff
    if refusal.hint.startswith("Read "):
        refusal.hint = f"Look at what changed (diff), then r{refusal.hint[1:]}"
    return True


def tells_all(refusal: Stale, diff: FileDiff | None) -> bool:
    """Whether a refusal has the whole diff, without a row left out or a line cut."""
    if diff is None or refusal.details.get("diff") != unified(diff, sys.maxsize):
        return False
    return all(len(row.text) < MAX_ROW_CHARACTERS for hunk in diff.hunks for row in hunk.rows)


def say_in_words(refusal: Stale, changed: str, how: str = "") -> None:
    """Say what changed where no diff shows it: `changed` is one of the words of `details`."""
    refusal.details["changed"] = changed
    refusal.say_more(_SAID[changed].format(how=how))


MOST_EXPLAINED_BYTES = 16 << 20
"""Largest file that is compared with what was shown of it."""
_MOST_RECODED_BYTES = 4 << 20
"""Largest text, in characters, that is encoded in a dozen encodings to find its former one."""


def explain_read(refusal: Stale, opened: OpenFile, receipt: Receipt, shown: ShownText | None) -> str | None:
    """Put into a refusal what changed since a file was read, as far as that is known.

    Returns the text of the file where the refusal and the lines shown before cover all of it; else None.

    Args:
        refusal: gets the diff among its details, or what changed in words.
        opened: the file as it is now.
        receipt: the reader's.
        shown: the lines shown, as far as they were kept.
    """
    if not (receipt.lines or receipt.partly or receipt.full) and seen_lines(receipt).since_diff is None:
        return None  # The file was shown as a picture, not as an empty text.
    kept = shown.ranges() if shown is not None else []
    whole = shown is not None and is_whole_text(receipt, shown)
    elsewhere = "outside_shown_lines" if all(covers(kept, *lines) for lines in receipt.lines) else "unknown"
    then = _Then(shown, whole, receipt.text_sha, receipt.encoding, elsewhere)
    text = _explain(refusal, opened, then)
    if receipt.encoding and refusal.details.get("changed") in ("encoding", "other_encoding"):
        refusal.hint = "Read the file again without `encoding`, then repeat the call."
    return text


def explain_change(refusal: Stale, opened: OpenFile, expected: ExpectedFile, receipt: Receipt | None) -> None:
    """The same for a file that should have the content that a change left.

    `receipt` is the reader's receipt, which may name the encoding.
    """
    assert expected.state is not None
    encoding = receipt.encoding if receipt else None
    then = _Then(expected.known, expected.whole, expected.state.text_sha, encoding, "outside_change")
    _explain(refusal, opened, then)


def is_in_other_encoding(opened: OpenFile, receipt: Receipt) -> bool:
    """Whether a file shows by itself another encoding than the one that the reader named for its former content."""
    return bool(receipt.encoding and encoding_by_itself(opened, opened.stat.path, receipt.encoding))


def is_whole_text(receipt: Receipt, shown: ShownText) -> bool:
    """Whether the lines that were kept of those shown are the whole file."""
    return (receipt.full or seen_lines(receipt).since_diff is not None) and shown.ranges() == receipt.lines


def text_of(opened: OpenFile, encoding: TextEncoding) -> str:
    """The file's text, with a replacement character for what cannot be decoded."""
    return opened.read(len(encoding.bom), opened.stat.size).decode(encoding.codec, "replace")


class _Then(NamedTuple):
    """A former content of a file.

    Attributes:
        known: the remembered part of it.
        whole: `known` is the whole content.
        text_sha: its fingerprint.
        encoding: the one it was read in, if it was named.
        elsewhere: the word of `details` for a change outside the remembered part.
    """

    known: KnownContent | None
    whole: bool
    text_sha: str | None
    encoding: str | None
    elsewhere: str


def _explain(refusal: Stale, opened: OpenFile, then: _Then) -> str | None:
    if opened.stat.size > MOST_EXPLAINED_BYTES:
        say_in_words(refusal, "too_large")
        return None
    try:
        encoding = encoding_of(opened, opened.stat.path, then.encoding)
    except FsToolsError:
        say_in_words(refusal, "undecodable")
        return None
    other = encoding_by_itself(opened, opened.stat.path, then.encoding) if then.encoding else None
    text = text_of(opened, other or encoding)
    diff = then.known.diff(opened.stat.path, text, whole=then.whole) if then.known is not None else None
    if not show_diff(refusal, diff):
        elsewhere = "line_endings" if then.whole else then.elsewhere
        say_in_words(
            refusal, *(_only_bytes(then, text, other or encoding) or ("unknown" if diff is None else elsewhere,))
        )
    elif "\ufffd" in text and _is_undecodable(opened, encoding):
        say_in_words(refusal, "undecodable")
    elif other is not None:
        say_in_words(refusal, "other_encoding", f"in {encoding.codec} and reads as {_named(other)}")
    elif then.whole and tells_all(refusal, diff):
        return text
    return None


def _is_undecodable(opened: OpenFile, encoding: TextEncoding) -> bool:
    try:
        opened.read(len(encoding.bom), opened.stat.size).decode(encoding.codec)
    except UnicodeDecodeError:
        return True
    return False


def _only_bytes(then: _Then, text: str, now: TextEncoding) -> tuple[str, ...] | None:
    """The change, in words, of a file whose text is the same, found by the fingerprint of the old bytes."""
    if then.text_sha is None or len(text) > _MOST_RECODED_BYTES:
        return None

    def was(text: str, encoding: TextEncoding) -> bool:
        try:
            return fingerprint_of([encoding.bom + encoding.encode(text)]).text == then.text_sha
        except EncodingRefused:
            return False

    plain = text.replace("\r\n", "\n")
    if was(f"{plain}\n", now):
        return "final_newline", "removed"
    if plain.endswith("\n") and was(plain[:-1], now):
        return "final_newline", "added"
    for other in _encodings(then.encoding, now):
        if was(text, other) or was(plain, other):
            if other.codec == now.codec:
                return "byte_order_mark", "added" if now.bom else "removed"
            return "encoding", f"in {_named(other)} and is in {_named(now)}"
    crlf, lone = plain.replace("\n", "\r\n"), plain.replace("\r", "\n")
    if any(was(ended, now) for ended in (plain, crlf, lone, plain.replace("\n", "\r"))):
        return ("line_endings",)
    return None


def _encodings(named: str | None, now: TextEncoding) -> Iterator[TextEncoding]:
    """Other encodings that a text may have had."""
    marked = [TextEncoding(codec, bom) for codec, bom in BOM_OF.items()]
    asked = [TextEncoding(known_encoding(named).codec)] if named else []
    for then in [UTF_8, TextEncoding(now.codec), *asked, *marked]:
        if then != now:
            yield then


def _named(encoding: TextEncoding) -> str:
    return f"{encoding.codec} with a byte order mark" if encoding.bom else encoding.codec
