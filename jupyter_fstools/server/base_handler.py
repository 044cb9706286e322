"""Authenticates requests and tokens, runs calls in threads, answers refusals."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from http.client import responses
from typing import Annotated, Any, TypeVar, cast

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async
from pydantic import Field
from tornado.web import HTTPError

from ..client.requests import SESSION_HEADER, VIA_HEADER
from ..errors import Denied, FsToolsError, InputOutput, Invalid
from ..gate.tokens import Grant, check
from ..gate.workspace import Workspace
from ..progress import Progress
from ..sessions import DEFAULT_SESSION, checked_session
from ..stores.records import Reader, Token, Via
from ..tools.arguments import Arguments
from . import SETTING
from .bodies import as_json, checked, parsed_object
from .call_pool import Caller, CallPool
from .permissions import Permission
from .served import Served, invents_users
from .token_login import TokenLogin, end_with_token, presented

_T = TypeVar("_T")
_A = TypeVar("_A", bound=Arguments)
_MOST_WAITED_SECONDS = 60.0
_JUPYTERS_OWN = ("token", "_xsrf", "no_track_activity")
_USER = "_jupyter_current_user"
_BAD_TOKEN = "the token is not valid here", "It is wrong, expired or revoked: `jupyter fstools connect` makes one."
_CLIENT_GONE = 499
_CODES = {403: "denied", 404: "not_found", 413: "too_large"}
_NOT_PERMITTED = "Use tools that need other permissions; an administrator can give you this one."
_HINTS = {
    403: "Send the server's token (Authorization: token ...), or the login's cookies and _xsrf as X-XSRFToken.",
    400: "GET api/fstools/openapi.json tells what each route takes.",
    404: "GET api/fstools/openapi.json lists the routes.",
}


class NoArguments(Arguments):
    """Nothing."""


class Wait(Arguments):
    """How long to wait for a person's or an assistant's action."""

    wait: Annotated[float, Field(ge=0, allow_inf_nan=False, description="Seconds, 60 at most.")] = 0

    @property
    def seconds(self) -> float:
        """The seconds to wait: proxies cut off longer requests."""
        return min(self.wait, _MOST_WAITED_SECONDS)


class ToolsHandler(APIHandler):
    """Base of the handlers under `api/fstools`: raises refusals as errors, and answers them in one place."""

    auth_resource = "contents"
    opens_to_tokens = False
    """Whether an assistant's own token opens this, and not only a person's login."""

    changes_files = False
    """Whether a refusal has to say that nothing was modified."""

    assistant: Token | None = None
    """The assistant's token that the request came with."""

    _secret: str | None = None
    _login: Any = None
    _is_admitted = False
    """The login and the check of XSRF have let the request in."""

    async def prepare(self) -> None:  # type: ignore[override]  # As Jupyter's own subclass has it.
        """Authenticate by the assistant's token, if the request has one, and ignore any other login that it carries."""
        self._secret = presented(self.request)
        if self._secret is not None:
            self.assistant = await asyncio.to_thread(self._check, self._secret)
            self._login = TokenLogin(super().identity_provider, self.assistant.user)
        await super().prepare()
        self._is_admitted = self.current_user is not None
        if self.assistant is not None and not self.opens_to_tokens:
            raise Denied(
                "an assistant's token does not allow this (not modified)",
                hint="It allows tools, MCP and the changes made with it; the rest is for the person you work for.",
            )

    def check_host(self) -> bool:
        """Refuse host names that Jupyter's settings do not allow, against DNS rebinding by another page."""
        if not super().check_host():
            raise Denied(
                f"this server does not answer to the name {self.request.host[:80]!a}",
                hint="Call it as localhost; an administrator can allow this name (local_hostnames).",
            )
        return True

    def check_origin(self, origin_to_satisfy_tornado: str = "") -> bool:
        """Refuse origins that Jupyter's settings do not allow."""
        if not super().check_origin(origin_to_satisfy_tornado):
            raise Denied(
                "this origin is not allowed",
                hint="Call from this server's own address; an administrator can allow others (allow_origin).",
            )
        return True

    @property
    def identity_provider(self) -> IdentityProvider:
        """The identity provider of the server."""
        return cast(IdentityProvider, self._login) if self._login is not None else super().identity_provider

    def initialize(self) -> None:
        """Make the event that is set once the request's client has gone."""
        self._left = threading.Event()
        self._gone = False

    @property
    def served(self) -> Served:
        """The objects that the handlers share."""
        return cast(Served, self.settings[SETTING])

    def reader(self, session: str | None = None) -> Reader:
        """The reader who asks, in the session named here or by the header; an assistant's token has its own session.

        Raises:
            Invalid: no such session name.
        """
        if self.assistant is not None:
            return self.assistant.reader
        named = session or self.request.headers.get(SESSION_HEADER)
        user = self.served.account if invents_users(self.identity_provider) else str(self.current_user.username)
        return Reader(user, DEFAULT_SESSION if named is None else checked_session(named))

    async def call(
        self,
        work: Callable[[Workspace], _T],
        reader: Reader | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        command: bool = False,
    ) -> _T:
        """Do work in a thread, on the reader's workspace; a command runs in a thread pool of its own."""
        reader = reader or self.reader()
        grant = Grant(self.assistant.tools, self.assistant.paths) if self.assistant else None
        workspace = self.served.workspace.for_reader(
            reader,
            self._left,
            progress,
            grant=grant,
            waits_in_line=not command,
            decides_via=None if self.opens_to_tokens else await self._via(),
        )

        def begun() -> _T:
            # The token may have been revoked while the call waited for its turn, or for a file.
            if self._secret is not None:
                self._check(self._secret)
            return work(workspace)

        watch = None
        if command and self.assistant:
            watch = asyncio.ensure_future(end_with_token(self.served, self.assistant, self._left))
        try:
            return await self._pool(command).run(self.caller(reader), begun, self._left)
        finally:
            if watch is not None:
                watch.cancel()

    def _check(self, secret: str) -> Token:
        return check(self.served.workspace.store, secret, self.served.account)

    def caller(self, reader: Reader) -> Caller:
        """The caller whose calls count together: one user, or one of their assistants' tokens."""
        return Caller(f"{reader.user} {self.assistant.id if self.assistant else ''}", reader)

    @property
    def is_shown(self) -> bool:
        """Whether a person's program asks, to show or save the answer.

        For an address in a text that it renders, or in another page, a browser sends the login's cookies alone.
        """
        if self.assistant is not None:
            return False
        is_checked = "X-XSRFToken" in self.request.headers or self.settings.get("disable_check_xsrf", False)
        return is_checked or self.identity_provider.is_token_authenticated(self)

    async def _via(self) -> Via:
        """How a person's request came in; JupyterLab sends Jupyter's token as well as its login's cookie."""
        provider = self.identity_provider
        login: Any = provider.get_user_cookie(self)
        if not provider.is_token_authenticated(self) or await ensure_async(login):
            return "browser"
        return "command line" if self.request.headers.get(VIA_HEADER) == "command line" else "token"

    def _pool(self, command: bool) -> CallPool:
        served = self.served
        return served.commands if command else served.calls if self.opens_to_tokens else served.decisions

    async def is_allowed(self, permission: Permission) -> bool:
        """Whether Jupyter's authorizer grants the request's user this permission."""
        allowed: bool = await ensure_async(self.authorizer.is_authorized(self, self.current_user, *permission))
        return allowed

    async def require_permission(self, permission: Permission) -> None:
        """Refuse what Jupyter's authorizer does not allow; only for a user who is logged in.

        Raises:
            Denied
        """
        if not await self.is_allowed(permission):
            action, resource = permission
            raise Denied(
                f"this server does not let you {action} {resource} (not modified)",
                hint=_NOT_PERMITTED,
            )

    def on_connection_close(self) -> None:
        """The client has gone: what takes long and changes nothing ends."""
        self._gone = True
        self._left.set()
        super().on_connection_close()

    def query(self, model: type[_A]) -> _A:
        """The query of the URL; empty values count as not given.

        Raises:
            Invalid: unknown, given twice, or of no use.
        """
        given: dict[str, str] = {}
        for name, values in self.request.query_arguments.items():
            # JupyterLab adds the time as a name of its own, against caches.
            if name in _JUPYTERS_OWN or name.isdigit():
                continue
            if len(values) > 1:
                raise Invalid(f"{name:.80} is given twice", hint="Give it once.", field=name)
            if values[0]:
                # tornado's decoding would strip spaces and replace control characters; file names may have both.
                given[name] = values[0].decode("utf-8", "surrogateescape")
        return checked(model, given, "The URL's query")

    def body(self, model: type[_A]) -> _A:
        """The body of the request.

        Raises:
            Invalid, TooLarge
        """
        return checked(model, parsed_object(self.request.body, self.served.body_limit), "The body")

    def answer(self, body: Any, status: int = 200) -> None:
        """Send an answer: bytes of JSON, or what becomes JSON."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.finish(body if isinstance(body, bytes) else as_json(body))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer a refusal with its own status, and any other error without its internals."""
        error = kwargs.get("exc_info", (None, None))[1]
        # tornado has forgotten the headers that `prepare` set; without them a browser could not read the answer.
        if hasattr(self, _USER):
            self.set_cors_headers()
        if isinstance(error, FsToolsError):
            # Once the client has gone nobody reads the answer, and 500 or above would be logged as the server's fault.
            status = _CLIENT_GONE if self._gone else error.status
            self.answer(self.told(self.as_refusal(error).as_dict()), status)
            return
        code = _CODES.get(status_code, "invalid" if status_code < 500 else "io")
        hint = _HINTS.get(status_code, "" if status_code < 500 else "The server's log says more.")
        if status_code == 405:
            methods = self._methods()
            self.set_header("Allow", ", ".join([*methods, "OPTIONS"]))
            # A path that is no route takes none.
            hint = f"This route takes {', '.join(methods)}." if methods else _HINTS[404]
        message = _message(error, status_code)
        if status_code == 403 and "Authorization" in self.request.headers and not getattr(self, _USER, True):
            message, hint = _BAD_TOKEN
        if status_code == 403 and self._is_admitted:  # By the authorizer.
            hint = _NOT_PERMITTED
        if self.changes_files and status_code < 500:
            message = f"{message.removesuffix('.')} (not modified)"
        # An unexpected error may have occurred before a change or after it.
        details = {"modified": "unknown"} if status_code >= 500 and self.request.method == "POST" else {}
        self.answer(self.told({"code": code, "message": message, "hint": hint, "details": details}), status_code)

    def as_refusal(self, problem: Exception) -> FsToolsError:
        """A problem as a refusal for the client; an unexpected error without its internals."""
        if not isinstance(problem, FsToolsError):
            self.log_exception(type(problem), problem, problem.__traceback__)
            return InputOutput("internal server error", hint="The server's log says more.", modified="unknown")
        if self.changes_files:
            problem.say_unmodified()
        return problem

    def told(self, error: dict[str, Any]) -> dict[str, Any]:
        """The body that answers an error of `code`, `message`, `hint` and `details`."""
        return {"error": error}

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Log unexpected errors only: a refusal is a normal answer."""
        if isinstance(value, HTTPError):
            super().log_exception(typ, value, tb)
        elif not isinstance(value, FsToolsError):
            # tornado's default would log the whole request, with a token in its URL.
            self.log.error("Uncaught exception %s", self._request_summary(), exc_info=value)

    def compute_etag(self) -> str | None:
        """None, so that not every answer is hashed; handlers that want an ETag set it themselves."""
        return None

    @allow_unauthenticated
    def options(self, *args: Any, **kwargs: Any) -> None:
        """Answer a preflight request: another origin may send the session's header too."""
        super().options(*args, **kwargs)
        allowed = self._headers.get("Access-Control-Allow-Headers", "")
        self.set_header("Access-Control-Allow-Headers", f"{allowed}, {SESSION_HEADER.lower()}")

    def _request_summary(self) -> str:
        """The line that tornado logs of a request, without the query: a token may be in it."""
        return f"{self.request.method} {self.request.path} ({self.request.remote_ip})"

    def _methods(self) -> list[str]:
        known = ("GET", "HEAD", "POST", "DELETE")
        return [name for name in known if getattr(type(self), name.lower()) is not getattr(APIHandler, name.lower())]


def _message(error: BaseException | None, status: int) -> str:
    if isinstance(error, HTTPError) and status < 500 and error.log_message:
        try:
            return error.log_message % error.args if error.args else error.log_message
        except (TypeError, ValueError):
            return error.log_message
    return responses.get(status, "unknown error").lower()
