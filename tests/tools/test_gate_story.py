from jupyter_fstools.journal.journal import Journal


def test_read_edit_stale_refusal_and_undo(call):
    call.put("a.py", "x = 1\ny = 2\n")
    call("read_file", path="a.py")
    call("edit_file", path="a.py", old_string="x = 1", new_string="x = 10")
    call.put("a.py", "x = 10\ny = 3\n")
    refusal = call.refused("stale", "edit_file", path="a.py", old_string="x = 10", new_string="x = 11")
    assert "+y = 3" in refusal.details["diff"] and "-y = 2" in refusal.details["diff"]
    call("read_file", path="a.py")
    call("edit_file", path="a.py", old_string="x = 10", new_string="x = 11")
    assert call.got("a.py") == b"x = 11\ny = 3\n"
    call("undo", path="a.py")
    assert call.got("a.py") == b"x = 10\ny = 3\n"


def test_a_person_s_undo_is_news_to_the_assistant_of_the_same_session(call):
    call.put("a.py", "x = 1\n")
    call("read_file", path="a.py")
    change = call("edit_file", path="a.py", old_string="x = 1", new_string="x = 2").change
    journal = Journal(call.workspace)
    journal.undo(journal.change(change.id), by_person=True)
    assert (
        "-x = 2\n+x = 1"
        in call.refused("stale", "edit_file", path="a.py", old_string="x", new_string="y").details["diff"]
    )


def test_a_file_that_others_moved_has_to_be_read_at_its_new_place(call):
    call.put("a.py", "x = 1\n")
    call("read_file", path="a.py")
    (call.root / "a.py").rename(call.root / "b.py")
    call.refused("not_read", "edit_file", path="b.py", old_string="x", new_string="y")
    call.refused("not_found", "edit_file", path="a.py", old_string="x", new_string="y")
