"""Describes a route: path, handler, what its methods take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tornado import web

from ...errors import (
    Denied,
    Disabled,
    FsToolsError,
    InputOutput,
    Invalid,
    IsDirectory,
    NotADirectory,
    NotFound,
    OutsideRoot,
    TimedOut,
)
from ...tools.arguments import Arguments
from ..base_handler import NoArguments
from .answers import RefusedAnswer

Refusals = tuple[type[FsToolsError], ...]

ALWAYS: Refusals = (Invalid, Denied, Disabled, InputOutput)
"""Any request can be refused by these: wrong arguments, no access, a server that stops, a store that fails."""

LOOKING: Refusals = (*ALWAYS, OutsideRoot, NotFound, IsDirectory, NotADirectory, TimedOut)
"""What a path that is only looked at can be refused by."""

ANY: Refusals = tuple(FsToolsError.__subclasses__())
"""What a call of a tool, or a decision, can be refused by."""

_NAMED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Answer:
    """What a status comes with.

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
    """What one method of a route takes and answers; what it does, the docstring of the handler's method says.

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
    """A path below `api/fstools`, and who answers there.

    Attributes:
        path: with the names of what varies in braces.
        handler: who answers.
        operations: by method; empty for what an OpenAPI document cannot describe.
        varying: what a name in braces stands for where it is not one segment of a path: words with `|` between, or any
            other regular expression.
        each_tool: the name in braces is a tool's: its operation is told for each of them.
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
