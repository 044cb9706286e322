"""Runs public MCP clients through a full round against a server, and prints what each one met.

It runs in the environments that `make clients` makes, which have the clients and nothing of ours. Arguments: a file of
JSON with `url`, `command` (words), `environment`, `root`, the `inspector`'s path, a `token` for each round, and the
`rounds` (client and transport) to run. It prints one line of JSON for each.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple


class Seen(NamedTuple):
    """The part of an answer that a model is shown."""

    text: str
    pictures: int


class Way(NamedTuple):
    """How a round reaches the server: over HTTP with headers, or by a command with an environment."""

    transport: str
    url: str
    headers: dict[str, str]
    command: list[str]
    environment: dict[str, str]
    inspector: str


Call = Callable[[str, dict[str, Any]], Awaitable[Seen]]


def seen(blocks: Any) -> Seen:
    """The text and the number of pictures in a list of content blocks, as objects or as JSON."""
    told = [block if isinstance(block, dict) else block.model_dump() for block in blocks]
    return Seen(
        "\n".join(block.get("text") or "" for block in told), sum(block.get("type") == "image" for block in told)
    )


@asynccontextmanager
async def official(way: Way):
    import httpx2
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=way.headers, timeout=60) as http:
        server: Any = streamable_http_client(way.url, http_client=http)
        if way.transport == "stdio":
            server = StdioServerParameters(command=way.command[0], args=way.command[1:], env=way.environment)
        async with Client(server) as client:

            async def call(name: str, arguments: dict[str, Any]) -> Seen:
                return seen((await client.call_tool(name, arguments)).content)

            yield call


@asynccontextmanager
async def fastmcp(way: Way):
    from fastmcp import Client

    async with Client(fastmcp_transport(way)) as client:

        async def call(name: str, arguments: dict[str, Any]) -> Seen:
            return seen((await client.call_tool(name, arguments, raise_on_error=False)).content)

        yield call


def fastmcp_transport(way: Way) -> Any:
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    if way.transport == "http":
        return StreamableHttpTransport(way.url, headers=way.headers)
    return StdioTransport(way.command[0], way.command[1:], env=way.environment)


@asynccontextmanager
async def pydantic_ai(way: Way):
    """The model is a function, which gets the messages that a model would be shown."""
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import BinaryContent, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    asked: list[ToolCallPart] = []
    shown: list[Seen] = []

    def model(messages: Any, info: Any) -> ModelResponse:
        if asked:
            return ModelResponse([asked.pop()])
        parts = [part for message in messages for part in message.parts if part.part_kind != "system-prompt"]
        texts, pictures = [], 0
        for part in parts[1:]:
            contents = (
                part.content if isinstance(getattr(part, "content", None), list) else [getattr(part, "content", "")]
            )
            pictures += sum(isinstance(one, BinaryContent) for one in contents)
            texts += [str(one) for one in contents if not isinstance(one, BinaryContent)]
        shown.append(Seen("\n".join(filter(None, texts)), pictures))
        return ModelResponse([TextPart("done")])

    async with (agent := Agent(FunctionModel(model), toolsets=[MCPToolset(fastmcp_transport(way))])):

        async def call(name: str, arguments: dict[str, Any]) -> Seen:
            asked.append(ToolCallPart(name, arguments))
            await agent.run("Go on.")
            return shown.pop()

        yield call


@asynccontextmanager
async def langchain(way: Way):
    """With its defaults: a session for every call; the token names the session of the gate."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    connection = {"transport": "streamable_http", "url": way.url, "headers": way.headers}
    if way.transport == "stdio":
        command, *words = way.command
        connection = {"transport": "stdio", "command": command, "args": words, "env": way.environment}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"jupyter": connection}).get_tools()}

    async def call(name: str, arguments: dict[str, Any]) -> Seen:
        try:
            content = await tools[name].ainvoke(arguments)
        except Exception as refusal:  # Its own class for a refused call, which an agent hands to the model as text.
            return Seen(str(refusal), 0)
        return Seen(content, 0) if isinstance(content, str) else seen(content)

    yield call


@asynccontextmanager
async def openai_agents(way: Way):
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    if way.transport == "http":
        server: Any = MCPServerStreamableHttp(
            {"url": way.url, "headers": way.headers}, client_session_timeout_seconds=60
        )
    else:
        command, *words = way.command
        server = MCPServerStdio(
            {"command": command, "args": words, "env": way.environment}, client_session_timeout_seconds=60
        )
    async with server:

        async def call(name: str, arguments: dict[str, Any]) -> Seen:
            return seen((await server.call_tool(name, arguments)).content)

        yield call


@asynccontextmanager
async def inspector(way: Way):
    """A process for every call."""

    async def call(name: str, arguments: dict[str, Any]) -> Seen:
        words = ["node", way.inspector, "--cli", "--config", file.name, "--server", "jupyter"]
        words += ["--method", "tools/call", "--tool-name", name]
        words += [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
        pipe, environment = asyncio.subprocess.PIPE, os.environ | way.environment
        process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe, env=environment)
        out, err = await process.communicate()
        try:
            return seen(json.loads(out)["content"])
        except (ValueError, KeyError):
            raise RuntimeError((out + err).decode()[-500:]) from None

    entry: dict[str, Any] = {"type": "streamable-http", "url": way.url, "headers": way.headers}
    if way.transport == "stdio":
        command, *rest = way.command
        entry = {"type": "stdio", "command": command, "args": rest, "env": way.environment}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"mcpServers": {"jupyter": entry}}, file)
        file.flush()
        yield call


CLIENTS = {
    "official SDK": official,
    "fastmcp": fastmcp,
    "pydantic-ai": pydantic_ai,
    "langchain-mcp-adapters": langchain,
    "openai-agents": openai_agents,
    "inspector": inspector,
}


async def run_round(client: str, way: Way, folder: str) -> dict[str, Any]:
    """Run a refusal, a read, an edit and a picture; gives the part of each answer that the model was shown."""
    path, began = f"{folder}/a.txt", time.perf_counter()
    edit = {"path": path, "old_string": "one", "new_string": "eins"}
    steps: dict[str, str] = {}
    async with CLIENTS[client](way) as call:
        steps["refused"] = (await call("edit_file", edit)).text
        steps["read"] = (await call("read_file", {"path": path})).text
        steps["edited"] = (await call("edit_file", edit)).text
        picture = await call("read_file", {"path": f"{folder}/a.png"})
        steps["picture"] = picture.text
    seconds = time.perf_counter() - began
    return {
        "client": client,
        "transport": way.transport,
        "seconds": round(seconds, 1),
        "pictures": picture.pictures,
        **steps,
    }


async def main(given: dict[str, Any]) -> None:
    async def one(client: str, transport: str, token: str, folder: str) -> None:
        way = Way(
            transport,
            given["url"],
            {"Authorization": f"Bearer {token}"},
            given["command"],
            {**given["environment"], "JUPYTER_TOKEN": token},
            given["inspector"],
        )
        try:
            told = await asyncio.wait_for(run_round(client, way, folder), 120)
        except Exception as problem:
            told = {"client": client, "transport": transport, "problem": f"{type(problem).__name__}: {problem}"[:2000]}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()

    await asyncio.gather(*(one(**each) for each in given["rounds"]))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
