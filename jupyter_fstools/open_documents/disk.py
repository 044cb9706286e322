"""Reads and writes files that are open nowhere, directly on the backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.source import BytesContent, Chunk
from ..content.splices import Splice, SplicedStream
from ..stores.records import Place
from .protocol import Applied, Begin


class Disk:
    """The holder of a file that nobody has open.

    Args:
        backend: where the bytes are.
        stat: the file, which may be missing.
    """

    place: Place = "disk"

    def __init__(self, backend: Backend, stat: FileStat) -> None:
        self._backend, self._stat = backend, stat

    def content(self) -> AbstractContextManager[OpenFile]:
        """The file's bytes."""
        return self._backend.read(self._stat.path)

    def apply(
        self, before: OpenFile | None, splices: Sequence[Splice], *, hash_before: bool, begin: Begin | None = None
    ) -> Applied:
        """Replace the file at once, unless an outsider was faster."""
        stream = SplicedStream(before or BytesContent(b""), splices, old_wanted=hash_before)

        def chunks() -> Iterator[Chunk]:
            yield from stream.chunks()
            if begin is not None:  # A backend takes all chunks before it replaces the file.
                begin(*stream.fingerprints())

        version = before.stat.version if before is not None else None
        stat = self._backend.write(self._stat.path, chunks(), if_match=version)
        old, new = stream.fingerprints()
        return Applied(stat, old, new)

    def remove(self, before: OpenFile) -> None:
        """Delete the file, unless an outsider was faster."""
        self._backend.delete(self._stat.path, if_match=before.stat.version)
