"""Handles assistants' tokens: a person makes, lists and revokes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from jupyter_server.auth.decorator import authorized
from pydantic import AfterValidator, Field
from tornado import web

from ...gate import tokens
from ...gate.workspace import Workspace
from ...stores.records import Token
from ...tools import TOOLS
from ...tools.arguments import Arguments, Seconds, Text
from ..base_handler import NoArguments, ToolsHandler
from ..bodies import parsed_object
from ..permissions import EXECUTE, WRITE


def _printable(name: str) -> str:
    if not name.isprintable() or not name.strip():
        raise ValueError("takes a name of printable characters")
    return name


class NewToken(Arguments):
    """What a token is to open."""

    name: Annotated[Text, Field(min_length=1, max_length=100), AfterValidator(_printable)]
    session: Annotated[Text, Field(description="The session it works in; left out: its name.")] | None = None
    tools: Annotated[
        Literal["read", "write"] | Annotated[list[Text], Field(min_length=1, max_length=100)],
        Field(description="`read`, `write` (all tools but execute), or the names of tools."),
    ] = "write"
    paths: Annotated[
        list[Text], Field(max_length=100, description="Rules as in .gitignore for the paths it opens; empty: all.")
    ] = []  # noqa: RUF012  # pydantic copies it.
    expires_in: Annotated[Seconds | None, Field(description="Seconds, 30 days if left out; null: it never ends.")] = (
        tokens.DEFAULT_SECONDS
    )


class TokensHandler(ToolsHandler):
    """`GET` and `POST /tokens`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Your tokens, newest first; what opens with them is not told."""
        self.query(NoArguments)
        user = self.reader().user
        found = await self.call(lambda workspace: workspace.store.tokens(user))
        self.answer({"tokens": [told(token) for token in found]})

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Make a token; it is told in this answer alone."""
        self.query(NoArguments)
        asked, user = self.body(NewToken), self.reader().user
        # Elsewhere null is what a client sends for what it leaves out; here it is a choice.
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
                session=asked.session,
                tools=asked.tools,
                paths=asked.paths,
                seconds=seconds,
                known=TOOLS,
            )

        token, secret = await self.call(made)
        self.answer({**told(token), "token": secret}, 201)


class TokenHandler(ToolsHandler):
    """`DELETE /tokens/{id}`."""

    @web.authenticated
    async def delete(self, token_id: str) -> None:
        """Revoke a token: from now on it opens nothing."""
        await self.require_permission(WRITE)
        self.query(NoArguments)
        user = self.reader().user
        await self.call(lambda workspace: tokens.revoke(workspace.store, user, token_id))
        self.set_status(204)
        self.finish()


def told(token: Token) -> dict[str, Any]:
    """A token as it is told to its user."""
    return token.model_dump(exclude={"user"})
