"""The OpenAPI document matches the server: schemathesis calls every route, and a story fills the answers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.server.routes import ROUTES
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
LENIENT = "negative_data_rejection"
"""Arguments are taken as models send them: null for what is left out, "5" for 5."""
FURTHER_RULES = "positive_data_acceptance"
"""A call can fit its schema and be refused all the same: there is no such file, it was not read."""
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


@pytest.fixture
def server(tmp_path):
    """A server of its own: schemathesis itself fails on names that are not UTF-8, which other tests leave behind."""
    root = tmp_path / "root"
    root.mkdir()
    running = RunningServer(root, "--FsToolsConfig.durable=False")
    try:
        running.wait()
        yield running
    finally:
        running.stop()


@pytest.mark.timeout(900)
def test_schemathesis_finds_nothing(server, tmp_path):
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
        *("--header", f"Authorization: token {server.token}"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--generation-deterministic"),
        *("--exclude-checks", f"{LENIENT},{FURTHER_RULES}", "--warnings", "off", "--no-color"),
    ]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.server.short_waits", "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Tested: " in done.stdout


@pytest.fixture
def ask(jp_serverapp, jp_http_port, jp_root_dir, http_server):
    """Send a request as the document describes it, and check the answer against the document; gives the answer."""
    import schemathesis  # Late: it takes a second, in each worker.

    (jp_root_dir / "folder").mkdir()
    (jp_root_dir / "a.txt").write_text("one\ntwo\n")
    (jp_root_dir / "folder" / "book.ipynb").write_text(NOTEBOOK)
    (jp_root_dir / "picture.png").write_bytes(PICTURE)
    token = {"Authorization": f"token {jp_serverapp.identity_provider.token}"}
    url = f"http://127.0.0.1:{jp_http_port}{jp_serverapp.base_url}api/fstools/openapi.json"
    schemas = []

    def asked(method, path, body, headers, parts):
        if not schemas:
            schemas.append(schemathesis.openapi.from_url(url, headers=token))
        given = {} if body is None else {"body": body, "media_type": "application/json"}
        case = schemas[0][path][method].Case(**given, **parts, headers={**token, **(headers or {})})
        return case.call_and_validate()

    async def ask(method, path, body=None, /, *, headers=None, **parts):
        return await asyncio.to_thread(asked, method, path, body, headers, parts)

    return ask


CALLS = [
    ("list_files", {}),
    ("glob", {"pattern": "*"}),
    *(("grep", {"pattern": "one", "output_mode": mode}) for mode in ("content", "files", "count")),
    *(("read_file", {"path": path}) for path in ("a.txt", "picture.png", "folder/book.ipynb", "missing.txt")),
    ("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "1"}),
    ("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "1"}),
    ("write_file", {"path": "new.txt", "content": "one\n"}),
    ("write_file", {"path": "waits.md", "content": "one\n"}),
    ("write_file", {"path": "picture.png", "content": "one\n"}),
    ("read_notebook", {"path": "folder/book.ipynb"}),
    (
        "edit_notebook",
        {"path": "folder/book.ipynb", "edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": "x = 1"},
    ),
    ("read_notebook", {"path": "folder/book.ipynb"}),
    ("undo", {"path": "new.txt"}),
]


some_wait = pytest.mark.parametrize("settings", [{"approval": ["*.md"]}], indirect=True)


@some_wait
async def test_every_answer_of_a_tool_is_as_described(ask):
    statuses = [(await ask("POST", f"/tools/{name}", arguments)).status_code for name, arguments in CALLS]
    assert statuses == [*([200] * 8), 404, 200, 422, 200, 202, 428, 200, 200, 200, 200]


@some_wait
async def test_every_answer_to_a_person_is_as_described(ask):
    for name, arguments in CALLS:
        await ask("POST", f"/tools/{name}", arguments)
    kinds = {entry["kind"] for entry in (await ask("GET", "/activity")).json()["entries"]}
    assert kinds == {"read", "change", "refusal"}
    (waiting,) = (await ask("GET", "/changes", query={"status": "proposed"})).json()["changes"]
    undone = (await ask("GET", "/changes", query={"status": "undone", "limit": 1})).json()["changes"][0]["id"]
    assert (await ask("GET", "/changes/{id}", path_parameters={"id": waiting["id"]})).status_code == 200
    sent = await ask("GET", "/changes/{id}/content", path_parameters={"id": waiting["id"]})
    assert (sent.status_code, sent.content) == (200, b"one\n")
    assert (await ask("POST", "/changes/{id}/undo", {}, path_parameters={"id": undone})).status_code == 409
    outcomes = (await ask("POST", "/changes/approve", {"ids": [waiting["id"], undone]})).json()["outcomes"]
    assert [outcome["error"] is None for outcome in outcomes] == [True, False]
    assert (await ask("POST", "/changes/undo", {"path": "waits.md"})).status_code == 200
    assert len((await ask("GET", "/receipts")).json()["receipts"]) > 2
    assert (await ask("DELETE", "/receipts")).json()["forgotten"] > 2
    for form in ("mcp", "openai", "anthropic"):
        assert len((await ask("GET", "/tools", query={"format": form})).json()["tools"]) > 8


async def test_bytes_come_as_described(ask):
    place = {"path_parameters": {"path": "a.txt"}}
    whole = await ask("GET", "/raw/{path}", **place)
    assert (whole.status_code, whole.content) == (200, b"one\ntwo\n")
    assert (await ask("HEAD", "/raw/{path}", **place)).status_code == 200
    assert (await ask("GET", "/raw/{path}", **place, headers={"Range": "bytes=4-6"})).content == b"two"
    assert (await ask("GET", "/raw/{path}", **place, headers={"Range": "bytes=99-"})).status_code == 416
    known = {"If-None-Match": whole.headers["etag"][0]}
    assert (await ask("GET", "/raw/{path}", **place, headers=known)).status_code == 304


def test_every_route_but_the_socket_is_described(shared_server):
    described = set(shared_server.get("/openapi.json").json["paths"])
    told = {path for route in ROUTES if not route.each_tool for path in route.spelled_out()}
    assert told - described == {"/documents"}
    assert "/tools/read_file" in described


def test_every_query_parameter_and_every_field_of_a_body_is_described(shared_server):
    document = shared_server.get("/openapi.json").json
    calls = [call for path in document["paths"].values() for method, call in path.items() if method != "parameters"]
    named = [(one["name"], one) for call in calls for one in call.get("parameters", ())]
    for call in calls:
        for shape in call.get("requestBody", {}).get("content", {}).values():
            name = shape["schema"].get("$ref", "").rpartition("/")[2]
            named += document["components"]["schemas"].get(name, shape["schema"]).get("properties", {}).items()
    assert len(named) > 100
    assert [name for name, part in named if "description" not in str(part)] == []


def test_every_code_of_a_refusal_is_described(shared_server):
    schemas = shared_server.get("/openapi.json").json["components"]["schemas"]
    codes = {refusal.code for refusal in FsToolsError.__subclasses__()}
    assert set(schemas["Refused"]["properties"]["code"]["enum"]) == codes
