"""The patterns of JSON mean the same in every Python that the project runs on."""

import re
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from jupyter_fstools.documents.notebook import json_patterns
from jupyter_fstools.documents.notebook.json_patterns import ITEMS, MEMBERS, NUMBER, STRING_BODY

PATTERNS = {name: value for name, value in vars(json_patterns).items() if isinstance(value, re.Pattern)}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_turn_that_fails_in_its_middle_is_taken_back_by_older_pythons_too(name):
    """Before 3.11.5 that holds only where an iteration may be empty; python/cpython#106052."""

    def unsafe(parsed):
        for op, value in parsed:
            if op is sre.POSSESSIVE_REPEAT and len(value[2]) == 1 and value[2][0][0] in (sre.IN, sre.LITERAL):
                continue
            if op is sre.POSSESSIVE_REPEAT:
                turn = value[2]
                yield from () if len(turn) == 1 and turn[0][0] is sre.BRANCH and not turn[0][1][1][-1] else [turn]
            for part in _parts(value):
                yield from unsafe(part)

    assert list(unsafe(parser.parse(PATTERNS[name].pattern))) == []


def _parts(value):
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _parts(part)


@pytest.mark.parametrize(
    ("pattern", "raw", "passed"),
    [
        (ITEMS, b'"a", "b"]', b'"a", "b"'),
        (ITEMS, b'"a",\n "b\\n"\n]', b'"a",\n "b\\n"\n'),
        (ITEMS, b'[1, [2]], "b"]', b""),
        (ITEMS, b'"a", "\\u"]', b'"a",'),
        (ITEMS, b"1, 2., 3]", b"1,"),
        (MEMBERS, b'"a": 1, "b": [[2]]}', b'"a": 1,'),
        (MEMBERS, b'"a": {"b": [1, "c"]}}', b""),
        (STRING_BODY, b'a\\"b\\u12"', b'a\\"b'),
        (NUMBER, b"1.5e3", b"1.5e3"),
        (NUMBER, b"1.", b"1"),
        (NUMBER, b"1e", b"1"),
    ],
)
def test_a_run_ends_before_what_it_cannot_pass(pattern, raw, passed):
    assert pattern.match(raw)[0] == passed
