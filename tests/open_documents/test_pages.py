"""Files that pages have open: requests to pages, writes, and pages that lie, hang or die."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import time

import pytest
import websocket

from tests.kernel.real_kernel import private_environment
from tests.open_documents.pages import Page, document, sha
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

X1, X2 = b"x = 1\n", b"x = 2\n"
EDIT = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
PATCHES = {"patch": {"done": True}}


class Site:
    """A running server, a folder of its own in its root, and a session that has read the files in it."""

    def __init__(self, running, root, environment, name):
        self.url, self.token = running.url, running.token
        self._running, self._name, self.environment = running, name, environment
        self.root = root / name
        self.root.mkdir()
        (self.root / "a.py").write_bytes(X1)
        (self.root / "b.py").write_text("y = 1\n", "utf-8")
        for file in ("a.py", "b.py"):
            self.call("POST", "/tools/read_file", {"path": file})

    @classmethod
    def at(cls, site, running):
        """The same folder and session at another server."""
        other = cls.__new__(cls)
        other.__dict__.update(site.__dict__, url=running.url, token=running.token, _running=running)
        return other

    def call(self, method, route, body=None):
        if body is not None:
            edits = body.get("edits")
            body = self._here(body) if edits is None else {**body, "edits": [self._here(edit) for edit in edits]}
        return self._running.call(method, route, body, self._name)

    def output(self):
        return self._running.output()

    def _here(self, body):
        return {**body, "path": f"{self._name}/{body['path']}"}

    def document(self, path, *more, **facts):
        return document(f"{self._name}/{path}", *more, **facts)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    environment = private_environment(tmp_path_factory.mktemp("home"))
    options = ("--FsToolsConfig.unsaved_seconds=3600", "--FsToolsConfig.browser_seconds=0.5")
    server = RunningServer(root, *options, environment=environment)
    server.wait()
    yield server, root, environment
    server.stop()


@pytest.fixture
def server(running, request):
    return Site(*running, "".join(filter(str.isalnum, request.node.name)))


@pytest.fixture
def root(server):
    return server.root


def edit(server):
    return server.call("POST", "/tools/edit_file", EDIT)


def refused(call, code):
    _, answer = call
    error = answer["error"]
    assert error["code"] == code, error
    assert "not modified" in error["message"] and error["hint"]
    return error


def test_a_saved_document_is_patched_before_its_file_is_written(server, root):
    """The page is sent spans and the hash to come, and told when the file has it."""
    seen = []

    def patch(request):
        seen.append((root / "a.py").read_bytes())
        return {"done": True}

    with Page(server, answers={"patch": patch}) as page:
        assert page.say(server.document("a.py", hash=sha(X1))) == {"known": 1}
        status, answer = edit(server)
        assert (status, answer["change"]["place"]) == (200, "document")
        request = page.wait_for("patch")
        assert (request["hash"], request["to"], seen) == (sha(X1), sha(X2), [X1])
        assert request["change"] == {"kind": "text", "spans": [[4, "1", "2", "x = ", "\n"]], "length": 6}
        assert page.wait_for("written")["hash"] == sha(X2)
    assert (root / "a.py").read_bytes() == X2


def test_a_page_with_other_bytes_follows_the_disk(server, root):
    with Page(server, answers=PATCHES) as page:
        page.say(server.document("a.py", hash=sha(b"older")))
        assert page.wait_for("follow")["document"] == 0
        assert edit(server)[0] == 200
        assert {one["do"] for one in page.heard} == {"follow"}


@pytest.mark.parametrize("algorithm", ["md5", "sha512"])
def test_a_page_whose_server_tells_another_kind_of_hash_follows_the_disk(server, root, algorithm):
    """`FileContentsManager.hash_algorithm` is a setting of Jupyter's; a page with another algorithm is not patched."""
    other = hashlib.new(algorithm, X1).hexdigest()
    with Page(server, answers=PATCHES) as page:
        assert page.say(server.document("a.py", hash=other), server.document("b.py", 1, saved=False)) == {"known": 2}
        assert edit(server)[0] == 200
        assert page.wait_for("follow")["document"] == 0
        assert "patch" not in [one["do"] for one in page.heard]


def test_a_document_that_is_opened_while_its_file_changes_follows_at_once(server, root):
    """No tool reads it: the page's version is older than the file when the server hears of it."""
    with Page(server, answers=PATCHES) as page:
        page.say(server.document("b.py", hash=sha(b"y = 1\n")))
        page.say(server.document("b.py", hash=sha(b"y = 1\n")), server.document("a.py", 1, hash=sha(b"older")))
        assert page.wait_for("follow")["document"] == 1


def test_documents_follow_what_a_command_in_a_kernel_changed(server, root):
    with (
        Page(server, answers=PATCHES) as page,
        running_kernel(root.parent, server.environment) as kernel,
    ):
        page.say(server.document("b.py", hash=sha(b"y = 1\n")), server.document("a.py", 1, hash=sha(X1)))
        run_cell(kernel, "settings = get_ipython().config.FsToolsConfig; settings.enable_execute = True")
        run_cell(kernel, "settings.execute_approval = False")
        shown = run_cell(kernel, f"%fs sh sed -i s/1/2/ {root.name}/a.py")
        assert (root / "a.py").read_bytes() == X2, shown
        assert page.wait_for("follow")["document"] == 1
        assert [one["do"] for one in page.heard] == ["follow"]


def test_a_page_that_finds_other_text_refuses_the_edit(server, root):
    """Nothing is written, and pages that were patched take it back."""
    with (
        Page(server, answers=PATCHES) as willing,
        Page(server, name="browser-0002", answers={"patch": {"done": False, "reason": "text"}}) as typing,
    ):
        for page in (willing, typing):
            page.say(server.document("a.py", hash=sha(X1)))
        assert refused(edit(server), "stale")
        assert willing.wait_for("written")["hash"] is None
        assert (root / "a.py").read_bytes() == X1


def test_a_saved_page_that_hangs_or_dies_holds_nobody_up(server, root):
    """The page finds the requests it missed when it wakes up."""
    with Page(server) as page:
        page.say(server.document("a.py", hash=sha(X1)))
        assert edit(server)[0] == 200
        assert page.wait_for("written")["hash"] == sha(X2)
        began = time.monotonic()
        assert server.call("POST", "/tools/edit_file", {**EDIT, "old_string": "x = 2", "new_string": "x = 3"})[0] == 200
        assert time.monotonic() - began < 20
        page.answers["patch"] = lambda request: page.drop()
        page.say(server.document("a.py", hash=sha(b"x = 3\n")))
        assert server.call("POST", "/tools/edit_file", {**EDIT, "old_string": "x = 3", "new_string": "x = 4"})[0] == 200
    assert (root / "a.py").read_bytes() == b"x = 4\n"


def test_a_page_takes_back_what_could_not_be_written(server, root):
    def patch(request):
        (root / "a.py").write_bytes(b"x = 9\n")
        return {"done": True}

    with Page(server, answers={"patch": patch}) as page:
        page.say(server.document("a.py", hash=sha(X1)))
        assert refused(edit(server), "conflict")
        assert page.wait_for("written")["hash"] is None
    assert (root / "a.py").read_bytes() == b"x = 9\n"


def unsaved(content="x = 1  # typed\n", path="a.py", **more):
    """A page whose document is not saved, and that writes it itself when it is asked to."""
    return {"content": {"done": True, "content": content}, **more}


def test_an_unsaved_document_is_read_patched_and_saved(server, root):
    typed = "x = 1  # typed\n"

    def save(request):
        (root / "a.py").write_text(typed.replace("1", "2"), "utf-8")
        return {"done": True, "hash": sha(typed.replace("1", "2").encode())}

    with Page(server, answers=unsaved(typed, patch={"done": True}, save=save)) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        shown = server.call("POST", "/tools/read_file", {"path": "a.py"})[1]
        assert shown["data"]["content"] == typed
        assert edit(server)[0] == 200
        assert page.wait_for("patch")["change"]["spans"] == [[4, "1", "2", "x = ", "  # typed\n"]]
        assert page.wait_for("written")["hash"] == sha(typed.replace("1", "2").encode())


def test_what_is_typed_since_the_read_is_stale(server, root):
    with Page(server, answers=unsaved()) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        status, answer = edit(server)
        assert (status, answer["error"]["code"]) == (412, "stale")
        assert "typed" in answer["error"]["details"]["diff"]
        assert (root / "a.py").read_bytes() == X1


def test_a_page_that_is_lost_when_it_has_saved_has_saved(server, root):
    def save(request):
        (root / "a.py").write_bytes(X2)
        page.drop()

    with Page(server, answers=unsaved("x = 1\n", patch={"done": True}, save=save)) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        status, answer = edit(server)
        assert (status, answer["change"]["place"], answer["change"]["status"]) == (200, "document", "applied")


@pytest.mark.parametrize("reason", ["closed", "busy", "hash", "failed"])
def test_a_page_whose_person_has_saved_the_edit_meanwhile_has_saved(server, root, reason):
    """The outcome of the requested save does not matter: the document may be closed already."""

    def save(request):
        (root / "a.py").write_bytes(X2)
        return {"done": False, "reason": reason}

    with Page(server, answers=unsaved("x = 1\n", patch={"done": True}, save=save)) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        status, answer = edit(server)
        assert (status, answer["change"]["place"], answer["change"]["status"]) == (200, "document", "applied")
        assert page.wait_for("written")["hash"] == sha(X2)


def test_a_page_that_hangs_or_dies_at_any_step_of_an_edit_leaves_the_file_as_it_was(server, root):
    for step, dies in (("content", False), ("patch", False), ("content", True), ("patch", True), ("save", True)):
        with Page(server, answers=unsaved("x = 1\n", patch={"done": True})) as page:
            page.say(server.document("a.py", saved=False, hash=sha(X1)))
            page.answers[step] = (lambda _, page=page: page.drop()) if dies else None
            assert refused(edit(server), "unsaved")
            assert page.wait_for(step)
            assert (root / "a.py").read_bytes() == X1


def test_a_file_that_was_deleted_below_an_unsaved_document_is_not_written_anew(server, root):
    with Page(server, answers=unsaved()) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        (root / "a.py").unlink()
        refusal = refused(server.call("POST", "/tools/write_file", {"path": "a.py", "content": "z"}), "unsaved")
        assert "was deleted" in refusal["message"] and "save" in refusal["hint"]
        assert not (root / "a.py").exists()


def test_a_read_only_file_is_refused_whether_its_document_is_closed_saved_or_unsaved(server, root):
    """By its mode bits: to root, Jupyter calls it writable, and the page would save it."""
    (root / "a.py").chmod(0o444)
    closed = refused(edit(server), "denied")
    with Page(server, answers=unsaved("x = 1\n", patch={"done": True}, save={"done": False})) as page:
        for saved in (True, False):
            page.say(server.document("a.py", saved=saved, hash=sha(X1)))
            assert refused(edit(server), "denied") == closed
        assert [one for one in page.heard if one["do"] in ("patch", "save")] == []
    assert (root / "a.py").read_bytes() == X1


def test_a_refused_save_is_taken_back(server, root):
    answers = unsaved("x = 1\n", patch={"done": True}, save={"done": False, "reason": "busy"})
    with Page(server, answers=answers) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert refused(edit(server), "io")
        assert page.wait_for("written")["hash"] is None


def test_an_unsaved_document_whose_page_does_not_answer_is_left_alone(server, root):
    """`unsaved` (423) on every surface, as long as the page may come back; files open elsewhere can be edited."""
    with Page(server) as page, running_kernel(root, server.environment) as kernel:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert refused(edit(server), "unsaved")
        assert refused(server.call("POST", "/tools/write_file", {"path": "a.py", "content": "z"}), "unsaved")
        shown = run_cell(kernel, '%fs edit a.py --old "x = 1" --new "x = 2"')
        assert "does not answer" in shown and "not modified" in shown and "Traceback" not in shown
        other = {"path": "b.py", "old_string": "y = 1", "new_string": "y = 2"}
        assert server.call("POST", "/tools/edit_file", other)[0] == 200
        page.drop()
        assert refused(edit(server), "unsaved")
    assert (root / "a.py").read_bytes() == X1


def read(server):
    status, answer = server.call("POST", "/tools/read_file", {"path": "a.py", "force": True})
    assert status == 200, answer
    text = "\n".join(block["text"] for block in answer["content"])
    assert answer["data"].get("last_known", False) == ("last known" in text)
    return answer["data"]["content"], answer["data"].get("last_known", False)


def test_a_read_shows_what_is_known_last_where_the_page_does_not_answer(server, root):
    """Marked as such: the page's last report, or else the file's content; nothing is written there."""
    with Page(server) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert read(server) == ("x = 1\n", True)
        page.answers = unsaved("x = 1  # typed\n")
        assert read(server) == ("x = 1  # typed\n", False)
        page.answers = {}
        for lose in (lambda: None, page.drop):
            lose()
            assert read(server) == ("x = 1  # typed\n", True)
            assert refused(edit(server), "unsaved")


def test_a_page_sends_a_document_again_only_after_a_change(server, root):
    """The server names the counter of the content that it knows."""

    def content(request):
        return {"done": True, "counter": 7, **({} if request["known"] == 7 else {"content": "x = 1  # typed\n"})}

    with Page(server, answers={"content": content}) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert [read(server) for _ in range(2)] == [("x = 1  # typed\n", False)] * 2
        assert [one["known"] for one in page.heard if one["do"] == "content"] == [None, 7]


@pytest.fixture
def beside(running):
    """A second server of the same root and store; not for longer than a test: kernels might hand their calls to it."""
    _, root, environment = running
    second = RunningServer(root, "--FsToolsConfig.browser_seconds=0.5", environment=environment)
    second.wait()
    yield second
    second.stop()


def test_two_servers_know_of_each_others_pages(server, root, beside):
    """A file saved in both is updated in both; unsaved at one it is left to that server, at both it is a conflict."""
    other = Site.at(server, beside)
    with Page(server, answers=PATCHES) as here, Page(other, name="browser-0002", answers=PATCHES) as there:
        for page in (here, there):
            page.say(server.document("a.py", hash=sha(X1)))
        assert edit(server)[0] == 200
        assert here.wait_for("patch")["to"] == sha(X2)
        assert there.wait_for("follow")["document"] == 0
        there.say(server.document("a.py", saved=False, hash=sha(X2)))
        assert read(server) == ("x = 2\n", True)
        again = {**EDIT, "old_string": "x = 2", "new_string": "x = 3"}
        assert refused(server.call("POST", "/tools/edit_file", again), "unsaved")
        there.answers = unsaved("x = 2  # typed\n")
        assert read(other) == ("x = 2  # typed\n", False)
        with running_kernel(root.parent, server.environment) as kernel:
            # Whichever server it asks first.
            assert "# typed" in run_cell(kernel, f"%fs read {root.name}/a.py")
        here.answers = unsaved("x = 2  # typed too\n")
        here.say(server.document("a.py", saved=False, hash=sha(X2)))
        for site in (server, other):
            assert refused(site.call("POST", "/tools/read_file", {"path": "a.py"}), "conflict")
            assert refused(site.call("POST", "/tools/edit_file", again), "conflict")
        assert "patch" not in [one["do"] for one in there.heard]
    assert (root / "a.py").read_bytes() == X2


def test_every_file_of_a_change_at_another_server_is_followed(server, root, beside):
    edits = [EDIT, {"path": "b.py", "old_string": "y = 1", "new_string": "y = 2"}]
    with Page(server) as page:
        page.say(server.document("a.py", 1, hash=sha(X1)), server.document("b.py", 2, hash=sha(b"y = 1\n")))
        assert Site.at(server, beside).call("POST", "/tools/edit_file", {"edits": edits})[0] == 200
        assert page.wait_for("follow", document=1) and page.wait_for("follow", document=2)


def test_a_message_of_100_megabytes_is_refused_and_changes_nothing(server, root):
    with Page(server) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert page.send("x" * (100 << 20))["error"]["code"] == "too_large"
        assert refused(edit(server), "unsaved")
    assert server.call("GET", "/")[0] == 200


def test_two_different_unsaved_states_are_a_conflict(server, root):
    with (
        Page(server, answers=unsaved("x = 1\n")) as one,
        Page(server, name="browser-0002", answers=unsaved("x = 1  # mine\n")) as two,
    ):
        for page in (one, two):
            page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert refused(edit(server), "conflict") and "a.py" in edit(server)[1]["error"]["message"]
    assert (root / "a.py").read_bytes() == X1


def test_what_is_typed_in_one_page_while_it_saves_an_edit_reaches_the_other(server, root):
    """Both held the same text: the other page has the edit but not the typed text, so the file differs from it."""
    mine = b"x = 2  # mine\n"

    def save(request):
        (root / "a.py").write_bytes(mine)
        return {"done": True, "hash": sha(mine)}

    with (
        Page(server, answers=unsaved("x = 1\n", patch={"done": True}, save=save)) as one,
        Page(server, name="browser-0002", answers=unsaved("x = 1\n", patch={"done": True})) as two,
    ):
        for page in (one, two):
            page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert edit(server)[0] == 200
        assert one.wait_for("written")["hash"] == sha(mine)
        assert two.wait_for("written")["hash"] == sha(X2)
        assert two.wait_for("follow")


def test_unsaved_changes_over_a_file_that_changed_too_are_a_conflict(server, root):
    """JupyterLab would ask its person at the save."""
    with Page(server, answers=unsaved("x = 1\n", patch={"done": False, "reason": "hash"})) as page:
        page.say(server.document("a.py", saved=False, hash=sha(b"older")))
        assert refused(edit(server), "conflict")
        assert page.wait_for("patch")["hash"] == sha(X1)
        assert not [one for one in page.heard if one["do"] == "save"]


def test_an_edit_while_the_person_saves_lands_in_what_was_saved(server, root):
    """The server hears of the save after the file is on the disk."""
    mine = b"x = 1  # mine\n"
    asked = []

    def patch(request):
        asked.append(request["hash"])
        (root / "a.py").write_bytes(mine)
        return {"done": request["hash"] == sha(mine), "reason": "hash"}

    def save(request):
        (root / "a.py").write_bytes(mine.replace(b"1", b"2"))
        return {"done": True, "hash": sha(mine.replace(b"1", b"2"))}

    with Page(server, answers=unsaved(mine.decode(), patch=patch, save=save)) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        assert server.call("POST", "/tools/read_file", {"path": "a.py"})[0] == 200
        assert edit(server)[0] == 200
        assert asked == [sha(X1), sha(mine)]


def test_a_kernel_hands_the_call_to_the_server_whose_page_has_the_file_open(server, root):
    """Saved: patched and written. Not saved: it reads what the person sees. Same session, same answer."""
    with (
        Page(server, answers={**PATCHES, **unsaved()}) as page,
        running_kernel(root.parent, server.environment) as kernel,
    ):
        path = f"{root.name}/a.py"
        run_cell(kernel, f"%fs read {path}")
        page.say(server.document("a.py", hash=sha(X1)))
        shown = run_cell(kernel, f'%fs edit {path} --old "x = 1" --new "x = 2"')
        assert "patch" in [one["do"] for one in page.heard], shown
        assert (root / "a.py").read_bytes() == X2
        page.say(server.document("a.py", saved=False, hash=sha(X2)))
        assert "typed" in run_cell(kernel, f"%fs read {path}")


LIES = [
    {"content": {"done": True, "content": {"cells": 3}}},
    {"content": {"done": True, "content": None}},
    {"content": {"done": "yes"}},
    {"content": {"done": True, "counter": "x", "content": "x = 1\n"}},
    {"content": {}},
    unsaved("x = 1\n", patch={"done": True}, save={"done": True, "hash": "no hash"}),
    unsaved("x = 1\n", patch={"done": True}, save={"done": True, "hash": sha(X2)}),
    unsaved("x = 1\n", patch={"done": 1}),
    unsaved("x = 1\n", patch={"reason": "nothing known"}),
]


def test_a_page_that_lies_is_refused_and_nothing_is_written(server, root):
    for answers in LIES:
        with Page(server, answers=answers) as page:
            page.say(server.document("a.py", saved=False, hash=sha(X1)))
            status, answer = edit(server)
            assert status in (409, 412, 423, 500) and "not modified" in answer["error"]["message"], answer
    assert (root / "a.py").read_bytes() == X1


def test_what_is_no_message_is_refused_and_changes_nothing(server, root):
    one = server.document("a.py")
    said = [
        *("", "nonsense", "[]", "\0", '{"browser": "x"}', '{"browser": "browser-0001", "documents": [1]}'),
        json.dumps({"browser": "browser-0001", "documents": [{**one, "hash": "no hash"}]}),
        json.dumps({"browser": "browser-0001", "documents": [{**one, "kind": "other kind"}]}),
        json.dumps({"browser": "browser-0001", "documents": [{**one, "counter": 1 << 63}]}),
        json.dumps({"browser": "browser-0001", "documents": [{**one, "document": 1 << 63}]}),
        json.dumps({"browser": "browser-0001", "documents": [one] * 10_001}),
        json.dumps({"browser": "browser-0002", "documents": []}),
        *(
            '{"answer": 1}',
            '{"answer": true}',
            '{"answer": "x"}',
            '{"answer": [1], "done": true}',
            json.dumps({"answer": 1, "x": "y" * (5 << 20)}),
        ),
    ]
    with Page(server) as page:
        page.say(server.document("a.py", saved=False, hash=sha(X1)))
        for message in said:
            assert page.send(message)["error"]["code"] in ("invalid", "too_large"), message[:80]
        assert refused(edit(server), "unsaved")
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        Page(server, token="wrong")


def test_many_documents_and_paths_outside_are_known_by_what_they_are(server, root):
    documents = [server.document(f"f{number}.py", number, saved=False) for number in range(9_990)]
    outside = server.document("../../outside.py", 9_990)
    with Page(server, answers=PATCHES) as page:
        assert page.say(*documents, outside, server.document("a.py", 9_999, hash=sha(X1)))["known"] == 9_991
        assert edit(server)[0] == 200
        assert refused(server.call("POST", "/tools/write_file", {"path": "f7.py", "content": "z"}), "unsaved")


def test_a_page_that_was_left_holds_nothing(server, root):
    with Page(server) as page:
        page.say(server.document("a.py", saved=False))
    # The server learns of it with a delay.
    assert any(edit(server)[0] == 200 for _ in range(50))


def test_pages_that_break_off_while_they_are_told_something_leave_no_traceback(server, root):
    """A lost connection is no error of the server, whatever was being sent."""
    before, large = len(server.output()), "x" * (5 << 20)
    for number in range(8):
        path = f"{number}.py"
        assert server.call("POST", "/tools/write_file", {"path": path, "content": "x = 1\n"})[0] == 200
        with Page(server, name=f"browser-{number:04}", listens=False) as page:
            page.socket.send(page.told(server.document(path, hash=sha(X1))))
            assert json.loads(page.socket.recv()) == {"known": 1}
            if number % 2:
                page.socket.send(large)
            else:
                edit = {"path": path, "old_string": "x = 1", "new_string": large}
                assert server.call("POST", "/tools/edit_file", edit)[0] == 200
            break_off(page)
    time.sleep(1)
    assert "Traceback" not in server.output()[before:]


def break_off(page):
    """End a connection without a word, as a computer that is switched off does."""
    page.socket.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    page.socket.sock.close()


def test_a_page_that_comes_back_takes_back_what_it_said(server, root):
    with Page(server) as page:
        page.say(server.document("a.py", saved=False))
        page.drop()
    with Page(server, name="browser-0002") as other:
        other.say()
        assert refused(edit(server), "unsaved")
    with Page(server) as back:
        back.say()
        assert edit(server)[0] == 200


def test_a_page_that_comes_back_beside_its_dead_connection_is_the_only_one(server, root):
    """The server notices a lost connection late; messages that still arrive over it do not count."""
    with Page(server, listens=False) as lost:
        lost.socket.send(lost.told(server.document("a.py", saved=False)))
        assert json.loads(lost.socket.recv()) == {"known": 1}
        with Page(server, answers=PATCHES) as back:
            back.say(server.document("a.py", hash=sha(X1)))
            lost.socket.send(lost.told(server.document("a.py", saved=False)))
            assert edit(server)[0] == 200
            back.say(server.document("a.py", saved=False))
            back.drop()
        lost.close()
        for _ in range(5):
            refused(server.call("POST", "/tools/write_file", {"path": "a.py", "content": "z"}), "unsaved")
            time.sleep(0.1)


def test_a_proposal_and_an_undo_go_through_the_page(server, root):
    change = edit(server)[1]["change"]["id"]
    with Page(server, answers=PATCHES) as page:
        page.say(server.document("a.py", hash=sha(X2)))
        status, answer = server.call("POST", f"/changes/{change}/undo")
        assert (status, answer["change"]["place"]) == (200, "document")
        assert page.wait_for("patch")["to"] == sha(X1)
    assert (root / "a.py").read_bytes() == X1


def test_a_document_whose_file_an_undo_removes_is_closed(server, root):
    change = server.call("POST", "/tools/write_file", {"path": "new.py", "content": "z\n"})[1]["change"]["id"]
    with Page(server, answers=PATCHES) as page:
        page.say(server.document("new.py", hash=sha(b"z\n")))
        assert server.call("POST", f"/changes/{change}/undo")[0] == 200
        assert page.wait_for("close")["document"] == 0
    assert not (root / "new.py").exists()
