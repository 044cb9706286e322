"""The tools for Jupyter AI, offered by the real `jupyter_server_mcp` and called by the official client."""

from __future__ import annotations

import asyncio
import json
import re
import socket

import pytest
from fastmcp.exceptions import ToolError
from jupyter_server.auth.authorizer import Authorizer
from mcp import Client

from jupyter_fstools.server import jupyter_ai
from jupyter_fstools.tools import TOOLS
from tests.documents.media.samples import picture
from tests.processes import RunningServer

pytestmark = pytest.mark.slow


@pytest.fixture
def offered(tmp_path, private_jupyter):
    """A server with both extensions: its root, the URL of Jupyter AI's side, and our own side."""
    root = tmp_path / "root"
    root.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "ServerApp": {"jpserver_extensions": {"jupyter_fstools": True, "jupyter_server_mcp": True}},
        "MCPExtensionApp": {"mcp_port": port},
        "FsToolsConfig": {"durable": False, "enable_execute": True, "offer_to_jupyter_ai": True},
    }
    (private_jupyter / "jupyter_config_dir" / "jupyter_server_config.json").write_text(json.dumps(settings))
    server = RunningServer(root, interface=True)  # The option for no interface would override these settings.
    try:
        server.wait()
        wait_for(port)
        yield root, f"http://localhost:{port}/mcp", server
    finally:
        server.stop()


def wait_for(port):
    for _ in range(300):
        try:
            socket.create_connection(("localhost", port), 1).close()
        except OSError:
            asyncio.run(asyncio.sleep(0.1))
        else:
            return
    raise AssertionError("jupyter_server_mcp does not answer")


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def test_personas_find_the_tools_and_are_held_to_reading_first(offered):
    root, url, server = offered
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "dot.png").write_bytes(picture())
    edit = {"path": "a.txt", "old_string": "two", "new_string": "2"}

    async def script():
        async with Client(url) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            answers = [
                await client.call_tool("fs_edit_file", edit),
                await client.call_tool("fs_read_file", {"path": "a.txt"}),
                await client.call_tool("fs_edit_file", edit),
                await client.call_tool(
                    "fs_edit_file", {"path": "a.txt", "edits": [{"old_string": "2", "new_string": "3"}]}
                ),
                await client.call_tool("fs_read_file", {"path": "dot.png"}),
                await client.call_tool("fs_read_file", {"path": "a.txt", "offset": "x"}),
                await client.call_tool("fs_read_file", {"path": "a.txt", "limit": None, "force": "true"}),
            ]
            return listed, answers

    listed, (unread, read, edited, again, shown, wrong, whole) = asyncio.run(script())
    assert set(listed) == {f"fs_{name}" for name in TOOLS} - {"fs_execute"}
    described = listed["fs_read_file"].input_schema["properties"]
    assert described["path"]["description"].startswith("Path of the file")
    assert listed["fs_edit_file"].input_schema["properties"]["old_string"]["anyOf"][0]["type"] == "string"
    assert listed["fs_undo"].description == TOOLS["undo"].description
    assert listed["fs_read_file"].description.endswith("For notebooks use fs_read_notebook.")
    assert unread.is_error
    assert text_of(unread).startswith("not_read: ")
    assert "Hint: " in text_of(unread)
    assert "2\ttwo" in text_of(read)
    assert not edited.is_error and not again.is_error, text_of(again)
    assert (root / "a.txt").read_text() == "one\n3\n"
    assert wrong.is_error and text_of(wrong).startswith("invalid: offset: takes a whole number, got 'x'\nHint: ")
    assert not whole.is_error and "1\tone" in text_of(whole)
    assert [block.mime_type for block in shown.content if block.type == "image"] == ["image/png"]
    changes = server.call("GET", "/changes")[1]["changes"]
    assert {change["session"] for change in changes} == {"jupyter-ai"}


def test_a_persona_is_shown_what_changed_where_an_edit_is_stale(offered):
    root, url, _ = offered
    (root / "a.txt").write_text("one\ntwo\n")

    async def script():
        async with Client(url) as client:
            await client.call_tool("fs_read_file", {"path": "a.txt"})
            (root / "a.txt").write_text("one\nTWO\n")
            return await client.call_tool("fs_edit_file", {"path": "a.txt", "old_string": "one", "new_string": "1"})

    stale = asyncio.run(script())
    assert stale.is_error and text_of(stale).startswith("stale: ")
    assert {"-two", "+TWO"} <= set(text_of(stale).splitlines())


def test_personas_that_keep_an_mcp_session_are_told_apart_and_others_are_shown_files_anew(offered):
    root, url, server = offered
    (root / "a.txt").write_text("one\n")
    read = {"path": "a.txt"}
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}

    async def script():
        async with Client(url) as unknown:
            unknowns = [await unknown.call_tool("fs_read_file", read) for _ in range(2)]
        async with Client(url, mode="legacy") as first, Client(url, mode="legacy") as second:
            firsts = [await first.call_tool("fs_read_file", read) for _ in range(2)]
            unread = await second.call_tool("fs_edit_file", edit)
            seconds = await second.call_tool("fs_read_file", read)
            return unknowns, *firsts, unread, seconds, await second.call_tool("fs_edit_file", edit)

    unknowns, shown, again, unread, other, edited = asyncio.run(script())
    assert all("1\tone" in text_of(one) for one in unknowns)
    assert "1\tone" in text_of(shown) and "1\tone" in text_of(other)
    assert "unchanged" in text_of(again) and "one" not in text_of(again)
    assert unread.is_error and text_of(unread).startswith("not_read: ")
    assert not edited.is_error
    [change] = server.call("GET", "/changes")[1]["changes"]
    assert re.fullmatch("jupyter-ai-[0-9a-f]{12}", change["session"])


async def test_the_tools_are_not_offered_to_a_port_without_a_login_unless_a_setting_says_so(served):
    assert jupyter_ai.specifications() == []
    served.config.offer_to_jupyter_ai = True
    assert any(name.endswith(":fs_read_file") for name in jupyter_ai.specifications())


class NoWriters(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        assert handler.request.path.endswith("/api/fstools") and user.username
        return action == "read"


@pytest.mark.parametrize("settings", [{"offer_to_jupyter_ai": True}], indirect=True)
async def test_jupyter_s_authorizer_is_asked_for_every_call(jp_serverapp, jp_root_dir):
    jp_serverapp.web_app.settings["authorizer"] = NoWriters()
    (jp_root_dir / "a.txt").write_text("one\n")
    for _ in range(2):
        [block] = await jupyter_ai.fs_read_file(path="a.txt")
        assert "one" in block.text
    with pytest.raises(ToolError, match="with `fs_list_files`"):
        await jupyter_ai.fs_read_file(path="nothing.txt")
    with pytest.raises(ToolError, match="denied"):
        await jupyter_ai.fs_write_file(path="b.txt", content="x")
    assert not (jp_root_dir / "b.txt").exists()
