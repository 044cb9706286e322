"""A search asks the policy for very many paths: the quick answers are the same as the careful ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_fstools.gate import path_rules
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.startup_files import DENY_READ, DENY_WRITE

names = st.sampled_from(
    ["a", "b", "A", ".ssh", ".SSH", ".git", "startup", ".ipython", "x.key", "$", "a\nb", "é", "E\u0301"]
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
parts = st.sampled_from(["a", "*", "**", "?", ".ssh", "x.*", "[ab]", "b", "startup", "\\$", "É", "*.{key,pem}"])
rules = st.builds(
    lambda negated, rooted, middle, folder: negated + rooted + "/".join(middle) + folder,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


def carefully(rules, path):
    """The verdict of the rules without any shortcut."""
    spec = path_rules._spec(rules)
    name = path_rules.folded(path)
    return not (spec.match_file(name) or spec.match_file(f"{name}/"))


@given(st.lists(rules, max_size=5), st.lists(paths, min_size=1, max_size=5))
def test_the_short_cut_never_says_otherwise(rules, paths):
    guard = Policy(deny_read=rules)
    for path in paths:
        assert guard.may_read(path) == carefully(rules, path)


@given(st.lists(rules, max_size=5), paths, st.lists(names, min_size=1, max_size=6))
@example(["b/a"], "b", ["a"])
@example(["b[!x]a"], "b", ["a"])
def test_the_quick_yes_is_true_for_every_name(rules, folder, names):
    guard = Policy(deny_read=[*rules, *DENY_READ], denied_keys=["/root/a/b"])
    for place in (folder, ""):
        if guard.may_read(place) and guard.all_allowed(place, names, f"/root/{place}".rstrip("/")):
            assert all(guard.may_read(f"{place}/{name}".lstrip("/"), f"/root/{place}/{name}") for name in names)


def test_most_folders_get_the_quick_yes():
    guard = Policy(deny_read=DENY_WRITE, denied_keys=["/home/me/.local/share/jupyter/runtime"])
    assert guard.all_allowed("src/deep", ["a.py", "b.py"], "/srv/src/deep")
    assert not guard.all_allowed("src", [".ssh"], "/srv/src")
    assert not guard.all_allowed("me/.local/share/jupyter", ["runtime"], "/home/me/.local/share/jupyter")
    assert not guard.all_allowed("", ["a.py"], "/home/me/.local/share/jupyter/runtime")
    assert guard.all_allowed("me", [".local"], "/home/me")


STARS = st.sampled_from(["a", "b", "**", "*", "*a*a*b", "a*b*", "*[ab]*a", "*[!a]*b*", "?*"])
DEEP_RULES = st.builds(
    lambda negated, start, middle, folder: negated + start + "/".join(middle) + folder,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/", "**/"]),
    st.lists(STARS, min_size=1, max_size=6),
    st.sampled_from(["", "/"]),
)
DEEP_PATHS = st.lists(st.sampled_from(["a", "b", "ab", "aab", "ba"]), min_size=1, max_size=8).map("/".join)


@settings(max_examples=500)
@given(st.lists(DEEP_RULES, min_size=1, max_size=3), st.lists(DEEP_PATHS, min_size=5, max_size=10))
@example(["a/**/b/**/c"], ["a/b/b/c", "a/b/b"])
def test_a_rule_that_tries_no_place_twice_means_the_same(rules, paths):
    guard = Policy(deny_read=rules)
    for path in paths:
        assert guard.may_read(path) == carefully(rules, path)


@pytest.mark.parametrize("rule", ["a/**/b/**/c", "**/a/**/b/**/c/**/d", "*a*a*a*a*b"])
def test_no_path_keeps_a_rule_busy(rule):
    """Nothing else runs in the server meanwhile."""
    guard = Policy(deny_read=[rule])
    begun = time.process_time()
    for path in ("/".join(["a/b"] * 1000), "/".join(["a" * 250] * 16)):
        assert guard.may_read(path)
    assert time.process_time() - begun < 1


def test_a_large_folder_keeps_a_rule_with_inner_folders_no_longer_busy_than_its_names():
    guard = Policy(deny_read=["data/**/private/"])
    begun = time.process_time()
    assert guard.all_allowed("data/sub", [f"file_{number}.csv" for number in range(20_000)], "/srv/data/sub")
    assert time.process_time() - begun < 1
    assert not guard.all_allowed("data/sub", ["a\nb", "private"], "/srv/data/sub")
    assert not guard.all_allowed("data/a\nb", ["c", "private"], "/srv/data/a\nb")


def test_a_newline_in_a_name_hides_nothing_from_a_rule():
    """The rules' expressions would take it for the end of the path."""
    guard = Policy()
    for folder in ("a\nb", "\n", "a\n", "x/\ny/z"):
        assert not guard.may_read(f"{folder}/.ssh/key")
        assert not guard.may_read(f"{folder}/jpserver-1.json")
