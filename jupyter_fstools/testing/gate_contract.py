"""Tests the gate on any backend with any store.

class TestMyFilesWithMyStore(GateContract):
    @pytest.fixture
    def open_files(self):
        return lambda **settings: open_workspace("my://files", store="mine:", **settings)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..errors import Conflict, NotRead, Stale, TimedOut
from ..gate.workspace import Workspace
from ..journal.journal import Journal
from ..journal.listing import ChangeQuery
from ..journal.standing import waiting_count
from ..stores.records import Reader
from ..tools import call_tool
from .backend_contract import content, put

OpenFiles = Callable[..., Workspace]
_THREADS, _EDITS = 3, 4


class GateContract:
    """Reading first, stale reads, changes of several files, approval, and what a killed writer leaves."""

    @pytest.fixture
    def open_files(self) -> OpenFiles:
        """Opens a workspace with the given settings; at the first call in a test it has no files or records."""
        raise NotImplementedError("give the fixture `open_files`")

    @pytest.fixture
    def files(self, open_files: OpenFiles) -> Iterator[Workspace]:
        """A workspace with the default settings, closed after the test."""
        with open_files() as files:
            yield files

    def test_a_file_is_made_found_edited_and_taken_back(self, files: Workspace) -> None:
        call_tool(files, "write_file", path="src/a.py", content="one = 1\n")
        assert [one["path"] for one in call_tool(files, "list_files", path="src").data["entries"]] == ["src/a.py"]
        assert call_tool(files, "glob", pattern="**/*.py").data["total"] == 1
        assert call_tool(files, "grep", pattern=r"^one = \d", output_mode="content").data["matches"]
        call_tool(files, "edit_file", path="src/a.py", old_string="1", new_string="11")
        assert content(files.backend, "src/a.py") == b"one = 11\n"
        call_tool(files, "undo", path="src/a.py")
        assert content(files.backend, "src/a.py") == b"one = 1\n"
        call_tool(files, "undo", path="src/a.py")
        assert files.backend.stat("src/a.py").kind == "missing"

    def test_who_has_not_read_changes_nothing(self, files: Workspace) -> None:
        put(files.backend, "a.txt", b"one\n")
        for tool, arguments in (
            ("edit_file", {"old_string": "one", "new_string": "1"}),
            ("write_file", {"content": "1\n"}),
        ):
            with pytest.raises(NotRead, match="not modified"):
                call_tool(files, tool, path="a.txt", **arguments)
        assert content(files.backend, "a.txt") == b"one\n"

    def test_what_changed_since_the_read_is_told_and_kept(self, files: Workspace) -> None:
        put(files.backend, "a.txt", b"one\ntwo\n")
        call_tool(files, "read_file", path="a.txt")
        put(files.backend, "a.txt", b"one\nthree\n")
        with pytest.raises(Stale, match="not modified") as refused:
            call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert {"-two", "+three"} <= set(refused.value.details["diff"].splitlines())
        assert content(files.backend, "a.txt") == b"one\nthree\n"
        call_tool(files, "read_file", path="a.txt")
        call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert content(files.backend, "a.txt") == b"1\nthree\n"

    def test_a_file_of_which_a_part_was_read_is_edited_and_not_overwritten(self, files: Workspace) -> None:
        put(files.backend, "a.txt", b"one\ntwo\n")
        call_tool(files, "read_file", path="a.txt", limit=1)
        with pytest.raises(NotRead, match="only a part"):
            call_tool(files, "write_file", path="a.txt", content="")
        call_tool(files, "read_file", path="a.txt", offset=2)
        call_tool(files, "write_file", path="a.txt", content="all\n")
        assert content(files.backend, "a.txt") == b"all\n"

    def test_what_one_reader_read_and_did_is_stale_for_another(self, files: Workspace) -> None:
        other = files.for_reader(Reader("ben", "other"))
        put(files.backend, "a.txt", b"one\n")
        call_tool(files, "read_file", path="a.txt")
        with pytest.raises(NotRead):
            call_tool(other, "edit_file", path="a.txt", old_string="one", new_string="2")
        call_tool(other, "read_file", path="a.txt")
        done = call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        with pytest.raises(Stale):
            call_tool(other, "edit_file", path="a.txt", old_string="one", new_string="2")
        assert [change.id for change in Journal(other).changes(ChangeQuery())] == [done.change and done.change.id]

    def test_several_files_change_together_or_not_at_all(self, files: Workspace) -> None:
        for name in ("a.txt", "b.txt"):
            put(files.backend, name, b"one\n")
            call_tool(files, "read_file", path=name)
        edits = [{"path": name, "old_string": "one", "new_string": "1"} for name in ("a.txt", "b.txt")]
        put(files.backend, "b.txt", b"other\n")
        with pytest.raises(Stale):
            call_tool(files, "edit_file", edits=edits)
        assert (content(files.backend, "a.txt"), content(files.backend, "b.txt")) == (b"one\n", b"other\n")
        put(files.backend, "b.txt", b"one\n")
        call_tool(files, "read_file", path="b.txt")
        call_tool(files, "edit_file", edits=edits)
        assert (content(files.backend, "a.txt"), content(files.backend, "b.txt")) == (b"1\n", b"1\n")

    def test_a_cell_of_a_notebook_is_edited_and_taken_back(self, files: Workspace) -> None:
        cell = {
            "cell_type": "code",
            "id": "c1",
            "source": "one = 1",
            "metadata": {},
            "outputs": [],
            "execution_count": 1,
        }
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        before = json.dumps(notebook, indent=1).encode()
        put(files.backend, "a.ipynb", before)
        with pytest.raises(NotRead):
            call_tool(files, "edit_notebook", path="a.ipynb", cell_id="c1", new_source="one = 2")
        call_tool(files, "read_notebook", path="a.ipynb")
        call_tool(files, "edit_notebook", path="a.ipynb", cell_id="c1", new_source="one = 2")
        assert json.loads(content(files.backend, "a.ipynb"))["cells"][0]["source"] in ("one = 2", ["one = 2"])
        call_tool(files, "undo", path="a.ipynb")
        assert content(files.backend, "a.ipynb") == before

    def test_what_waits_for_a_person_is_counted_and_carried_out_once(self, open_files: OpenFiles) -> None:
        with open_files(approval="always") as files:
            put(files.backend, "a.txt", b"one\n")
            call_tool(files, "read_file", path="a.txt")
            asked = [
                call_tool(files, "edit_file", path="a.txt", old_string="one", new_string=new).change for new in "123"
            ]
            journal, ids = Journal(files), [change.id for change in asked if change]
            assert (waiting_count(files), content(files.backend, "a.txt")) == (3, b"one\n")
            journal.reject(ids[1])
            assert waiting_count(files) == 2
            journal.approve(ids[0])
            # The last proposal is based on content that is gone, so it cannot be approved.
            assert (waiting_count(files), content(files.backend, "a.txt")) == (0, b"1\n")
            with pytest.raises((Stale, Conflict)):
                journal.approve(ids[2])
            with pytest.raises(Conflict):
                journal.approve(ids[0])
            assert content(files.backend, "a.txt") == b"1\n"

    def test_what_a_killed_writer_left_is_finished_by_who_comes_next(
        self, files: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(files.backend, "a.txt", b"one\n")
        call_tool(files, "read_file", path="a.txt")
        with monkeypatch.context() as patched, pytest.raises(_Killed):
            patched.setattr(files.store, "finish", _killed)
            call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert content(files.backend, "a.txt") == b"1\n"
        other = files.for_reader(Reader("ben", "other"))
        call_tool(other, "read_file", path="a.txt")
        call_tool(other, "edit_file", path="a.txt", old_string="1", new_string="2")
        assert files.store.unfinished(files.backend.root_key) == []
        assert [change.status for change in Journal(files).changes(ChangeQuery())] == ["applied", "applied"]

    def test_a_file_that_another_call_holds_is_waited_for_and_then_refused(self, open_files: OpenFiles) -> None:
        with open_files(lock_seconds=0.2) as files, ThreadPoolExecutor(1) as pool:
            put(files.backend, "a.txt", b"one\n")
            call_tool(files, "read_file", path="a.txt")
            with files.held(files.backend.stat("a.txt").key):
                edit = pool.submit(call_tool, files, "edit_file", path="a.txt", old_string="one", new_string="1")
                assert isinstance(edit.exception(), TimedOut)
            assert content(files.backend, "a.txt") == b"one\n"

    def test_edits_of_several_threads_are_neither_lost_nor_repeated(self, files: Workspace) -> None:
        put(files.backend, "a.txt", b"")
        errors: list[BaseException] = []
        readers = [files.for_reader(Reader("ann", f"s{number}")) for number in range(_THREADS)]
        threads = [threading.Thread(target=_append, args=(reader, errors)) for reader in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        expected = sorted(f"s{number}-{edit}" for number in range(_THREADS) for edit in range(_EDITS))
        assert sorted(content(files.backend, "a.txt").decode().splitlines()) == expected
        assert Journal(files).count(ChangeQuery(status="applied")) == len(expected)


class _Killed(BaseException):
    """Ends a call as a signal ends a process: no handler catches it."""


def _killed(*_: object, **__: object) -> None:
    raise _Killed


def _append(files: Workspace, errors: list[BaseException]) -> None:
    done = 0
    try:
        while done < _EDITS:
            text = call_tool(files, "read_file", path="a.txt", force=True).data["content"]
            try:
                call_tool(files, "write_file", path="a.txt", content=f"{text}{files.reader.session}-{done}\n")
            except (Stale, Conflict):
                continue
            done += 1
    except BaseException as problem:
        errors.append(problem)
