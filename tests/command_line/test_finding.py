"""The choice of the server, and the message where there is none."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import quote

import pytest

from jupyter_fstools.kernel.server_calls import ServerCalls, servers_for

pytestmark = pytest.mark.slow


def write_runtime_file(home, name, **told):
    described = {"url": "http://127.0.0.1:9/", "root_dir": str(home.files), "pid": os.getpid(), "token": "t"} | told
    (home.runtime / f"jpserver-{name}.json").write_text(json.dumps(described))


@pytest.fixture
def listener():
    """A server of another kind; `asked` holds the headers of its requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(dict(self.headers))
            self.send_response(server.status)
            self.end_headers()
            self.wfile.write(server.said)

        do_POST = do_GET

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.status, server.said = [], 404, b'{"message": "Not Found"}'
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_without_a_server_it_says_so_and_how_to_start_one(home):
    ran = home.run("mcp")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"jupyter fstools: no Jupyter server runs that serves {home.files}\nHint: Start one")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
def test_a_server_on_a_unix_socket_is_reached_like_any_other(home, run):
    options = {
        "ServerApp.sock": home.path / "s",
        "ServerApp.root_dir": home.files,
        "ServerApp.jpserver_extensions": "{'jupyter_fstools': True, 'jupyterlab': False, 'jupyter_lsp': False}",
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "IdentityProvider.token": "the-token",
    }
    command = [sys.executable, "-m", "jupyter_server", *(f"--{name}={value}" for name, value in options.items())]
    server = subprocess.Popen(command, env=os.environ | home.environment, stderr=subprocess.DEVNULL)
    try:
        late = time.monotonic() + 60
        while not (home.path / "s").exists() or not [*home.runtime.glob("jpserver-*.json")]:
            assert time.monotonic() < late and server.poll() is None
            time.sleep(0.1)
        status = run(home, "status")
        assert f"http+unix://{quote(str(home.path / 's'), '')}/" in status.out, status.err
        connected = run(home, "connect", "claude-code", "--wait=0")
        assert connected.code == 0, connected.err
        # A client reaches no socket by an address: its configuration starts the bridge.
        assert "http+unix" not in connected.out and '"mcp"' in connected.out
    finally:
        server.terminate()
        server.wait(30)


def test_a_server_elsewhere_is_named(home, run):
    (home.path / "other").mkdir()
    write_runtime_file(home, 1, root_dir=str(home.path / "other"))
    assert f"(the running ones serve {home.path}/other)" in run(home, "mcp").err


@pytest.mark.parametrize(
    "told",
    [
        {"pid": 2**22 + 1},
        {"pid": 2**70},
        {"pid": float("inf")},
        {"pid": "x"},
        {"url": None, "token": None, "pid": None},
        {"root_dir": 5},
    ],
    ids=str,
)
def test_a_file_that_was_left_behind_is_no_server(home, run, told):
    write_runtime_file(home, 1, **told)
    (home.runtime / "jpserver-2.json").write_text("{")
    (home.runtime / "jpserver-3.json").write_bytes(b"\xff")
    (home.runtime / "jpserver-4.json").symlink_to("nowhere")
    (home.runtime / "jpserver-5.json").write_text("[" * 100_000)
    os.mkfifo(home.runtime / "jpserver-6.json")
    (home.runtime / "jpserver-7.json").symlink_to("x" * 300)
    assert "no Jupyter server runs" in run(home, "mcp").err


def test_a_server_that_listens_no_more_is_said_to_be_silent(home, run):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        write_runtime_file(home, 1, url=f"http://127.0.0.1:{free.getsockname()[1]}/")
    ran = run(home, "mcp")
    assert ran.code == 1
    assert "does not answer: Connection refused" in ran.err


def test_a_password_in_an_address_is_not_shown(home, run):
    ran = run(home, "mcp", "--url", "http://ada:secret@127.0.0.1:9/base/?token=hidden")
    assert ran.code != 0 and "127.0.0.1:9/base" in ran.err
    assert "secret" not in ran.err and "hidden" not in ran.err


@pytest.mark.parametrize("url", ["http+unix:///tmp/x", "ftp://x/", "http://", "http://x:99999/", "http://[", ""])
def test_an_address_that_is_none_is_refused(home, run, url):
    ran = run(home, "mcp", "--url", url)
    assert (ran.code, ran.out) == (2, "")
    assert "is not an address that can be requested" in ran.err


def test_a_server_without_the_extension_is_said_to_lack_it(home, run, listener):
    write_runtime_file(home, 1, url=f"http://127.0.0.1:{listener.server_port}/")
    ran = run(home, "mcp")
    assert ran.code == 1
    assert "does not have jupyter-fstools\nHint: Install jupyter-fstools" in ran.err
    assert listener.asked[0]["Authorization"] == "token t"


def test_a_server_of_another_version_is_said_to_be_one(home, run, listener):
    write_runtime_file(home, 1, url=f"http://127.0.0.1:{listener.server_port}/")
    listener.status, listener.said = 200, b'{"tools": [], "changes": [{"id": "c1"}]}'
    for command in (("changes",), ("status",), ("connect", "generic"), ("token", "create", "x")):
        assert "has another version of jupyter-fstools" in run(home, *command).err
    listener.said = b'{"tools": [], "token": "fst_x", "id": "x"}'
    assert "has another version of jupyter-fstools" in run(home, "connect", "generic", "--wait", "1").err


def test_a_folder_that_is_gone_is_no_crash(home):
    with home.start("status", folder=home.files, preexec_fn=lambda: os.rmdir(home.files)) as process:
        said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("status", "said"),
    [
        *((200, said) for said in (b"", b"[]", b"<html>", b'{"tools": 5}', b"\xff", b"[" * 100_000)),
        (400, b'{"error": {"code": "io", "message": "", "hint": "", "details": ["x"]}}'),
    ],
    ids=range(7),
)
def test_what_answers_otherwise_is_not_us(home, run, listener, status, said):
    write_runtime_file(home, 1, url=f"http://127.0.0.1:{listener.server_port}/")
    listener.status, listener.said = status, said
    ran = run(home, "mcp")
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_the_deepest_root_that_has_the_tools_is_taken(served_home, run, listener):
    deep = served_home.files / "deep"
    (deep / "deeper").mkdir(parents=True)
    with served_home.server(deep):
        assert f"root             {deep}\n" in run(served_home, "status", folder=deep / "deeper").out
        write_runtime_file(
            served_home, "foreign", root_dir=str(deep / "deeper"), url=f"http://127.0.0.1:{listener.server_port}/"
        )
        assert f"root             {deep}\n" in run(served_home, "status", folder=deep / "deeper").out
        assert f"root             {served_home.files}\n" in run(served_home, "status", "--root", "..", folder=deep).out
    (served_home.runtime / "jpserver-foreign.json").unlink()
    assert listener.asked[0]["Authorization"] == "token t"


def test_a_server_that_asks_for_no_login_is_written_to(home, run):
    with home.server(home.files, token=""):
        assert run(home, "token", "create", "helper").out.startswith("fst_")
        (server,) = servers_for(str(home.files))
        calls = ServerCalls(server)
        assert calls.call("write_file", {"path": "a.txt", "content": "x"}, session="s").data["created"]
        calls.close()
    assert (home.files / "a.txt").read_text() == "x"


def test_a_folder_reached_through_a_link_is_the_folder(served, run):
    home, folder = served
    (home.path / "link").symlink_to(folder)
    assert str(home.files) in run(home, "status", folder=home.path / "link").out


def test_an_address_goes_with_the_token_of_the_environment_only(served_home, home, run):
    told = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())
    named = ["status", "--url", told["url"]]
    assert run(home, *named, JUPYTER_TOKEN=told["token"]).code == 0
    refused = run(served_home, *named, JUPYTER_TOKEN="")
    assert refused.code == 1
    assert "denied" not in refused.out
    assert "Set JUPYTER_TOKEN to the server's token" in refused.err
    shown = run(served_home, "status", "--url", f"{told['url']}?token=x", JUPYTER_TOKEN=told["token"])
    assert "token" not in shown.out
    assert told["token"] not in refused.err


def test_the_address_of_a_page_is_answered_with_the_server_s(served_home, home, run):
    told = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())
    ran = run(home, "status", "--url", f"{told['url']}lab", JUPYTER_TOKEN=told["token"])
    assert (ran.code, ran.out) == (1, "")
    assert "answered with status 30" in ran.err and "without /lab or /tree" in ran.err


def test_the_status_is_not_for_an_assistants_token_and_says_so(served_home, home, run):
    told = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())
    secret = run(served_home, "token", "create", "bot", "--url", told["url"], JUPYTER_TOKEN=told["token"]).out.strip()
    refused = run(home, "status", "--url", told["url"], JUPYTER_TOKEN=secret)
    assert (refused.code, refused.out) == (1, "")
    assert "an assistant's token does not allow this" in refused.err


def test_an_assistant_whose_own_token_was_revoked_is_sent_for_no_person_s(served_home, run):
    told = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())
    ran = run(served_home, "mcp", "--url", told["url"], JUPYTER_TOKEN="fst_revoked")
    assert (ran.code, ran.out) == (1, "")
    assert "revoked" in ran.err and "make a new one" in ran.err and "jupyter server list" not in ran.err


def test_a_server_with_a_login_alone_takes_an_assistants_own_token(served_home, home, run):
    told = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())
    secret = run(served_home, "token", "create", "of-a-login").out.strip()
    write_runtime_file(home, 1, url=told["url"], token="")
    refused = run(home, "connect", "generic")
    assert refused.code == 1 and "*Connect an Assistant…* in JupyterLab" in refused.err
    listing = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
    ran = home.run("mcp", given=listing, env={"JUPYTER_TOKEN": secret})
    assert [tool["name"] for tool in json.loads(ran.out)["result"]["tools"]][:1] == ["list_files"], ran.err
