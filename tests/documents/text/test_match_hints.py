"""The hint for a string that is not there names the true reason, the right line, and the exact text."""

from __future__ import annotations

import time

import pytest

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.text.disguises import has_line_numbers
from jupyter_fstools.documents.text.match_hints import MatchHint, hint_for_no_match

HEAD = "import os\n\n\n"


def hint(text: str, old: str, new: str = "something else", earlier: tuple[tuple[int, str], ...] = ()) -> MatchHint:
    content = BytesContent(text.encode())
    return hint_for_no_match(content.chunks, old, new, earlier, content.chunks)


NEAR = {
    "indentation": ("    if x:\n        return 1\n", "if x:\n    return 1\n", "indentation"),
    "indentation of one line": ("    return total\n", "\treturn total", "indentation"),
    "trailing space": ("a = 1   \nb = 2\n", "a = 1\nb = 2", "trailing_space"),
    "trailing space that is not there": ("total = 1\n", "total = 1  \n", "trailing_space"),
    "tabs within a line": ("name\t= value\n", "name = value", "spaces"),
    "curly quotes": ("say(\u201cit\u2019s\u201d)\n", 'say("it\'s")', "look_alikes"),
    "straight quotes": ("say('it')\n", "say(\u2018it\u2019)", "look_alikes"),
    "no-break space": ("10\u00a0000 items\n", "10 000 items", "spaces"),
    "en dash": ("pages 3\u20135\n", "pages 3-5", "look_alikes"),
    "zero width": ("foo\u200bbar()\n", "foobar()", "look_alikes"),
    "decomposed": ("cafe\u0301 au lait\n", "caf\u00e9 au lait", "look_alikes"),
    "composed": ("caf\u00e9 au lait\n", "cafe\u0301 au lait", "look_alikes"),
    "full width": ("\uff46\uff55\uff4c\uff4c = 1\n", "full = 1", "look_alikes"),
    "trailing space of short lines": ("a  \nb\n", "a\nb", "trailing_space"),
    "trailing space after a number": ("1  \n2\n", "1\n2", "trailing_space"),
    "trailing space after a letter": ("x\n", "x ", "trailing_space"),
    "trailing space after a short word": ("xy\n", "xy ", "trailing_space"),
    "trailing space after a bracket": ("foo(x)\n", ") ", "trailing_space"),
    "Cyrillic in a short word": ("cat\n", "c\u0430t", "look_alikes"),
    "Latin in a short word": ("c\u0430t\n", "cat", "look_alikes"),
    "Cyrillic": ("see the cat\n", "see the c\u0430t", "look_alikes"),
    "case": ("Return Total\n", "return total", "case"),
    "case of a short word": ("Xy\n", "xy", "case"),
    "case and spaces": ("Return  Total\n", "return total", "case_and_spaces"),
    "blank lines": ("a = 1\nb = 2\n", "a = 1\n\nb = 2\n", "blank_lines"),
    "missing blank lines": ("alpha\n\n\nbeta\ngamma\n", "alpha\nbeta\ngamma\n", "blank_lines"),
    "another body": ("def f(x):\n    return x + 1\n", "def f(x):\n    return x * 2\n", "nearest"),
    "runs of one character": (f"# {'─' * 37} Title\n", f"# {'─' * 32} Title\n", "nearest"),
    "runs alone": (f"{'─' * 32}\n", f"{'─' * 37}\n", "nearest"),
}


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_is_near_is_named_with_its_line_and_text(name, ending):
    there, old, reason = NEAR[name]
    found = hint((HEAD + there + "end\n").replace("\n", ending), old)
    assert found.details["reason"] == reason
    assert found.details["nearest_line"] == 4
    assert there.startswith(found.details["nearest_text"])
    assert f"from line 4:\n4\t{there.split(chr(10))[0]}" in found.text


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("curly quotes", "old_string has U+0022, the file has U+201C; old_string has U+0027, the file has U+2019"),
        ("en dash", "old_string has U+002D, the file has U+2013"),
        ("zero width", "old_string has nothing, the file has U+200B"),
        ("no-break space", "old_string has U+0020, the file has U+00A0"),
        ("decomposed", "old_string has U+00E9, the file has U+0065 U+0301"),
        ("composed", "old_string has U+0065 U+0301, the file has U+00E9"),
        ("Cyrillic in a short word", "(old_string has U+0430, the file has U+0061)"),
        ("Latin in a short word", "(old_string has U+0061, the file has U+0430)"),
        ("Cyrillic", "(old_string has U+0430, the file has U+0061)"),
        ("runs of one character", "old_string has 32 of U+2500, the file has 37 of U+2500"),
        ("runs alone", "old_string has 37 of U+2500, the file has 32 of U+2500"),
    ],
)
def test_characters_that_differ_are_named_by_code_point_and_count(name, points):
    there, old, _ = NEAR[name]
    assert points in hint(HEAD + there, old).text


def test_plain_characters_that_differ_are_shown_and_not_named_by_code_point():
    said = hint("2999,29990,R2\n3000,30001,R0\n", "3000,30000,R0").text
    assert said == "The nearest text in the file differs. The file has, from line 2:\n2\t3000,30001,R0"


def test_only_the_quoted_part_of_a_line_is_compared_by_code_points():
    said = hint('x\nprint(greeting("Ada"))\n', "“Ada”").text
    assert "(old_string has U+201C, the file has U+0022; old_string has U+201D, the file has U+0022)" in said


def test_a_line_that_goes_on_after_the_quoted_text_is_named():
    found = hint("a\nprint(1)  # one\nb\n", "a\nprint(1)\n", "print(1)")
    assert found.details == {"reason": "line_goes_on", "nearest_line": 2}
    assert "Line 2 goes on" in found.text
    assert hint("print(1) \nprint(1)  # one\n", "print(1)\n").details["reason"] == "trailing_space"


def test_swapped_or_applied_already():
    found = hint("a\nb\nprint('new')\n", "print('old')", "print('new')")
    assert found.details == {"reason": "swapped", "nearest_line": 3}
    assert "at line 3" in found.text and "already applied" in found.text and "swap" in found.text


def test_a_new_string_that_is_everywhere_does_not_hide_the_true_reason():
    found = hint("pass\n    total = 1\n", "\ttotal = 1", "pass")
    assert found.details["reason"] == "indentation" and found.details["nearest_line"] == 2


def test_an_edit_of_the_same_call_that_did_it_already_is_named():
    found = hint("b", "a\r\n", "c", ((1, "x"), (3, "a\n")))
    assert found.details == {"already_applied_by": 3} and "edit 3" in found.text


def test_pasted_line_numbers_are_named():
    found = hint("x\nfoo\n\nbar\n", "     2\tfoo\n     3\t\n     4\tbar")
    assert found.details == {"reason": "line_numbers"} and "line-number prefix" in found.text


@pytest.mark.parametrize(
    ("old", "reason", "said"),
    [
        ("     4\u2192def f(x):\n     5\u2192    return x", "line_numbers", "line-number prefix"),
        ("4: def f(x):\n5:     return x", "line_numbers", "line-number prefix"),
        ("L4: def f(x):", "line_numbers", "line-number prefix"),
        ("00004| def f(x):\n00005|     return x", "line_numbers", "line-number prefix"),
        ("4:def f(x):", "line_numbers", "line-number prefix"),
        (r"def f(x):\n    return x", "escaped", "backslash"),
        (r"def f(x):\r\n    return x", "escaped", "backslash"),
        (r"say(\"it\")", "escaped", "backslash"),
        (r"caf\u00e9 \uD83D\ude00", "escaped", "backslash"),
        ("def f(x):\r\r\n    return x\r\r\n", "carriage_return", "a \\r too many"),
        ("if a &lt; b &amp;&amp; c:", "entities", "HTML entities"),
        ("```python\ndef f(x):\n    return x\n```", "code_fence", "code fence"),
        ("```\ndef f(x):\n```\n", "code_fence", "code fence"),
        ("def f(x):\n    ...\nif a", "placeholder", "stands for lines left out"),
        ("def f(x):\n# ... existing code ...\nif a", "placeholder", "stands for lines left out"),
    ],
)
def test_signs_that_were_copied_with_the_text_are_named(old, reason, said):
    found = hint(HEAD + 'def f(x):\n    return x\n\nsay("it")\ncaf\u00e9 \U0001f600\nif a < b && c:\n', old)
    assert found.details["reason"] == reason and said in found.text


LONG = 1_000_000
"""Signs in a row: in quadratic time they would take longer than a test may."""


@pytest.mark.parametrize(
    "old", [" " * LONG, "\r" * LONG, "\t" * LONG + "x", "x\n" + " " * LONG, f"&#{'1' * LONG};", f"{'1' * LONG}\tx"]
)
def test_a_long_run_of_one_character_is_looked_at_in_linear_time(old):
    assert hint(HEAD, old).text


def test_many_different_dots_that_the_file_has_are_looked_at_promptly():
    lines = [f"... {number}" for number in range(200_000)]
    assert "stands for" not in hint("\n".join(lines), "\n".join(reversed(lines))).text


def test_thousands_of_digits_are_no_line_number():
    assert not has_line_numbers(f"{'1' * 5_000}\tx", lambda: "x")


def test_a_new_string_with_the_same_signs_is_named_too():
    text = "x\nfoo\nbar\n"
    assert "from old_string and new_string;" in hint(text, "2\tfoo", "2\tbaz").text
    assert "from old_string;" in hint(text, "2\tfoo", "baz").text


def test_dots_that_the_file_has_are_no_placeholder():
    assert hint("class A:\n    ...\n\nb = 1\n", "class B:\n    ...\n\nb = 1\n").details["reason"] == "nearest"


def test_a_table_that_begins_with_numbers_is_not_said_to_have_line_numbers():
    assert hint("1\tapple\n2\tpear\n", "1\tapple\n2\tplum\n").details["reason"] == "nearest"


def test_the_marker_of_a_cut_line_is_named():
    found = hint("x" * 5000, "xx [... 3000 more characters: read with offset=1, column=2001]")
    assert found.details == {"reason": "truncated_line"}


def test_a_missing_final_newline_is_named():
    found = hint("foo\nbar", "foo\nbar\n")
    assert found.details == {"reason": "no_final_newline", "nearest_line": 1}
    assert hint("foo\r\nbar", "bar\r\n").details == {"reason": "no_final_newline", "nearest_line": 2}


def test_a_missing_blank_line_at_the_end_is_not_called_a_missing_final_newline():
    assert "The file ends before the last newline" in hint("foo\n", "foo\n\n").text


def test_a_line_that_merely_contains_the_text_is_not_said_to_differ_in_spaces():
    found = hint("max = 1500\n", "x = 1\n")
    assert found.details.get("reason") not in ("trailing_space", "indentation", "spaces")


@pytest.mark.parametrize("old", ["x ", "ma ", "x\t", "A "])
def test_a_part_of_a_word_is_not_said_to_differ_in_spaces_or_case(old):
    assert hint("max=1500\n", old).details == {}


def test_the_same_first_and_last_line_do_not_make_a_match():
    found = hint("begin block\none\ntwo\nend block\n", "begin block\nother\nend block\n")
    assert found.details["reason"] == "nearest" and found.details["nearest_line"] == 1


def test_text_like_nothing_in_the_file_gets_no_candidate():
    assert hint("alpha\nbeta\n", "%%% 12345 %%%").details == {}
    assert hint("", "foo").details == {"reason": "empty"} and "is empty" in hint("", "foo").text
    emptied = hint("", "foo", earlier=((1, "all\n"),))
    assert emptied.details == {"reason": "emptied_by_earlier"} and "is empty" not in emptied.text


def test_a_long_candidate_is_bounded():
    body = "".join(f"    line {number} {'x' * 150}\n" for number in range(90))
    found = hint(body, body.replace("    ", "\t"))
    assert found.details["reason"] == "indentation" and "(of 90 lines)" in found.text
    assert len(found.text) < 4000


@pytest.mark.parametrize(
    ("old", "word"), [("Adda", "Ada"), ("retrnu", "return"), ("    retrnu\n", "return"), ("-> Strang", "String")]
)
def test_a_short_string_with_a_slip_gets_the_line_of_the_word_that_it_is_like(old, word):
    text = HEAD + "def name(who: Ada) -> String:\n    return who.name\n"
    found = hint(text, old)
    line = 4 + (word == "return")
    assert (found.details["reason"], found.details["nearest_line"]) == ("nearest", line)
    assert f"The nearest word in the file is '{word}'" in found.text and f"\n{line}\t" in found.text


@pytest.mark.parametrize("old", ["of", "xyz", "Beda", "another line\nAdda"])
def test_a_word_like_no_other_gets_no_line(old):
    assert hint("for Ada\n", old).details == {}


@pytest.mark.parametrize("old", ["\n", "\n\n\n\n", "   ", "\t", "é", "\u200b", "\ufeff", "\r", "0", "}\n"])
def test_a_very_short_string_gets_a_hint_too(old):
    assert hint("a\nb" * 10, old).text


@pytest.mark.parametrize("mark", ["\u0316", "\uff9e", "\u0344"])
def test_a_line_of_combining_characters_is_compared_in_linear_time(mark):
    """Sorting them, as Unicode's normal forms do, takes quadratic time, in which nothing else runs."""
    begun = time.process_time()
    assert hint("a" + f"\u0301{mark}" * 1_000_000, "caf\u00e9 au lait").details == {}
    assert time.process_time() - begun < 3
    assert hint(f"e\u0301{mark * 20}x\n", f"\u00e9{mark * 20}x").details["reason"] == "look_alikes"
