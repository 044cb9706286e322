"""The glob pattern language."""

from __future__ import annotations

import contextlib
import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.errors import Invalid, OutsideRoot
from jupyter_fstools.globs.patterns import LONGEST_PATTERN, compile_glob
from jupyter_fstools.globs.segments import escaped


def fits(pattern: str, path: str, **options: object) -> bool:
    folder, _, name = path.rpartition("/")
    return bool(compile_glob(pattern, **options).matching(folder, [name]))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("/*.py", "a.py", True),
        ("/*.py", "src/a.py", False),
        ("./*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("src/**/*.py", "lib/a.py", False),
        ("src/**", "src/b/c/a.py", True),
        ("a/**/b/**/c", "a/x/b/b/y/c", True),
        ("**", "any/where.txt", True),
    ],
)
def test_where_a_pattern_looks(pattern: str, path: str, expected: bool) -> None:
    """Without a slash at any depth, with one from the folder searched; `**` also matches no folder."""
    assert fits(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.{py,md}", ["a.py", "a.md"], ["a.txt"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["b", "d"]),
        ("{a,b,}", ["a", "x/b"], ["c"]),
        ("{a,}{b,}", ["ab", "a", "b"], ["ba"]),
        ("{src,lib}/*.c", ["src/a.c", "lib/a.c"], ["a.c"]),
        ("[ab].x", ["a.x", "b.x"], ["c.x"]),
        ("[!a].x", ["b.x"], ["a.x"]),
        ("[^a].x", ["b.x"], ["a.x"]),
        ("[a-c]?", ["ax", "cy"], ["d1", "a", "a12"]),
        ("file?.txt", ["file1.txt", "fileA.txt"], ["file10.txt", "file.txt"]),
        ("[]x]", ["]", "x"], ["["]),
        ("[[:digit:]]*", ["1a"], ["a1"]),
        (r"\*.x", ["*.x"], ["a.x"]),
        (r"a\{b", ["a{b"], ["ab"]),
    ],
)
def test_what_the_characters_of_a_pattern_mean(pattern: str, yes: list[str], no: list[str]) -> None:
    """Braces, both negations, a question mark is exactly one character."""
    assert all(fits(pattern, path) for path in yes)
    assert not any(fits(pattern, path) for path in no)


@pytest.mark.parametrize(
    ("pattern", "path", "plain", "hidden"),
    [
        ("*", ".env", False, True),
        ("**/*.yml", ".github/ci.yml", False, True),
        (".github/**/*.yml", ".github/a/ci.yml", True, True),
        (".e*", ".env", True, True),
        ("[.]env", ".env", False, True),
        ("{.env,a}", ".env", True, True),
        ("src/**", "src/.cache/a", False, True),
    ],
)
def test_wildcards_take_hidden_names_only_when_asked(pattern: str, path: str, plain: bool, hidden: bool) -> None:
    """A name with a dot in front is matched where the pattern has the dot."""
    assert fits(pattern, path) is plain
    assert fits(pattern, path, include_hidden=True) is hidden


@pytest.mark.parametrize("name", ["app/[id]/page.tsx", "file(1).txt", "a{b}c", "[z", "we{ird", "{more than one"])
def test_a_file_with_the_pattern_as_its_name_matches(name: str) -> None:
    """Special characters of a pattern are ordinary ones in a name."""
    assert fits(name, name)


@pytest.mark.parametrize("pattern", ["[invalid", "{a,b", "a}", "{}", "{,}", "x[[:nope:]]", "end\\", "a[z-a].py"])
def test_a_malformed_pattern_says_so(pattern: str) -> None:
    """Kept as a refusal, for callers that find no file of that name."""
    malformed = compile_glob(pattern).malformed
    assert isinstance(malformed, Invalid)
    assert malformed.hint
    assert malformed.message.startswith("glob: ")


@pytest.mark.parametrize("pattern", ["", "a\0b", "a\ud800", "a\udfff", "x" * 5000, "{a,b}" * 20, "/", "."])
def test_a_pattern_that_can_name_nothing_is_refused(pattern: str) -> None:
    """Empty, NUL, half a surrogate pair, or with braces that multiply without end."""
    if pattern == "/":
        assert fits(pattern, "a/b")
        return
    with pytest.raises(Invalid, match="glob: ") as refused:
        compile_glob(pattern)
    assert refused.value.hint


@pytest.mark.parametrize("pattern", ["../x", "a/../../x", "a/..", "{a,..}/x"])
def test_dots_never_lead_upwards(pattern: str) -> None:
    with pytest.raises(OutsideRoot):
        compile_glob(pattern)


def test_a_pattern_with_the_roots_own_path_is_absolute() -> None:
    """Any other leading slash only anchors."""
    assert compile_glob("/home/me/src/*.py", root="/home/me").from_root
    assert fits("/home/me/src/*.py", "src/a.py", root="/home/me")
    assert not compile_glob("/home/mean/*.py", root="/home/me").from_root
    with pytest.raises(OutsideRoot):
        compile_glob("/home/me/../you/*", root="/home/me")


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (r"caf\udce9.py", "caf\udce9.py", True),
        (r"*[\udce9\udcff]?", "caf\udce9x", True),
        (r"\\\udce9", "\\\udce9", True),
        (r"\\udce9", r"\udce9", True),
        (r"\\udce9", "\udce9", False),
        (r"\udce9", r"\udce9", True),
        (r"\udc41", "udc41", True),
        (r"\ud83d", "ud83d", True),
    ],
)
def test_a_byte_that_is_no_utf_8_may_be_spelled_as_it_is_told(pattern: str, name: str, expected: bool) -> None:
    """Any other backslash keeps its usual meaning, and a file may have the pattern as its name."""
    assert fits(pattern, name) is expected


@given(st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_an_escaped_name_stands_for_itself_alone(name: str) -> None:
    pattern = compile_glob("/" + escaped(name), include_hidden=True) if name not in (".", "..") else None
    assert pattern is None or pattern.matching("", [name, name + "x"]) == [name]


def test_many_stars_cost_no_more_than_one() -> None:
    long = "a" * 4000
    assert not fits("*a" * 50 + "b", long)
    assert not fits("**/a/" * 30 + "b", "a/" * 400 + "c")


@given(
    st.lists(st.sampled_from(["a", "b", "*", "?", "ab", "[ab]"]), min_size=1, max_size=5),
    st.text("ab", min_size=1, max_size=6),
)
def test_stars_agree_with_trying_everything(pieces: list[str], name: str) -> None:
    assert fits("/" + "".join(pieces), name) is _slowly(pieces, name)


def _slowly(pieces: list[str], name: str) -> bool:
    sizes = [range(len(name) + 1) if piece == "*" else [len(piece) if piece.isalpha() else 1] for piece in pieces]
    for lengths in itertools.product(*sizes):
        if sum(lengths) != len(name):
            continue
        ends = list(itertools.accumulate(lengths))
        parts = [name[end - size : end] for end, size in zip(ends, lengths, strict=True)]
        if all(part == piece or not piece.isalpha() for part, piece in zip(parts, pieces, strict=True)):
            return True
    return False


@pytest.mark.parametrize("include_hidden", [False, True])
@given(
    st.sampled_from(["*", "**", "*.py", "*.{py,md}", "***.py", r"*\*", "*]", "*.{py,?}", "{*,.*}", ".*", "*py.", "a*"]),
    st.lists(
        st.sampled_from(["a.py", ".py", ".a.py", "a.md", "\n.py", "a]", ".]", "a*", "*", ".", "apy."]), max_size=6
    ),
)
def test_many_names_are_chosen_as_each_alone_by_its_expression(include_hidden, pattern, names) -> None:
    """By the ending alone where that decides."""
    compiled = compile_glob(pattern, include_hidden=include_hidden)
    expressions = [segment.regex for segment in compiled.segments if segment.last]
    assert compiled.start.fitting(names) == [
        name for name in names if any(re.fullmatch(each, name) for each in expressions)
    ]


@pytest.mark.parametrize("depth", [51, 500, 2000])
def test_braces_nested_without_end_are_refused(depth: int) -> None:
    for pattern in ("{" * depth + "a" + "}" * depth, "{" * depth):
        with pytest.raises(Invalid, match="more than 50 deep") as refused:
            compile_glob(pattern)
        assert refused.value.hint
    assert compile_glob("{" * 50 + "a,b" + "}" * 50).matching("", ["b"])


@pytest.mark.parametrize("piece", ["[", "[[:", "[a\\]", "{[", "a*", "?"])
def test_no_pattern_takes_long_to_read(piece: str) -> None:
    """Many brackets that are never closed took seconds."""
    started = time.monotonic()
    with contextlib.suppress(Invalid):
        compile_glob((piece * LONGEST_PATTERN)[: LONGEST_PATTERN // len(piece) * len(piece)])
    assert time.monotonic() - started < 2
