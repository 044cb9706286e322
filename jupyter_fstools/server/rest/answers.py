"""Defines what the routes answer, for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ...errors import FsToolsError
from ...limits import Limits
from ...stores.records import Change, Token

_CODES: list[JsonValue] = [refusal.code for refusal in FsToolsError.__subclasses__()]


class ToldChange(Change):
    """A change as it is told to clients."""

    key: Annotated[str, Field(exclude=True)]


class Refused(BaseModel):
    """Why a call was refused, and what to do next."""

    code: Annotated[str, Field(description="The stable word to decide by.", json_schema_extra={"enum": _CODES})]
    message: str
    hint: Annotated[str, Field(description="The caller's next step; empty where there is none.")]
    details: dict[str, Any]


class RefusedAnswer(BaseModel):
    """A refusal."""

    error: Refused


class EventSchemas(BaseModel):
    """By which schemas Jupyter's event bus tells what happens."""

    change: str
    activity: str


class RootAnswer(BaseModel):
    """What is here."""

    version: str
    root: Annotated[str, Field(description="The name of the root folder.")]
    contents_path: Annotated[
        str | None, Field(description="Where it lies below the folder of Jupyter's contents; null if elsewhere.")
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
    total: Annotated[int, Field(description="On all pages together.")]
    proposed: Annotated[int, Field(description="Changes below the root that wait for a person.")]
    revision: Annotated[int, Field(description="`after` this there is nothing yet.")]


class ChangeAnswer(BaseModel):
    """One change."""

    change: ToldChange


class LookedAtChange(ChangeAnswer):
    """One change, and whether its file is still what it was proposed for."""

    changed_since: Annotated[
        str | None, Field(description="What changed since, as a unified diff (empty if untold); null if nothing did.")
    ]


class Outcome(BaseModel):
    """What came of one of many decisions: the change as it is now, its diff without rows, or why it was refused."""

    id: str
    path: str | None
    change: ToldChange | None
    error: Refused | None


class OutcomesAnswer(BaseModel):
    """What came of each decision."""

    outcomes: list[Outcome]


class ShownReceipt(BaseModel):
    """What a session was shown of a file."""

    path: str
    lines: Annotated[list[tuple[int, int]], Field(description="The line ranges shown; of a notebook the cells.")]
    full: bool
    read_at: Annotated[float, Field(description="When, in seconds since 1970.")]
    cells: Annotated[list[str], Field(description="The ids of a notebook's cells that were shown.")] = []


class ReceiptsAnswer(BaseModel):
    """What a session was shown."""

    receipts: list[ShownReceipt]


class ForgottenAnswer(BaseModel):
    """How many receipts were forgotten."""

    forgotten: int


class ToldToken(Token):
    """A token as it is told to the person who made it."""

    user: Annotated[str, Field(exclude=True)]


class TokensAnswer(BaseModel):
    """A person's tokens, newest first."""

    tokens: list[ToldToken]


class NewTokenAnswer(ToldToken):
    """A token that was made."""

    token: Annotated[str, Field(description="What the assistant sends; it is told only now.")]


class Block(BaseModel):
    """A content block, as MCP has them: what a model is shown."""

    model_config = ConfigDict(extra="allow")

    type: str


class RpcMessage(BaseModel):
    """A message of JSON-RPC, as the Model Context Protocol describes it."""

    model_config = ConfigDict(extra="allow")

    jsonrpc: Literal["2.0"]
