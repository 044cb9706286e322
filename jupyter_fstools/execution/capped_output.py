"""What a command printed, in bounded memory: the beginning and the end of it."""

from __future__ import annotations

from codecs import getincrementaldecoder

_CONTINUATION = range(0x80, 0xC0)
_LONGEST_CHARACTER = 4


class CappedOutput:
    """Takes bytes as they come and keeps the first and the last of them.

    Args:
        most: bytes kept; half of them from the beginning.
    """

    def __init__(self, most: int) -> None:
        self._head_room = most // 2
        self._tail_room = most - self._head_room
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    @property
    def truncated(self) -> bool:
        """More came than is kept."""
        return self._total > self._head_room + self._tail_room

    def add(self, chunk: bytes) -> None:
        """Take what came next."""
        self._total += len(chunk)
        room = self._head_room - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    def text(self) -> str:
        """All that is kept, as UTF-8 (what is none is replaced), with a marker where something was left out.

        The cuts are between characters.
        """
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = _whole_characters(bytes(self._head))
        tail = bytes(self._tail[-self._tail_room :])
        cut = next((at for at, byte in enumerate(tail[:_LONGEST_CHARACTER]) if byte not in _CONTINUATION), 0)
        tail = tail[cut:]
        left_out = self._total - len(head) - len(tail)
        marker = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + marker + tail.decode("utf-8", "replace")


class LiveText:
    """The same bytes as text while they come; after so many bytes it says that the rest comes with the result.

    Args:
        most: bytes that are told in all, so that nobody who listens is flooded.
    """

    def __init__(self, most: int) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._left = most

    def next(self, chunk: bytes) -> str:
        """The text that a chunk completes; an unfinished character waits for its rest."""
        if self._left < 0:
            return ""
        text = self._decoder.decode(chunk[: self._left])
        self._left -= len(chunk)
        return text if self._left >= 0 else f"{text}\n[... more output: the end of it comes with the result ...]\n"

    def end(self) -> str:
        """What is left of a character that was never finished."""
        return self._decoder.decode(b"", final=True) if self._left >= 0 else ""


def _whole_characters(data: bytes) -> bytes:
    """The bytes without an unfinished character at their end."""
    decoder = getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return data[: len(data) - len(decoder.getstate()[0])]
