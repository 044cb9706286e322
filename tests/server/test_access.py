"""Access: token, cookies and _xsrf, the authorizer's decision, and the session whose receipts count."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from types import SimpleNamespace

import pytest
from jupyter_server.auth.authorizer import AllowAllAuthorizer, Authorizer
from jupyter_server.auth.identity import IdentityProvider, PasswordIdentityProvider, User
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Unsaved
from jupyter_fstools.server.rest import kept_documents, open_documents
from jupyter_fstools.sessions import system_user
from jupyter_fstools.stores import sqlite_sessions
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import OpenDocument, Reader
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import change_of

NEW = {"path": "new.txt", "content": "x\n"}
ROUTES = [
    ("GET", "/"),
    ("GET", "/tools"),
    ("POST", "/tools/write_file"),
    ("GET", "/changes"),
    ("GET", "/changes/c1"),
    ("POST", "/changes/c1/approve"),
    ("POST", "/changes/undo"),
    ("POST", "/changes/approve"),
    ("GET", "/activity"),
    ("GET", "/receipts"),
    ("DELETE", "/receipts"),
    ("GET", "/raw/a.txt"),
    ("HEAD", "/raw/a.txt"),
    ("GET", "/no/such/route"),
    ("PUT", "/tools"),
]


@pytest.mark.parametrize("token", [None, "wrong"])
def test_without_the_token_nothing_is_done(folder, token):
    path = folder.write("a.txt", b"one\n")
    for method, route in ROUTES:
        answer = folder.server.ask(method, route, b"{}" if method == "POST" else None, token=token)
        assert answer.status == 403, (method, route)
        assert method == "HEAD" or answer.error["code"] == "denied"
    refused = folder.server.post("/tools/write_file", {"path": f"{folder.name}/b.txt", "content": "x"}, token=token)
    assert refused.status == 403
    assert folder.server.get(f"/raw/{path}", token=token).status == 403
    assert folder.server.get(f"/raw/{folder.name}/b.txt").status == 404


async def test_a_login_by_cookie_needs_its_xsrf_value_to_write(ask, jp_root_dir):
    first = await ask("GET", "/tools")
    cookie = {"Cookie": first.headers["set-cookie"].partition(";")[0]}
    refused = await ask("POST", "/tools/write_file", NEW, headers=cookie)
    assert (refused.status, refused.error["code"]) == (403, "denied")
    assert "X-XSRFToken" in refused.error["hint"]
    assert not (jp_root_dir / "new.txt").exists()
    xsrf = "2|1234abcd|00000000000000000000000000000000|1700000000"
    both = {"Cookie": f"{cookie['Cookie']}; _xsrf={xsrf}", "X-XSRFToken": xsrf}
    assert (await ask("POST", "/tools/write_file", NEW, headers=both)).status == 200
    assert (jp_root_dir / "new.txt").exists()


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1.evil.example", "http://127.0.0.1:1", "null"]
)
async def test_another_page_in_the_browser_reaches_neither_routes_nor_socket_with_its_cookies(
    ask, jp_root_dir, jp_http_port, origin
):
    first = await ask("GET", "/tools")
    xsrf = "2|1234abcd|00000000000000000000000000000000|1700000000"
    cookie = {"Cookie": f"{first.headers['set-cookie'].partition(';')[0]}; _xsrf={xsrf}"}
    own = f"http://127.0.0.1:{jp_http_port}"
    socket = f"ws://127.0.0.1:{jp_http_port}/a%40b/api/fstools/documents"

    async def opens(origin):
        try:
            opened = await websocket_connect(HTTPRequest(socket, headers={**cookie, "Origin": origin}))
        except HTTPClientError as refused:
            return refused.code
        opened.close()
        return True

    assert (await opens(own), await opens(origin)) == (True, 403)
    refused = await ask("POST", "/tools/write_file", NEW, headers={**cookie, "Origin": origin})
    assert (refused.status, refused.error["code"]) == (403, "denied")
    for path in ("/tools", "/changes", "/raw/a.txt"):
        answer = await ask("GET", path, headers={**cookie, "Origin": origin})
        assert "access-control-allow-origin" not in answer.headers, "No page of another origin reads the answer."
        assert (answer.status, answer.error["message"]) == (403, "this origin is not allowed")
    assert [*jp_root_dir.iterdir()] == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1", ""])
async def test_a_name_that_is_not_the_server_s_is_told_so_and_not_the_token_s_fault(ask, jp_auth_header, host):
    made = (await ask("POST", "/tokens", {"name": "helper"})).json["token"]
    for token in (jp_auth_header, {"Authorization": f"Bearer {made}"}):
        for path in ("/tools/write_file", "/mcp"):
            refused = await ask("POST", path, NEW, headers={**token, "Host": host})
            error = refused.error if path != "/mcp" else refused.error["data"]
            assert (refused.status, error["code"]) == (403, "denied")
            assert "does not answer to the name" in error["message"] and "local_hostnames" in error["hint"]


async def test_a_token_in_the_url_is_not_logged_with_what_goes_wrong(ask, jp_serverapp, caplog, monkeypatch):
    token = jp_serverapp.identity_provider.token
    refusing = type("Nobody", (Authorizer,), {"is_authorized": lambda *asked: False})
    monkeypatch.setattr("jupyter_fstools.server.rest.tool_handlers.available_tools", None)
    assert (await ask("GET", "/tools", headers={}, token=token)).status == 500
    jp_serverapp.web_app.settings["authorizer"] = refusing(parent=jp_serverapp)
    assert (await ask("GET", "/tools", headers={}, token=token)).status == 403
    assert "500 GET" in caplog.text and "403 GET" in caplog.text and token not in caplog.text


class OnlyReading(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return action == "read" and resource == "contents"


@pytest.fixture
def only_reading(jp_serverapp):
    jp_serverapp.web_app.settings["authorizer"] = OnlyReading(parent=jp_serverapp)


async def test_who_may_only_read_may_call_the_tools_that_read(only_reading, ask, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    assert (await call("read_file", path="a.txt")).status == 200
    assert (await call("list_files")).status == 200
    for path in ("/", "/tools", "/changes", "/activity", "/receipts", "/raw/a.txt"):
        assert (await ask("GET", path)).status in (200, 302), path


async def test_who_may_only_read_changes_nothing(only_reading, ask, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    assert (await call("edit_file", path="a.txt", old_string="one", new_string="1")).error["code"] == "denied"
    assert (await call("write_file", **NEW)).status == 403
    for path in ("/changes/c1/approve", "/changes/approve", "/changes/reject", "/changes/undo"):
        assert (await ask("POST", path, b"")).status == 403
    assert (await ask("DELETE", "/receipts")).status == 403
    assert [file.name for file in jp_root_dir.iterdir()] == ["a.txt"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"
    assert len((await ask("GET", "/receipts")).json["receipts"]) == 1


async def test_who_is_not_permitted_is_not_told_to_log_in(only_reading, ask):
    for method, path in (("POST", "/changes/c1/approve"), ("POST", "/tokens"), ("DELETE", "/receipts")):
        refused = (await ask(method, path, b"{}" if method == "POST" else None)).error
        assert "not authorized to write on resource: contents" in refused["message"] and ". (" not in refused["message"]
        assert "administrator" in refused["hint"] and "token" not in refused["hint"]
    stranger = (await ask("GET", "/changes", headers={"X-Nobody": "here"})).error
    assert "Authorization: token" in stranger["hint"]


async def test_who_may_only_read_says_of_no_document_that_it_is_open(only_reading, ask, jp_serverapp, jp_http_port):
    token = {"Authorization": f"token {jp_serverapp.identity_provider.token}"}
    socket = f"ws://127.0.0.1:{jp_http_port}/a%40b/api/fstools/documents"
    with pytest.raises(HTTPClientError, match="403"):
        await websocket_connect(HTTPRequest(socket, headers=token))
    jp_serverapp.web_app.settings["authorizer"] = AllowAllAuthorizer(parent=jp_serverapp)
    (await websocket_connect(HTTPRequest(socket, headers=token))).close()


@pytest.fixture
def connected_page(ask, jp_serverapp, jp_http_port):
    """Connects as a page does."""
    token = {"Authorization": f"token {jp_serverapp.identity_provider.token}"}
    socket = HTTPRequest(f"ws://127.0.0.1:{jp_http_port}/a%40b/api/fstools/documents", headers=token)
    return lambda: websocket_connect(socket)


async def lost(served):
    """Wait until the server has noticed that a page is gone, and recorded it."""
    [page] = {document.page for document in served.pages.all()}
    while served.pages.all() or not page._socket._ending.done():
        await asyncio.sleep(0.01)


OPEN = {"document": 0, "path": "a.txt", "kind": "text", "saved": False, "hash": None, "counter": 0}


@pytest.mark.parametrize("settings", [{"unsaved_seconds": 60, "browser_seconds": 0.05}], indirect=True)
async def test_a_page_holds_a_file_while_it_is_connected_and_for_a_while_after(
    call, served, connected_page, jp_root_dir, monkeypatch
):
    """The page answers nothing, and leaves without a goodbye."""
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    edit = partial(call, "edit_file", path="a.txt", old_string="one", new_string="1")
    page = await connected_page()
    outside = {**OPEN, "document": 1, "path": "../outside.txt"}
    await page.write_message(json.dumps({"browser": "browser-0001", "documents": [OPEN, outside]}))
    assert json.loads(await page.read_message()) == {"known": 1}
    assert (await edit()).error["code"] == "unsaved"
    page.protocol.stream.close()
    page.close()
    await lost(served)
    assert (await edit()).error["code"] == "unsaved"
    later = SimpleNamespace(time=lambda: time.time() + 61, monotonic=lambda: time.monotonic() + 61)
    monkeypatch.setattr(sqlite_sessions, "time", later)
    assert (await edit()).status == 200


async def test_a_page_that_says_another_hash_alone_writes_nothing_into_the_store(served, connected_page):
    """It reports a new hash after each edit, while the edit's call writes there."""
    page, store, told = await connected_page(), served.workspace.store, {**OPEN, "saved": True}

    async def written(**said):
        before = store.mark()
        await page.write_message(json.dumps({"browser": "browser-0001", "documents": [{**told, **said}]}))
        assert json.loads(await page.read_message()) == {"known": 1}
        return store.mark() != before

    assert await written()
    assert not await written(hash="0" * 64, counter=1)
    assert [document.hash for document in served.pages.all()] == ["0" * 64]
    assert await written(saved=False)
    assert await written(path="b.txt")


@pytest.mark.parametrize("settings", [{"unsaved_seconds": 0}], indirect=True)
async def test_a_connected_page_holds_a_file_however_rarely_it_says_so(
    served, connected_page, jp_root_dir, monkeypatch
):
    """A browser lets a page in the background sleep. Other processes learn of it from the store alone."""
    monkeypatch.setattr(kept_documents, "_RENEWED_SECONDS", 1)
    monkeypatch.setattr(kept_documents, "_CONNECTED_SECONDS", 2)
    page, store, key = await connected_page(), served.workspace.store, str(jp_root_dir / "a.txt")
    await page.write_message(json.dumps({"browser": "browser-0001", "documents": [OPEN]}))
    await page.read_message()
    for _ in range(30):
        assert [document.page for document in store.open_documents(key)] == ["browser-0001"]
        await asyncio.sleep(0.1)
    page.protocol.stream.close()
    page.close()
    await lost(served)
    assert store.open_documents(key) == []


async def test_a_page_that_has_a_file_unsaved_hears_that_it_is_known_once_the_file_is_not_being_written(
    served, connected_page, jp_root_dir, monkeypatch
):
    """Its page may be about to save: a write that has begun must end before JupyterLab checks the file."""
    monkeypatch.setattr(open_documents, "_WRITTEN_SECONDS", 60)
    page, store = await connected_page(), served.workspace.store
    begun = store.add_change(change_of("c1", key=str(jp_root_dir / "a.txt"), status="pending"), b"")
    for saved in (True, False):
        await page.write_message(json.dumps({"browser": "browser-0001", "documents": [{**OPEN, "saved": saved}]}))
        if saved:
            assert json.loads(await page.read_message()) == {"known": 1}
    known = asyncio.ensure_future(page.read_message())
    while not any(not document.saved for document in served.pages.all()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    assert not known.done()
    store.drop(begun.id)
    assert json.loads(await known) == {"known": 1}


async def test_a_file_that_becomes_unsaved_just_before_it_is_replaced_is_not_written(served, jp_root_dir, monkeypatch):
    (jp_root_dir / "a.txt").write_text("one\n")
    unsaved = OpenDocument("browser-0001", str(jp_root_dir / "a.txt"), saved=False)

    def begin(store, *given, begin=SqliteStore.add_change):
        store.note_open("browser-0001", [unsaved], time.time() + 60)
        return begin(store, *given)

    monkeypatch.setattr(SqliteStore, "add_change", begin)
    with open_workspace(jp_root_dir, session="program") as program:
        call_tool(program, "read_file", path="a.txt")
        with pytest.raises(Unsaved):
            call_tool(program, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert (jp_root_dir / "a.txt").read_text() == "one\n"
        assert (program.store.changes(ChangeFilter()), program.store.unfinished(str(jp_root_dir))) == ([], [])


async def test_clients_without_cookies_are_one_reader(ask, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    edited = await call("edit_file", path="a.txt", old_string="one", new_string="1")
    assert edited.json["change"]["user"] == system_user()
    assert edited.json["change"]["session"] == "default"


class Named(IdentityProvider):
    async def get_user(self, handler):
        handler._token_authenticated = True
        return User(handler.request.headers.get("X-Test-User", "ada"))


async def test_with_real_users_nobody_borrows_anothers_reads(ask, jp_serverapp, jp_root_dir):
    jp_serverapp.web_app.settings["identity_provider"] = Named(parent=jp_serverapp)
    (jp_root_dir / "a.txt").write_text("one\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    ada, eve = {"X-Test-User": "ada"}, {"X-Test-User": "eve"}
    assert (await ask("POST", "/tools/read_file", {"path": "a.txt"}, headers=ada)).status == 200
    assert (await ask("POST", "/tools/edit_file", edit, headers=eve)).error["code"] == "not_read"
    edited = await ask("POST", "/tools/edit_file", edit, headers=ada)
    assert edited.json["change"]["user"] == "ada"


@pytest.mark.parametrize("provider", [IdentityProvider, PasswordIdentityProvider])
async def test_a_provider_that_adds_nothing_about_users_invents_them(ask, call, jp_serverapp, jp_root_dir, provider):
    own = type("Own", (provider,), {"get_handlers": lambda self: []})
    token = jp_serverapp.identity_provider.token
    jp_serverapp.web_app.settings["identity_provider"] = own(parent=jp_serverapp, token=token)
    assert (await call("write_file", **NEW)).json["change"]["user"] == system_user()


async def test_sessions_have_receipts_of_their_own(ask, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt", session="first")
    refused = await call("edit_file", path="a.txt", old_string="one", new_string="1", session="second")
    assert refused.error["code"] == "not_read"
    assert [one["path"] for one in (await ask("GET", "/receipts", session="first")).json["receipts"]] == ["a.txt"]
    assert (await ask("GET", "/receipts")).json["receipts"] == []


async def test_receipts_can_be_looked_at_and_forgotten(ask, call, jp_root_dir):
    (jp_root_dir / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt"):
        (jp_root_dir / name).write_text("one\ntwo\nthree\n")
        await call("read_file", path=name, offset=2, limit=1, session="me")
    (receipt,) = (await ask("GET", "/receipts", session="me", path="sub")).json["receipts"]
    assert (receipt["path"], receipt["lines"], receipt["full"]) == ("sub/b.txt", [[2, 2]], False)
    assert (await ask("DELETE", "/receipts", path="a.txt", session="me")).json == {"forgotten": 1}
    assert [one["path"] for one in (await ask("GET", "/receipts", session="me")).json["receipts"]] == ["sub/b.txt"]
    assert (await ask("DELETE", "/receipts", session="me")).json == {"forgotten": 1}


async def test_another_origin_may_name_its_session(ask):
    answer = await ask("OPTIONS", "/tools/read_file")
    assert "x-fstools-session" in answer.headers["access-control-allow-headers"]


class ForItsOwn(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return resource != "changes_of_others"


async def test_undoing_what_another_user_did_asks_the_authorizer(ask, served, jp_serverapp, jp_root_dir):
    grace = served.workspace.for_reader(Reader("grace", "default"))
    theirs = call_tool(grace, "write_file", path="a.txt", content="one\n").change
    own = (await ask("POST", "/tools/write_file", NEW)).json["change"]
    jp_serverapp.web_app.settings["authorizer"] = ForItsOwn(parent=jp_serverapp)
    for route, body in ((f"/changes/{theirs.id}/undo", {}), ("/changes/undo", {"path": "a.txt"})):
        refused = await ask("POST", route, body)
        assert (refused.status, refused.error["code"]) == (403, "denied")
    assert (jp_root_dir / "a.txt").read_text() == "one\n"
    assert (await ask("POST", f"/changes/{own['id']}/undo", {})).status == 200
    jp_serverapp.web_app.settings["authorizer"] = AllowAllAuthorizer(parent=jp_serverapp)
    assert (await ask("POST", f"/changes/{theirs.id}/undo", {})).status == 200
    assert not (jp_root_dir / "a.txt").exists()
