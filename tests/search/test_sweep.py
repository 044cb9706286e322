"""What ripgrep says of a folder it went through by itself."""

from __future__ import annotations

import pytest

from jupyter_fstools.search.patterns import compile_glob
from jupyter_fstools.search.sweep import Area, Swept, area_of
from jupyter_fstools.search.text_query import TextQuery

STATISTICS = b"\n7 matches\n2 matched lines\n2 files contained matches\n5 files searched\n0 bytes printed\n"


def area(glob: str | None = None, base: str = "", **fields: object) -> Area | None:
    return area_of(TextQuery(pattern="x", **fields), compile_glob(glob or "**"), base)


def test_every_text_file_is_reported() -> None:
    """G16: whatever is in its name."""
    swept = Swept(b"./a\x000\n./new\nline 0\n\x0012\n./caf\xe9\x001\n" + STATISTICS, "src")
    assert swept.counts == {"src/new\nline 0\n": 12, "src/caf\udce9": 1}
    assert swept.texts == {"src/a", *swept.counts}
    assert swept.searched == 5


@pytest.mark.parametrize("left", [b"", b"./a", b"./a\x00", b"./a\x001"])
def test_a_report_that_was_cut_off_is_taken_as_far_as_it_goes(left: bytes) -> None:
    """S23"""
    swept = Swept(b"./done\x003\n" + left, "")
    assert (swept.counts, swept.searched) == ({"done": 3}, None)
    assert (Swept(left, "").counts, Swept(left, "").texts) == ({}, set())


def test_a_folder_without_text_says_how_many_files_were_searched() -> None:
    assert (Swept(STATISTICS, "").texts, Swept(STATISTICS, "").searched) == (set(), 5)


def test_ripgrep_is_told_no_more_than_it_understands_as_we_do() -> None:
    """S10, S20: a name is narrowed by a type, never by a glob, and begins at the folder every match lies in."""
    assert area("src/**/*.{py,md}", "lib") == Area(
        "lib/src", ["*.md", "*.py"], [".git", ".ipynb_checkpoints", "__pycache__", "node_modules"], False, False
    )
    assert area("[ab].py") is None
    assert area(include_ignored=True).left_out == []
    assert "node_modules" not in area("**/node_modules/**").left_out
    assert not [option for option in area("*.py").options() if option.startswith("--glob=") and "!" not in option]
