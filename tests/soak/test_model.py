"""The soak detects the faults that it looks for."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery

from .model import FILES, LINKED, OPEN, OTHER_NAME, Found, compare, content, counted, name
from .run import Counts, act, undone


@pytest.fixture
def accepted(tmp_path, jp_environ):
    """The files, two of them changed twice through the gate; what was answered as made."""
    for number in range(FILES):
        (tmp_path / name(number)).write_bytes(content(number, 0))
    os.link(tmp_path / name(LINKED), tmp_path / OTHER_NAME)
    made = set()
    with open_workspace(tmp_path, session="soak") as workspace:
        for number in (0, OPEN):
            for version in (1, 2):
                call_tool(workspace, "read_file", {"path": name(number)})
                text = content(number, version).decode()
                change = call_tool(workspace, "write_file", {"path": name(number), "content": text}).change
                made.add((number, change.id))
    return made


def found_in(root, accepted, **before):
    found = Found(**before)
    found.accepted["test"] = len(accepted)
    compare(root, accepted, found)
    return found


def test_what_was_made_through_the_gate_is_sound(tmp_path, accepted):
    assert found_in(tmp_path, accepted).is_sound


@pytest.mark.parametrize("number", [0, OPEN])
@pytest.mark.parametrize(
    ("version", "kind"), [(1, "lost"), (3, "unknown"), (None, "torn")], ids=["lost", "unknown", "torn"]
)
def test_a_file_that_tells_otherwise_than_the_journal_is_found(tmp_path, accepted, number, version, kind):
    mixture = content(number, 2)[:1000] + content(number, 1)[1000:]
    (tmp_path / name(number)).write_bytes(mixture if version is None else content(number, version))
    found = found_in(tmp_path, accepted)
    assert getattr(found, kind) == 1 and not found.is_sound


def test_a_change_that_was_answered_and_is_not_in_the_journal_is_lost(tmp_path, accepted):
    assert found_in(tmp_path, accepted | {(0, "no-such-change")}).lost == 1


def test_a_second_name_that_leads_elsewhere_and_lines_that_nobody_typed_are_torn(tmp_path, accepted):
    (tmp_path / OTHER_NAME).unlink()
    (tmp_path / OTHER_NAME).write_bytes(content(LINKED, 0))
    (tmp_path / name(0)).write_bytes(content(0, 2) + b"1\n")
    assert found_in(tmp_path, accepted).torn == 2


def test_a_change_that_was_answered_is_lost_though_the_journal_is_unsure(tmp_path, accepted):
    """A journal that cannot tell whether a change landed must not hide that it was answered as made."""
    (tmp_path / name(0)).write_bytes(content(0, 1))
    with open_workspace(tmp_path, session="soak") as workspace:
        journal = Journal(workspace)
        newest = next(change for change in journal.changes(ChangeQuery(path=name(0))))
        unsure = newest.model_copy(update={"interrupted": True})
        workspace.store.decide(newest.id, "applied", "applied", decided_at=0.0, record=unsure)
    assert found_in(tmp_path, set()).lost == 0
    assert found_in(tmp_path, accepted).lost == 1


def test_a_number_that_was_saved_and_is_not_in_the_file_is_lost(tmp_path, accepted):
    (tmp_path / name(OPEN)).write_bytes(content(OPEN, 2) + b"1\n2")
    assert (found_in(tmp_path, accepted, saved=2).lost, found_in(tmp_path, accepted, saved=3).lost) == (0, 1)


@pytest.mark.parametrize(
    ("typed", "number"),
    [("", 0), ("1", 1), ("1\n2", 2), ("1\n2\n", 2), ("1\n3", None), ("2", None), ("1\n1\n2", None), ("12", None)],
)
def test_what_is_typed_is_in_order_and_its_last_number_may_be_begun(typed, number):
    assert counted(typed.split("\n")) == number
    tens = "\n".join(map(str, range(1, 10)))
    assert [counted(f"{tens}\n{last}".split("\n")) for last in ("", "1", "10", "2")] == [9, 9, 10, None]


ALL_DONE = {
    "accepted": Counter(client=1, kernel=1, process=1),
    "killed": Counter(browser=1, kernel=1, process=1, server=1),
    "saved": 1,
}


@pytest.mark.parametrize("browser", ["chromium", None], ids=["with a browser", "without"])
@pytest.mark.parametrize(
    ("idle", "told"),
    [
        ({}, None),
        ({"accepted": Counter(client=1, process=1)}, "kernel edited"),
        ({"killed": Counter(browser=1, kernel=1, process=1, server=0)}, "server killed"),
        ({"killed": Counter(kernel=1, process=1, server=1)}, "browser killed"),
        ({"saved": 0}, "person saved"),
    ],
    ids=["all", "kernel", "kills", "browser", "person"],
)
def test_a_long_soak_demands_that_each_actor_did_something(tmp_path, monkeypatch, browser, idle, told):
    monkeypatch.setattr("tests.soak.run.find_chromium", lambda: browser)
    is_demanded = told is not None and (browser or told not in ("browser killed", "person saved"))
    assert undone(Found(**{**ALL_DONE, **idle}), tmp_path) == ({told} if is_demanded else set())


def test_on_a_disk_of_its_own_a_long_soak_demands_that_it_was_full(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.soak.run.find_chromium", lambda: "chromium")
    monkeypatch.setattr("tests.soak.run.has_own_disk", lambda root: True)
    assert undone(Found(**ALL_DONE), tmp_path) == {"disk filled"}
    assert undone(Found(**ALL_DONE, filled=1), tmp_path) == set()


def test_an_actor_that_gives_up_and_a_blank_line_of_a_kernel_are_told_apart():
    def kernel(counts: Counts) -> None:
        counts.take("kernel", "")
        counts.take("kernel", "accepted 0 a")
        raise TimeoutError

    counts = Counts()
    act(kernel, counts)
    assert (counts.found.accepted["kernel"], counts.found.raw, counts.found.is_sound) == (1, 1, False)
