"""Builds the OpenAPI document from routes and models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from http.client import responses
from inspect import getdoc
from typing import Any

from pydantic import TypeAdapter

from ..._version import __version__
from ...client.requests import SESSION_HEADER
from ...errors import FsToolsError, TooLarge
from ...gate.workspace import Workspace
from ...sessions import SESSION
from ...tools import available_tools
from ...tools.arguments import Arguments
from ...tools.tool import Tool
from ..streaming import MEDIA_TYPE
from .route import Answer, Block, Operation, Refusals, Route, ToldChange

Schema = dict[str, Any]

_TEMPLATE = "#/components/schemas/{model}"
_SECURITY: Mapping[str, Schema] = {
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`token`, a space, and the server's token.",
    },
    "query": {"type": "apiKey", "in": "query", "name": "token", "description": "The server's token."},
}
"""A login's cookies do as well; with them, X-XSRFToken says the value of the cookie `_xsrf`."""


def document(routes: Sequence[Route], workspace: Workspace, address: str) -> Schema:
    """The OpenAPI document.

    Args:
        routes: the table of routes.
        workspace: the workspace with the tools.
        address: the path of the routes from the server's own root.
    """
    forms = _Forms()
    paths = {path: methods for route in routes for path, methods in _told(route, workspace, forms)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "jupyter-fstools",
            "version": __version__,
            "summary": "Safe file and notebook tools for AI assistants in Jupyter, and for the people beside them.",
        },
        "servers": [{"url": address}],
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {"schemas": forms.definitions(), "securitySchemes": dict(_SECURITY)},
    }


class _Forms:
    """The schemas of all bodies; shared definitions appear once."""

    def __init__(self) -> None:
        self._adapters: dict[tuple[str, str], TypeAdapter[Any]] = {}
        self._places: list[tuple[tuple[str, str], Schema]] = []

    def of(self, form: Any, mode: str) -> Schema:
        """The schema of a type; it is filled in when the definitions are made."""
        asked = repr(form), mode
        self._adapters[asked] = TypeAdapter(form)
        place: Schema = {}
        self._places.append((asked, place))
        return place

    def definitions(self) -> Schema:
        """The definitions, after which every schema is filled in."""
        asked: list[Any] = [(name, mode, adapter) for (name, mode), adapter in self._adapters.items()]
        made, rest = TypeAdapter.json_schemas(asked, by_alias=False, ref_template=_TEMPLATE)
        for form, place in self._places:
            place.update(made[form])  # type: ignore[index]  # Keyed by what was asked.
        definitions: Schema = rest.get("$defs", {})
        return definitions


def _told(route: Route, workspace: Workspace, forms: _Forms) -> Iterator[tuple[str, Schema]]:
    """The paths of a route, with the descriptions of its methods."""
    if route.each_tool:
        for name, tool in available_tools(workspace).items():
            path = route.path.replace(f"{{{route.names[0]}}}", name)
            yield path, {method: _of_tool(one, name, tool, forms) for method, one in route.operations.items()}
    elif route.operations:
        for path in route.spelled_out():
            yield path, _of_path(path, route, forms)


def _of_path(path: str, route: Route, forms: _Forms) -> Schema:
    told: Schema = {}
    varying = [name for name in route.names if f"{{{name}}}" in path]
    if varying:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in varying
        ]
    for method, operation in route.operations.items():
        told[method] = {
            "operationId": re.sub(r"\W+", "_", f"{method}{path}").strip("_"),
            "tags": [path.split("/")[1] or "root"],
            "summary": _first_line(getattr(route.handler, method)),
            **_exchange(operation, operation.answers, forms),
        }
    return told


def _of_tool(operation: Operation, name: str, tool: Tool, forms: _Forms) -> Schema:
    answer: Schema = {
        "type": "object",
        "required": ["tool", "change"],
        "properties": {
            "tool": {"const": tool.name},
            "content": {"type": "array", "items": forms.of(Block, "serialization")},
            "data": forms.of(tool.answer(), "serialization"),
            "change": forms.of(ToldChange | None, "serialization"),
        },
    }
    told = _exchange(Operation({}, operation.query, body=tool.arguments, refusals=operation.refusals), {}, forms)
    answered: Schema = {"content": {"application/json": {"schema": answer}}}
    if tool.runs_commands:
        answered["content"][MEDIA_TYPE] = {"schema": {"type": "string"}}
    told["responses"] |= {"200": {"description": "Done.", **answered}}
    if not (tool.reads_only or tool.runs_commands):
        told["responses"] |= {"202": {"description": "The change waits for a person.", **answered}}
    return {"operationId": name, "tags": ["tools"], "summary": tool.title, "description": tool.description, **told}


def _exchange(operation: Operation, answers: Mapping[int, Answer], forms: _Forms) -> Schema:
    """The parameters, the body and the answers of an operation."""
    told: Schema = {"parameters": [*_query(operation.query), *_headers(operation.headers)]}
    if operation.body is not None:
        told["requestBody"] = {"content": {"application/json": {"schema": forms.of(operation.body, "validation")}}}
    told["responses"] = {
        **{str(status): _answer(status, answer, forms) for status, answer in answers.items()},
        **_refusals(operation, forms),
    }
    return told


def _answer(status: int, answer: Answer, forms: _Forms) -> Schema:
    told: Schema = {"description": responses[status]}
    if answer.headers:
        told["headers"] = {
            name: {"description": says, "schema": {"type": "string"}} for name, says in answer.headers.items()
        }
    if answer.form is bytes:
        told["content"] = {media: {} for media in answer.media}
    elif answer.form is not None:
        told["content"] = {media: {"schema": forms.of(answer.form, "serialization")} for media in answer.media[:1]}
        told["content"] |= {media: {"schema": {"type": "string"}} for media in answer.media[1:]}
    return told


def _refusals(operation: Operation, forms: _Forms) -> Schema:
    by_status: dict[int, list[type[FsToolsError]]] = {}
    of_body: Refusals = () if operation.body is None else (TooLarge,)
    for refusal in dict.fromkeys((*operation.refusals, *of_body)):
        by_status.setdefault(refusal.status, []).append(refusal)
    told: Schema = {}
    for status, refusals in sorted(by_status.items()):
        schema = forms.of(operation.refused, "serialization")
        says = " ".join(f"`{one.code}`: {_first_line(one)}" for one in refusals)
        told[str(status)] = {"description": says, "content": {"application/json": {"schema": schema}}}
    return told


def _query(model: type[Arguments]) -> list[Schema]:
    schema = model.model_json_schema(by_alias=False)
    assert "$defs" not in schema, "what a query takes is plain"
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, **_parameter(one)}
        for name, one in schema.get("properties", {}).items()
    ]


def _parameter(schema: Schema) -> Schema:
    """A field's schema as a parameter's: there is no null in a URL."""
    told = {key: value for key, value in schema.items() if key not in ("title", "description", "anyOf")}
    for choice in schema.get("anyOf", []):
        if choice != {"type": "null"}:
            told |= choice
    if told.get("default", 0) is None:
        del told["default"]
    description = told.pop("description", None) or schema.get("description")
    return {"schema": told} | ({"description": description} if description else {})


def _headers(headers: Mapping[str, str]) -> list[Schema]:
    says = {SESSION_HEADER: 'The session whose reads count; "default" where none is named.', **headers}
    told = [{"name": name, "in": "header", "description": says[name], "schema": {"type": "string"}} for name in says]
    told[0]["schema"] = {"type": "string", "pattern": f"^{SESSION.pattern}$"}
    return told


def _first_line(described: object) -> str:
    return (getdoc(described) or "").split("\n", 1)[0]
