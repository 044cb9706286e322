"""The tree of refusals is complete as it is drawn."""

from __future__ import annotations

import json
import re

import pytest

from jupyter_fstools import errors
from jupyter_fstools.errors import FsToolsError, NotFound

TREE = re.compile(r"^[├└]── (\w+) +(\d{3})  (.+)$", re.MULTILINE)

# The refusal table of the specification.
STATUS = {
    "invalid": 400,
    **dict.fromkeys(("outside_root", "denied", "rejected", "disabled"), 403),
    "not_found": 404,
    **dict.fromkeys(("is_directory", "not_a_directory", "conflict"), 409),
    "stale": 412,
    "too_large": 413,
    **dict.fromkeys(("binary", "encoding"), 415),
    "out_of_range": 416,
    **dict.fromkeys(("no_match", "ambiguous", "no_op", "notebook"), 422),
    "unsaved": 423,
    "not_read": 428,
    "io": 500,
    "timeout": 504,
}


def refusals():
    return [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, FsToolsError)][1:]


def test_the_drawing_at_the_top_is_the_tree():
    drawn = [(name, int(status)) for name, status, _ in TREE.findall(errors.__doc__)]
    assert drawn == [(refusal.__name__, refusal.status) for refusal in refusals()]
    assert errors.__doc__.count("── ") == len(drawn)


def test_every_refusal_has_the_code_and_status_of_the_table():
    assert {refusal.code: refusal.status for refusal in refusals()} == STATUS
    assert len(refusals()) == len(STATUS)


@pytest.mark.parametrize("refusal", refusals())
def test_a_refusal_is_a_leaf_of_the_tree_and_explains_itself(refusal):
    assert refusal.__bases__ == (FsToolsError,)
    assert refusal.__doc__ and refusal.__doc__ != FsToolsError.__doc__


def test_a_refusal_says_what_why_and_what_next():
    refusal = errors.TooLarge("a.txt has 9 bytes", hint="Read a part.", size=9)
    assert str(refusal) == "too_large: a.txt has 9 bytes\nHint: Read a part."
    assert str(errors.Stale("a")) == "stale: a"
    body = {"code": "too_large", "message": "a.txt has 9 bytes", "hint": "Read a part.", "details": {"size": 9}}
    assert json.loads(json.dumps(refusal.as_dict())) == body
    assert refusal._render_traceback_() == ["too_large: a.txt has 9 bytes", "Hint: Read a part."]


def test_a_name_in_a_refusal_controls_no_terminal():
    refusal = NotFound("there is no 'b'", hint="Did you mean a\x1b[2J\u202eé\u200b\r.txt?\n1\tline")
    assert refusal._render_traceback_()[1:] == ["Hint: Did you mean a\\x1b[2J\\u202eé\\u200b\\r.txt?", "1\tline"]


def test_the_text_for_a_model_has_the_diff_and_what_people_decided():
    refusal = errors.Stale("a changed", hint="Look.", diff="-one\n+two", since_last_call="Change c1 was approved.")
    assert refusal.text == "stale: a changed\nHint: Look.\n-one\n+two\nChange c1 was approved."
    assert errors.Stale("a changed", diff="").text == "stale: a changed"


@pytest.mark.parametrize("message", ["it is a folder", "'a/b': 'a' is a file, not a folder."])
def test_nothing_follows_a_full_stop_where_nothing_was_modified(message):
    refusal = errors.Conflict(message)
    refusal.say_unmodified()
    assert refusal.message == f"{message.rstrip('.')} (not modified)" == refusal.args[0]
