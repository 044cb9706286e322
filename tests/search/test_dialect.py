"""The regular expressions that grep takes, and how both engines read them."""

from __future__ import annotations

import re

import pytest

from jupyter_fstools.errors import Invalid
from jupyter_fstools.search.regex.dialect import compile_expression


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "missing \\)"),
        ("a)", "unbalanced"),
        ("[abc", "unterminated character set"),
        ("*a", "nothing to repeat"),
        ("a{3,2}", "min repeat greater"),
        ("[z-a]", "bad character range"),
        ("a\\", "bad escape"),
        (r"\y", "bad escape"),
        ("interface{", "meant literally"),
        ("(?P<n>a)(?P<n>b)", "redefinition"),
        ("a{1001}", "more than 1000"),
        ("a{1000000}", "more than 1000"),
        ("a{1," + 5000 * "9" + "}", "more than 1000"),
        ("(a{100}){100}", "more than 1000"),
        ("(" * 60 + ")" * 60, "deeper"),
    ],
)
def test_a_pattern_that_is_not_well_formed_is_refused_with_the_reason(pattern: str, says: str) -> None:
    """The reason names the place in the pattern, too."""
    with pytest.raises(Invalid, match=says):
        compile_expression(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", "(?>a)", "a*+", "a++", "a**", r"\p{L}",
     r"\Aa", r"a\z", r"a\Z", r"\<a", "(?x) a", "a(?i)b", "(?#c)", r"\Qa\E", "[a[b]]", "[a&&b]", "[a--b]", r"\012",
     "(?(1)a|b)"],
)  # fmt: skip
def test_what_the_engines_read_differently_is_refused_by_both(pattern: str) -> None:
    with pytest.raises(Invalid):
        compile_expression(pattern)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (r"\p{L}", "[^\\W\\d_]"),
        (r"\pL", "[[:alpha:]]"),
        (r"[\p{L}]", "[[:alpha:]]"),
        (r"\A", "^ for the start"),
        (r"\z", "$ for the end"),
        ("(?x) d e f", "Only i, s and m are supported"),
        ("(?x) d e f", "Leave x out"),
        (r"(?-u:\w)", "[0-9A-Za-z_]"),
        ("a(?i)b", "at the start of the pattern"),
        ("[a-z&&[^d]]", "[a-ce-z]"),
        (r"\b{start}a", "Write \\b."),
        ("(?#c)", "Leave it out."),
        ("[z-a]", "up to a later one"),
        ("\0", "Take it out"),
        ("\ud800", "Take it out"),
        ("x" * 20_000, "several calls"),
        ("a{1000000}", "at most 1000 times"),
        ("(a{100}){100}", "+ or *"),
        ("a{,}", "Escape a literal brace"),
    ],
)
def test_a_refusal_says_what_to_write_instead(pattern: str, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        compile_expression(pattern)
    assert told in refused.value.hint
    assert refused.value.details["field"] == "pattern"


@pytest.mark.parametrize(
    "instead", [r"[[:alpha:]]", r"[^\W\d_]", r"[[:punct:]]", r"[ \t]", "[a-ce-z]", "[0-9A-Za-z_]", r"\&", r"\x41"]
)
def test_what_a_refusal_says_to_write_is_taken(instead: str) -> None:
    assert compile_expression(instead)


def test_a_refusal_shows_the_pattern_as_it_was_typed() -> None:
    with pytest.raises(Invalid, match=re.escape(r"of '\w+\p{L}\x1b'")):
        compile_expression("\\w+\\p{L}\x1b")


@pytest.mark.parametrize("pattern", ["", "a\0b", "\ud800", "x" * 20_000])
def test_text_that_no_line_holds_is_refused(pattern: str) -> None:
    """An empty pattern would match everything."""
    for literal in (False, True):
        with pytest.raises(Invalid):
            compile_expression(pattern, literal=literal)


@pytest.mark.parametrize("bound", ["0" * 5000 + "3", "0" * 5000 + "3,", "," + "0" * 5000 + "3"])
def test_a_repetition_may_have_leading_zeros(bound: str) -> None:
    """Python refuses to read numbers of more than 4300 digits."""
    assert compile_expression(f"a{{{bound}}}")


@pytest.mark.parametrize("pattern", ["a\nb", r"a\nb", r"[\n]"])
def test_a_line_feed_needs_multiline(pattern: str) -> None:
    with pytest.raises(Invalid, match="line feed"):
        compile_expression(pattern)
    assert compile_expression(pattern, multiline=True)


@pytest.mark.parametrize(
    ("pattern", "required"),
    [("foo", "foo"), (r"def \w+_x\(", "def "), ("(abc)+d", "abc"), ("ab?c+", "a"), ("a|bcd", ""), (r"\.py$", ".py")],
)
def test_the_longest_text_that_every_match_holds_is_known(pattern: str, required: str) -> None:
    assert compile_expression(pattern).required == required
    assert compile_expression(pattern, case_insensitive=True).required == ""


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [("foo", 0), (r"\w+x", 1), (".*a.*b", 2), ("(a+)+$", None), ("(a|a)*b", None), ("(a?){25}", None), ("a{2,9}", 0)],
)
def test_how_much_a_pattern_can_cost_is_known(pattern: str, degree: int | None) -> None:
    assert compile_expression(pattern).degree == degree


@pytest.mark.parametrize("text", ["(.*)", "[a-z]", "$19.99", "a|b", "^", "é\\n", "#&~-", "{}", "a b\tc"])
def test_literal_text_means_itself(text: str) -> None:
    expression = compile_expression(text, literal=True)
    assert re.fullmatch(expression.plain, text)
    assert re.fullmatch(expression.write_full(), text)


@pytest.mark.parametrize("opening", ["(", "(?:", "(?i:", "(a|"])
def test_groups_nested_without_end_are_refused(opening: str) -> None:
    with pytest.raises(Invalid, match="nested deeper than 50"):
        compile_expression(opening * 2000 + "a" + ")" * 1000)
