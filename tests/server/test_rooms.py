"""Files in a collaboration room are changed through it, and never written below it."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import websocket

from tests.kernel.real_kernel import private_environment
from tests.legs import python_of
from tests.open_documents.pages import Page, document, sha
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

READ = {"path": "a.py"}
EDIT = {**READ, "old_string": "x = 1", "new_string": "x = 2"}


class CollaborationServer(RunningServer):
    """A server whose root is reached over a link, as its rooms name their files."""

    def __init__(self, home, leg, *options, configuration="", beside=None):
        self.leg = leg
        self.root = home / "root"
        if beside is None:
            self.root.mkdir()
            (home / "link").symlink_to(self.root)
            self.environment = private_environment(home)
            place = Path(self.environment["JUPYTER_CONFIG_DIR"], "jupyter_server_config.py")
            place.write_text(configuration)
        else:
            self.environment = beside.environment
        super().__init__(home / "link", *options, environment=self.environment, python=python_of(leg))
        self.wait()

    def _ask(self, method, path, body=None):
        url = self.url.removesuffix("fstools") + path
        request = Request(url, json.dumps(body).encode(), {"Authorization": f"token {self.token}"}, method=method)
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)

    @contextmanager
    def room(self, path, kind="text:file", state=None):
        """A room for a file, as a JupyterLab opens it; `state` is the awareness state of its person."""
        if self.leg == "server_documents":
            room, session = f"{kind}:{self._ask('POST', f'fileid/index?path={path}')['id']}", ""
        else:
            told = self._ask("PUT", f"collaboration/session/{path}", {"format": "text", "type": "file"})
            room, session = f"{kind}:{told['fileId']}", told["sessionId"]
        address = f"{self.url.removesuffix('fstools')}collaboration/room/{room}?sessionId={session}"
        header = [f"Authorization: token {self.token}"]
        socket = websocket.create_connection(address.replace("http", "ws", 1), timeout=20, header=header)
        try:
            socket.send_binary(b"\0\0\1\0")  # The first step of synchronising: no state is known here.
            socket.recv()
            if state is not None:
                told = json.dumps(state).encode()
                update = b"\1\1\1" + bytes([len(told)]) + told  # From one client, whose id and clock are 1.
                socket.send_binary(b"\1" + bytes([len(update)]) + update)
                time.sleep(0.2)
            yield
        finally:
            socket.close()


class Folder:
    """A folder of a server's root for one test; all paths are in it."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.root = server.root / name

    def path(self, file):
        return f"{self.name}/{file}"

    def call(self, method, path, body=None):
        if body and "path" in body:
            body = {**body, "path": self.path(body["path"])}
        return self.server.call(method, path, body, self.name)

    def room(self, file, *given, **named):
        return self.server.room(self.path(file), *given, **named)

    def refusal(self, file):
        """The refusal of an edit, once there is one: a server learns of another one's rooms a little later."""
        for _ in range(200):
            edit = {"path": file, "old_string": "not in the file", "new_string": ""}
            error = self.call("POST", "/tools/edit_file", edit)[1]["error"]
            if error["code"] != "no_match":
                return error
            time.sleep(0.1)
        raise AssertionError("no refusal for another server's room")

    def fill(self):
        """Make its files, of which an assistant has read two."""
        self.root.mkdir()
        (self.root / "a.py").write_text("x = 1\n")
        (self.root / "other.py").symlink_to("a.py")
        (self.root / "b.py").write_text("x = 1\n")
        for file in ("a.py", "b.py"):
            assert self.call("POST", "/tools/read_file", {"path": file})[0] == 200


@pytest.fixture(scope="module")
def servers():
    """The servers by what they were started with, each started for the first test that asks for it."""
    running = {}
    yield running
    for server in running.values():
        server.stop()


@pytest.fixture
def server(servers, tmp_path_factory, request):
    """A folder of its own in a running server."""
    if request.param not in servers:
        servers[request.param] = CollaborationServer(tmp_path_factory.mktemp("server"), *request.param)
    folder = Folder(servers[request.param], request.node.originalname)
    folder.fill()
    return folder


@pytest.fixture
def second_server(server, servers):
    """The same folder in another server of the same files and store."""
    first = server.server
    if (first, "second") not in servers:
        servers[first, "second"] = CollaborationServer(first.root.parent, first.leg, beside=first)
    return Folder(servers[first, "second"], server.name)


both = pytest.mark.parametrize("server", [("collaboration",), ("server_documents",)], indirect=True)


def is_refused(answer, *words):
    error = answer["error"]
    return error["code"] == "unsaved" and all(word in error["message"] for word in ("not modified", *words))


def holds(file, data):
    """Whether the room has saved this; it saves with a delay."""
    for _ in range(200):
        if file.read_bytes() == data:
            return True
        time.sleep(0.1)
    raise AssertionError(file.read_bytes())


@both
def test_a_file_in_a_room_is_changed_through_it(server):
    """Also under another name of the file, by an undo, and with letters of any length; kernels leave it alone."""
    with server.room("a.py"):
        status, answer = server.call("POST", "/tools/edit_file", EDIT)
        assert (status, answer["change"]["place"], answer["change"]["saved"]) == (200, "room", False)
        assert "x = 2" in json.dumps(server.call("POST", "/tools/read_file", READ)[1])
        edit = {"path": "other.py", "old_string": "x = 2", "new_string": "# ß 🎈\nx = 3"}
        assert server.call("POST", "/tools/edit_file", edit)[0] == 200
        edit = {"path": "a.py", "old_string": "🎈\nx = 3", "new_string": "🎈\nx = 4"}
        status, answer = server.call("POST", "/tools/edit_file", edit)
        assert status == 200 and holds(server.root / "a.py", "# ß 🎈\nx = 4\n".encode())
        assert server.call("POST", f"/changes/{answer['change']['id']}/undo")[0] == 200
        assert holds(server.root / "a.py", "# ß 🎈\nx = 3\n".encode())
        server.call("POST", "/tools/read_file", READ)
        overwrite = {"path": "a.py", "content": "all new\n"}
        assert server.call("POST", "/tools/write_file", overwrite)[1]["change"]["place"] == "room"
        assert holds(server.root / "a.py", b"all new\n")


@both
def test_lines_end_alike_in_every_room(server):
    """Rooms load CRLF as LF, and pages count it as one character: other line ends are refused."""
    (server.root / "a.py").write_bytes(b"x")
    server.call("POST", "/tools/read_file", READ)
    with server.room("a.py"):
        for content in ("x\r\ny\r\n", "x\ry"):
            answer = server.call("POST", "/tools/write_file", {**READ, "content": content})[1]
            assert is_refused(answer, "line endings", "room") and "\\n" in answer["error"]["hint"]
        assert server.call("POST", "/tools/write_file", {**READ, "content": "x\ny\n"})[0] == 200
        edit = {**READ, "old_string": "y", "new_string": "z"}
        assert server.call("POST", "/tools/edit_file", edit)[0] == 200 and holds(server.root / "a.py", b"x\nz\n")


@both
def test_what_a_program_wrote_below_a_room_comes_before_a_change(server):
    """The room loads it with a delay, in place of its own text: a change made before would be lost."""
    with server.room("a.py"), server.room("b.py"):
        (server.root / "b.py").write_bytes(b"x = 3\n")
        assert "x = 3" in json.dumps(server.call("POST", "/tools/read_file", {"path": "b.py"})[1])
        (server.root / "a.py").write_bytes(b"x = 1\ny = 1\n")
        assert server.call("POST", "/tools/edit_file", EDIT)[0] == 200
        assert holds(server.root / "a.py", b"x = 2\ny = 1\n")
        # A read waits for the end of the room's save, which takes the file's time from the disk after writing.
        assert "x = 2" in json.dumps(server.call("POST", "/tools/read_file", READ)[1])
        (server.root / "a.py").write_bytes(b"x = 4\ny = 1\n")
        again = {**READ, "old_string": "x = 2", "new_string": "x = 5"}
        status, answer = server.call("POST", "/tools/edit_file", again)
        assert (status, answer["error"]["code"]) == (412, "stale") and "+x = 4" in answer["error"]["details"]["diff"]
        assert holds(server.root / "a.py", b"x = 4\ny = 1\n")


@both
def test_what_no_room_can_change_is_refused(server):
    """A file that is open as bytes, or twice, and one that was deleted below its room."""
    change = server.call("POST", "/tools/write_file", {"path": "new.py", "content": "x = 1\n"})[1]["change"]
    with server.room("a.py", "base64:file"):
        assert is_refused(server.call("POST", "/tools/edit_file", EDIT)[1], "room")
    with server.room("new.py"):
        assert is_refused(server.call("POST", f"/changes/{change['id']}/undo")[1], "room")
    with server.room("b.py"), server.room("b.py", "text:markdown"):
        answer = server.call("POST", "/tools/edit_file", {**EDIT, "path": "b.py"})[1]
        assert answer["error"]["code"] == "conflict" and "not modified" in answer["error"]["message"]
    assert [(server.root / name).read_bytes() for name in ("a.py", "b.py", "new.py")] == [b"x = 1\n"] * 3


@both
def test_a_room_is_not_changed_while_another_server_has_unsaved_changes_or_a_room(server, second_server):
    """Each of the two would save over the other's text, or drop its own for the other's."""
    with server.room("b.py"), second_server.room("b.py"):
        for one in (server, second_server):
            error = one.refusal("b.py")
            assert error["code"] == "conflict" and "not modified" in error["message"]
    with server.room("a.py"), Page(second_server.server) as page:
        page.say(document(server.path("a.py"), saved=False))
        error = server.call("POST", "/tools/edit_file", EDIT)[1]["error"]
        assert error["code"] == "conflict" and "not modified" in error["message"]
        page.say(document(server.path("a.py")))
        assert server.call("POST", "/tools/edit_file", EDIT)[0] == 200 and holds(server.root / "a.py", b"x = 2\n")
    assert (server.root / "b.py").read_bytes() == b"x = 1\n"


@both
def test_a_server_without_a_room_says_that_the_file_may_be_in_one_elsewhere(server, second_server):
    """A save would not help: the room has no unsaved changes that a person could save."""
    with server.room("b.py"):
        error = second_server.refusal("b.py")
    assert error["code"] == "unsaved" and "collaboration room" in error["message"] and "close it" in error["hint"]
    assert (server.root / "b.py").read_bytes() == b"x = 1\n"


@both
def test_a_page_of_another_server_follows_an_edit_once_the_room_has_saved_it(server, second_server):
    """It is told of the edit at once, and again when the file has it."""
    file = server.root / "b.py"
    with server.room("b.py"), Page(second_server.server) as page:
        page.say(document(server.path("b.py"), hash=sha(file.read_bytes())))
        assert server.call("POST", "/tools/edit_file", {**EDIT, "path": "b.py"})[1]["change"]["saved"] is False
        for _ in range(200):
            if [one["do"] for one in page.heard].count("follow") == 2:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(page.heard)
    assert file.read_bytes() == b"x = 2\n"


by_inode = pytest.mark.parametrize(
    "server",
    [("collaboration", "--FileIdExtension.file_id_manager_class=jupyter_server_fileid.manager.LocalFileIdManager")],
    indirect=True,
)


@by_inode
def test_a_file_that_was_replaced_below_its_room_is_not_written_there(server):
    """The typed text is in the room alone, which can no longer save it; once everyone has left, the file is free."""
    file = server.root / "a.py"
    with server.room("a.py"):
        assert server.call("POST", "/tools/edit_file", {**EDIT, "new_string": "x = 1.5"})[0] == 200
        assert holds(file, b"x = 1.5\n")
        (server.root / "b.py").replace(file)
        server.call("POST", "/tools/read_file", READ)
        assert is_refused(server.call("POST", "/tools/write_file", {**READ, "content": "new\n"})[1], "replaced", "room")
        assert file.read_bytes() == b"x = 1\n"
    for _ in range(200):  # The server learns of it with a delay.
        server.call("POST", "/tools/read_file", READ)
        status, answer = server.call("POST", "/tools/write_file", {**READ, "content": "new\n"})
        if status == 200:
            break
        assert is_refused(answer, "replaced", "room")
        time.sleep(0.1)
    assert file.read_bytes() == b"new\n"


running = pytest.mark.parametrize(
    "server",
    [
        (leg, "--FsToolsConfig.enable_execute=True", "--FsToolsConfig.execute_approval=False")
        for leg in ("collaboration", "server_documents")
    ],
    indirect=True,
)


@running
def test_a_command_runs_on_what_is_in_the_rooms(server):
    """It finds a change that came just before it, and its own writes do not undo the change."""
    with server.room("a.py"):
        assert server.call("POST", "/tools/edit_file", {**EDIT, "new_string": "x = 2\ny = 1"})[0] == 200
        command = {"command": "cat a.py; sed -i 's/y = 1/y = 2/' a.py", "cwd": server.name}
        ran = server.call("POST", "/tools/execute", command)[1]
        assert ran["data"]["output"] == "x = 2\ny = 1\n"
        server.call("POST", "/tools/read_file", READ)
        assert server.call("POST", "/tools/edit_file", {**EDIT, "old_string": "y = 2", "new_string": "y = 3"})[0] == 200
        assert holds(server.root / "a.py", b"x = 2\ny = 3\n")


approving = pytest.mark.parametrize(
    "server",
    [(leg, "--FsToolsConfig.approval=always") for leg in ("collaboration", "server_documents")],
    indirect=True,
)


@approving
def test_an_approved_change_lands_in_the_room(server):
    change = server.call("POST", "/tools/edit_file", EDIT)[1]["change"]["id"]
    with server.room("a.py"):
        assert server.call("POST", f"/changes/{change}/approve")[0] == 200
        assert holds(server.root / "a.py", b"x = 2\n")


ending = pytest.mark.parametrize(
    "server", [("collaboration", "--YDocExtension.document_cleanup_delay=0.1")], indirect=True
)


@ending
def test_a_room_that_ended_leaves_its_file_free_for_kernels_too(server):
    with server.room("a.py"):
        assert server.call("POST", "/tools/edit_file", {**EDIT, "new_string": "x = 1.5"})[0] == 200
        assert holds(server.root / "a.py", b"x = 1.5\n")
    with running_kernel(server.root, server.server.environment) as kernel:
        for _ in range(100):
            shown = run_cell(kernel, '%fs read a.py\n%fs edit a.py --old "x = 1.5" --new "x = 2"')
            if "unsaved" not in shown:
                break
            time.sleep(0.1)
    assert (server.root / "a.py").read_bytes() == b"x = 2\n"


left = pytest.mark.parametrize(
    "server", [("collaboration", "--YDocExtension.document_cleanup_delay=1.5")], indirect=True
)


@left
def test_no_edit_is_lost_when_its_room_ends(server):
    """Also where edits follow so fast that the room, which saves after a pause, never does."""
    places = []

    def edit():
        number = len(places) + 1
        change = {**READ, "old_string": f"x = {number}", "new_string": f"x = {number + 1}"}
        status, answer = server.call("POST", "/tools/edit_file", change)
        if status == 200:
            places.append(answer["change"]["place"])
            return answer["change"]["saved"]
        assert answer["error"]["code"] == "conflict", answer  # It ended during the call.
        return server.call("POST", "/tools/read_file", READ)[0] == 200

    with server.room("a.py"):
        edit()
    while "disk" not in places:
        assert edit()
    assert places[0] == "room" and (server.root / "a.py").read_text() == f"x = {len(places) + 1}\n"


unsaving = pytest.mark.parametrize(
    ("server", "state"),
    [
        (("collaboration", "--YDocExtension.document_cleanup_delay=0.1"), {"autosave": False}),
        (("collaboration", "--YDocExtension.document_save_delay=None"), None),
    ],
    indirect=["server"],
    ids=["switched off by its person", "switched off for all"],
)


@unsaving
def test_a_room_without_autosave_saves_a_change_at_once(server, state):
    """It ends with the last page that shows it, and would take an unsaved change with it."""
    with server.room("a.py", state=state):
        change = server.call("POST", "/tools/edit_file", EDIT)[1]["change"]
        assert (change["place"], change["saved"]) == ("room", True)
        assert (server.root / "a.py").read_bytes() == b"x = 2\n"


ENDS = """
import time
from jupyter_fstools.open_documents.room import Room

apply = Room.apply


def apply_once_the_room_has_ended(room, rewrite):
    while not room._has_ended():
        time.sleep(0.02)
    return apply(room, rewrite)


Room.apply = apply_once_the_room_has_ended
"""
"""The server's configuration: the room ends between being found and being changed."""


@pytest.fixture
def slow_server(tmp_path):
    options = ("--YDocExtension.document_cleanup_delay=1.5",)
    running = CollaborationServer(tmp_path, "collaboration", *options, configuration=ENDS)
    folder = Folder(running, "ends")
    folder.fill()
    yield folder
    running.stop()


def test_a_room_that_ends_before_the_change_refuses_it_and_the_next_call_lands(slow_server):
    with slow_server.room("a.py"):
        pass
    status, answer = slow_server.call("POST", "/tools/edit_file", EDIT)
    assert (status, answer["error"]["code"]) == (409, "conflict") and "not modified" in answer["error"]["message"]
    assert (slow_server.root / "a.py").read_bytes() == b"x = 1\n"
    assert slow_server.call("GET", "/changes")[1]["changes"] == []
    slow_server.call("POST", "/tools/read_file", READ)
    assert slow_server.call("POST", "/tools/edit_file", EDIT)[1]["change"]["place"] == "disk"
    assert (slow_server.root / "a.py").read_bytes() == b"x = 2\n"


switched_off = pytest.mark.parametrize(
    "server", [("collaboration", "--YDocExtension.disable_rtc=True"), ("lab",)], indirect=True
)


@switched_off
def test_collaboration_that_is_switched_off_is_not_asked(server):
    assert server.call("POST", "/tools/edit_file", EDIT)[0] == 200
    assert (server.root / "a.py").read_bytes() == b"x = 2\n"
