"""A text in a room is changed exactly, or not at all."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.content.splices import Splice, spliced
from jupyter_fstools.errors import Conflict, Unsaved
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.open_documents.protocol import Rewrite
from jupyter_fstools.open_documents.room import Room
from jupyter_fstools.open_documents.shared_cells import moved_splices
from jupyter_fstools.open_documents.shared_document import SharedText
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool


class Text(SharedText):
    """A shared text without a room's library."""

    def __init__(self, text):
        self.text, self.changes, self.token = text, 0, "token"

    def value(self):
        return self.text

    def patch(self, splices, before):
        now = self.text.encode()
        for splice in reversed(moved_splices(splices, before, now)):
            assert now[splice.offset : splice.end] == splice.removed
            now = now[: splice.offset] + splice.inserted + now[splice.end :]
        self.text, self.changes = now.decode(), self.changes + 1


@pytest.fixture
def change():
    """Changes one text after another in the rooms of one server; gives the text afterwards."""
    backend, kept = InMemory({"/a.py": b""}), {}

    def changed(shared, *splices):
        room = Room(backend, backend.stat("/a.py"), shared, kept, lambda step: step(), lambda: False)
        with room.content() as before:
            assert before.data == shared.text.encode()
            applied = room.apply(Rewrite(before, splices, None, hash_before=True, begin=lambda *_: None, outline=None))
            after = spliced(before.data, splices)
        with room.content() as now:
            assert (now.stat.version, now.data) == (applied.stat.version, after)
        return shared.text

    return changed


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_keeps_its_line_endings(change, end):
    """Also line ends that the room would have changed when it loaded the file, but that a person has put into it."""
    text = Text(f"ß = 1{end}y = 1{end}z = 1{end}")
    first, last = (text.text.encode().rindex(one) for one in (b"y", b"1"))
    inserted = f"x = 2{end}".encode()
    assert change(text, Splice(first, b"", inserted), Splice(last, b"1", b"2")) == (
        f"ß = 1{end}x = 2{end}y = 1{end}z = 2{end}"
    )
    assert change(text, Splice(first, inserted, b"")) == f"ß = 1{end}y = 1{end}z = 2{end}"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_no_other_line_endings_come_into_a_room(change, end):
    text = Text("x")
    with pytest.raises(Unsaved, match="line endings"):
        change(text, Splice(1, b"", f"{end}y".encode()))
    assert change(text, Splice(1, b"", b"\ny")) == "x\ny"


def test_a_change_beside_typing_that_nobody_was_shown_never_stands_for_the_file():
    """Also where the room saves both at once: the file then has text that the change's author was not shown."""
    backend, text = InMemory({"a.py": b"x = 1\ny = 1\n"}), Text("x = 1\ny = 1\n")

    def save_at_once():
        backend.write("a.py", [text.text.encode()], if_match=backend.stat("a.py").version)
        return True

    room = Room(backend, backend.stat("a.py"), text, {}, lambda step: step(), save_at_once)
    with room.content() as before:
        text.text, text.changes = "x = 1\ny = 1 # typed\n", text.changes + 1
        rewrite = Rewrite(before, [Splice(4, b"1", b"2")], None, hash_before=True, begin=lambda *_: None, outline=None)
        applied = room.apply(rewrite)
    assert text.text == "x = 2\ny = 1 # typed\n" and applied.saved
    with room.content() as now, backend.read("a.py") as saved:
        assert applied.stat.version not in (now.stat.version, saved.stat.version)


class SavedBefore(InMemory):
    """A file that another program writes just before the room does; who reads it finds one content after another."""

    faster = ()

    def write(self, path, chunks, *, if_match):
        if self.faster:
            super().write(path, [self.faster[0]], if_match=if_match)
        return super().write(path, chunks, if_match=if_match)

    @contextmanager
    def read(self, path):
        with super().read(path) as opened:
            yield opened
        if len(self.faster) > 1:
            self.faster = self.faster[1:]
            super().write(path, [self.faster[0]], if_match=self.stat(path).version)


@pytest.mark.parametrize(
    "faster",
    [[b"x = 2\n"], [b"", b"x =", b"x = 2\n"], [b"x = 3\n"]],
    ids=["its own", "its own, in place", "another's"],
)
def test_the_last_save_of_a_room_that_has_ended_is_the_change_if_it_is_its_own(monkeypatch, faster):
    """A room that ends lets its save go on; where another writer was faster, the change is refused."""
    monkeypatch.setattr("jupyter_fstools.open_documents.room._SAVE_SECONDS", 0.3)
    backend, text, ended = SavedBefore({"a.py": b"x = 1\n"}), Text("x = 1\n"), []

    def on_loop(step):
        if ended:
            raise Conflict("the room has ended", hint="Read it again.")
        return step()

    room = Room(backend, backend.stat("a.py"), text, {}, on_loop, lambda: ended.append(True) or True)
    with room.content() as before:
        rewrite = Rewrite(before, [Splice(4, b"1", b"2")], None, hash_before=True, begin=lambda *_: None, outline=None)
        backend.faster = faster
        if faster[-1] == b"x = 2\n":
            applied = room.apply(rewrite)
            assert applied.saved and applied.stat.version == backend.stat("a.py").version
        else:
            with pytest.raises(Conflict):
                room.apply(rewrite)
    with backend.read("a.py") as opened:
        assert opened.read(0, opened.size) == faster[-1]


def test_a_change_of_several_files_is_in_a_room_if_one_of_them_is(tmp_path):
    backend = InMemory({"a.py": b"x = 1\n", "b.py": b"x = 1\n"})
    room = Room(backend, backend.stat("b.py"), Text("x = 1\n"), {}, lambda step: step(), lambda: False)

    class OneRoom:
        def holder(self, stat, *, to_change):
            return room if stat.path == "b.py" else None

    store, reader = InMemoryStore(), Reader("ann", "default")
    files = Workspace(backend, store, FileLocks(tmp_path), Policy(), reader, documents=[OneRoom()])
    edits = [{"path": path, "old_string": "1", "new_string": "2"} for path in ("a.py", "b.py")]
    for path in ("a.py", "b.py"):
        call_tool(files, "read_file", path=path)
    assert call_tool(files, "edit_file", edits=edits).change.place == "room"
