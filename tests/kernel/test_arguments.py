"""Parsing of `%fs`: words, help, and the edits of a cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.errors import Invalid
from jupyter_fstools.kernel import magic  # noqa: F401  (it fills the table)
from jupyter_fstools.kernel.arguments import SUBCOMMANDS
from jupyter_fstools.kernel.edit_blocks import NEW, OLD, edits_of
from jupyter_fstools.kernel.wording import quoted, words_of

LINES = st.lists(st.text("ab<>= \t'é\\", max_size=6).map(lambda text: f"{text}\n"), max_size=4).map("".join)

_FOLDED = ("case_insensitive", "literal")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_a_quoted_word_comes_back_as_it_was(word):
    assert words_of(quoted(word) if word else "''") == [word]


def test_backslashes_braces_dollars_and_hashes_mean_themselves():
    assert words_of(r"edit a\b.py --old '{x}\n' --new $y#z") == ["edit", r"a\b.py", "--old", r"{x}\n", "--new", "$y#z"]


def test_an_open_quote_is_refused():
    with pytest.raises(Invalid, match="quote"):
        words_of("read it's.py")


@pytest.mark.parametrize("value", ["-x", "--new", "-h", "", "- a"])
def test_a_value_may_begin_with_a_dash_or_be_empty(value):
    parsed = SUBCOMMANDS["edit"].parsed(["a.py", "--old", value, "--new", "y"])
    assert (parsed.old, parsed.new) == (value, "y")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grep x -i sub", {"pattern": "x", "path": "sub", "case_insensitive": True}),
        ("grep x -A3 sub -iF", {"pattern": "x", "path": "sub", "after_lines": "3"} | dict.fromkeys(_FOLDED, True)),
        ("grep x --limit 2 sub -l", {"pattern": "x", "path": "sub", "limit": "2", "output_mode": "files"}),
        ("grep x -i -- -sub", {"pattern": "x", "path": "-sub", "case_insensitive": True}),
        ("grep -- -x sub", {"pattern": "-x", "path": "sub"}),
        ("grep -i -- -x -i", {"pattern": "-x", "path": "-i", "case_insensitive": True}),
        ("grep -- --glob sub", {"pattern": "--glob", "path": "sub"}),
        ("grep --glob -h -i -- -x", {"pattern": "-x", "glob": "-h", "case_insensitive": True}),
        ("grep -5 -i 6", {"pattern": "-5", "path": "6", "case_insensitive": True}),
        ("glob '*.py' --limit 2 sub", {"pattern": "*.py", "path": "sub", "limit": "2"}),
        ("cell a.ipynb --outputs full b", {"path": "a.ipynb", "cell_id": "b", "outputs": "full"}),
    ],
)
def test_options_may_stand_between_the_other_arguments(line, expected):
    name, *words = words_of(line)
    assert vars(SUBCOMMANDS[name].parsed(words)) == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("grep x --nope sub", "--nope"),
        ("grep x sub -i more", "unrecognized arguments: more"),
        ("grep -i", "required: pattern"),
        ("grep x --limit", "--limit: expected one argument"),
        ("glob x --sort size sub", "--sort: invalid choice"),
    ],
)
def test_what_is_wrong_between_other_arguments_is_named(fs, line, said):
    with pytest.raises(Invalid, match=said):
        fs(line)


def test_what_is_not_given_is_not_there():
    assert vars(SUBCOMMANDS["read"].parsed(["a.py"])) == {"path": "a.py"}


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_explains_itself(fs, name):
    text = str(fs(f"{name} -h"))
    assert text.startswith(f"{SUBCOMMANDS[name].sign} {name}")
    assert SUBCOMMANDS[name].summary in text


def test_the_magic_alone_lists_every_subcommand(fs):
    assert all(f"{one.sign} {name} " in str(fs("")) for name, one in SUBCOMMANDS.items())
    assert list(SUBCOMMANDS)[:2] == ["read", "ls"]


@pytest.mark.parametrize("line", ["read", "read a b", "read --nope a", "edit a --if-stale maybe", "changes --limit x"])
def test_arguments_that_do_not_fit_are_refused_shortly(fs, line):
    with pytest.raises(Invalid) as refused:
        fs(line)
    assert "-h shows what it takes" in refused.value.hint


def test_an_unknown_subcommand_names_the_nearest(fs):
    with pytest.raises(Invalid) as refused:
        fs("reads a.py")
    assert "%fs read" in refused.value.hint


def test_a_body_goes_only_where_one_belongs(fs):
    with pytest.raises(Invalid, match="no text"):
        fs("read a.py", "x\n")
    with pytest.raises(Invalid) as refused:
        fs("write a.py")
    assert "%%fs write" in refused.value.hint


@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=3))
def test_the_text_between_the_marks_is_taken_exactly(pairs):
    body = "\n".join(f"<<<<<<< old\n{old}=======\n{new}>>>>>>> new\n" for old, new in pairs)
    assert edits_of(body) == [{"old_string": old, "new_string": new} for old, new in pairs]


def test_nothing_between_the_last_marks_deletes():
    assert edits_of("<<<<<<< old\nx\n=======\n>>>>>>> new") == [{"old_string": "x\n", "new_string": ""}]


def test_json_may_be_a_list_or_one_edit():
    one = {"old_string": "a", "new_string": "b"}
    assert edits_of('{"old_string": "a", "new_string": "b"}\n') == [one]
    assert edits_of('\n[{"old_string": "a", "new_string": "b"}]') == [one]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_too_deeply_is_refused(opening):
    with pytest.raises(Invalid, match="nested too deeply"):
        edits_of(opening * 100_000)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("x\n", 1),
        ("\n=======\n", 2),
        ("<<<<<<< old\na\n<<<<<<< old\n", 3),
        ("<<<<<<< old\na\n>>>>>>> new\n", 3),
        ("<<<<<<< old\na\n=======\nb\n=======\n>>>>>>> new\n", 5),
        ("\n<<<<<<< old\na\n", 2),
        ("<<<<<<< old\n=======\n", 1),
        ("<<<<<<< old\n=======\n>>>>>>> new\nmore\n", 4),
    ],
)
def test_a_malformed_block_is_refused_with_its_line(body, line):
    with pytest.raises(Invalid, match=f"line {line} of the body") as refused:
        edits_of(body)
    assert refused.value.details["line"] == line


@pytest.mark.parametrize("body", ["\n", "[1", '{"a": }'])
def test_a_body_without_edits_is_refused(body):
    with pytest.raises(Invalid):
        edits_of(body)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_help_shows_choices_without_the_markup_of_a_page(name):
    assert "<{" not in SUBCOMMANDS[name].help


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_lines_of_a_usage_begin_below_each_other(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    first, *more = SUBCOMMANDS[name].help.partition("\n\n")[0].splitlines()
    column = len(f"{SUBCOMMANDS[name].sign} {name} ")
    assert first.startswith(f"{SUBCOMMANDS[name].sign} {name}")
    assert [line for line in more if len(line) - len(line.lstrip()) != column] == []


def test_the_help_of_edit_shows_a_block_that_edit_takes(fs):
    lines = [line.strip() for line in str(fs("edit -h")).splitlines()]
    block = lines[lines.index(OLD) : lines.index(NEW) + 1]
    assert edits_of("\n".join(block)) == [
        {"old_string": "the lines to replace\n", "new_string": "the lines to put in their place\n"}
    ]
