"""Files in a collaboration room are never written below it: by no surface, whatever a person has typed there."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from urllib.request import Request, urlopen

import pytest
import websocket

from tests.kernel.real_kernel import private_environment
from tests.legs import python_of
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

READ = {"path": "a.py"}
EDIT = {**READ, "old_string": "x = 1", "new_string": "x = 2"}


class CollaborationServer(RunningServer):
    """A server whose root is reached over a link, as its rooms name their files."""

    def __init__(self, home, leg, *options):
        self.leg = leg
        self.root = home / "root"
        self.root.mkdir()
        (home / "link").symlink_to(self.root)
        (self.root / "a.py").write_text("x = 1\n")
        (self.root / "other.py").symlink_to("a.py")
        (self.root / "b.py").write_text("x = 1\n")
        self.environment = private_environment(home)
        super().__init__(home / "link", *options, environment=self.environment, python=python_of(leg))

    def _ask(self, method, path, body=None):
        url = self.url.removesuffix("fstools") + path
        request = Request(url, json.dumps(body).encode(), {"Authorization": f"token {self.token}"}, method=method)
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)

    @contextmanager
    def room(self, path):
        """A room for a text file, as a JupyterLab opens it."""
        if self.leg == "server_documents":
            room, session = "text:file:" + self._ask("POST", f"fileid/index?path={path}")["id"], ""
        else:
            told = self._ask("PUT", f"collaboration/session/{path}", {"format": "text", "type": "file"})
            room, session = f"text:file:{told['fileId']}", told["sessionId"]
        address = f"{self.url.removesuffix('fstools')}collaboration/room/{room}?sessionId={session}"
        header = [f"Authorization: token {self.token}"]
        socket = websocket.create_connection(address.replace("http", "ws", 1), timeout=20, header=header)
        try:
            socket.send_binary(b"\0\0\1\0")  # The first step of synchronising: no state is known here.
            socket.recv()
            yield
        finally:
            socket.close()


@pytest.fixture
def server(tmp_path, request):
    leg, *options = request.param
    running = CollaborationServer(tmp_path, leg, *options)
    running.wait()
    for path in ("a.py", "b.py"):
        assert running.call("POST", "/tools/read_file", {"path": path})[0] == 200
    yield running
    running.stop()


both = pytest.mark.parametrize("server", [("collaboration",), ("server_documents",)], indirect=True)


def is_in_room(answer):
    error = answer["error"]
    return error["code"] == "unsaved" and "room" in error["message"] and "not modified" in error["message"]


@both
def test_a_file_in_a_room_is_left_alone_by_every_surface(server):
    """unsaved, 423, also under another name of the file; what is in no room is written as ever."""
    change = server.call("POST", "/tools/edit_file", {**EDIT, "path": "b.py"})[1]["change"]["id"]
    with server.room("a.py"), server.room("b.py"):
        status, answer = server.call("POST", "/tools/edit_file", EDIT)
        assert status == 423 and is_in_room(answer)
        for name in ("a.py", "other.py"):
            assert is_in_room(server.call("POST", "/tools/write_file", {"path": name, "content": "z"})[1])
        assert is_in_room(server.call("POST", f"/changes/{change}/undo")[1])
        assert server.call("POST", "/tools/write_file", {"path": "new.py", "content": "z"})[0] == 200
        with running_kernel(server.root, server.environment) as kernel:
            shown = run_cell(kernel, '%fs read a.py\n%fs edit a.py --old "x = 1" --new "x = 2"')
            assert "unsaved" in shown and "room" in shown and "Traceback" not in shown
    assert (server.root / "a.py").read_bytes() == b"x = 1\n"
    assert (server.root / "b.py").read_bytes() == b"x = 2\n"


approving = pytest.mark.parametrize(
    "server",
    [(leg, "--FsToolsConfig.approval=always") for leg in ("collaboration", "server_documents")],
    indirect=True,
)


@approving
def test_an_approved_change_waits_for_the_room_to_end(server):
    change = server.call("POST", "/tools/edit_file", EDIT)[1]["change"]["id"]
    with server.room("a.py"):
        assert is_in_room(server.call("POST", f"/changes/{change}/approve")[1])
    assert (server.root / "a.py").read_bytes() == b"x = 1\n"
    assert server.call("GET", f"/changes/{change}")[1]["change"]["status"] == "proposed"


ending = pytest.mark.parametrize(
    "server", [("collaboration", "--YDocExtension.document_cleanup_delay=0.1")], indirect=True
)


@ending
def test_a_room_that_ends_leaves_its_file_free_for_kernels_too(server):
    with server.room("a.py"), running_kernel(server.root, server.environment) as kernel:
        assert "room" in run_cell(kernel, '%fs read a.py\n%fs edit a.py --old "x = 1" --new "x = 2"')
    with running_kernel(server.root, server.environment) as kernel:
        for _ in range(100):
            shown = run_cell(kernel, '%fs read a.py\n%fs edit a.py --old "x = 1" --new "x = 2"')
            if "unsaved" not in shown:
                break
            time.sleep(0.1)
    assert (server.root / "a.py").read_bytes() == b"x = 2\n"


switched_off = pytest.mark.parametrize(
    "server", [("collaboration", "--YDocExtension.disable_rtc=True"), ("lab",)], indirect=True
)


@switched_off
def test_collaboration_that_is_switched_off_is_not_asked(server):
    assert server.call("POST", "/tools/edit_file", EDIT)[0] == 200
    assert (server.root / "a.py").read_bytes() == b"x = 2\n"
