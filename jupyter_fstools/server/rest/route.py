"""Describes a route and its answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from tornado import web

from ...errors import (
    Denied,
    FsToolsError,
    InputOutput,
    Invalid,
    IsDirectory,
    NotADirectory,
    NotFound,
    OutsideRoot,
    TimedOut,
)
from ...journal.standing import ChangedSince, FileSides
from ...limits import Limits
from ...stores.records import Change, Token
from ...tools.arguments import Arguments
from ..base_handler import NoArguments

_CODES: list[JsonValue] = [refusal.code for refusal in FsToolsError.__subclasses__()]


class ToldChange(Change):
    """A change as clients see it."""

    key: Annotated[str, Field(exclude=True)]


class Refused(BaseModel):
    """Why a call was refused, and what to do next."""

    code: Annotated[
        str, Field(description="The stable word that programs decide by.", json_schema_extra={"enum": _CODES})
    ]
    message: str
    hint: Annotated[str, Field(description="The caller's next step; empty where there is none.")]
    details: dict[str, Any]


class RefusedAnswer(BaseModel):
    """A refusal."""

    error: Refused


class EventSchemas(BaseModel):
    """The schemas of the events on Jupyter's event bus."""

    change: str
    activity: str


class RootAnswer(BaseModel):
    """The version, tools and settings of this server."""

    version: str
    root: Annotated[str, Field(description="The name of the root folder.")]
    contents_path: Annotated[
        str | None, Field(description="The root's path in Jupyter's contents; null if it is not there.")
    ]
    user: Annotated[str, Field(description="Who asks.")]
    tools: Annotated[list[str], Field(description="The tools that are enabled.")]
    read_only: bool
    approval: Annotated[
        Literal["never", "always"] | list[str], Field(description="Which changes wait for a person; rules for paths.")
    ]
    limits: Limits
    events: EventSchemas


class ToolsAnswer(BaseModel):
    """The tools, in the form that was asked for."""

    tools: list[dict[str, Any]]


class ChangesAnswer(BaseModel):
    """A page of the journal."""

    changes: list[ToldChange]
    total: Annotated[int, Field(description="How many changes there are, on all pages together.")]
    proposed: Annotated[int, Field(description="Changes below the root that wait for a person.")]
    revision: Annotated[
        int, Field(description="Later changes follow with `after` set to it: the newest, or the last of a full page.")
    ]


class ChangeAnswer(BaseModel):
    """One change."""

    change: ToldChange


class LookedAtChange(ChangeAnswer):
    """One change, and whether its files are still what it was proposed for."""

    changed_since: Annotated[
        list[ChangedSince], Field(description="What changed in a proposal's files since it was made.")
    ]
    refusal: Annotated[Refused | None, Field(description="`rejected`, with the person's reason, if they rejected it.")]
    sides: Annotated[list[FileSides] | None, Field(description="Its files before and after it, if asked for.")] = None


class Outcome(BaseModel):
    """The result of one of many decisions: the change with its diff but no rows, or why it was refused."""

    id: str
    path: str | None
    change: ToldChange | None
    error: Refused | None


class OutcomesAnswer(BaseModel):
    """The result of each decision."""

    outcomes: list[Outcome]


class ShownReceipt(BaseModel):
    """The lines of a file that a session was shown."""

    path: str
    lines: Annotated[list[tuple[int, int]], Field(description="The line ranges shown; of a notebook the cells.")]
    full: bool
    read_at: Annotated[float, Field(description="When, in seconds since 1970.")]
    cells: Annotated[list[str], Field(description="The ids of a notebook's cells that were shown.")] = []


class ReceiptsAnswer(BaseModel):
    """The files that a session was shown."""

    receipts: list[ShownReceipt]


class ForgottenAnswer(BaseModel):
    """How many receipts were forgotten."""

    forgotten: int


class ToldToken(Token):
    """A token as the person who made it sees it."""

    user: Annotated[str, Field(exclude=True)]
    account: Annotated[str, Field(exclude=True)] = ""


class TokensAnswer(BaseModel):
    """A person's tokens, newest first."""

    tokens: list[ToldToken]


class NewTokenAnswer(ToldToken):
    """A token that was made."""

    token: Annotated[str, Field(description="The secret that the assistant sends; no other answer has it.")]


class ShownClient(BaseModel):
    """An MCP client whose form of configuration is known."""

    name: str
    title: str
    file: Annotated[
        str | None,
        Field(description="Its configuration, from the home (`~/`) or the project's folder; null if that varies."),
    ]
    page: Annotated[str, Field(description="The client's own page about this configuration.")]


class ClientsAnswer(BaseModel):
    """The MCP clients whose form of configuration is known."""

    clients: list[ShownClient]


class ConnectionAnswer(NewTokenAnswer):
    """A token that was made for a client, in the client's configuration."""

    client: ShownClient
    configuration: Annotated[str, Field(description="Its text, with the token: JSON, or TOML where the client has it.")]


class Block(BaseModel):
    """A content block, as MCP has them: what a model is shown."""

    model_config = ConfigDict(extra="allow")

    type: str


class RpcMessage(BaseModel):
    """A message of JSON-RPC, as the Model Context Protocol describes it."""

    model_config = ConfigDict(extra="allow")

    jsonrpc: Literal["2.0"]


Refusals = tuple[type[FsToolsError], ...]

ALWAYS: Refusals = (Invalid, Denied, InputOutput)
"""Any request can be refused by these: wrong arguments, no access, a server that stops or a store that fails."""

LOOKING: Refusals = (*ALWAYS, OutsideRoot, NotFound, IsDirectory, NotADirectory, TimedOut)
"""Errors that can refuse a request that only looks at a path."""

ANY: Refusals = tuple(FsToolsError.__subclasses__())
"""Errors that can refuse a tool call or a decision."""

_NAMED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Answer:
    """The body and headers that come with a status.

    Attributes:
        form: the body's type; None for no body.
        media: the media types that the body has.
        headers: the headers that matter, and what they say.
    """

    form: Any = None
    media: tuple[str, ...] = ("application/json",)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """The input and answers of one method of a route; the docstring of the handler's method describes it.

    Attributes:
        answers: by status.
        query: what the URL's query takes.
        body: the type of the body; None where there is none.
        headers: the request's headers that matter, and what they say.
        refusals: the refusals there can be.
        refused: the type of their body.
    """

    answers: Mapping[int, Answer]
    query: type[Arguments] = NoArguments
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    refusals: Refusals = ALWAYS
    refused: Any = RefusedAnswer


@dataclass(frozen=True)
class Route:
    """A path below `api/fstools`, and its handler.

    Attributes:
        path: with the names of what varies in braces.
        handler: the class that answers.
        operations: by method; empty for what an OpenAPI document cannot describe.
        varying: what a name in braces stands for where it is not one segment of a path: words with `|` between, or any
            other regular expression.
        each_tool: the name in braces is a tool's: the document has the operation once for each tool.
    """

    path: str
    handler: type[web.RequestHandler]
    operations: Mapping[str, Operation] = field(default_factory=dict)
    varying: Mapping[str, str] = field(default_factory=dict)
    each_tool: bool = False

    @property
    def pattern(self) -> str:
        """The path as a regular expression, with a group for each name in braces."""
        escaped = self.path.replace(".", r"\.")
        return _NAMED.sub(lambda name: f"({self.varying.get(name[1], '[^/]+')})", escaped)

    @property
    def names(self) -> list[str]:
        """The names in braces."""
        return _NAMED.findall(self.path)

    def spelled_out(self) -> list[str]:
        """The paths, each of the words that a name stands for in its place."""
        paths = [self.path]
        for name in self.names:
            words = self.varying.get(name, "").split("|")
            if len(words) > 1:
                paths = [path.replace(f"{{{name}}}", word) for path in paths for word in words]
        return paths
