"""A person decides about parts of a change: exactly these are written, and the proposer is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import spliced, trimmed
from jupyter_fstools.documents.text.encoding import known_encoding
from jupyter_fstools.documents.text.hunks import chosen, hunks_of_splices
from jupyter_fstools.errors import Conflict, EncodingRefused, Invalid, Stale
from jupyter_fstools.journal.detailed_decision import Decision
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.standing import as_of_now

LINES = [f"line {number}\n" for number in range(40)]
BEFORE = "".join(LINES)
PLACES = (2, 18, 36)


def rewritten(*places):
    return "".join(line.upper() if at in places else line for at, line in enumerate(LINES))


@pytest.fixture
def asking(make_call):
    """A caller whose changes wait for a person."""
    return make_call(approval="always")


@pytest.fixture
def journal(asking):
    return Journal(asking.workspace)


@pytest.fixture
def proposal(asking):
    """Three hunks of one file."""
    asking.put("a.txt", BEFORE)
    asking("read_file", path="a.txt")
    return asking("write_file", path="a.txt", content=rewritten(*PLACES)).change


def test_two_of_three_hunks_are_written_in_one_step(asking, journal, proposal):
    change = journal.approve(proposal.id, decision=Decision([0, 2], reason="the middle one is wanted as it is"))
    assert asking.got("a.txt").decode() == rewritten(2, 36)
    assert (change.status, change.diff.added, len(change.diff.hunks)) == ("applied", 2, 2)
    assert change.seen_by == ["ada"]
    assert change.decided.model_dump() == {
        "taken": [0, 2],
        "rejected": [1],
        "reason": "the middle one is wanted as it is",
        "edited": False,
    }


def test_hunks_of_a_text_in_an_encoding_without_a_byte_order_mark_are_decided_and_taken_back(asking, journal):
    asking.put("a.txt", f"é\n{BEFORE}".encode("latin-1"))
    asking("read_file", path="a.txt", encoding="latin-1")
    edits = [{"old_string": old, "new_string": "ü\n"} for old in ("é\n", LINES[20], LINES[36])]
    change = asking("edit_file", path="a.txt", edits=edits).change
    done = journal.approve(change.id, decision=Decision([0, 2]))
    assert asking.got("a.txt") == "ü\n{}".format(BEFORE.replace(LINES[36], "ü\n")).encode("latin-1")
    journal.undo(done, by_person=True, hunks=[0])
    assert asking.got("a.txt") == "é\n{}".format(BEFORE.replace(LINES[36], "ü\n")).encode("latin-1")


def test_hunks_of_a_json_file_stay_hunks_of_lines(asking, journal):
    values = dict(zip(LINES, range(40), strict=True))
    asking.put("a.json", json.dumps(values, indent=1))
    asking("read_file", path="a.json")
    content = json.dumps(values | {LINES[2]: "two", LINES[36]: "many"}, indent=1)
    change = asking("write_file", path="a.json", content=content).change
    done = journal.approve(change.id, decision=Decision([0]))
    undo = journal.undo(done, by_person=True, hunks=[0])
    assert [(one.diff.kind, one.diff.cells) for one in (done, undo)] == [("text", None)] * 2
    assert [row.text for row in done.diff.hunks[0].rows if row.kind == "add"] == [' "line 2\\n": "two",']


def test_the_proposer_goes_on_from_what_was_written(asking, journal, proposal):
    journal.approve(proposal.id, decision=Decision([1]))
    edit = asking("edit_file", path="a.txt", old_string="LINE 18", new_string="line eighteen")
    assert edit.data["status"] == "proposed"
    asking.refused("no_match", "edit_file", path="a.txt", old_string="LINE 2\n", new_string="x")


@pytest.mark.parametrize("undone_at_once", [False, True])
def test_a_part_leaves_no_line_shown_of_which_a_part_was_never_seen(make_call, undone_at_once):
    """A hunk has whole lines; who edits a word may know no more of its line."""
    call = make_call(approval=["ask/"] if undone_at_once else "always")
    call.put("a.txt", BEFORE.replace("line 2\n", "unseen two\n"))
    (call.root / "ask").mkdir()
    (call.root / "ask/a.txt").symlink_to("../a.txt")
    for offset, limit in ((1, 2), (4, 40)):
        call("read_file", path="a.txt", offset=offset, limit=limit)
    edits = [{"old_string": "two", "new_string": "2"}, {"old_string": "line 36", "new_string": "36"}]
    journal, change = Journal(call.workspace), call("edit_file", path="ask/a.txt", edits=edits).change
    journal.approve(change.id, decision=Decision([0] if undone_at_once else None))
    back = call("undo", change_id=change.id).change
    assert back.status == ("applied" if undone_at_once else "proposed")
    if not undone_at_once:
        journal.approve(back.id, decision=Decision([0]))
    assert call.got("a.txt").startswith(b"line 0\nline 1\nunseen two\n")
    refusal = call.refused("not_read", "write_file", path="a.txt", content="x\n")
    assert "(lines 1-2, " in refusal.message


def test_what_was_taken_in_part_is_taken_back_as_a_whole(asking, journal, proposal):
    change = journal.approve(proposal.id, decision=Decision([1]))
    journal.undo(change, by_person=True)
    assert asking.got("a.txt").decode() == BEFORE
    assert journal.change(change.id).status == "undone"


def test_all_hunks_are_the_whole_change(asking, journal, proposal):
    change = journal.approve(proposal.id, decision=Decision([2, 0, 1]))
    assert asking.got("a.txt").decode() == rewritten(*PLACES)
    assert (change.decided.taken, change.decided.rejected) == ([0, 1, 2], [])


def test_a_person_writes_something_else_instead(asking, journal, proposal):
    change = journal.approve(proposal.id, decision=Decision(content="mine\n"))
    assert asking.got("a.txt") == b"mine\n"
    assert change.decided.edited
    assert [row.text for hunk in change.diff.hunks for row in hunk.rows if row.kind == "add"] == ["mine"]


def test_a_person_writes_no_nul_either(asking, journal, proposal):
    """No tool would read the file again."""
    with pytest.raises(Invalid, match="content: it holds a NUL"):
        journal.approve(proposal.id, decision=Decision(content="mi\0ne\n"))
    assert asking.got("a.txt").decode() == BEFORE


def test_what_a_person_writes_is_not_overwritten_before_it_is_shown(asking, journal, proposal):
    journal.approve(proposal.id, decision=Decision(content=BEFORE.replace("line 20", "mine")))
    refusal = asking.refused("stale", "write_file", path="a.txt", content="other\n")
    assert "+mine" in refusal.details["diff"]
    asking("read_file", path="a.txt")
    assert asking("write_file", path="a.txt", content="other\n").data["status"] == "proposed"


def test_what_a_person_writes_keeps_the_line_endings_and_the_encoding(asking, journal):
    asking.put("a.txt", "\ufeffone\r\ntwo\r\n".encode())
    asking("read_file", path="a.txt")
    change = asking("edit_file", path="a.txt", old_string="two", new_string="2").change
    journal.approve(change.id, decision=Decision(content="one\nzwei\n"))
    assert asking.got("a.txt") == "\ufeffone\r\nzwei\r\n".encode()


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("before", "after"), [("a\r\nb\nc\r\ntwo\n", "a\r\nb\nc\r\nzwei\r\n"), ("a\rtwo\r", "a\rzwei\r")]
)
def test_lines_that_a_person_left_alone_end_as_before(asking, journal, before, after, codec):
    asking.put("a.txt", before.encode(codec))
    asking("read_file", path="a.txt")
    change = asking("edit_file", path="a.txt", old_string="two", new_string="2").change
    written = after.replace("\r\n", "\n").replace("\r", "\n")
    done = journal.approve(change.id, decision=Decision(content=written))
    assert asking.got("a.txt") == after.encode(codec)
    assert (done.diff.added, done.diff.removed) == (1, 1)


def test_what_a_person_writes_and_was_proposed_is_no_edit(asking, journal, proposal, cells_proposal):
    done = journal.approve(proposal.id, decision=Decision(content=rewritten(*PLACES).replace("\n", "\r\n")))
    assert (done.decided.edited, asking.got("a.txt").decode()) == (False, rewritten(*PLACES))
    proposed = rewritten(2, 36)
    done = journal.approve(cells_proposal.id, decision=Decision({"a": [0]}, content={"a": proposed}))
    assert (done.decided.edited, done.decided.taken, sources(asking)["a"]) == (False, {"a": [0, 1]}, proposed)


def test_a_source_for_a_cell_that_the_change_deletes_is_refused(asking, journal, cells_proposal):
    with pytest.raises(Invalid, match="the change deletes cell 'b'"):
        journal.approve(cells_proposal.id, decision=Decision(content={"b": "mine"}))
    assert journal.change(cells_proposal.id).status == "proposed"


def test_a_character_that_the_encoding_lacks_leaves_the_proposal_waiting(asking, journal):
    asking.put("a.py", "# coding: latin-1\nx = 1\n")
    asking("read_file", path="a.py")
    change = asking("edit_file", path="a.py", old_string="x = 1", new_string="x = 2").change
    with pytest.raises(EncodingRefused, match="not modified"):
        journal.approve(change.id, decision=Decision(content="# coding: latin-1\nx = '\u20ac'\n"))
    assert journal.change(change.id).status == "proposed"


@pytest.mark.parametrize(
    "decision",
    [Decision([3]), Decision([-1]), Decision([]), Decision({"cell": "all"}), Decision([3], content="x"),
     Decision(content={"cell": "x"}), Decision(content=BEFORE)],
)  # fmt: skip
def test_what_is_not_in_the_change_is_refused_and_nothing_written(asking, journal, proposal, decision):
    with pytest.raises(Invalid, match="not modified"):
        journal.approve(proposal.id, decision=decision)
    assert asking.got("a.txt").decode() == BEFORE
    assert journal.change(proposal.id).status == "proposed"


def test_parts_of_a_stale_proposal_are_not_merged(asking, journal, proposal):
    asking.put("a.txt", BEFORE + "more\n")
    with pytest.raises(Stale):
        journal.approve(proposal.id, decision=Decision([0]))


def test_a_rejection_carries_its_reason(asking, journal, proposal):
    change = journal.reject(proposal.id, reason="no capitals")
    assert (change.status, change.decided.taken, change.decided.rejected) == ("rejected", [], [0, 1, 2])
    assert change.decided.reason == "no capitals"


def test_a_rejection_that_names_hunks_rejects_the_others_too(asking, journal, proposal):
    with pytest.raises(Invalid):
        journal.reject(proposal.id, [3])
    change = journal.reject(proposal.id, [1], reason="no capitals")
    assert (change.status, change.decided.rejected, change.decided.reason) == ("rejected", [0, 1, 2], "no capitals")
    assert asking.got("a.txt").decode() == BEFORE


def test_one_hunk_of_a_change_that_stands_is_taken_back(call):
    journal = Journal(call.workspace)
    call.put("a.txt", BEFORE)
    call("read_file", path="a.txt")
    change = call("write_file", path="a.txt", content=rewritten(*PLACES)).change
    back = journal.undo(change, by_person=True, hunks=[1])
    assert call.got("a.txt").decode() == rewritten(2, 36)
    assert (back.undoes, back.decided_by, journal.change(change.id).status) == (None, "ada", "applied")
    assert journal.change(change.id).decided.rejected == [1]
    # The rest cannot be undone as the whole last change, and an undo must not restore the hunk that was taken back.
    assert journal.newest_to_undo("a.txt", own=False).id == change.id
    assert [one.undoable for one in as_of_now(call.workspace, [change, back])] == [False, True]
    journal.undo(back, by_person=True)
    assert call.got("a.txt").decode() == rewritten(*PLACES)
    assert as_of_now(call.workspace, [change])[0].undoable


def test_taking_back_all_hunks_undoes_the_change(call):
    journal = Journal(call.workspace)
    call.put("a.txt", BEFORE)
    call("read_file", path="a.txt")
    change = call("write_file", path="a.txt", content=rewritten(*PLACES)).change
    journal.undo(change, by_person=True, hunks=[0, 1, 2])
    assert (call.got("a.txt").decode(), journal.change(change.id).status) == (BEFORE, "undone")


@pytest.mark.parametrize("decision", [Decision([1]), Decision(content=BEFORE + "mine\n")])
def test_a_change_whose_undo_is_approved_otherwise_than_proposed_goes_on_standing(asking, journal, proposal, decision):
    change = journal.approve(proposal.id)
    back = asking("undo", change_id=change.id).change
    done = journal.approve(back.id, decision=decision)
    assert asking.got("a.txt").decode() == (decision.content or rewritten(2, 36))
    assert (back.undoes, done.undoes, journal.change(change.id).status) == (change.id, None, "applied")
    journal.undo(done, by_person=True)
    assert asking.got("a.txt").decode() == rewritten(*PLACES)
    journal.undo(journal.change(change.id), by_person=True)
    assert asking.got("a.txt").decode() == BEFORE


def test_a_change_that_is_kept_says_by_whom(call):
    journal = Journal(call.workspace)
    change = call("write_file", path="a.txt", content="x\n").change
    assert [journal.keep(change.id).seen_by for _ in range(2)] == [["ada"], ["ada"]]
    assert Journal(call.session("person", user="bob").workspace).keep(change.id).seen_by == ["ada", "bob"]
    journal.undo(change, by_person=True)
    with pytest.raises(Conflict):
        journal.keep(change.id)


def test_a_change_is_seen_once_each_of_its_hunks_is_kept_or_taken_back(call):
    journal = Journal(call.workspace)
    other = Journal(call.session("person", user="bob").workspace)
    call.put("a.txt", BEFORE)
    call("read_file", path="a.txt")
    change = call("write_file", path="a.txt", content=rewritten(*PLACES)).change
    assert journal.keep(change.id, [2]).kept == {"ada": [2]}
    assert other.keep(change.id, [0]).kept == {"ada": [2], "bob": [0]}
    journal.undo(change, by_person=True, hunks=[1])
    assert journal.change(change.id).kept == {"ada": [1, 2], "bob": [0]}
    seen = journal.keep(change.id, [0])
    assert (seen.seen_by, seen.kept) == (["ada"], {"bob": [0]})
    with pytest.raises(Invalid):
        other.keep(change.id, [3])


def test_of_a_notebook_cells_are_kept_by_their_hunks(call):
    journal = Journal(call.workspace)
    call.put("n.ipynb", notebook(cell("one", "x = 1"), cell("two", "y = 2"), cell("three", "z")))
    call("read_notebook", path="n.ipynb")
    edits = [{"cell_id": "one", "new_source": "x = 0"}, {"cell_id": "three", "edit_mode": "delete"}]
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    assert journal.keep(change.id, {"three": "all"}).kept == {"ada": {"three": [0]}}
    assert journal.keep(change.id, {"one": [0]}).seen_by == ["ada"]


UNMARKED = ("utf-8", "utf-16-le", "latin-1", "cp1252", "euc_jis_2004", "cp037")
MARKED = ("utf-8-sig", "utf-16", "utf-32")
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\u00e9\n", "\n"]), max_size=40)


@pytest.mark.parametrize("encoding", [known_encoding(name) for name in (*UNMARKED, *MARKED)])
@given(before=TEXTS, after=TEXTS, end=st.sampled_from(["", "end"]), data=st.data())
def test_any_hunks_and_then_the_others_make_the_whole_change(encoding, before, after, end, data):
    old, new = (encoding.bom + encoding.encode("".join(text) + end) for text in (before, after))
    hunks = hunks_of_splices(BytesContent(old), trimmed(old, new), encoding)
    assert spliced(old, chosen(hunks, range(len(hunks)))) == new
    taken = data.draw(st.sets(st.integers(0, max(0, len(hunks) - 1))))
    middle = spliced(old, chosen(hunks, taken))
    assert encoding.bom == b"" or (middle.startswith(encoding.bom) and middle.count(encoding.bom) == 1)
    rest = {at for at in range(len(hunks)) if at not in taken}
    shifts = {at: sum(len(s.inserted) - len(s.removed) for one in taken if one < at for s in hunks[one]) for at in rest}
    moved = [[s._replace(offset=s.offset + shifts[at]) for s in hunks[at]] for at in sorted(rest)]
    whole = spliced(middle, chosen(moved, range(len(moved))))
    assert whole == new


def cell(name, source, **more):
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    } | more


def notebook(*cells):
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def sources(call):
    return {one["id"]: "".join(one["source"]) for one in json.loads(call.got("n.ipynb"))["cells"]}


@pytest.fixture
def cells_proposal(asking):
    """An edit of two hunks, an insertion, a deletion and a move."""
    asking.put("n.ipynb", notebook(cell("a", BEFORE), cell("b", "b"), cell("c", "c"), cell("d", "d")))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "replace", "cell_id": "a", "new_source": rewritten(2, 36)},
        {"edit_mode": "insert", "after": "a", "cell_type": "code", "new_source": "new"},
        {"edit_mode": "delete", "cell_id": "b"},
        {"edit_mode": "move", "cell_id": "d", "at": "start"},
    ]
    return asking("edit_notebook", path="n.ipynb", edits=edits).change


def inserted(change):
    return next(one.cell_id for one in change.diff.cells if one.action == "insert")


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"a": [1]}, {"a": rewritten(36), "b": "b", "c": "c", "d": "d"}),
        ({"b": "all"}, {"a": BEFORE, "c": "c", "d": "d"}),
        ({"d": "all", "a": "all"}, {"d": "d", "a": rewritten(2, 36), "b": "b", "c": "c"}),
        ({"new": "all"}, {"a": BEFORE, "new": "new", "b": "b", "c": "c", "d": "d"}),
        ({"new": "all", "b": [0], "a": [0]}, {"a": rewritten(2), "new": "new", "c": "c", "d": "d"}),
    ],
)
def test_chosen_cells_and_hunks_of_a_notebook_are_written(asking, journal, cells_proposal, named, expected):
    new = inserted(cells_proposal)
    hunks = {new if name == "new" else name: places for name, places in named.items()}
    change = journal.approve(cells_proposal.id, decision=Decision(hunks))
    wanted = {new if name == "new" else name: source for name, source in expected.items()}
    assert list(sources(asking).items()) == list(wanted.items())
    assert set(change.decided.taken) == set(hunks)
    journal.undo(change, by_person=True)
    assert asking.got("n.ipynb").decode() == notebook(cell("a", BEFORE), cell("b", "b"), cell("c", "c"), cell("d", "d"))


def test_a_cell_is_written_as_the_person_edited_it(asking, journal, cells_proposal):
    change = journal.approve(cells_proposal.id, decision=Decision({}, content={"a": "mine"}))
    assert sources(asking) == {"a": "mine", "b": "b", "c": "c", "d": "d"}
    assert (change.decided.edited, change.decided.taken) == (True, {"a": [0, 1]})
    refusal = asking.refused("stale", "edit_notebook", path="n.ipynb", cell_id="a", new_source="more")
    assert "+mine" in refusal.details["diff"]
    assert asking("edit_notebook", path="n.ipynb", cell_id="c", new_source="more").data["status"] == "proposed"


@pytest.mark.parametrize("base", [BEFORE, "\ufeff" + BEFORE.replace("\n", "\r\n"), BEFORE.replace("\n", "\r")])
def test_line_endings_and_a_byte_order_mark_make_no_other_text(asking, journal, proposal, base):
    journal.approve(proposal.id, decision=Decision(content="mine\n", base=base))
    assert asking.got("a.txt") == b"mine\n"


@pytest.mark.parametrize("base", ["", BEFORE + "more", BEFORE.replace("line 7", "line seven")])
def test_what_was_made_from_another_text_is_not_written(asking, journal, proposal, base):
    with pytest.raises(Stale, match="not modified"):
        journal.approve(proposal.id, decision=Decision([0], content=rewritten(2), base=base))
    assert asking.got("a.txt").decode() == BEFORE
    assert journal.change(proposal.id).status == "proposed"


def test_a_cell_made_from_another_source_is_not_written(asking, journal, cells_proposal):
    before = asking.got("n.ipynb")
    for base, refusal in (({"a": "other"}, Stale), ({"a": ""}, Stale), ("b", Invalid), ({"b": "b"}, Invalid)):
        with pytest.raises(refusal, match="not modified"):
            journal.approve(cells_proposal.id, decision=Decision({}, content={"a": "mine"}, base=base))
    assert asking.got("n.ipynb") == before
    journal.approve(cells_proposal.id, decision=Decision({}, content={"a": "mine"}, base={"a": BEFORE}))
    assert sources(asking)["a"] == "mine"


def test_what_is_written_instead_of_some_hunks_says_which_were_rejected(asking, journal, proposal, cells_proposal):
    done = journal.approve(proposal.id, decision=Decision([0, 2], content="mine\n"))
    assert (done.decided.taken, done.decided.rejected, done.decided.edited) == ([0, 2], [1], True)
    assert asking.got("a.txt") == b"mine\n"
    done = journal.approve(cells_proposal.id, decision=Decision({"a": [1], "b": "all"}, content={"a": "mine"}))
    assert sources(asking) == {"a": "mine", "c": "c", "d": "d"}
    assert (done.decided.taken, done.decided.rejected["a"], done.decided.edited) == ({"a": [1], "b": [0]}, [0], True)


def test_what_a_person_writes_is_in_the_encoding_that_the_proposer_named(asking):
    asking.put("a.txt", "日本\nß\n".encode("gb18030"))
    asking("read_file", path="a.txt", encoding="gb18030")
    change = asking("edit_file", path="a.txt", old_string="日本", new_string="日本語").change
    Journal(asking.session("person").workspace).approve(change.id, decision=Decision(content="ä\nß\n"))
    assert asking.got("a.txt").decode("gb18030") == "ä\nß\n"
    created = asking("write_file", path="b.txt", content="日本\n", encoding="shift_jis").change
    Journal(asking.session("person").workspace).approve(created.id, decision=Decision(content="日\n"))
    assert asking.got("b.txt").decode("shift_jis") == "日\n"


def long_proposal(asking):
    """A proposal so long that its diff is kept without the rows of its last cells."""
    before = [cell("a", "one\n" * 5000), cell("b", BEFORE), cell("c", "c")]
    asking.put("n.ipynb", notebook(*before))
    for name in "abc":
        asking("read_notebook", path="n.ipynb", cell_id=name, source_limit=5001)
    edits = [("a", "two\n" * 5000), ("b", rewritten(*PLACES)), ("c", "C")]
    called = [{"cell_id": name, "new_source": source} for name, source in edits]
    change = asking("edit_notebook", path="n.ipynb", edits=called).change
    assert change.diff.truncated and not change.diff.cells[1].hunks
    return change


@pytest.mark.parametrize(
    ("named", "b", "c"),
    [({"b": [0]}, rewritten(2), "c"), ({"b": [1, 2]}, rewritten(18, 36), "c"), ({"c": "all"}, BEFORE, "C")],
)
def test_of_a_cut_diff_nothing_is_written_that_was_not_chosen(asking, journal, named, b, c):
    proposal = long_proposal(asking)
    journal.approve(proposal.id, decision=Decision(named))
    assert sources(asking) == {"a": "one\n" * 5000, "b": b, "c": c}


def test_hunks_of_a_cut_diff_are_taken_back(asking, journal):
    change = journal.approve(long_proposal(asking).id)
    journal.undo(change, by_person=True, hunks={"b": [1, 2], "c": "all"})
    assert sources(asking) == {"a": "two\n" * 5000, "b": rewritten(2), "c": "c"}


@pytest.mark.parametrize("hunks", [{"nobody": "all"}, {"a": [2]}, {"b": [1]}, [0], {}])
def test_cells_and_hunks_that_are_not_there_are_refused(asking, journal, cells_proposal, hunks):
    with pytest.raises(Invalid, match="not modified"):
        journal.approve(cells_proposal.id, decision=Decision(hunks))
    assert journal.change(cells_proposal.id).status == "proposed"


def test_one_cell_of_a_change_that_stands_is_taken_back(call):
    journal = Journal(call.workspace)
    call.put("n.ipynb", notebook(cell("a", "a"), cell("b", "b")))
    call("read_notebook", path="n.ipynb")
    edits = [{"cell_id": name, "new_source": name.upper()} for name in "ab"]
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    journal.undo(change, by_person=True, hunks={"b": "all"})
    assert sources(call) == {"a": "A", "b": "b"}


def without_ids(*cells):
    kept = [{key: value for key, value in one.items() if key != "id"} for one in cells]
    return json.dumps({"cells": kept, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"


def texts(call):
    return ["".join(one["source"]) for one in json.loads(call.got("n.ipynb"))["cells"]]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ([0, 3], [rewritten(2), "b", "c", "new"]),
        ([1], [BEFORE, "B", "c"]),
        ([1, 3], [BEFORE, "B", "c", "new"]),
    ],
)
def test_cells_without_ids_are_written_as_they_were_chosen(asking, journal, named, expected):
    asking.put("n.ipynb", without_ids(cell("a", BEFORE), cell("b", "b"), cell("c", "c")))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "edit", "index": 0, "old_string": LINES[2], "new_string": LINES[2].upper()},
        {"edit_mode": "replace", "index": 1, "new_source": "B"},
        {"edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": "new"},
    ]
    proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
    names = {one.index: one.cell_id for one in proposed.diff.cells}
    change = journal.approve(proposed.id, decision=Decision({names[at]: "all" for at in named}))
    assert texts(asking) == expected
    assert [(one.index, one.action) for one in change.diff.cells] == [
        (at, "insert" if at == 3 else "edit") for at in named
    ]
    journal.undo(change, by_person=True)
    assert texts(asking) == [BEFORE, "b", "c"]


def test_a_cell_without_id_that_takes_the_place_of_another_is_chosen_alone(asking, journal):
    before = without_ids(cell("a", "a"), cell("b", "b"), cell("c", "c"))
    edits = [
        {"edit_mode": "delete", "index": 1},
        {"edit_mode": "insert", "after_index": 0, "cell_type": "code", "new_source": "new"},
    ]
    for action, expected in (("insert", ["a", "new", "b", "c"]), ("delete", ["a", "c"])):
        asking.put("n.ipynb", before)
        asking("read_notebook", path="n.ipynb")
        proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
        named = next(one.cell_id for one in proposed.diff.cells if one.action == action)
        journal.approve(proposed.id, decision=Decision({named: "all"}))
        assert texts(asking) == expected


@pytest.mark.parametrize("make", [notebook, without_ids])
@pytest.mark.parametrize(
    ("named", "expected"), [([0], ["c!", "a", "b"]), ([2], ["a", "b!", "c"]), ([0, 2], ["c!", "a", "b!"])]
)
def test_a_cell_that_is_edited_and_moved_is_written_where_it_moves(asking, journal, make, named, expected):
    asking.put("n.ipynb", make(cell("a", "a"), cell("b", "b"), cell("c", "c"), cell("d", "d")))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "edit", "index": 2, "old_string": "c", "new_string": "c!"},
        {"edit_mode": "move", "index": 2, "at": "start"},
        {"edit_mode": "replace", "index": 1, "new_source": "b!"},
        {"edit_mode": "delete", "index": 3},
    ]
    proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
    assert [(one.index, one.action, one.moved_from) for one in proposed.diff.cells] == [
        (0, "edit", 2), (2, "edit", None), (3, "delete", None),
    ]  # fmt: skip
    names = {one.index: one.cell_id for one in proposed.diff.cells}
    change = journal.approve(proposed.id, decision=Decision({names[at]: "all" for at in named}))
    assert texts(asking) == [*expected, "d"]
    journal.undo(change, by_person=True)
    assert texts(asking) == ["a", "b", "c", "d"]


def test_a_cell_lands_behind_the_last_one_that_stays_where_another_move_is_left_out(asking, journal):
    asking.put("n.ipynb", notebook(cell("a", "a"), cell("b", "b"), cell("c", "c")))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "move", "cell_id": "a", "at": "end"},
        {"edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": "new"},
    ]
    proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
    journal.approve(proposed.id, decision=Decision({inserted(proposed): "all"}))
    assert texts(asking) == ["a", "b", "c", "new"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("old", ["line 2", "# ... rest of the code ...", "1\tx"])
def test_the_other_lines_of_a_cell_stay_as_they_are(asking, journal, old, end):
    """Their ends, and lines that would be refused in a new source."""
    before = BEFORE.replace("line 2\n", f"{old}\n").replace("line 20", "\ud800").replace("\n", end)
    asking.put("n.ipynb", notebook(cell("a", before)))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "edit", "cell_id": "a", "old_string": f"line 1{end}{old}{end}", "new_string": f"line 1{end}"},
        {"edit_mode": "edit", "cell_id": "a", "old_string": "line 36", "new_string": "LINE 36"},
    ]
    proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
    change = journal.approve(proposed.id, decision=Decision({"a": [len(proposed.diff.cells[0].hunks) - 1]}))
    assert sources(asking) == {"a": before.replace("line 36", "LINE 36")}
    journal.undo(change, by_person=True)
    assert asking.got("n.ipynb").decode() == notebook(cell("a", before))


def test_lines_of_a_cell_that_a_person_left_alone_end_as_before(asking, journal):
    before = BEFORE.replace("\n", "\r\n")
    asking.put("n.ipynb", notebook(cell("a", before), cell("b", "b")))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"edit_mode": "edit", "cell_id": "a", "old_string": "line 36", "new_string": "LINE 36"},
        {"edit_mode": "replace", "cell_id": "b", "new_source": "B"},
    ]
    proposed = asking("edit_notebook", path="n.ipynb", edits=edits).change
    journal.approve(proposed.id, decision=Decision({"a": "all"}, content={"a": BEFORE.replace("line 20", "mine")}))
    assert sources(asking) == {"a": before.replace("line 20", "mine"), "b": "b"}


@pytest.mark.parametrize("decision", [Decision({"a": "all"}), Decision(content={"a": "mine"})])
def test_a_notebook_in_the_place_of_an_empty_file_is_decided_as_a_whole(asking, journal, decision):
    asking.put("n.ipynb", "")
    change = asking("write_file", path="n.ipynb", content=notebook(cell("a", "a"), cell("b", "b"))).change
    with pytest.raises(Invalid, match=r"decided as a whole \(not modified"):
        journal.approve(change.id, decision=decision)
    done = journal.approve(change.id)
    with pytest.raises(Invalid, match=r"decided as a whole \(not modified"):
        journal.undo(done, by_person=True, hunks={"a": "all"})
    journal.undo(done, by_person=True)
    assert asking.got("n.ipynb") == b""
