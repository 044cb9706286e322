"""MCP as clients speak it: the official client run from a plain test, and messages of one's own making."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")
NEWEST = "2025-11-25"


@asynccontextmanager
async def connected(url: str, token: str, **headers: str):
    """A session of the official client that has been initialised."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"token {token}", **headers}, timeout=60) as http,
        streamable_http_client(url, http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


def talk(url: str, token: str, script: Callable[[ClientSession], Awaitable[T]], **headers: str) -> T:
    """Run a script in one session of the official client."""

    async def main() -> T:
        async with connected(url, token, **headers) as session:
            return await script(session)

    return asyncio.run(main())


def request(method: str, params: dict[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    """A request as JSON-RPC has it."""
    return {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params})


def tool_call(name: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    """A request that calls a tool."""
    return request("tools/call", {"name": name, "arguments": arguments}, id)


def introduction(version: str = NEWEST, name: str = "test") -> dict[str, Any]:
    """The first request of a session of a client of that name."""
    client = {"name": name, "version": "1"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
