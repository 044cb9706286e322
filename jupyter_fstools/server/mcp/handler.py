"""Handles `/mcp`: streamable HTTP behind Jupyter's login."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_server.auth.decorator import allow_unauthenticated, authorized
from tornado import web

from ...errors import FsToolsError, Invalid, NotFound
from ...progress import Progress
from ...stores.records import Reader
from ..base_handler import ToolsHandler
from ..permissions import EXECUTE, READ, permission_of
from ..served import SESSION_HEADER
from ..streaming import MEDIA_TYPE
from .json_rpc import INTERNAL_ERROR, INVALID_REQUEST, Fault, error
from .progress import ProgressStream
from .sessions import McpSessions

if TYPE_CHECKING:
    from mcp_types.jsonrpc import JSONRPCRequest

    from .messages import Posted

_SESSION_ID = "Mcp-Session-Id"
_VERSION = "MCP-Protocol-Version"
_SESSIONS = "jupyter_fstools_mcp_sessions"


class _Asker(NamedTuple):
    """Whose receipts count, and in which session of the protocol: request ids are unique only there."""

    reader: Reader
    conversation: Reader


class McpHandler(ToolsHandler):
    """`POST` and `DELETE /mcp`: messages, and the end of a session. There is no stream to `GET`."""

    opens_to_tokens = True
    _gone = False

    @web.authenticated
    @authorized("read", "contents")  # type: ignore[untyped-decorator]  # Jupyter's annotation loses the method.
    async def post(self) -> None:
        """Answer a message, or a batch of them; what a tool needs beyond reading is asked for every call."""
        version, limit = self.request.headers.get(_VERSION), self.served.body_limit
        try:
            posted = await asyncio.to_thread(_read, self.request.body, version, limit)
            if posted.begins:
                await self._begin(posted.requests[0])
                return
            asker = self._asker()
            for id in posted.cancelled:
                self._sessions.cancel(asker.conversation, id)
            await self._answer(posted, asker)
        except Fault as fault:
            self.answer(fault.as_message(), fault.status)

    @web.authenticated
    @authorized("read", "contents")  # type: ignore[untyped-decorator]  # As above.
    async def delete(self) -> None:
        """End a session: what runs in it ends, and what it was shown is forgotten."""
        own = self._own_session()
        if own is None:
            raise Invalid(f"{_SESSION_ID} is missing", hint="Name the session to end.", field=_SESSION_ID)
        reader = self.reader(own)
        self._sessions.end(Reader(reader.user, own))
        if self.assistant is None:  # Its session goes on: the token names it, not the protocol.
            await self.call(lambda workspace: workspace.tracker.forget(), reader)
        self.set_status(204)
        self.finish()

    def on_connection_close(self) -> None:
        """The client has gone: its call ends, and so does what it sent with it."""
        super().on_connection_close()
        self._gone = True

    def skip_check_origin(self) -> bool:
        """A token is no excuse: a browser may have been made to send it."""
        return self.request.method == "OPTIONS"

    def check_origin(self, origin_to_satisfy_tornado: str = "") -> bool:
        """Refuse other origins than Jupyter's settings allow, by the status that the protocol names."""
        if not super().check_origin(origin_to_satisfy_tornado):
            raise web.HTTPError(403, "this origin is not allowed")
        return True

    def told(self, error_: dict[str, Any]) -> dict[str, Any]:
        """An error before or beside the protocol, in its form."""
        code = INTERNAL_ERROR if error_["code"] == "io" else INVALID_REQUEST
        return error(None, code, f"{error_['message'].removesuffix('.')}. {error_['hint']}".rstrip(), error_)

    @allow_unauthenticated
    def options(self, *args: Any, **kwargs: Any) -> None:
        """What another origin may send, and may read."""
        super().options(*args, **kwargs)
        allowed = self._headers.get("Access-Control-Allow-Headers", "")
        self.set_header("Access-Control-Allow-Headers", f"{allowed}, {_SESSION_ID}, {_VERSION}".lower())

    def set_cors_headers(self) -> None:
        """Another origin may read the session's id."""
        super().set_cors_headers()
        self.set_header("Access-Control-Expose-Headers", _SESSION_ID)

    @property
    def _sessions(self) -> McpSessions:
        if _SESSIONS not in self.settings:
            self.settings[_SESSIONS] = McpSessions(self.settings["cookie_secret"])
        sessions: McpSessions = self.settings[_SESSIONS]
        return sessions

    def _own_session(self) -> str | None:
        """The session of the gate that the protocol's session is; None where the client names none.

        Raises:
            NotFound: it was not given, or has ended.
        """
        id = self.request.headers.get(_SESSION_ID)
        if id is None:
            return None
        session = self._sessions.session(id, self.reader().user)
        if session is None:
            raise NotFound(f"{_SESSION_ID}: there is no such session", hint="Begin a new one with initialize")
        return session

    def _asker(self) -> _Asker:
        own = self._own_session()
        named = (self.assistant and self.assistant.session) or self.request.headers.get(SESSION_HEADER) or own
        if named is None:
            hint = f"Begin a session with initialize, or name one of your own by {SESSION_HEADER}"
            raise Invalid(f"{_SESSION_ID} is missing", hint=hint, field=_SESSION_ID)
        reader = self.reader(named)
        return _Asker(reader, Reader(reader.user, own or named))

    async def _begin(self, request: JSONRPCRequest) -> None:
        from .methods import answered

        message = answered(self.served.workspace, request)
        self.set_header(_SESSION_ID, self._sessions.begin(self.reader().user))
        self.answer(message)

    async def _answer(self, posted: Posted, asker: _Asker) -> None:
        if not posted.requests:
            self.set_status(202)
            self.finish()
        elif posted.batch:
            self.answer(b"[" + b",".join([await self._batched(one, asker) for one in posted.requests]) + b"]")
        else:
            await self._answer_alone(posted.requests[0], asker)

    async def _batched(self, request: JSONRPCRequest, asker: _Asker) -> bytes:
        if not self._gone:
            self._left = threading.Event()  # Each can be cancelled alone.
        try:
            return await self._answered(request, asker)
        except Fault as fault:
            return fault.as_message()

    async def _answer_alone(self, request: JSONRPCRequest, asker: _Asker) -> None:
        """Answer with JSON, or with a stream where there is progress that the client wants to be told."""
        from .messages import progress_token

        token = progress_token(request)
        if token is None or MEDIA_TYPE not in self.request.headers.get("Accept", ""):
            self.answer(await self._answered(request, asker))
        else:
            stream = ProgressStream(self, request.id, token)
            await stream.answer(self._answered(request, asker, stream.tell))

    async def _answered(
        self, request: JSONRPCRequest, asker: _Asker, tell: Callable[[Progress], None] | None = None
    ) -> bytes:
        """Answer one request, unless the authorizer does not allow the tool that it calls.

        Raises:
            Fault
        """
        from .methods import answered, called_tool, refused

        name = called_tool(self.served.workspace, request)
        permission = READ if name is None else permission_of(name, self.served.workspace.tool_prefix)
        work, command = partial(answered, request=request), permission == EXECUTE
        try:
            await self.require_permission(permission)
            with self._sessions.running(asker.conversation, request.id, self._left):
                return await self.call(work, asker.reader, tell, command=command)
        except FsToolsError as refusal:
            if name is None:
                raise
            return refused(self.served.workspace, request.id, refusal)


def _read(body: bytes, version: str | None, limit: int) -> Posted:
    # What knows the protocol takes a tenth of a second to import: the first message does it, in its thread.
    from . import methods  # noqa: F401
    from .messages import read_messages

    return read_messages(body, version, limit)
