"""Hints name only tools and arguments that each surface has, in its own words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import jupyter_fstools
import jupyter_fstools.kernel.magic  # Subcommands register how they are spelled.
from jupyter_fstools.kernel.wording import in_words_of_the_magic
from jupyter_fstools.tools import TOOLS

PACKAGE = Path(jupyter_fstools.__file__).parent
SURFACES = ("kernel/", "command_line/", "server/rest/", "server/routes.py", "client/", "testing/", "config.py")
"""Their texts reach only their own callers; the modules below speak to the callers of all surfaces."""
MARKED = re.compile(r"`(\w+)(?:=[^`]*)?`")
PERSONS = {"changes": ("journal/journal.py", "journal/listing.py")}
"""Names used only in texts for persons, whose surfaces all list changes, and the modules that use them."""
UNMARKED = re.compile(rf"\b({'|'.join(name for name in TOOLS if '_' in name)})\b|%fs|\b(GET|POST) /")
POSITIONAL = {"path", "cell_id", "old_string", "new_string"}
"""Arguments that %fs takes without an option, or below its line."""


def texts_of(tree):
    """The texts in a module except docstrings; each inserted value is a 1."""
    shown = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (shown | parts):
            yield node.value


def below_the_surfaces():
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE).as_posix()
        if not place.startswith(SURFACES):
            yield place, ast.parse(file.read_text("utf-8"))


def is_hint(node):
    """Whether a node of a module names a hint: as an argument, or as a variable or an attribute."""
    named = [node.arg] if isinstance(node, ast.keyword) else []
    for target in node.targets if isinstance(node, ast.Assign) else []:
        named += [getattr(target, "id", None) or getattr(target, "attr", "")]
    return any("hint" in (name or "").lower() for name in named)


@pytest.fixture(scope="module")
def trees():
    return list(below_the_surfaces())


@pytest.fixture(scope="module")
def terms(trees):
    texts = [(place, text) for place, tree in trees for text in texts_of(tree) if "\n" not in text]
    return {(place, term) for place, text in texts for term in MARKED.findall(text)}


@pytest.fixture(scope="module")
def hints(trees):
    return {
        (place, text) for place, tree in trees for node in ast.walk(tree) if is_hint(node) for text in texts_of(node)
    }


def arguments():
    """The names of all arguments, those within edits included."""
    schemas = [tool.arguments.model_json_schema() for tool in TOOLS.values()]
    members = [one for schema in schemas for one in (schema, *schema.get("$defs", {}).values())]
    return {name for one in members for name in one.get("properties", {})}


def test_hints_are_found(terms, hints):
    assert len(terms) > 50
    assert len(hints) > 200
    assert ("gate/read_tracker.py", "read_file") in terms


def test_what_a_hint_marks_is_a_tool_or_an_argument(terms):
    there = TOOLS.keys() | arguments()
    assert [(place, term) for place, term in terms if term not in there and place not in PERSONS.get(term, ())] == []


def test_what_a_hint_marks_can_be_typed_in_a_line_of_the_magic(terms):
    as_they_are = {term for _, term in terms if in_words_of_the_magic(f"`{term}`") == f"`{term}`"}
    assert as_they_are <= POSITIONAL


def test_a_hint_marks_the_tools_that_it_names_and_nothing_that_one_surface_alone_has(hints):
    assert [(place, hint) for place, hint in hints if UNMARKED.search(MARKED.sub("", hint))] == []
