"""Handles `/mcp` over HTTP behind Jupyter's login; shortens some clients' answers."""

from __future__ import annotations

import asyncio
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_server.auth.decorator import allow_unauthenticated, authorized
from tornado import web

from ...client.requests import SESSION_HEADER
from ...errors import FsToolsError, Invalid, NotFound
from ...progress import Progress
from ...sessions import client_of, client_session
from ...stores.records import Reader
from ..base_handler import ToolsHandler
from ..permissions import EXECUTE, READ, permission_of
from ..streaming import MEDIA_TYPE, EventStream
from .json_rpc import INTERNAL_ERROR, INVALID_REQUEST, Fault, Id, as_message, error
from .sessions import McpSessions, is_named

if TYPE_CHECKING:
    from mcp_types.jsonrpc import JSONRPCRequest

    from .messages import Posted

_SESSION_ID = "Mcp-Session-Id"
_REPEATING = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
"""Headers that repeat parts of a message."""
_SESSIONS = "jupyter_fstools_mcp_sessions"
_NOTE_BYTES = 512
"""Bytes reserved for an answer's text around its rows: their source, and how to continue."""
_LARGE_BYTES = 1 << 16
"""A larger message may take more than a millisecond to parse."""
_METHODS = f"{__package__}.methods"


class _Asker(NamedTuple):
    """The user whose receipts count, and the session of the protocol: request ids are unique only there.

    A stateless request stands alone. `client` is the common part of the sessions that its client begins.
    """

    reader: Reader
    conversation: Reader
    client: str
    stateless: bool = False


class McpHandler(ToolsHandler):
    """`POST` and `DELETE /mcp`: messages, and the end of a session. There is no stream to `GET`."""

    opens_to_tokens = True
    changes_files = True  # No tool has run where an error is not its own refusal.

    @web.authenticated
    @authorized("read", "contents")  # type: ignore[untyped-decorator]  # Jupyter's annotation loses the method.
    async def post(self) -> None:
        """Answer a message of the Model Context Protocol, or a batch; permissions are checked for every call."""
        posted = None
        try:
            posted = await _read(self.request.body, self.request.headers, self.served.body_limit)
            if posted.begins:
                await self._begin(posted.requests[0])
                return
            asker = self._asker() if posted.client is None else self._stateless_asker(posted.client)
            for id in posted.cancelled:
                self._sessions.cancel(asker.conversation, id)
            await self._answer(posted, asker)
        except Fault as fault:
            stateless = posted is not None and posted.client is not None
            self.answer(fault.as_message(), fault.stateless_status if stateless else fault.status)

    @web.authenticated
    @authorized("read", "contents")  # type: ignore[untyped-decorator]  # As above.
    async def delete(self) -> None:
        """End an MCP session: its calls end, and its receipts are forgotten unless a token names it."""
        own = self._own_session()
        if own is None:
            raise Invalid(f"{_SESSION_ID} is missing", hint="Name the session to end.", field=_SESSION_ID)
        reader = self.reader(own)
        self._sessions.end(Reader(reader.user, own))
        if self.assistant is None:  # An assistant's session goes on: its token names it, not the protocol.
            await self.call(lambda workspace: workspace.tracker.forget(), reader)
        self.set_status(204)
        self.finish()

    def skip_check_origin(self) -> bool:
        """Check the origin of requests with a token, too: another page may make a browser send one."""
        return self.request.method == "OPTIONS"

    def told(self, error_: dict[str, Any]) -> dict[str, Any]:
        """An error before or beside the protocol, in its form."""
        code = INTERNAL_ERROR if error_["code"] == "io" else INVALID_REQUEST
        return error(None, code, f"{error_['message'].removesuffix('.')}. {error_['hint']}".rstrip(), error_)

    @allow_unauthenticated
    def options(self, *args: Any, **kwargs: Any) -> None:
        """Answer a preflight request: what another origin may send, and may read."""
        super().options(*args, **kwargs)
        allowed = [self._headers.get("Access-Control-Allow-Headers", ""), _SESSION_ID, *_REPEATING]
        self.set_header("Access-Control-Allow-Headers", ", ".join(allowed).lower())

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
        return _Asker(reader, Reader(reader.user, own or named), client_of(own or "") or client_session(""))

    def _stateless_asker(self, client: str) -> _Asker:
        """The sender of a stateless request: calls of one client share a session, unless one is named."""
        named, session = self.request.headers.get(SESSION_HEADER), client_session(client)
        reader = self.reader(named or session)
        # Programs with one name may choose equal request ids, so a request is cancelled by closing its connection.
        return _Asker(reader, reader if named else Reader(reader.user, secrets.token_hex()), session, stateless=True)

    async def _begin(self, request: JSONRPCRequest) -> None:
        from .methods import answered

        message = answered(self.served.workspace, request)
        client = (request.params or {})["clientInfo"]["name"]
        self.set_header(_SESSION_ID, self._sessions.begin(self.reader().user, client))
        self.answer(message)

    async def _answer(self, posted: Posted, asker: _Asker) -> None:
        if not posted.requests:
            self.set_status(202)
            self.finish()
            return
        # Each request of a batch can be cancelled alone, also while it waits for earlier ones.
        calls = [(request, threading.Event() if posted.batch else self._left) for request in posted.requests]
        with ExitStack() as running:
            for request, left in calls:
                running.enter_context(self._sessions.running(asker.conversation, request.id, left))
            if posted.batch:
                self.answer(b"[" + b",".join([await self._batched(one, asker, left) for one, left in calls]) + b"]")
            else:
                await self._answer_alone(posted.requests[0], asker)

    async def _batched(self, request: JSONRPCRequest, asker: _Asker, left: threading.Event) -> bytes:
        if not self._gone:
            self._left = left
        try:
            return await self._answered(request, asker)
        except Exception as problem:  # The results of the batch's other requests must still be sent.
            return self.failed(request.id, problem)

    def failed(self, id: Id, problem: Exception) -> bytes:
        """The message that answers a request that was refused, where the status cannot say so."""
        if isinstance(problem, Fault):
            return problem.as_message()
        return as_message({**self.told(self.as_refusal(problem).as_dict()), "id": id})

    async def _answer_alone(self, request: JSONRPCRequest, asker: _Asker) -> None:
        """Answer with JSON, or with a stream once there is progress that the client wants, or the call takes long."""
        from .messages import progress_token

        if MEDIA_TYPE not in self.request.headers.get("Accept", ""):
            self.answer(await self._answered(request, asker))
        else:
            token = progress_token(request)
            stream = ProgressStream(self, request.id, token)
            await stream.answer(self._answered(request, asker, None if token is None else stream.tell))

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
        headers = self.request.headers
        conversation = headers.get(_SESSION_ID) or headers.get(SESSION_HEADER)
        is_cut = is_named(asker.client, self.served.config.cutting_clients)
        most = self.served.workspace.limits.mcp_output_bytes - _NOTE_BYTES if is_cut else None
        work = partial(
            answered, request=request, stateless=asker.stateless, conversation=conversation, shown_bytes=most
        )
        command = permission == EXECUTE
        try:
            await self.require_permission(permission)
            return await self.call(work, asker.reader, tell, command=command)
        except Fault as fault:
            if permission != READ:
                fault.message = f"{fault.message} (not modified)"
            raise
        except FsToolsError as refusal:
            if name is None:
                raise
            if permission != READ:
                refusal.say_unmodified()
            return refused(self.served.workspace, request.id, refusal, stateless=asker.stateless)


async def _read(body: bytes, headers: Mapping[str, str], limit: int) -> Posted:
    read = partial(_read_now, body, headers, limit)
    # A thread costs more than parsing a small message; importing the protocol's models takes a tenth of a second.
    takes_long = len(body) > _LARGE_BYTES or _METHODS not in sys.modules
    return await asyncio.to_thread(read) if takes_long else read()


def _read_now(body: bytes, headers: Mapping[str, str], limit: int) -> Posted:
    from . import methods  # noqa: F401
    from .messages import read_messages

    return read_messages(body, headers, limit)


class ProgressStream(EventStream):
    """The answer to one request: JSON, or a stream of events once there is progress to report or the call takes long.

    Args:
        handler: the handler that answers.
        id: the request's.
        token: the progress token that its notifications name; None: nothing is reported.
    """

    def __init__(self, handler: McpHandler, id: Id, token: Id | None) -> None:
        super().__init__(handler)
        self._mcp = handler
        self._id = id
        self._token = token
        self._told = 0

    def tell(self, progress: Progress) -> None:
        """Send the call's progress; from any thread."""
        self._told += 1
        params = {"progressToken": self._token, "progress": self._told, "message": progress.text}
        message = as_message({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        self._send_soon("message", message)

    async def answer(self, call: Awaitable[bytes]) -> None:
        """Send the message that the call answers, once it does; until then keep the connection alive."""
        try:
            with self._kept_alive():
                message = await call
        except Exception as problem:
            if not self._begun:
                raise
            message = self._mcp.failed(self._id, problem)
        if self._begun:
            self._send("message", message)
            self._handler.finish()
        else:
            self._handler.answer(message)
