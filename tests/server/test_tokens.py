"""An assistant's own token opens the tools, MCP and its own changes, and nothing else."""

from __future__ import annotations

import asyncio
import json
import re
import time

import pytest
from jupyter_server.base.handlers import path_regex
from tornado.httpclient import HTTPClientError

from jupyter_fstools.client.configurations import CLIENTS
from jupyter_fstools.gate import tokens
from jupyter_fstools.server.routes import ROUTES
from jupyter_fstools.sessions import TOKEN_PREFIX
from jupyter_fstools.tools import TOOLS

FIELDS = {"id", "name", "session", "tools", "paths", "created_at", "expires_at", "last_used_at"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
executing = pytest.mark.parametrize(
    "settings", [{"enable_execute": True, "execute_approval": False, "approval": "always"}], indirect=True
)
waits_for_approval = pytest.mark.parametrize("settings", [{"approval": "always"}], indirect=True)


@pytest.fixture
def make(ask):
    """Make a token as a person; gives its secret and its fields."""

    async def make(name="helper", **asked):
        answer = await ask("POST", "/tokens", {"name": name, **asked})
        assert answer.status == 201, answer.json
        told = answer.json
        return told.pop("token"), told

    return make


@pytest.fixture
def as_assistant(ask):
    """Ask with an assistant's token."""

    async def as_assistant(secret, method, path, body=None, /, *, kind="token", **more):
        headers = {"Authorization": f"{kind} {secret}", **more.pop("headers", {})}
        return await ask(method, path, body, headers=headers, **more)

    return as_assistant


async def test_a_person_makes_lists_and_revokes_a_token(ask, make, as_assistant):
    secret, told = await make(session="s1", tools="read", paths=["docs/"], expires_in=60)
    assert secret.startswith(TOKEN_PREFIX)
    assert set(told) == FIELDS
    assert (told["name"], told["session"], told["tools"], told["paths"]) == ("helper", "s1", "read", ["docs/"])
    assert 0 < told["expires_at"] - time.time() <= 60
    assert (await ask("GET", "/tokens")).json == {"tokens": [told]}
    await as_assistant(secret, "GET", "/tools")
    [used] = (await ask("GET", "/tokens")).json["tokens"]
    assert time.time() - used["last_used_at"] < 60
    assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 204
    assert (await ask("GET", "/tokens")).json == {"tokens": []}
    refused = await as_assistant(secret, "GET", "/tools")
    assert (refused.status, refused.error["code"]) == (403, "denied")
    assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 404


@waits_for_approval
async def test_a_wait_for_a_decision_ends_when_its_token_is_revoked(ask, make, as_assistant):
    secret, told = await make()
    proposed = await as_assistant(secret, "POST", "/tools/write_file", {"path": "a.txt", "content": "x"})
    path = f"/changes/{proposed.json['change']['id']}"
    waiting = asyncio.create_task(as_assistant(secret, "GET", path, wait=60))
    await asyncio.sleep(0.1)
    assert (await ask("DELETE", f"/tokens/{told['id']}")).status == 204
    refused = await asyncio.wait_for(waiting, 20)
    assert (refused.status, refused.error["code"]) == (403, "denied") and "revoked" in refused.error["message"]


async def test_who_waits_for_a_token_is_told_of_its_first_use(ask, make, as_assistant):
    secret, told = await make()
    path = f"/tokens/{told['id']}"
    assert (await ask("GET", path)).json == (await ask("GET", path, wait=0.01)).json == told
    waiting = asyncio.create_task(ask("GET", path, wait=60))
    await asyncio.sleep(0)
    await as_assistant(secret, "GET", "/tools")
    used = (await asyncio.wait_for(waiting, 50)).json
    assert used == {**told, "last_used_at": used["last_used_at"]} and used["last_used_at"] >= told["created_at"]
    assert (await ask("DELETE", path)).status == 204
    assert (await ask("GET", path)).status == 404


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
async def test_a_client_s_configuration_has_a_token_that_opens(ask, as_assistant, jp_base_url, jp_root_dir, client):
    listed = {one["name"]: one["title"] for one in (await ask("GET", "/clients")).json["clients"]}
    assert listed == {one.name: one.title for one in CLIENTS.values()}
    made = (await ask("POST", f"/clients/{client.name}", {"url": f"https://here{jp_base_url}", "tools": "read"})).json
    assert (made["name"], made["tools"], made["client"]["file"]) == (client.name, "read", client.file)
    text = made["configuration"]
    assert f"https://here{jp_base_url}api/fstools/mcp" in text and f"Bearer {made['token']}" in text
    assert (await as_assistant(made["token"], "GET", "/tools")).status == 200
    by_command = (await ask("POST", f"/clients/{client.name}", {"stdio": True, "name": "two"})).json
    assert all(said in by_command["configuration"] for said in (by_command["token"], str(jp_root_dir), "jupyter-two"))


async def test_a_client_is_given_the_address_that_was_asked_unless_a_hub_names_another(ask, monkeypatch, jp_base_url):
    async def address():
        text = (await ask("POST", "/clients/cursor", {})).json["configuration"]
        return json.loads(text)["mcpServers"]["jupyter"]["url"]

    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+{jp_base_url}api/fstools/mcp", await address())
    monkeypatch.setenv("JUPYTERHUB_PUBLIC_URL", "https://hub.example.org/user/ada/")
    assert await address() == "https://hub.example.org/user/ada/api/fstools/mcp"


@pytest.mark.parametrize(
    ("name", "asked", "code"),
    [
        ("netscape", {}, "not_found"),
        ("zed", {"url": "file:///etc"}, "invalid"),
        ("zed", {"url": "http://[::1"}, "invalid"),
        ("zed", {"url": "https://:8888/"}, "invalid"),
        ("zed", {"url": "http://here/a b\n"}, "invalid"),
        ("zed", {"name": "a b"}, "invalid"),
    ],
)
async def test_a_client_that_cannot_be_connected_gets_no_token(ask, name, asked, code):
    error = (await ask("POST", f"/clients/{name}", asked)).error
    assert error["code"] == code and ("url" not in asked or "like http://localhost:8888/" in error["message"])
    assert (await ask("GET", "/tokens")).json == {"tokens": []}


async def test_what_is_left_out_is_the_name_everything_but_commands_and_thirty_days(make):
    _, told = await make("claude")
    assert (told["session"], told["tools"], told["paths"]) == ("claude", "write", [])
    assert told["expires_at"] - told["created_at"] == pytest.approx(30 * 86400)
    assert (await make("forever", expires_in=None))[1]["expires_at"] is None


async def test_a_name_that_no_session_can_have_is_refused_unless_there_is_a_session(ask, make):
    error = (await ask("POST", "/tokens", {"name": "two words"})).error
    assert error["message"].startswith("name: ") and error["details"]["field"] == "name"
    assert (await make("two words", session="plain"))[1]["name"] == "two words"


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"name": ""},
        {"name": "a\nb"},
        {"name": "two words"},
        {"name": "n", "session": "a b"},
        {"name": "n", "tools": "all"},
        {"name": "n", "tools": []},
        {"name": "n", "tools": ["no_such_tool"]},
        {"name": "n", "paths": ["!"]},
        {"name": "n", "paths": "docs/"},
        {"name": "n", "expires_in": 0},
        {"name": "n", "expires_in": -1},
        {"name": "n", "expires_in": 1e308},
        {"name": "n", "more": 1},
    ],
)
async def test_what_is_no_token_is_refused(ask, asked):
    refused = await ask("POST", "/tokens", asked)
    assert (refused.status, refused.error["code"]) == (400, "invalid")
    assert (await ask("GET", "/tokens")).json == {"tokens": []}


async def test_all_that_a_field_takes_is_said_at_once(ask):
    refused = await ask("POST", "/tokens", {"name": "n", "tools": "all"})
    assert refused.error["message"] == "tools: takes 'read' or 'write', or a list, got 'all'"


async def test_only_its_hash_is_kept(make, served):
    secret, _ = await make()
    store = served.workspace.store
    store.close()
    for file in store.path.parent.iterdir():
        if file.is_file():
            assert secret.encode() not in file.read_bytes()
            assert secret.removeprefix(TOKEN_PREFIX).encode() not in file.read_bytes()


@pytest.mark.parametrize("kind", ["token", "Token", "Bearer", "bearer"])
async def test_it_is_sent_as_jupyter_s_own_is_and_its_session_is_fixed(make, as_assistant, ask, kind, jp_root_dir):
    secret, _ = await make(session="mine")
    body = {"path": "a.txt", "content": "x\n"}
    headers = {"X-Fstools-Session": "another"}
    done = await as_assistant(secret, "POST", "/tools/write_file", body, kind=kind, headers=headers)
    assert done.status == 200
    assert done.json["change"]["session"] == "mine"
    assert [change["session"] for change in (await ask("GET", "/changes")).json["changes"]] == ["mine"]


@waits_for_approval
async def test_it_opens_no_decision_and_no_other_route(make, as_assistant, ask, jp_root_dir):
    secret, told = await make()
    waiting = await as_assistant(secret, "POST", "/tools/write_file", {"path": "a.txt", "content": "x\n"})
    assert waiting.status == 202
    id = waiting.json["change"]["id"]
    closed = [
        *(("POST", f"/changes/{id}/{decision}", {}) for decision in ("approve", "reject", "undo", "keep")),
        *(("POST", f"/changes/{decision}", {"ids": [id]}) for decision in ("approve", "reject")),
        ("POST", "/changes/undo", {"path": "a.txt"}),
        ("GET", "/", None),
        ("GET", "/openapi.json", None),
        ("GET", "/activity", None),
        ("GET", "/receipts", None),
        ("DELETE", "/receipts", None),
        ("GET", "/raw/a.txt", None),
        ("GET", f"/changes/{id}/content", None),
        ("GET", "/tokens", None),
        ("POST", "/tokens", {"name": "more"}),
        ("GET", f"/tokens/{told['id']}", None),
        ("DELETE", f"/tokens/{told['id']}", None),
        ("GET", "/clients", None),
        ("POST", "/clients/generic", {}),
        ("GET", "/no/such/route", None),
    ]
    for method, path, body in closed:
        refused = await as_assistant(secret, method, path, body)
        assert (refused.status, refused.error["code"]) == (403, "denied"), (method, path)
    assert not (jp_root_dir / "a.txt").exists()
    assert len((await ask("GET", "/tokens")).json["tokens"]) == 1


OPEN = {
    ("GET", "/tools"),
    ("POST", "/tools/{name}"),
    ("GET", "/changes"),
    ("GET", "/changes/{id}"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


async def test_every_route_that_is_not_named_here_is_closed_to_it(make, as_assistant):
    secret, _ = await make()
    for route in ROUTES:
        filled = re.sub(
            r"\{(\w+)\}", lambda name: {"decision": "approve", "path": "a.txt"}.get(name[1], "c1"), route.path
        )
        for method in METHODS:
            if (method, route.path) not in OPEN:
                answer = await as_assistant(
                    secret, method, filled, b"{}" if method in ("POST", "PUT", "PATCH") else None
                )
                assert answer.status in (403, 405), (method, route.path, answer.status)


def matching(form):
    """A path that fits a route's pattern."""
    path, found = form.replace(path_regex, "/a.txt"), 1
    while found:
        path, found = re.subn(r"\([^()]*\)[?*+]?", "x", path)
    path = path.rstrip("$").replace("\\", "").replace("/?", "/")
    return path if path.startswith("/a%40b/") and re.match(form, path) else "/a%40b/api/status"


async def test_no_route_of_jupyter_s_is_open_to_it_that_is_not_open_to_all(make, jp_serverapp, http_server_client):
    secret, _ = await make()
    forms = {rule.matcher.regex.pattern for rule in jp_serverapp.web_app.wildcard_router.rules}
    asked = sorted({matching(form) for form in forms if "/api/fstools" not in form})
    assert {f"/a%40b/api/{name}" for name in ("contents/a.txt", "kernels", "shutdown", "config/x")} <= {*asked}

    async def status(method, path, headers):
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        more = {"raise_error": False, "follow_redirects": False, "allow_nonstandard_methods": True}
        return (await http_server_client.fetch(path, method=method, headers=headers, body=body, **more)).code

    for path in asked:
        for method in METHODS:
            without = await status(method, path, {})
            for kind in ("token", "Bearer"):
                assert await status(method, path, {"Authorization": f"{kind} {secret}"}) == without, (method, path)


@waits_for_approval
async def test_what_an_assistant_was_sent_of_a_cut_proposal_no_person_has_seen(make, as_assistant, ask):
    secret, _ = await make()
    body = {"path": "a.txt", "content": "x" * 3000}
    id = (await as_assistant(secret, "POST", "/tools/write_file", body)).json["change"]["id"]
    whole = await as_assistant(secret, "GET", f"/changes/{id}", rows="all")
    assert (whole.status, whole.json["change"]["diff"]["truncated"]) == (200, False)
    assert (await ask("POST", f"/changes/{id}/approve", {})).error["code"] == "not_read"


@pytest.mark.parametrize("path", ["contents", "kernels", "sessions", "config/x", "me", "kernelspecs", "status"])
async def test_it_opens_nothing_outside_the_tools(make, jp_fetch, path):
    secret, _ = await make()
    for kind in ("token", "Bearer"):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("api", *path.split("/"), headers={"Authorization": f"{kind} {secret}"})
        assert refused.value.code == 403


async def test_it_sees_its_own_changes_alone(make, as_assistant, call, ask):
    secret, _ = await make(session="mine")
    theirs = (await call("write_file", path="theirs.txt", content="x\n")).json["change"]["id"]
    mine = (await as_assistant(secret, "POST", "/tools/write_file", {"path": "mine.txt", "content": "x\n"})).json
    listed = (await as_assistant(secret, "GET", "/changes")).json
    assert [change["path"] for change in listed["changes"]] == ["mine.txt"] and listed["total"] == 1
    assert (await as_assistant(secret, "GET", f"/changes/{mine['change']['id']}")).status == 200
    for path in (f"/changes/{theirs}", "/changes?session=default"):
        assert (await as_assistant(secret, "GET", path)).status == 403


@waits_for_approval
async def test_its_session_s_changes_outside_its_paths_are_not_even_counted(make, as_assistant, call):
    """Two tokens may share a session, as may a person."""
    secret, _ = await make(session="shared", paths=["docs/"])
    for path in ("docs/a.txt", "secret/a.txt", "secret/b.txt"):
        assert (await call("write_file", session="shared", path=path, content="x\n")).status == 202
    listed = (await as_assistant(secret, "GET", "/changes")).json
    assert [change["path"] for change in listed["changes"]] == ["docs/a.txt"]
    assert (listed["total"], listed["proposed"]) == (1, 1)


async def test_a_token_that_reads_does_not_write_on_any_surface(make, as_assistant, jp_root_dir):
    secret, _ = await make(tools="read")
    write = {"path": "a.txt", "content": "x\n"}
    refused = await as_assistant(secret, "POST", "/tools/write_file", write)
    assert (refused.status, refused.error["code"]) == (403, "denied")
    names = {tool["name"] for tool in (await as_assistant(secret, "GET", "/tools")).json["tools"]}
    assert "read_file" in names and not names & {"write_file", "edit_file", "edit_notebook", "undo", "execute"}
    rpc = mcp(as_assistant, secret)
    assert {tool["name"] for tool in (await rpc("tools/list"))["tools"]} == names
    called = await rpc("tools/call", {"name": "write_file", "arguments": write})
    assert called["isError"] and called["content"][0]["text"].startswith("denied")
    assert not (jp_root_dir / "a.txt").exists()


async def test_an_unknown_tool_is_answered_with_those_that_the_token_opens(make, as_assistant):
    secret, _ = await make(tools=["grep", "read_file"])
    rest = await as_assistant(secret, "POST", "/tools/nothing", {})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing", "arguments": {}}}
    over_mcp = await as_assistant(secret, "POST", "/mcp", call)
    assert rest.error["hint"] == over_mcp.error["data"]["hint"] == "The tools are grep, read_file."


@executing
async def test_write_opens_no_commands_and_a_list_opens_what_it_names(make, as_assistant, served):
    served.config.enable_execute = True
    secret, _ = await make(tools="write")
    assert (await as_assistant(secret, "POST", "/tools/execute", {"command": "true"})).status == 403
    secret, told = await make(tools=["grep", "edit_file"])
    assert told["tools"] == ["grep", "edit_file"]
    names = [tool["name"] for tool in (await as_assistant(secret, "GET", "/tools")).json["tools"]]
    assert sorted(names) == ["edit_file", "grep"]
    assert (await as_assistant(secret, "POST", "/tools/read_file", {"path": "a.txt"})).status == 403


async def test_its_paths_hold_for_every_tool(make, as_assistant, jp_root_dir):
    for path in ("docs/a.md", "docs/deep/b.md", "src/a.md", "top.md", "src/pkg/c.py"):
        (jp_root_dir / path).parent.mkdir(parents=True, exist_ok=True)
        (jp_root_dir / path).write_text("needle\n")
    (jp_root_dir / "docs" / "link.md").symlink_to("../src/a.md")
    secret, _ = await make(paths=["docs/", "/src/pkg/*.py"])

    async def tool(name, **arguments):
        return await as_assistant(secret, "POST", f"/tools/{name}", arguments)

    for path in ("docs/a.md", "docs/deep/b.md", "src/pkg/c.py"):
        assert (await tool("read_file", path=path)).status == 200
        edit = {"path": path, "old_string": "needle", "new_string": "needles"}
        assert (await tool("edit_file", **edit)).status == 200
    for path in ("src/a.md", "top.md", "docs/link.md", "docs/../top.md", "nothing.txt", f"{jp_root_dir}/top.md"):
        for name, more in (("read_file", {}), ("write_file", {"content": "x"}), ("grep", {"pattern": "needle"})):
            refused = await tool(name, path=path, **more)
            assert (refused.status, refused.error["code"]) == (403, "denied"), (path, name)
    found = json.dumps([(await tool("grep", pattern="needle")).json, (await tool("glob", pattern="**/*")).json])
    listed = json.dumps((await tool("list_files", recursive=True)).json)
    for text in (found, listed):
        assert "docs/deep/b.md" in text and "src/pkg/c.py" in text
        assert "top.md" not in text and "src/a.md" not in text and "link.md" not in text
    assert (jp_root_dir / "top.md").read_text() == "needle\n"


async def test_a_rule_without_a_slash_is_found_at_any_depth_and_opens_no_other_file(make, as_assistant, jp_root_dir):
    (jp_root_dir / "deep" / "er").mkdir(parents=True)
    for path in ("a.md", "a.txt", "deep/b.md", "deep/b.txt", "deep/er/c.md"):
        (jp_root_dir / path).write_text("needle\n")
    secret, _ = await make(paths=["*.md"])
    found = await as_assistant(secret, "POST", "/tools/grep", {"pattern": "needle", "output_mode": "files"})
    text = json.dumps(found.json)
    assert all(name in text for name in ("a.md", "deep/b.md", "deep/er/c.md"))
    assert ".txt" not in text
    assert (await as_assistant(secret, "POST", "/tools/read_file", {"path": "deep/b.txt"})).status == 403


async def test_an_expired_token_opens_nothing(make, as_assistant, monkeypatch):
    secret, _ = await make(expires_in=60)
    assert (await as_assistant(secret, "GET", "/tools")).status == 200
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 61)
    refused = await as_assistant(secret, "GET", "/tools")
    assert (refused.status, refused.error["code"]) == (403, "denied")
    assert "expired" in refused.error["message"]


@pytest.mark.parametrize(
    "secret", [TOKEN_PREFIX, f"{TOKEN_PREFIX}x", f"{TOKEN_PREFIX}{'é' * 9}", f"{TOKEN_PREFIX}{'x' * 9999}"]
)
async def test_what_is_no_token_opens_nothing(as_assistant, secret):
    refused = await as_assistant(secret, "GET", "/tools")
    assert (refused.status, refused.error["code"]) == (403, "denied")


@pytest.mark.parametrize(
    ("user", "account", "status"), [("", "grace", 403), ("grace", "grace", 403), ("grace", "", 200)]
)
async def test_a_token_opens_the_servers_of_the_account_for_which_it_was_made(
    as_assistant, served, user, account, status
):
    """Servers of other accounts may share the store, and act with the rights of those accounts."""
    given = {"session": None, "tools": "read", "paths": [], "seconds": 60, "known": TOOLS}
    here = served.account
    _, secret = tokens.issue(served.workspace.store, user or here, "helper", account=account or here, **given)
    answer = await as_assistant(secret, "GET", "/tools")
    assert answer.status == status
    if status == 403:
        assert "another user" in answer.error["message"]


async def test_the_token_counts_and_not_the_login_that_comes_with_it(make, as_assistant, jp_serverapp):
    secret, _ = await make(tools="read")
    more = {"token": jp_serverapp.identity_provider.token}
    assert (await as_assistant(secret, "GET", "/tokens", **more)).status == 403


async def test_over_mcp_it_needs_no_session_of_the_protocol_and_keeps_its_own(make, as_assistant, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    secret, _ = await make(session="mine")
    rpc = mcp(as_assistant, secret)
    await rpc("tools/call", {"name": "read_file", "arguments": {"path": "a.txt"}})
    edit = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    assert (await as_assistant(secret, "POST", "/tools/edit_file", edit)).json["change"]["session"] == "mine"
    begun = await as_assistant(secret, "POST", "/mcp", INITIALIZE)
    ends = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    assert (await as_assistant(secret, "DELETE", "/mcp", headers=ends)).status == 204
    assert (await as_assistant(secret, "POST", "/tools/edit_file", {**edit, "old_string": "two"})).status in (200, 422)


def mcp(as_assistant, secret):
    async def rpc(method, params=None):
        message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params or {}}
        answer = await as_assistant(secret, "POST", "/mcp", message)
        assert answer.status == 200, answer.body
        return answer.json["result"]

    return rpc
