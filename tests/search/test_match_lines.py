"""Finding the lines of a text that match."""

from __future__ import annotations

import re
import time
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.search import match_lines
from jupyter_fstools.search.match_lines import Expensive, Finder, Hit, lines_with
from jupyter_fstools.search.regex.dialect import compile_expression

EVERY = 10**9
PATTERNS = [
    *("a", "ab", "b.a", r"\w+b", "a|b", "a*", "^", "$", "^$", r"\bB"),
    *("[^a]", "A.*b", r"\s", "é", "(?i:A)b", "\u0131"),
]
texts = st.lists(st.sampled_from([*"abAB \n\n", "\r\n", "é", "\u0130", "\u0131"]), max_size=20).map("".join)


def finder(pattern: str, *, fold: bool = False, steps: int | None = None, multiline: bool = False) -> Finder:
    expression = compile_expression(pattern, case_insensitive=fold, multiline=multiline)
    return Finder(
        expression.plain,
        expression.write_full,
        required=expression.required,
        folded=expression.folded,
        ignore_case=expression.ignore_case,
        multiline=multiline,
        degree=expression.degree or 0,
        factor=expression.factor,
        steps=steps,
    )


def line_by_line(pattern: str, fold: bool, text: str) -> list[Hit]:
    """The same by one plain search in each line."""
    expression = compile_expression(pattern, case_insensitive=fold)
    swapped = text.translate(match_lines.SWAPPED_I)
    source = expression.plain if text.isascii() else expression.write_full()
    search = re.compile(source, re.IGNORECASE if fold else 0).search
    hits, start = [], 0
    for number, line in enumerate(swapped.removesuffix("\n").split("\n") if text else [], 1):
        if found := search(line):
            hits.append((number, found.start(), found.end() - found.start(), start))
        start += len(line) + 1
    return hits


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=texts, fold=st.booleans(), most=st.sampled_from([0, 1, 2, EVERY]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_finding_and_counting_agree_with_a_search_in_each_line(
    pattern: str, text: str, fold: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a text is counted in pieces."""
    monkeypatch.setattr(match_lines, "PIECE_CHARACTERS", 2)
    expected = line_by_line(pattern, fold, text)
    assert finder(pattern, fold=fold).find(text, most) == (len(expected), expected[:most])
    assert finder(pattern, fold=fold).find(text, most, count=False)[1] == expected[:most]


def test_what_is_no_line_is_not_counted() -> None:
    for text, lines in {"": 0, "\n": 1, "a": 1, "a\n": 1, "a\n\n": 2, "a\n\nb": 3}.items():
        assert finder("x*").find(text, 0) == (lines, [])


def test_a_match_over_lines_says_where_its_first_line_begins() -> None:
    assert finder(r"b\na", multiline=True).find("a\nab\nab\na", EVERY) == (2, [(2, 1, 3, 2), (3, 1, 3, 5)])


@pytest.mark.parametrize("pattern", [r"\w+x", r"x\w+", r"(?i)x\w+", r"\w+(1|2)"])
def test_only_long_lines_can_take_long(pattern: str) -> None:
    """Only lines that could match at all count."""
    short, long = "ax1\n" * 10_000, "ax1\n" + "b" * 5000 + "x1\n"
    allowed = finder(pattern, steps=1_000_000)
    assert allowed.find(short, 0) == (10_000, [])
    with pytest.raises(Expensive):
        allowed.find(long, 0)
    if "x" in pattern:
        assert allowed.find(long.replace("bx", "b-"), 0) == (1, [])


@pytest.mark.parametrize("pattern", [r"\w{1,1000}\d", "[^x]{0,900}x", "(ab){500}c", r"\w{0,30}\d{0,30}!", r"\w{500}!"])
@pytest.mark.parametrize("multiline", [False, True])
def test_bounded_repetitions_take_long_on_a_large_text(pattern: str, multiline: bool) -> None:
    """Each character may be tried as often as the repetition allows; only lines that could match at all count."""
    allowed = finder(pattern, steps=10_000_000, multiline=multiline)
    assert allowed.find("ab?\n" * 100, 0) == (0, [])
    with pytest.raises(Expensive):
        allowed.find("ab?xc!\n" * 10_000, 0)
    if pattern[-1] in "x!":
        assert allowed.find("ab?\n" * 10_000, 0) == (0, [])


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_lines_of_a_text_come_to_an_end(end: str) -> None:
    """Where no text is known that every match contains, every line is tried, each once."""
    assert list(islice(lines_with("", f"a\n\nb{end}"), 9)) == [(0, 1), (2, 2), (3, 4)]
    text = "a1\n" * 10 + "-" * 50 + end
    assert finder(r"[a-f]+\d*", steps=150_000).find(text, 0) == (10, [])


def test_many_matches_on_a_long_line_do_not_take_long_each() -> None:
    """Where a match may span lines, and where none can."""
    began = time.monotonic()
    text = "hit " * 600_000 + "\nhit "
    assert finder(r"hit\s", multiline=True).find(text, EVERY) == (2, [(1, 0, 4, 0), (2, 0, 4, 2_400_001)])
    assert time.monotonic() - began < 20


def test_too_many_matches_over_lines_are_not_taken_up_one_by_one() -> None:
    """Also of a pattern that is cheap by itself."""
    assert finder(r"hit\s", multiline=True, steps=100_000).find("hit " * 900, EVERY)[0] == 1
    with pytest.raises(Expensive):
        finder(r"hit\s", multiline=True, steps=100_000).find("hit " * 1100, EVERY)


@pytest.mark.parametrize("pattern", [r"\n", r"\s", r"\W", r"\D", "[^a]", r"[a\n]", "(?s).", "(?s:.)b", r"a\x0a"])
def test_a_pattern_that_can_match_a_line_feed_goes_over_lines(pattern: str) -> None:
    assert compile_expression(pattern, multiline=True).over_lines


@pytest.mark.parametrize("pattern", ["a", ".", "^a$", r"\B", r"\S", r"\w+", r"\[s", "[]a]", r"[\]\\]", r"\.|\\n"])
def test_no_other_pattern_does(pattern: str) -> None:
    """It answers as it does without `multiline`, and as fast."""
    assert not compile_expression(pattern, multiline=True).over_lines
