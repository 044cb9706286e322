import pytest


def is_stub(result):
    stub = result.data["unchanged"]
    assert stub == (result.data["content"] is None) == ("unchanged" in result.text)
    return stub


def test_the_same_read_again_is_answered_shortly(call):
    """Unless the caller asks for the text again."""
    call.put("a", text := "line\n" * 50)
    assert not is_stub(call("read_file", path="a"))
    again = call("read_file", path="a")
    assert is_stub(again) and again.data["total_lines"] == 50 and not again.data["truncated"]
    assert call("read_file", path="a", force=True).data["content"] == text
    assert is_stub(call("read_file", path="./a", force="false"))


@pytest.mark.parametrize(
    "other",
    [
        {"offset": 2},
        {"limit": 3},
        {"line_numbers": False},
        {"column": 2},
        {"max_line_length": 3},
        {"max_output_bytes": 20},
        {"encoding": "latin-1"},
    ],
)
def test_another_view_is_shown(call, other):
    """Any argument that changes the text."""
    call.put("a", "line\n" * 20)
    call("read_file", path="a")
    assert not is_stub(call("read_file", path="a", **other))
    assert is_stub(call("read_file", path="a", **other)) == ("column" not in other)
    # Edits are read by the encoding that was named last.
    assert is_stub(call("read_file", path="a")) == ("encoding" not in other)


def test_the_whole_is_shown_after_a_window_and_after_a_refusal(call):
    call.put("a", text := "".join(f"line {n}\n" for n in range(20)))
    call("read_file", path="a", offset=1, limit=10)
    call.refused("out_of_range", "read_file", path="a", offset=30)
    assert call("read_file", path="a").data["content"] == text
    call.refused("out_of_range", "read_file", path="a", offset=30)


def test_after_an_own_change_the_whole_is_shown(call):
    call.put("a", "one\ntwo\n")
    call("read_file", path="a")
    call("edit_file", path="a", old_string="two", new_string="2")
    assert call("read_file", path="a").data["content"] == "one\n2\n"
    call("write_file", path="a", content="three\n")
    assert call("read_file", path="a").data["content"] == "three\n"
    call("undo", path="a")
    assert call("read_file", path="a").data["content"] == "one\n2\n"


def test_after_another_ones_change_the_whole_is_shown_also_when_it_is_taken_back(call):
    call.put("a", "one\n")
    call("read_file", path="a")
    call.put("a", "two\n")
    assert not is_stub(call("read_file", path="a"))
    call.put("a", "one\n")
    assert not is_stub(call("read_file", path="a"))


def test_a_file_that_was_only_touched_or_got_other_line_endings_is_unchanged(call):
    call.put("a", "one\ntwo\n")
    call("read_file", path="a")
    call.put("a", "one\r\ntwo\r\n")
    again = call("read_file", path="a")
    assert is_stub(again) and again.data["eol"] == "crlf"


def test_every_session_is_shown_the_text(call):
    call.put("a", "one\n")
    call("read_file", path="a")
    other = call.session("other")
    assert not is_stub(other("read_file", path="a")) and is_stub(other("read_file", path="a"))
    assert not is_stub(call.session("default", user="bob")("read_file", path="a"))


def test_an_empty_file_read_again_is_unchanged(call):
    call.put("a", "")
    call("read_file", path="a")
    assert is_stub(call("read_file", path="a"))


def test_a_stale_edit_tells_only_of_lines_that_were_shown(call):
    text = "".join(f"line {number}\n" for number in range(1, 51))
    call.put("a", text)
    call("read_file", path="a", offset=10, limit=5)
    call.put("a", text.replace("line 12\n", "LINE 12\n").replace("line 40\n", "LINE 40\n"))
    diff = call.refused("stale", "edit_file", path="a", old_string="line 13", new_string="x").details["diff"]
    assert "-line 12\n+LINE 12\n" in diff and "40" not in diff
