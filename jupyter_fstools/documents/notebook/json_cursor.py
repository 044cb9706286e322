"""Scans JSON bytes of any size without building values."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from ...content.source import Content
from .json_patterns import BLANKS, FLAT_MEMBER, ITEMS, MEMBERS, NUMBER, STRING_BODY, WORD
from .refusals import broken_json, not_utf8

WINDOW_BYTES = 1 << 18
"""Bytes held at a time: small enough for the CPU's cache, large enough that refilling costs little."""

_CONTROLS = [bytes([code]) for code in range(32)]
_QUOTE, _BACKSLASH, _COMMA, _COLON, _ARRAY, _OBJECT = b'"\\,:[{'
_CLOSING = {_ARRAY: 0x5D, _OBJECT: 0x7D}


class JsonCursor:
    """A place in JSON bytes that only moves forward, over whole values.

    Accepts what Python's json module accepts (NaN, Infinity, any number, duplicate keys), nothing else.

    Args:
        content: the bytes.
        start: where to begin.
        end: where to stop looking; the content's end if None.
        checked: these bytes are known to be UTF-8.
    """

    def __init__(self, content: Content, start: int = 0, end: int | None = None, *, checked: bool = False) -> None:
        self.ascii = True
        self._content = content
        self._limit = content.size if end is None else end
        self._checked = checked
        self._base, self._at, self._window = start, 0, b""
        self._valid = self._limit if checked else start

    @property
    def position(self) -> int:
        """The offset of the next byte."""
        return self._base + self._at

    def peek(self) -> int:
        """The next byte that is no white space, without passing it; -1 at the end."""
        while True:
            if self._at < len(self._window):
                byte = self._window[self._at]
                if byte > 32:
                    return byte
                blanks = BLANKS.match(self._window, self._at)
                assert blanks is not None
                if blanks.end() < len(self._window):
                    self._at = blanks.end()
                    return self._window[self._at]
                self._at = blanks.end()
            if not self._more():
                return -1

    def skip(self) -> tuple[int, int]:
        """Pass the value that comes next; its first byte and the one after its last."""
        self.peek()
        start = self.position
        stack: list[int] = []
        self._open_value(stack)
        while stack:
            byte = self.peek()
            if byte == _COMMA:
                self._at += 1
                if not self._run(stack[-1]):
                    self._open_value(stack)
            elif byte == _CLOSING[stack[-1]]:
                self._at += 1
                stack.pop()
            else:
                self.fail("expected ',' or the end of the container")
        return start, self.position

    def items(self) -> Iterator[None]:
        """Come to each item of the array here; the caller skips the item before it continues."""
        if self._opened(_ARRAY):
            while True:
                yield
                if not self._comma(_ARRAY):
                    break

    def members(self) -> Iterator[tuple[str, int, int]]:
        """Key, its first byte and the one after its last, of each member of the object here.

        The caller skips the value before it continues.
        """
        if self._opened(_OBJECT):
            while True:
                yield self._key()
                if not self._comma(_OBJECT):
                    break

    def object(self) -> tuple[list[str], list[int]]:
        """Skip the object here; returns its keys, and four offsets per member: start and end of key and of value."""
        keys: list[str] = []
        marks: list[int] = []
        more = self._opened(_OBJECT)
        while more:
            found = FLAT_MEMBER.match(self._window, self._at)
            if found is None:
                key, *place = self._key()
                keys.append(key)
                marks += [*place, *self.skip()]
                more = self._comma(_OBJECT)
                continue
            keys.append(found[1][1:-1].decode("ascii"))
            marks += [mark + self._base for mark in (*found.span(1), *found.span(2))]
            more = self._window[found.end() - 1] == _COMMA
            self._at = found.end() + (not more)
        return keys, marks

    def taken(self, start: int, end: int) -> bytes:
        """Bytes already passed."""
        if start >= self._base:
            return self._window[start - self._base : end - self._base]
        return self._content.read(start, end - start)

    def finish(self) -> None:
        """Check that only white space is left.

        Raises:
            NotebookRefused: there is more.
        """
        if self.peek() != -1:
            self.fail("something follows the end of the document")

    def fail(self, reason: str) -> None:
        """Refuse at the place reached."""
        raise broken_json(self._content, self.position, self._limit, reason)

    def _opened(self, kind: int) -> bool:
        """Pass the opening bracket; False where the container is empty and passed."""
        self.peek()
        self._at += 1
        if self.peek() != _CLOSING[kind]:
            return True
        self._at += 1
        return False

    def _comma(self, kind: int) -> bool:
        byte = self.peek()
        if byte not in (_COMMA, _CLOSING[kind]):
            self.fail("expected ',' or the end of the container")
        self._at += 1
        return byte == _COMMA

    def _key(self) -> tuple[str, int, int]:
        start, end = self._pass_key()
        return str(json.loads(self.taken(start, end))), start, end

    def _open_value(self, stack: list[int]) -> None:
        """Skip a scalar, or enter containers up to and including the first scalar or empty container."""
        while True:
            if stack and stack[-1] == _OBJECT:
                self._pass_key()
            byte = self.peek()
            if byte not in _CLOSING:
                self._string() if byte == _QUOTE else self._number()
                return
            self._at += 1
            if self.peek() == _CLOSING[byte]:
                self._at += 1
                return
            stack.append(byte)
            if self._run(byte):
                return

    def _pass_key(self) -> tuple[int, int]:
        """Skip a key and the colon after it; the key's first byte and the one after its last."""
        if self.peek() != _QUOTE:
            self.fail("expected a key in double quotes")
        start = self.position
        self._string()
        end = self.position
        if self.peek() != _COLON:
            self.fail("expected ':' after the key")
        self._at += 1
        return start, end

    def _run(self, kind: int) -> bool:
        """Skip, within the window, as many items or members as one pattern matches; whether they were the last ones."""
        found = (ITEMS if kind == _ARRAY else MEMBERS).match(self._window, self._at)
        assert found is not None
        moved, self._at = found.end() > self._at, found.end()
        return moved and self._window[self._at - 1] != _COMMA

    def _number(self) -> None:
        while True:
            word = WORD.match(self._window, self._at)
            assert word is not None
            if word.end() < len(self._window) or not self._more():
                break
        if not NUMBER.fullmatch(self._window, self._at, word.end()):
            self.fail("expected a value")
        self._at = word.end()

    def _string(self) -> None:
        self._at += 1
        while True:
            if self._plain_to_quote():
                return
            found = STRING_BODY.match(self._window, self._at)
            assert found is not None
            self._at = found.end()
            left = len(self._window) - self._at
            byte = self._window[self._at] if left else -1
            if byte == _QUOTE:
                self._at += 1
                return
            if byte >= 0 and byte != _BACKSLASH:
                self.fail("control character in a string")
            if left >= 6 or not self._more():
                self.fail("invalid escape in a string" if left else "string without an end")

    def _plain_to_quote(self) -> bool:
        """Skip a long run without escapes by memchr; whether the string ended with it."""
        window, at = self._window, self._at
        quote = window.find(b'"', at)
        end = len(window) if quote < 0 else quote
        if end - at < 512 or window.find(b"\\", at, end) >= 0:
            return False
        if any(window.find(control, at, end) >= 0 for control in _CONTROLS):
            return False
        self._at = end + (quote >= 0)
        return quote >= 0

    def _more(self) -> bool:
        """Move the window on so that it holds more from the place reached; False at the end."""
        if self._base + len(self._window) >= self._limit:
            return False
        start = min(self.position, self._valid)
        had = self._base + len(self._window)
        length = max(WINDOW_BYTES, 2 * (had - start))  # Twice the rest that was not skipped, which may be a long token.
        window = self._content.read(start, min(length, self._limit - start))
        if len(window) < min(length, self._limit - start):  # The content is shorter than its stated size.
            self._limit = start + len(window)
        self._at = self.position - start
        self._base, self._window = start, window
        if not self._checked:
            self._check_text()
        return start + len(window) > had

    def _check_text(self) -> None:
        piece = self._window[self._valid - self._base :]
        last = self._base + len(self._window) >= self._limit
        if piece.isascii():
            self._valid += len(piece)
            return
        self.ascii = False
        try:
            self._valid += codecs.utf_8_decode(piece, "strict", last)[1]
        except UnicodeDecodeError as error:
            raise not_utf8(self._valid + error.start, error.reason) from None
