"""Random histories of one file, two readers and an outsider, against a model of each reader's knowledge."""

from __future__ import annotations

import itertools
import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool

TEXTS = st.sampled_from(["", "x\n", "x y\n", "y\nx\n", "x\r\ny\r\n", "é\nx", "x\nx\n", "z" * 50 + "\nx\n"])


class Histories(RuleBasedStateMachine):
    """One file, two readers, an outsider: the gate's decisions, against a model of each reader's knowledge."""

    numbers = itertools.count()

    @initialize()
    def begin(self):
        self.folder = self.base / str(next(self.numbers))
        self.folder.mkdir()
        self.file = self.folder / "a.txt"
        made = Workspace(
            LocalDisk(self.folder, durable=False),
            InMemoryStore(),
            FileLocks(None),
            Policy(deny_read=(), deny_write=()),
            Reader("ada", "one"),
        )
        self.readers = {name: made.for_reader(Reader("ada", name)) for name in ("one", "two")}
        # The text that each reader was shown; None: nothing. A person's undo is shown to no reader.
        self.known = dict.fromkeys(self.readers)
        # Readers who learnt the file's content from a refusal's diff: that allows edits, no overwriting.
        self.by_diff = set()
        self.history = []

    @property
    def now(self):
        return self.file.read_bytes() if self.file.exists() else None

    @staticmethod
    def text(data):
        return None if data is None else data.replace(b"\r\n", b"\n")

    def tried(self, name, tool, **arguments):
        before = self.now
        try:
            result = call_tool(self.readers[name], tool, path="a.txt", **arguments)
        except FsToolsError as refusal:
            assert self.now == before
            self.refusal = refusal
            return refusal.code
        if result.change is not None:
            self.history.append((result.change, before, self.now))
        return result

    def knows(self, name):
        return self.known[name] is not None and self.text(self.known[name]) == self.text(self.now)

    @rule(name=st.sampled_from(["one", "two"]))
    def read(self, name):
        result = self.tried(name, "read_file")
        if self.now is None:
            assert result == "not_found"
        else:
            assert not result.data["unchanged"] or self.knows(name)
            self.known[name] = self.known[name] if result.data["unchanged"] else self.now
            self.by_diff.discard(name)

    @rule(name=st.sampled_from(["one", "two"]), old=st.sampled_from("xyz"), new=st.sampled_from(["y", "w\nw"]))
    def edit(self, name, old, new):
        knew, before = self.knows(name), self.now
        result = self.tried(name, "edit_file", old_string=old, new_string=new)
        if isinstance(result, str):
            allowed = {"no_match", "ambiguous", "no_op"} if knew else {"not_read", "stale", "not_found"}
            assert result in allowed
            if result == "stale" and "then repeat the call, corrected" in self.refusal.hint:
                told = [row[1:] for row in self.refusal.details["diff"].split("\n")]
                lines = self.text(self.known[name]).decode().split("\n") + [line.removesuffix("␍") for line in told]
                assert set(self.text(self.now).decode().split("\n")) <= {*lines, ""}
                self.known[name] = self.now
                self.by_diff.add(name)
            self.known[name] = self.now if knew else self.known[name]
            return
        assert knew and before.count(old.encode()) == 1
        assert self.text(self.now) == self.text(before).replace(old.encode(), new.encode())
        self.known[name] = self.now

    @rule(name=st.sampled_from(["one", "two"]), content=TEXTS)
    def write(self, name, content):
        knew, there = self.knows(name), self.now is not None
        result = self.tried(name, "write_file", content=content)
        if isinstance(result, str):
            assert there and not (knew and name not in self.by_diff) and result in ("not_read", "stale")
            return
        assert (knew and name not in self.by_diff) or not there
        self.known[name] = self.now
        self.by_diff.discard(name)

    @rule(data=TEXTS.map(str.encode))
    def outsider_writes(self, data):
        self.file.write_bytes(data)

    @precondition(lambda self: self.now is not None)
    @rule()
    def outsider_removes(self):
        self.file.unlink()

    @precondition(lambda self: self.history)
    @rule(name=st.sampled_from(["one", "two"]), data=st.data(), by_person=st.booleans())
    def undo(self, name, data, by_person):
        change, before, after = data.draw(st.sampled_from(self.history))
        workspace, now = self.readers[name], self.now
        change = Journal(workspace).change(change.id)
        its_status = change.status
        try:
            done = Journal(workspace).undo(change, by_person=by_person)
        except FsToolsError as refusal:
            assert self.now == now
            own = by_person or change.session == name
            assert refusal.code == ("denied" if not own else "conflict" if its_status != "applied" else "stale")
            return
        assert now == after and self.now == before and its_status == "applied"
        self.history.append((done, now, before))
        if not by_person and self.now is None:
            self.known[name] = None
        elif not by_person and self.known[name] is not None and self.known[name] == now:
            self.known[name] = self.now

    @invariant()
    def nothing_else_is_in_the_folder(self):
        if hasattr(self, "folder"):
            assert os.listdir(self.folder) in ([], ["a.txt"])


def test_random_histories(tmp_path):
    """W, E, undo: no stale write goes through, no refused call changes a byte, undo restores every one."""
    Histories.base = tmp_path
    case = Histories.TestCase()
    case.settings = settings(max_examples=40, stateful_step_count=25)
    case.runTest()
