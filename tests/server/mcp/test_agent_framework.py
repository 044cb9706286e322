"""A public agent framework uses the tools as it uses any others."""

from __future__ import annotations

import asyncio

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("default")  # The framework's own warning of a later renaming.
def test_an_agent_is_told_to_read_first_does_so_and_edits(folder, shared_server):
    """The model is scripted: it edits, and reads where the refusal says so."""
    pytest.importorskip("pydantic_ai")  # Its import takes as long as a fifth of the collection of all tests.
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    path = folder.write("a.txt", b"one\n")
    edit = ToolCallPart("edit_file", {"path": path, "old_string": "one", "new_string": "1"})
    seen = []

    def model(messages, info):
        last = messages[-1].parts[-1]
        seen.append(last.content)
        if "not_read" in str(last.content):
            return ModelResponse([ToolCallPart("read_file", {"path": path})])
        if "status" in str(last.content):
            return ModelResponse([TextPart("done")])
        return ModelResponse([edit])

    tools = MCPToolset(
        f"http://127.0.0.1:{shared_server.port}/api/fstools/mcp", headers={"Authorization": "token the-token"}
    )

    async def run():
        async with (agent := Agent(FunctionModel(model), toolsets=[tools])):
            return await agent.run("Say 1 instead of one.")

    assert asyncio.run(run()).output == "done"
    assert "Read the file" in str(seen[1]) and folder.read("a.txt") == b"1\n"
