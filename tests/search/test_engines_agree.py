"""Any pattern, any text: both engines give the same answer."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import Invalid
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import FoundText, TextQuery

CHARACTERS = [
    *"abABéÉßKkiI1²٣ \t_-\r\n\n().",
    "\u017f",
    "\u0131",
    "\u0130",
    "\xa0",
    "\x85",
    "\u2028",
    "ⓐ",
    "\u0301",
    "\u200d",
    "😀",
    "\x1c",
    "\r\n",
]
SINGLE = [*"abéßski1 _x.", r"\.", r"\x61", r"\u00e9", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\r"]
CLASSES = ["[ab]", "[^a]", "[a-z]", r"[^\w]", r"[\s\d]", r"[^\S]", r"[\W_]", "[é-ÿ]", "[[:upper:]]", "[]a]", "[\u0131]"]
CLASSES += [
    r"[\x00-\x1f]",
    "[[:space:]]",
    "[[:cntrl:]x]",
    r"[\t-\r ]",
    r"[\x09-\x0a]",
    "[a-\U0010ffff]",
]  # Line ends are among them.
ANCHORS = ["^", "$", r"\b", r"\B"]
TIMES = ["", "", "", "*", "+", "?", "*?", "{1,2}", "{2}"]
counter = itertools.count()

atoms = st.builds("{}{}".format, st.sampled_from(SINGLE + CLASSES), st.sampled_from(TIMES)) | st.sampled_from(ANCHORS)
sequences = st.lists(atoms, min_size=1, max_size=4).map("".join)
groups = st.builds("{}{}){}".format, st.sampled_from(["(", "(?:", "(?i:", "(?-i:"]), sequences, st.sampled_from(TIMES))
patterns = st.lists(sequences | groups, min_size=1, max_size=2).map("".join) | st.builds(
    "{}|{}".format, sequences, sequences
)
contents = st.lists(st.sampled_from(CHARACTERS), max_size=40).map("".join)
encodings = st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])
files = st.lists(st.tuples(contents, encodings), min_size=1, max_size=5)


def answer(root: Path, query: TextQuery, engine: str) -> FoundText | str:
    try:
        return search_text(LocalDisk(root), query, engine=engine).model_copy(update={"engine": "python"})
    except Invalid as refusal:
        return refusal.message


@given(files=files, pattern=patterns, fold=st.booleans(), around=st.sampled_from([(0, 0), (1, 2)]))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_lines(tmp_path: Path, files: list[tuple[str, str]], pattern: str, fold: bool, around: tuple[int, int]) -> None:
    root = tmp_path / str(next(counter))
    root.mkdir()
    for number, (content, encoding) in enumerate(files):
        (root / f"{number}.txt").write_bytes(content.encode(encoding, "replace"))
    query = TextQuery(pattern=pattern, case_insensitive=fold, before_lines=around[0], after_lines=around[1])
    assert answer(root, query, "ripgrep") == answer(root, query, "python")


@pytest.mark.parametrize(
    "pattern",
    [r"a[\s\S]*?b", r"a\nb", r"a.*\n\w", r"(?s)b.*a", r"^\w+$\n^b", r"\n\n", r"[^a]+b", r"b\s+a", "a+|b\n", r"\n*"],
)
@given(text=st.text("ab \né😀", max_size=30), ends=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_matches_over_several_lines(tmp_path: Path, pattern: str, text: str, ends: str) -> None:
    root = tmp_path / str(next(counter))
    root.mkdir()
    (root / "a.txt").write_bytes(text.replace("\n", ends).encode())
    query = TextQuery(pattern=pattern, multiline=True, after_lines=1)
    assert answer(root, query, "ripgrep") == answer(root, query, "python")


def test_every_letter_folds_alike(tmp_path: Path) -> None:
    """A file for each pair of letters would be slow, so each has a line."""
    cased = [chr(code) for code in range(0x80, 0x600) if chr(code).swapcase() != chr(code)]
    (tmp_path / "a.txt").write_text("".join(f"{char.swapcase()[:1]}\n" for char in cased), "utf-8")
    for char in [*"iskåIK", "\u0130", "\u0131", "\u017f", "\u03c2", "\xb5", "\xdf"]:
        for pattern, fold in itertools.product([char, f"[{char}]"], [True, False]):
            query = TextQuery(pattern=pattern, case_insensitive=fold, limit=5000)
            assert answer(tmp_path, query, "ripgrep") == answer(tmp_path, query, "python")
