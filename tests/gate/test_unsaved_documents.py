"""What a person has open and not saved is not written over: by no surface, and not for as long as it may be there."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
import websocket

from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

EDIT = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
BROWSER = "browser-0001"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n", "utf-8")
    (folder / "b.py").write_text("y = 1\n", "utf-8")
    return folder


@pytest.fixture
def server(root):
    running = RunningServer(root, "--FsToolsConfig.unsaved_seconds=3600")
    running.wait()
    for name in ("a.py", "b.py"):
        running.call("POST", "/tools/read_file", {"path": name})
    yield running
    running.stop()


@contextmanager
def page(server, token=None):
    """A browser's socket."""
    address = server.url.replace("http", "ws", 1) + "/documents"
    socket = websocket.create_connection(address, timeout=20, header=[f"Authorization: token {token or server.token}"])
    try:
        yield socket
    finally:
        socket.close(status=1001)


def say(socket, *unsaved, browser=BROWSER):
    socket.send(json.dumps({"browser": browser, "unsaved": list(unsaved)}))
    return json.loads(socket.recv())


def is_unsaved(answer):
    error = answer["error"]
    return error["code"] == "unsaved" and "not modified" in error["message"] and "save it" in error["hint"]


def test_a_file_with_unsaved_changes_is_left_alone_by_every_surface(server, root):
    """unsaved, 423; what is saved goes on, and so does what is open elsewhere."""
    with page(server) as socket, running_kernel(root) as kernel:
        assert say(socket, "a.py", "missing.py", "../outside.py") == {"unsaved": 2}
        status, answer = server.call("POST", "/tools/edit_file", EDIT)
        assert status == 423 and is_unsaved(answer)
        overwrite = {"path": "a.py", "content": "z"}
        assert is_unsaved(server.call("POST", "/tools/write_file", overwrite)[1])
        assert is_unsaved(server.call("POST", "/tools/write_file", {**overwrite, "path": "missing.py"})[1])
        shown = run_cell(kernel, '%fs edit a.py --old "x = 1" --new "x = 2"')
        assert "unsaved" in shown and "not modified" in shown and "Traceback" not in shown
        assert (root / "a.py").read_bytes() == b"x = 1\n"
        assert server.call("POST", "/tools/edit_file", {**EDIT, "path": "b.py", "old_string": "y = 1"})[0] == 200
        assert say(socket) == {"unsaved": 0}
        assert server.call("POST", "/tools/edit_file", EDIT)[0] == 200


def test_a_proposal_and_an_undo_wait_for_the_person_to_save(server, root):
    """Rules 11, 12: a person's decision does not go over what the same person is typing."""
    change = server.call("POST", "/tools/edit_file", EDIT)[1]["change"]["id"]
    with page(server) as socket:
        say(socket, "a.py")
        status, answer = server.call("POST", f"/changes/{change}/undo")
        assert status == 423 and is_unsaved(answer)
        say(socket)
        assert server.call("POST", f"/changes/{change}/undo")[0] == 200
    assert (root / "a.py").read_bytes() == b"x = 1\n"


def test_a_page_that_was_left_has_nothing_unsaved_and_one_that_fell_silent_has(server):
    with page(server) as socket:
        say(socket, "a.py")
    # Closed with 1001, as a browser does; the server learns of it in its own time.
    for _ in range(50):
        status, _answer = server.call("POST", "/tools/edit_file", EDIT)
        if status == 200:
            break
    assert status == 200
    with page(server) as socket:
        say(socket, "b.py")
        socket.sock.shutdown(2)
    edit = {"path": "b.py", "old_string": "y = 1", "new_string": "y = 2"}
    assert is_unsaved(server.call("POST", "/tools/edit_file", edit)[1])
    with page(server) as back:
        say(back, browser="another-page")
        assert is_unsaved(server.call("POST", "/tools/edit_file", edit)[1])
        say(back)
        assert server.call("POST", "/tools/edit_file", edit)[0] == 200


def test_what_is_no_message_is_refused_and_changes_nothing(server):
    said = ["", "nonsense", "[]", '{"browser": "x"}', '{"browser": "browser-0001", "unsaved": [1]}', "\0"]
    with page(server) as socket:
        say(socket, "a.py")
        for message in said:
            socket.send(message)
            assert json.loads(socket.recv())["error"]["code"] == "invalid"
        assert is_unsaved(server.call("POST", "/tools/edit_file", EDIT)[1])
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"), page(server, token="wrong"):
        pass
