"""Lists every route under `api/fstools`."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from ..errors import Conflict, NotFound, OutOfRange, TooLarge
from .base_handler import NoArguments, ToolsHandler, Wait
from .mcp.handler import McpHandler
from .rest.activity import ActivityHandler, ActivityPage, ActivityQuery
from .rest.change_handlers import ChangeHandler, ChangesHandler, ChangesQuery, ChangeWait
from .rest.decision_handlers import (
    DecisionBody,
    DecisionHandler,
    DecisionsHandler,
    FilePath,
    UndoHandler,
    WaitingChanges,
)
from .rest.open_documents import DocumentsHandler
from .rest.openapi import document
from .rest.raw import ChangedContentHandler, ContentQuery, RawHandler
from .rest.route import (
    ALWAYS,
    ANY,
    LOOKING,
    Answer,
    ChangeAnswer,
    ChangesAnswer,
    ClientsAnswer,
    ConnectionAnswer,
    ForgottenAnswer,
    LookedAtChange,
    NewTokenAnswer,
    Operation,
    OutcomesAnswer,
    ReceiptsAnswer,
    RootAnswer,
    Route,
    RpcMessage,
    TokensAnswer,
    ToldToken,
    ToolsAnswer,
)
from .rest.token_handlers import (
    ClientHandler,
    ClientsHandler,
    NewConnection,
    NewToken,
    TokenHandler,
    TokensHandler,
)
from .rest.tool_handlers import (
    CallQuery,
    ReceiptsHandler,
    ReceiptsQuery,
    RootHandler,
    ToolHandler,
    ToolsListHandler,
    ToolsQuery,
    UnknownHandler,
)
from .streaming import MEDIA_TYPE


class OpenApiHandler(ToolsHandler):
    """`GET /openapi.json`: this table, as an OpenAPI document."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The routes, what they take and what they answer, as an OpenAPI 3.1 document."""
        self.query(NoArguments)
        address = url_path_join(self.base_url, "api/fstools")
        self.answer(await self.call(lambda workspace: document(ROUTES, workspace, address)))


def _answers(form: Any) -> dict[int, Answer]:
    return {200: Answer(form)}


_SENT = {
    "Etag": "Stands for the file as it is now.",
    "Accept-Ranges": "Always `bytes`.",
    "Content-Disposition": "The file's name; never rendered.",
}
_BYTES = Answer(bytes, ("application/octet-stream",), _SENT)
_RAW = Operation(
    {
        200: _BYTES,
        206: Answer(bytes, _BYTES.media, {**_SENT, "Content-Range": "The range of bytes, and the total."}),
        304: Answer(headers={"Etag": _SENT["Etag"]}),
    },
    headers={
        "Range": "One range of bytes.",
        "If-Range": "The ETag that the range is of; else the whole file is sent.",
        "If-None-Match": "ETags that are known already.",
    },
    refusals=(*LOOKING, Conflict, OutOfRange),
)
_RPC = RpcMessage | list[RpcMessage]

ROUTES = [
    Route("/", RootHandler, {"get": Operation(_answers(RootAnswer))}),
    Route("/openapi.json", OpenApiHandler, {"get": Operation(_answers(dict[str, Any]))}),
    Route("/tools", ToolsListHandler, {"get": Operation(_answers(ToolsAnswer), ToolsQuery)}),
    Route("/tools/{name}", ToolHandler, {"post": Operation({}, CallQuery, refusals=ANY)}, each_tool=True),
    Route("/activity", ActivityHandler, {"get": Operation(_answers(ActivityPage), ActivityQuery, refusals=LOOKING)}),
    Route("/changes", ChangesHandler, {"get": Operation(_answers(ChangesAnswer), ChangesQuery, refusals=LOOKING)}),
    Route("/changes/undo", UndoHandler, {"post": Operation(_answers(ChangeAnswer), body=FilePath, refusals=ANY)}),
    Route(
        "/changes/{decision}",
        DecisionsHandler,
        {"post": Operation(_answers(OutcomesAnswer), body=WaitingChanges, refusals=(*LOOKING, TooLarge))},
        varying={"decision": "approve|reject"},
    ),
    Route("/changes/{id}", ChangeHandler, {"get": Operation(_answers(LookedAtChange), ChangeWait, refusals=ANY)}),
    Route(
        "/changes/{id}/content",
        ChangedContentHandler,
        {
            "get": Operation(
                {200: Answer(bytes, _BYTES.media, {"Content-Disposition": _SENT["Content-Disposition"]})},
                ContentQuery,
                refusals=ANY,
            )
        },
    ),
    Route(
        "/changes/{id}/{decision}",
        DecisionHandler,
        {"post": Operation(_answers(ChangeAnswer), body=DecisionBody, refusals=ANY)},
        varying={"decision": "approve|reject|undo|keep"},
    ),
    Route(
        "/receipts",
        ReceiptsHandler,
        {
            "get": Operation(_answers(ReceiptsAnswer), ReceiptsQuery, refusals=LOOKING),
            "delete": Operation(_answers(ForgottenAnswer), ReceiptsQuery, refusals=LOOKING),
        },
    ),
    Route("/raw/{path}", RawHandler, {"get": _RAW, "head": _RAW}, varying={"path": ".*"}),
    Route(
        "/tokens",
        TokensHandler,
        {
            "get": Operation(_answers(TokensAnswer)),
            "post": Operation({201: Answer(NewTokenAnswer)}, body=NewToken, refusals=(*ALWAYS, Conflict, TooLarge)),
        },
    ),
    Route(
        "/tokens/{id}",
        TokenHandler,
        {
            "get": Operation(_answers(ToldToken), Wait, refusals=(*ALWAYS, NotFound)),
            "delete": Operation({204: Answer()}, refusals=(*ALWAYS, NotFound)),
        },
    ),
    Route("/clients", ClientsHandler, {"get": Operation(_answers(ClientsAnswer))}),
    Route(
        "/clients/{name}",
        ClientHandler,
        {
            "post": Operation(
                {201: Answer(ConnectionAnswer)}, body=NewConnection, refusals=(*ALWAYS, NotFound, Conflict, TooLarge)
            )
        },
    ),
    Route(
        "/mcp",
        McpHandler,
        {
            "post": Operation(
                {200: Answer(_RPC, ("application/json", MEDIA_TYPE)), 202: Answer()},
                body=_RPC,
                refusals=LOOKING,
                refused=_RPC,
            ),
            "delete": Operation({204: Answer()}, refusals=LOOKING, refused=_RPC),
        },
    ),
    Route("/documents", DocumentsHandler),
]
"""In the order in which they are tried."""


def patterns(base_url: str) -> list[tuple[str, type[web.RequestHandler]]]:
    """The URL patterns and their handlers, the catch-all last; clients may end an address with a slash."""
    address = url_path_join(base_url, "api/fstools")
    known = [(address + route.pattern.rstrip("/") + "/?", route.handler) for route in ROUTES]
    return [*known, (address + "/.*", UnknownHandler)]
