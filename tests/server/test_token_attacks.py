"""Limits of an assistant's token: no other methods, routes or sockets, and nothing once it is revoked."""

from __future__ import annotations

import asyncio
import re
import time
from urllib.parse import quote

import pytest
from jupyter_server.base.handlers import path_regex
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketHandler, websocket_connect

from jupyter_fstools.server.base_handler import ToolsHandler
from jupyter_fstools.server.routes import patterns

BASE = "/a%40b/api/fstools"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
OPEN = {
    ("GET", "/tools/?"),
    ("POST", "/tools/([^/]+)/?"),
    ("GET", "/changes/?"),
    ("GET", "/changes/([^/]+)/?"),
    ("POST", "/mcp/?"),
    ("DELETE", "/mcp/?"),
}
RIGHTS = {
    "everything": {},
    "reads": {"tools": "read"},
    "one tool": {"tools": ["grep"]},
    "a folder": {"paths": ["docs/"]},
    "expired": {"expires_in": 0.001},
    "revoked": {},
}


each_kind = pytest.mark.parametrize("rights", RIGHTS)


async def made(ask, rights):
    """A token with these rights, as a person makes it."""
    told = (await ask("POST", "/tokens", {"name": "helper", **RIGHTS[rights]})).json
    if rights == "revoked":
        assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 204
    return told["token"]


def as_bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def fitting(form):
    """A path that a route's pattern takes."""
    path = form.replace(path_regex, "/a.txt").replace(r"\w+", "a").replace("[^/]+", "x").replace(".*", "no")
    path = re.sub(r"\((?:\?P<\w+>)?([^()|]*)[^()]*\)", r"\1", path).replace("\\", "").replace("/?", "/").rstrip("$")
    assert re.match(form, path), (form, path)
    return path


@each_kind
async def test_every_method_of_every_route_is_closed_but_those_named_here(rights, ask):
    secret = await made(ask, rights)
    forms = {form.removeprefix(BASE): (fitting(form), handler) for form, handler in patterns("/a%40b/")}
    assert {route for _, route in OPEN} <= {*forms}
    for route, (path, handler) in forms.items():
        assert issubclass(handler, ToolsHandler | WebSocketHandler), "A handler of another kind knows no tokens."
        for method in METHODS:
            if (method, route) in OPEN and rights not in ("expired", "revoked"):
                continue
            body = b"{}" if method in ("POST", "PUT", "PATCH") else None
            refused = await ask(method, path.removeprefix(BASE), body, headers=as_bearer(secret))
            # Where another method opens, and at a socket, this one is not there at all.
            has_others = issubclass(handler, WebSocketHandler) or any(route == other for _, other in OPEN)
            assert refused.status in ((403, 405) if has_others else (403,)), (method, route, refused.status)


def sockets(serverapp):
    """The addresses of all sockets of a server, ours among them."""
    rules = [(rule.matcher.regex.pattern, rule.target) for rule in serverapp.web_app.wildcard_router.rules]
    found = [*rules, *patterns("/a%40b/")]
    return sorted({form for form, target in found if isinstance(target, type) and issubclass(target, WebSocketHandler)})


async def opens(serverapp, port, path, headers=None, protocols=None):
    request = HTTPRequest(f"ws://127.0.0.1:{port}{path}", headers=headers or {})
    try:
        socket = await websocket_connect(request, subprotocols=protocols)
    except HTTPClientError as refused:
        assert refused.code == 403, (path, refused.code)
        return False
    socket.close()
    return True


@each_kind
async def test_no_socket_of_the_server_opens_with_it(rights, ask, served, jp_serverapp, jp_http_port):
    secret = await made(ask, rights)
    forms = sockets(jp_serverapp)
    assert f"{BASE}/documents/?" in forms and len(forms) > 2
    for form in forms:
        path = fitting(form)
        for way in ({"headers": as_bearer(secret)}, {"headers": {"Authorization": f"token {secret}"}}):
            assert not await opens(jp_serverapp, jp_http_port, path, **way), path
        assert not await opens(jp_serverapp, jp_http_port, f"{path}?token={quote(secret)}"), path
        protocols = ["v1.kernel.websocket.jupyter.org", f"v1.token.websocket.jupyter.org.{secret}"]
        assert not await opens(jp_serverapp, jp_http_port, path, protocols=protocols), path


async def test_a_login_that_comes_with_it_opens_no_socket_of_the_tools(ask, jp_serverapp, jp_http_port):
    secret, own = await made(ask, "everything"), jp_serverapp.identity_provider.token
    path = f"{BASE}/documents?token={own}"
    assert await opens(jp_serverapp, jp_http_port, path)
    assert not await opens(jp_serverapp, jp_http_port, path, headers=as_bearer(secret))


async def test_a_call_that_waits_for_a_file_when_its_token_is_revoked_changes_nothing(ask, served, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    told = (await ask("POST", "/tokens", {"name": "helper"})).json
    headers = as_bearer(told["token"])
    await ask("POST", "/tools/read_file", {"path": "a.txt"}, headers=headers)
    workspace, edit = served.workspace, {"path": "a.txt", "old_string": "one", "new_string": "two"}
    with workspace.held(workspace.paths.key_of("a.txt")):
        waiting = asyncio.ensure_future(ask("POST", "/tools/edit_file", edit, headers=headers))
        while not served.calls._lines:
            await asyncio.sleep(0.001)
        assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 204
        refused = await waiting  # An attempt that had begun before may still get the file.
    assert (refused.status, refused.error["code"]) == (403, "denied") and "revoked" in refused.error["message"]
    assert "not modified" in refused.error["message"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


async def test_a_call_that_waits_for_a_file_when_its_token_expires_changes_nothing(
    ask, served, jp_root_dir, monkeypatch
):
    (jp_root_dir / "a.txt").write_text("one\n")
    headers = as_bearer((await ask("POST", "/tokens", {"name": "helper", "expires_in": 60})).json["token"])
    await ask("POST", "/tools/read_file", {"path": "a.txt"}, headers=headers)
    workspace, edit = served.workspace, {"path": "a.txt", "old_string": "one", "new_string": "two"}
    with workspace.held(workspace.paths.key_of("a.txt")):
        waiting = asyncio.ensure_future(ask("POST", "/tools/edit_file", edit, headers=headers))
        while not served.calls._lines:
            await asyncio.sleep(0.001)
        monkeypatch.setattr(time, "time", lambda real=time.time: real() + 61)
        refused = await waiting
    assert (refused.status, refused.error["code"]) == (403, "denied") and "expired" in refused.error["message"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


async def test_the_rest_of_a_batch_is_refused_once_its_token_is_revoked(ask, served, jp_root_dir):
    """Over MCP one request may hold a hundred calls."""
    told = (await ask("POST", "/tokens", {"name": "helper"})).json
    headers = {**as_bearer(told["token"]), "MCP-Protocol-Version": "2025-03-26"}
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "write_file", "arguments": arguments}}
        for n, arguments in enumerate([{"path": f"{name}.txt", "content": "x"} for name in "abc"])
    ]
    calls.append({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
    workspace = served.workspace
    with workspace.held(workspace.paths.key_of("b.txt")):
        waiting = asyncio.ensure_future(ask("POST", "/mcp", calls, headers=headers))
        while not served.calls._lines:
            await asyncio.sleep(0.001)
        assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 204
        *answers, listed = (await waiting).json
    assert (listed["id"], listed["error"]["data"]["code"]) == (3, "denied")
    assert [answer["result"]["isError"] for answer in answers] == [False, True, True]
    assert all("not modified" in answer["result"]["content"][0]["text"] for answer in answers[1:])
    assert sorted(file.name for file in jp_root_dir.glob("*.txt")) == ["a.txt"]
