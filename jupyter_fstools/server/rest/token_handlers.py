"""Makes, lists and revokes assistants' tokens; tells clients' configurations."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from jupyter_server.auth.decorator import authorized
from pydantic import BeforeValidator, Field
from tornado import web

from ...client.configurations import CLIENTS, McpClient, mcp_address, server_of
from ...errors import NotFound
from ...gate import tokens
from ...gate.workspace import Workspace
from ...stores.records import Token
from ...tools import TOOLS
from ...tools.arguments import Arguments, Flag, Seconds, Text, spelled
from ..base_handler import NoArguments, ToolsHandler, Wait
from ..bodies import parsed_object
from ..permissions import EXECUTE, WRITE


class NewToken(Arguments):
    """The rights of a new token."""

    name: Annotated[Text, Field(min_length=1, max_length=tokens.MOST_NAME, description="A name for it, for people.")]
    session: Annotated[Text, Field(description="The session it works in; by default its name.")] | None = None
    tools: Annotated[
        Literal["read", "write"] | Annotated[list[Text], Field(min_length=1, max_length=100)],
        Field(description="`read`, `write` (all tools but execute), or the names of tools."),
    ] = "write"
    paths: Annotated[
        list[Text],
        Field(
            max_length=100, description="Rules as in .gitignore for the paths that it may read and change; empty: all."
        ),
    ] = []  # noqa: RUF012  # pydantic copies it.
    expires_in: Annotated[
        Annotated[Seconds, Field(le=tokens.MOST_SECONDS)] | None,
        Field(description="Seconds; by default 30 days; null: it never expires."),
    ] = tokens.DEFAULT_SECONDS


def _address(value: Any) -> Any:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        fits = parts is not None and parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # The host's brackets or the port are wrong.
        fits = False
    if not fits or any(sign.isspace() or not sign.isprintable() for sign in value):
        raise ValueError(f"takes an address like http://localhost:8888/, got {spelled(value)}")
    return value


class NewConnection(NewToken):
    """The rights of a client's new token, and how the client reaches the server."""

    name: Annotated[
        Text | None,
        Field(min_length=1, max_length=tokens.MOST_NAME, description="The token's name; by default the client's."),
    ] = None  # type: ignore[assignment]  # It is filled in before anybody reads it.
    stdio: Annotated[Flag, Field(description="Configure a command on this machine instead of an address.")] = False
    url: Annotated[
        Text | None,
        Field(
            pattern="^https?://",
            description="This server's address as the client reaches it; by default that of this request.",
        ),
        BeforeValidator(_address),
    ] = None


class _MakesTokens(ToolsHandler):
    """Base of what makes a token as a person asks for it."""

    async def issue(self, asked: NewToken) -> tuple[Token, str]:
        """A new token and its secret.

        Raises:
            Invalid, Conflict, Denied
        """
        user = self.reader().user
        # For other fields null means that the client leaves them out; here it means a token that never expires.
        given = parsed_object(self.request.body, self.served.body_limit)
        seconds = None if given.get("expires_in", 0) is None else asked.expires_in
        if not isinstance(asked.tools, str):
            prefix = self.served.workspace.tool_prefix
            asked.tools = [tool.removeprefix(prefix) for tool in asked.tools]
            if "execute" in asked.tools:
                await self.require_permission(EXECUTE)

        def made(workspace: Workspace) -> tuple[Token, str]:
            return tokens.issue(
                workspace.store,
                user,
                asked.name,
                account=self.served.account,
                session=asked.session,
                tools=asked.tools,
                paths=asked.paths,
                seconds=seconds,
                known=TOOLS,
            )

        return await self.call(made)


class TokensHandler(_MakesTokens):
    """`GET` and `POST /tokens`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List your tokens, newest first, without their secrets."""
        self.query(NoArguments)
        user = self.reader().user
        found = await self.call(lambda workspace: workspace.store.tokens(user))
        self.answer({"tokens": [told(token) for token in found]})

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Make a token; only this answer has its secret."""
        self.query(NoArguments)
        token, secret = await self.issue(self.body(NewToken))
        self.answer({**told(token), "token": secret}, 201)


class TokenHandler(ToolsHandler):
    """`GET` and `DELETE /tokens/{id}`."""

    @web.authenticated
    @authorized
    async def get(self, token_id: str) -> None:
        """Show one of your tokens; `wait` for its first use, 60 seconds at most."""
        until = time.monotonic() + self.query(Wait).seconds
        feed = self.served.feed
        while True:
            with feed.news() as kept:
                token = await self._look(token_id)
                left = until - time.monotonic()
                if token.last_used_at is not None or left <= 0 or feed.stopped or self._left.is_set():
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(kept.wait(), left)
        self.answer(told(token))

    @web.authenticated
    async def delete(self, token_id: str) -> None:
        """Revoke a token: it is refused from now on, and commands that were begun with it end."""
        await self.require_permission(WRITE)
        self.query(NoArguments)
        user = self.reader().user
        await self.call(lambda workspace: tokens.revoke(workspace.store, user, token_id))
        self.set_status(204)
        self.finish()

    async def _look(self, token_id: str) -> Token:
        user = self.reader().user
        return await self.call(lambda workspace: tokens.token_of(workspace.store, user, token_id))


class ClientsHandler(ToolsHandler):
    """`GET /clients`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the MCP clients whose form of configuration is known."""
        self.query(NoArguments)
        self.answer({"clients": [_described(client) for client in CLIENTS.values()]})


class ClientHandler(_MakesTokens):
    """`POST /clients/{name}`."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Make a token for a client, with its configuration; only this answer has the secret."""
        self.query(NoArguments)
        client = CLIENTS.get(name)
        if client is None:
            raise NotFound(f"there is no client {name[:80]!r}", hint=f"Known are {', '.join(CLIENTS)}.")
        asked = self.body(NewConnection)
        asked.name = asked.name or client.name
        token, secret = await self.issue(asked)
        here = asked.url or f"{self.request.protocol}://{self.request.host}{self.base_url}"
        command = ("--root", str(self.settings["serverapp"].root_dir)) if asked.stdio else ()
        server = server_of(client, token.name, secret, url=mcp_address(here), command=command)
        self.answer(
            {**told(token), "token": secret, "client": _described(client), "configuration": server.configuration}, 201
        )


def _described(client: McpClient) -> dict[str, Any]:
    return {"name": client.name, "title": client.title, "file": client.file, "page": client.page}


def told(token: Token) -> dict[str, Any]:
    """A token as its user sees it."""
    return token.model_dump(exclude={"user", "account"})
