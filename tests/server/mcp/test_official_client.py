"""The official client lists and calls every tool, and each answer fits the tool's own schema."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from copy import deepcopy
from typing import Any

import jsonschema
import pytest
from mcp import MCPError

from jupyter_fstools.tools import TOOLS
from tests.documents.media.samples import DRAWING, pdf, picture, text_page
from tests.documents.notebook.samples import PICTURE, STREAM, code, markdown, notebook
from tests.mcp_client import connected
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

TOKEN = "the-token"
EVERY_CALL = [
    ("list_files", {"path": "."}),
    ("list_files", {"path": ".", "recursive": True, "limit": 1}),
    ("glob", {"pattern": "*"}),
    ("glob", {"pattern": "*.txt", "limit": 1}),
    ("grep", {"pattern": "x", "before_lines": 1, "after_lines": 1}),
    ("grep", {"pattern": "x", "output_mode": "files", "limit": 1}),
    ("grep", {"pattern": "x", "output_mode": "count", "include_outputs": True}),
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"path": "long.txt", "offset": 2, "limit": 1, "max_line_length": 10}),
    ("read_file", {"path": "utf16.txt"}),
    ("read_file", {"path": "a.png"}),
    ("read_file", {"path": "a.pdf"}),
    ("read_file", {"path": "a.ipynb"}),
    ("read_notebook", {"path": "a.ipynb"}),
    ("read_notebook", {"path": "a.ipynb", "limit": 1, "outputs": "none"}),
    ("read_notebook", {"path": "a.ipynb", "outputs": "full"}),
    ("read_notebook", {"path": "a.ipynb", "cell_id": "c0", "output_index": 0}),
    ("read_notebook", {"path": "a.ipynb", "cell_id": "c0", "output_index": 1}),
    ("edit_file", {"path": "a.txt", "old_string": "x = 1", "new_string": "x = 2"}),
    ("edit_file", {"path": "long.txt", "edits": [{"old_string": "first", "new_string": "1st"}]}),
    ("edit_notebook", {"path": "a.ipynb", "cell_id": "c1", "new_source": "# new"}),
    ("write_file", {"path": "new.txt", "content": "one\n"}),
    ("write_file", {"path": "new.txt", "content": "one\n"}),
    ("write_file", {"path": "new.txt", "content": "two\n"}),
    ("undo", {"path": "new.txt"}),
]


@pytest.fixture
def files(folder):
    folder.write("a.txt", b"x = 1\nx\n")
    folder.write("long.txt", b"first\n" + b"x" * 5000 + b"\n")
    folder.write("utf16.txt", "x\r\n".encode("utf-16"))
    folder.write("a.png", picture("PNG"))
    folder.write("a.pdf", pdf(text_page("one"), DRAWING))
    cells = notebook(code(outputs=[STREAM, PICTURE]), markdown("# x"), code("x\n" * 5))
    folder.write("a.ipynb", json.dumps(cells, indent=1).encode())
    return folder


def test_every_tool_answers_as_its_schema_says(files, official):
    """Every member of `structuredContent` is in the schema, and every required one is present."""

    async def script(session):
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for name, arguments in EVERY_CALL:
            below = {**arguments, "path": f"{files.name}/{arguments.get('path', '')}".removesuffix("/.")}
            answer = await session.call_tool(name, below)
            assert not answer.is_error, (name, arguments, answer.content)
            jsonschema.validate(answer.structured_content, closed(tools[name].output_schema))
        return set(tools)

    assert official(script) == {name for name, _ in EVERY_CALL} == set(TOOLS) - {"execute"}


def closed(schema):
    """The same schema without room for members it does not name."""
    closed_one = deepcopy(schema)
    for form in [*closed_one["anyOf"], *closed_one.get("$defs", {}).values()]:
        if "properties" in form:
            form["properties"] |= schema["properties"]
            form["additionalProperties"] = False
    return closed_one


def test_every_tool_has_the_form_of_its_answer():
    assert not [name for name, tool in TOOLS.items() if tool.answer() == dict[str, Any]]


def test_a_command_tells_its_progress_and_answers_as_its_schema_says(tmp_path):
    (tmp_path / "root").mkdir()
    server = RunningServer(
        tmp_path / "root",
        "--FsToolsConfig.enable_execute=True",
        "--FsToolsConfig.execute_approval=False",
        "--FsToolsConfig.structured_content=True",
    )
    told = []

    async def script():
        async def progress(number, total, message):
            told.append((number, message))

        async with connected(f"{server.url}/mcp", server.token) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            answer = await session.call_tool("execute", {"command": "echo 1"}, progress_callback=progress)
            jsonschema.validate(answer.structured_content, closed(tools["execute"].output_schema))
            return answer

    try:
        server.wait()
        answer = asyncio.run(script())
    finally:
        server.stop()
    assert answer.content[0].text == "1" and answer.structured_content["exit_code"] == 0
    assert told == [(1.0, "1\n")]


def test_a_tool_says_what_it_does_to_files(official):
    async def script(session):
        return {tool.name: tool for tool in (await session.list_tools()).tools}

    told = official(script)
    read, write, edit = (told[name].annotations for name in ("read_file", "write_file", "edit_file"))
    assert read.read_only_hint and not read.destructive_hint
    assert write.destructive_hint and write.idempotent_hint
    assert not edit.read_only_hint and told["edit_file"].title == "Edit files"


def test_a_picture_is_image_content(files, official):
    async def script(session):
        return await session.call_tool("read_file", {"path": f"{files.name}/a.png"})

    answer = official(script)
    image = answer.content[1]
    assert answer.structured_content["pictures"] == [image.model_dump(by_alias=True, exclude_none=True)]
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert base64.b64decode(image.data) == files.read("a.png")


def test_a_refusal_is_a_tool_error_that_names_the_next_step(files, official):
    async def script(session):
        edit = {"path": f"{files.name}/a.txt", "old_string": "x = 1", "new_string": "y"}
        return await session.call_tool("edit_file", edit), await session.call_tool("read_file", {"pth": "a.txt"})

    unread, wrong = official(script)
    assert unread.is_error and unread.structured_content["error"]["code"] == "not_read"
    assert "not modified" in unread.content[0].text and "Hint: Read the file" in unread.content[0].text
    assert wrong.is_error and "path: is required; pth: unknown argument" in wrong.content[0].text
    assert files.read("a.txt") == b"x = 1\nx\n"


def test_a_stale_refusal_shows_what_changed(files, official):
    async def script(session):
        path = f"{files.name}/a.txt"
        await session.call_tool("read_file", {"path": path})
        files.write("a.txt", b"x = 1\nsomebody else\n")
        return await session.call_tool("edit_file", {"path": path, "old_string": "x = 1", "new_string": "y"})

    answer = official(script)
    assert answer.structured_content["error"]["code"] == "stale"
    assert "+somebody else" in answer.content[1].text


def test_an_unknown_tool_is_the_protocol_s_own_error_and_names_those_there_are(official):
    async def script(session):
        with pytest.raises(MCPError) as caught:
            await session.call_tool("raed_file", {"path": "a.txt"})
        return caught.value

    error = official(script)
    assert error.code == -32602 and "there is no tool 'raed_file'. The tools are list_files" in error.message


def test_a_name_that_is_no_utf8_travels_through_the_official_client(folder, official):
    """Clients accept no message with a lone surrogate, so it travels as an escape that the tools understand."""
    folder.write(os.fsdecode(b"caf\xe9.txt"), b"one\n")

    async def script(session):
        listed = await session.call_tool("list_files", {"path": folder.name})
        path = listed.structured_content["entries"][0]["path"]
        await session.call_tool("read_file", {"file_path": path})
        return await session.call_tool("edit_file", {"path": path, "old_string": "one", "new_string": "1"})

    assert not official(script).is_error
    assert folder.read(os.fsdecode(b"caf\xe9.txt")) == b"1\n"


def test_a_name_that_is_no_utf8_is_that_of_an_edits_file_too(folder, official):
    """Also the escape itself, where a file has that name and no other one is meant."""
    names = [os.fsdecode(b"caf\xe9.txt"), "literal\\udce9.txt"]
    for name in names:
        folder.write(name, b"one\n")

    async def script(session):
        paths = [f"{folder.name}/{name}" for name in ("caf\\udce9.txt", "literal\\udce9.txt")]
        for path in paths:
            await session.call_tool("read_file", {"path": path})
        edits = [{"file_path": path, "old_string": "one", "new_string": "1"} for path in paths]
        return await session.call_tool("edit_file", {"edits": edits})

    assert not official(script).is_error
    assert [folder.read(name) for name in names] == [b"1\n"] * 2


def test_eight_clients_at_once_lose_no_edit(folder, shared_server):
    path = folder.write("a.txt", b"".join(b"line %d;\n" % number for number in range(8)))

    async def client(number):
        async with connected(f"http://127.0.0.1:{shared_server.port}/api/fstools/mcp", TOKEN) as session:
            await session.call_tool("read_file", {"path": path})
            for _ in range(8):
                edit = {"path": path, "old_string": f"line {number};", "new_string": f"done {number};"}
                if not (await session.call_tool("edit_file", edit | {"if_stale": "match"})).is_error:
                    return
            raise AssertionError(number)

    async def together():
        await asyncio.gather(*map(client, range(8)))

    asyncio.run(together())
    assert folder.read("a.txt") == b"".join(b"done %d;\n" % number for number in range(8))
