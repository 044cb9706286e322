"""Clients of the shared server's `/mcp` and of that of the server in this process."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.mcp_client import introduction, talk, tool_call

TOKEN = "the-token"


@dataclass
class RawSession:
    """A session of the shared server, in which messages are posted as they are."""

    folder: object
    headers: dict = field(default_factory=dict)

    def post(self, message, **headers):
        return self.folder.server.post("/mcp", message, headers={**self.headers, **headers})

    def begin(self, version="2025-11-25", name="test"):
        answer = self.post(introduction(version, name))
        self.headers = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        return answer

    def call(self, tool, **arguments):
        return self.post(tool_call(tool, **arguments)).json["result"]


@pytest.fixture
def raw(folder):
    session = RawSession(folder)
    session.begin()
    return session


@pytest.fixture
def official(shared_server):
    """Runs a script in a session of the official client."""
    url = f"http://127.0.0.1:{shared_server.port}/api/fstools/mcp"
    return lambda script, **headers: talk(url, TOKEN, script, **headers)


@pytest.fixture
def post(ask, jp_auth_header):
    """Post messages to the server of this process, in the session that the first one begins."""
    session = {}

    async def post(message, **headers):
        answer = await ask("POST", "/mcp", message, headers={**jp_auth_header, **session, **headers})
        if "mcp-session-id" in answer.headers:
            session["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        return answer

    return post


@pytest.fixture
def call(post):
    """Call a tool of the server of this process; gives its result."""

    async def call(tool, **arguments):
        if not begun:
            begun.append(await post(introduction()))
        return (await post(tool_call(tool, **arguments))).json["result"]

    begun = []
    return call
