"""Serves the bytes of files and of changes."""

from __future__ import annotations

import hashlib
import re
from contextlib import ExitStack
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web
from tornado.iostream import StreamClosedError

from ...backends.protocol import OpenFile
from ...content.source import CHUNK_BYTES
from ...errors import Conflict, FsToolsError, OutOfRange
from ...gate.draft import require_file
from ...gate.workspace import Workspace
from ...journal.journal import Journal
from ...journal.standing import content_of
from ...tools.arguments import Arguments, PathArgument
from ..base_handler import ToolsHandler

_OCTETS = "application/octet-stream"
_RANGE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.IGNORECASE)


class RawFile:
    """A file held open to be sent; `close` it.

    A small file is read at once, and its ETag is a hash of its bytes: it stays the same wherever the bytes do. A larger
    one is read while it is sent, and its ETag stands for its version.
    """

    def __init__(self, workspace: Workspace, path: str) -> None:
        stat = workspace.peek(path)
        if stat.kind == "missing":
            raise workspace.paths.not_found(path, stat)
        require_file(path, stat)
        self.name = stat.path.rpartition("/")[2]
        self._holding = ExitStack()
        # No lock is held: a slow client must not block others. The open file stays one version, or says that it is not.
        self._opened: OpenFile = self._holding.enter_context(workspace.backend.read(stat.path))
        self.size = self._opened.size
        self._data: bytes | None = None
        if self.size <= CHUNK_BYTES:
            with self._holding:
                self._data = self._opened.read(0, self.size)
            digest = hashlib.sha256(self._data)
        else:
            opened = self._opened.stat
            digest = hashlib.sha256(f"{opened.key}\0{opened.content_version}".encode("utf-8", "surrogateescape"))
        self.etag = f'"{digest.hexdigest()[:40]}"'

    @property
    def in_memory(self) -> bool:
        """Whether the whole file has been read already."""
        return self._data is not None

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to `stop`.

        Raises:
            Conflict: somebody wrote into the file since it was opened; one ETag never stands for a mixture.
        """
        if self._data is not None:
            return self._data[start:stop]
        data = self._opened.read(start, stop - start)
        if not self._opened.unchanged():
            raise Conflict(f"{self.name} changed while it was sent", hint="Get it again.")
        return data

    def close(self) -> None:
        """Close the file, if it is still open."""
        self._holding.close()


class BytesHandler(ToolsHandler):
    """Base of the handlers that answer bytes."""

    @property
    def content_security_policy(self) -> str:
        """The policy that keeps a file's content from running as a page of this server."""
        return f"{super().content_security_policy}; sandbox"

    def finish(self, *args: Any, **kwargs: Any) -> Any:
        """Finish; an answer that is no error is bytes."""
        if self.get_status() < 400:
            kwargs.setdefault("set_content_type", _OCTETS)
        return super().finish(*args, **kwargs)

    def attach(self, name: str) -> None:
        """Have a browser save the answer under a name."""
        self.set_header("Content-Type", _OCTETS)
        self.set_header("Content-Disposition", f"attachment; filename*=utf-8''{quote(name, '', errors='replace')}")


class ContentQuery(Arguments):
    """The file of a change to send."""

    path: Annotated[PathArgument, Field(description="Of a change of several files.")] | None = None


class ChangedContentHandler(BytesHandler):
    """`GET /changes/{id}/content`: all of a file as a change leaves it, to be looked at before it is approved."""

    @web.authenticated
    @authorized
    async def get(self, change_id: str) -> None:
        """Send a file as the change leaves it, to be looked at where the diff is cut."""
        asked = self.query(ContentQuery)

        def told(workspace: Workspace) -> tuple[str, bytes]:
            change = Journal(workspace).change(change_id)
            file, data = content_of(workspace, change, asked.path)
            if self.is_shown:
                self.served.seen.note(workspace.reader.user, change, [file.path])
            return file.path.rpartition("/")[2], data

        name, data = await self.call(told)
        self.attach(name)
        self.set_header("Cache-Control", "no-store")
        self.finish(data)


class RawHandler(BytesHandler):
    """`GET /raw/{path}`: leaves no receipt."""

    @web.authenticated
    @authorized
    async def get(self, path: str) -> None:
        """Send a file's bytes, or one range of them."""
        await self._send(path, body=True)

    @web.authenticated
    @authorized
    async def head(self, path: str) -> None:
        """Send the headers of the same GET, without the bytes."""
        await self._send(path, body=False)

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """A path as its bytes stand in the URL; they need not be UTF-8."""
        return super().decode_argument(value, name) if name else value.decode("utf-8", "surrogateescape")

    async def _send(self, path: str, *, body: bool) -> None:
        file = await self.call(lambda workspace: RawFile(workspace, path))
        try:
            self._describe(file)
            if self.check_etag_header():
                self.set_status(304)
                self.finish()
                return
            start, stop = self._range(file) if body else (0, file.size)
            self.set_header("Content-Length", str(stop - start))
            if not body or file.in_memory:
                self.finish(file.read(start, stop) if body else None)
            else:
                await self._stream(file, start, stop)
        except StreamClosedError:
            pass  # The client went away.
        finally:
            file.close()

    def _describe(self, file: RawFile) -> None:
        self.attach(file.name)
        self.set_header("Etag", file.etag)
        self.set_header("Accept-Ranges", "bytes")
        self.set_header("Cache-Control", "private, no-cache")

    def _range(self, file: RawFile) -> tuple[int, int]:
        """The range to send; an invalid range, or several, count as not given.

        Raises:
            OutOfRange: the range begins behind the end.
        """
        spelled = _RANGE.fullmatch(self.request.headers.get("Range", "").replace(" ", ""))
        if spelled is None or self.request.headers.get("If-Range", file.etag) != file.etag:
            return 0, file.size
        first, last, suffix = spelled.groups()
        start = int(first) if first else max(file.size - int(suffix), 0)
        stop = min(int(last) + 1, file.size) if last else file.size
        if first and last and int(last) < int(first):
            return 0, file.size
        if start >= file.size:
            raise OutOfRange(
                f"the range begins at byte {start}; the file has {file.size}",
                hint="Ask for a range inside the file.",
                total=file.size,
            )
        self.set_status(206)
        self.set_header("Content-Range", f"bytes {start}-{stop - 1}/{file.size}")
        return start, stop

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """A refused range says how much there is."""
        error = kwargs.get("exc_info", (None, None))[1]
        if isinstance(error, OutOfRange):
            self.set_header("Content-Range", f"bytes */{error.details['total']}")
        super().write_error(status_code, **kwargs)

    async def _stream(self, file: RawFile, start: int, stop: int) -> None:
        caller = self.caller(self.reader())
        for at in range(start, stop, CHUNK_BYTES):
            try:
                chunk = await self.served.calls.run(caller, partial(file.read, at, min(at + CHUNK_BYTES, stop)))
            except FsToolsError as refusal:
                # The status has been sent already: the client notices the error by the missing bytes.
                self.log.warning("The connection that %s was sent on is closed: %s", file.name, refusal.message)
                self.detach().close()
                return
            self.write(chunk)
            await self.flush()
        self.finish()
