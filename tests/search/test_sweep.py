"""What ripgrep says of folders that it looked through one level deep."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from jupyter_fstools.search.batches import Part
from jupyter_fstools.search.patterns import compile_glob
from jupyter_fstools.search.ripgrep_process import Said
from jupyter_fstools.search.sweep import OPTIONS, Report, Touchstone, Wanted, can_be_told, name_options
from jupyter_fstools.search.text_query import TextQuery

from .conftest import Write, ripgrep


def told_names(glob: str | None = None, **fields: object) -> list[str] | None:
    options = name_options(TextQuery(pattern="x", **fields), compile_glob(glob or "**"))
    return options and [option.rpartition(":")[2] for option in options if "-add=" in option][:-1]


def test_counts_are_read_whatever_is_in_a_name() -> None:
    """G16"""
    said = Said(b"./a\x000\n./new\nline 0\n\x0012\n./caf\xe9\x001\n./cut\x00", b"")
    assert Report(said).counts == {"new\nline 0\n": 12, "caf\udce9": 1}


def test_what_was_passed_over_is_read_with_its_reason() -> None:
    """S9, S33, G21: a file that is gone meanwhile is no fault."""
    beside = (
        b"rg: DEBUG|globset|lib.rs:448: built glob set; 0 literals\n"
        b"rg: DEBUG|grep_printer::summary|summary.rs:698: ignoring ./a: b: found binary data at offset 7\n"
        b"DEBUG|ignore::walk|/usr/walk.rs:1728: ignoring ./c: 4053 bytes\n"
        b"rg: ./d: Permission denied (os error 13)\n"
        b"rg: ./g: IO error for operation on ./g: File name too long (os error 36)\n"
        b"rg: ./e: No such file or directory (os error 2)\n"
        b"rg: DEBUG|rg::haystack|haystack.rs:70: ignoring ./f: failed to pass haystack filter: file type: None\n"
    )
    assert Report(Said(b"", beside)).passed_over == {
        "a: b": "binary", "c": "large", "d": "unreadable", "g": "unreadable"
    }  # fmt: skip


def test_the_program_here_tells_of_a_binary_and_of_a_large_file(root: Path, write: Write) -> None:
    """S9, S33: what the counts of files not searched rest on."""
    write("a.bin", b"needle\0")
    write("late.txt", b"needle\n" * 100_000 + b"\0")
    with contextlib.ExitStack() as held:
        touchstone = Touchstone(held, 1 << 20)
        command = [ripgrep(), "--no-config", "--null", "--no-mmap", "--max-filesize=1048576", *OPTIONS, "-e", "needle"]
        run = subprocess.run([*command, "--", touchstone.folder, "./"], cwd=root, capture_output=True, check=False)
        report = Report(Said(run.stdout, run.stderr))
        assert touchstone.is_told(report)
    assert not os.path.exists(touchstone.folder)
    assert report.counts == {}
    assert {path: why for path, why in report.passed_over.items() if "/" not in path} == {
        "a.bin": "binary", "late.txt": "binary"
    }  # fmt: skip


def test_one_that_does_not_tell_is_noticed() -> None:
    with contextlib.ExitStack() as held:
        assert not Touchstone(held, 100).is_told(Report(Said(b"", b"rg: DEBUG|x|y:1: binary file passed over\n")))


def test_files_are_wanted_by_folder_and_name() -> None:
    wanted = Wanted([Part("", ["a"], 0), Part("b/c", ["d"], 0), Part("", ["e"], 0)])
    assert wanted.folders == ["", "b/c"]
    assert wanted.paths == ["a", "e", "b/c/d"]
    assert [path in wanted for path in (*wanted.paths, "d", "b/a", "b/c", "")] == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    ("name", "told"), [("é", True), ("\U0001f600", True), ("new\nline", False), ("caf\udce9", False), ("dot.", False)]
)
def test_odd_names_are_not_left_to_what_ripgrep_says(name: str, told: bool) -> None:
    """G15, G16"""
    assert can_be_told("a", ["b", name]) is can_be_told(name, ["b"]) is told


def test_ripgrep_is_told_no_more_than_it_understands_as_we_do() -> None:
    """S10, S20: a name is narrowed by a type, never by a glob."""
    assert told_names("src/**/*.{py,md}") == ["*.md", "*.py", r"\*.\{py,md\}"]
    assert told_names("[ab].py") is told_names("?.py") is told_names("*.{py,[ab]}") is None
    assert told_names() == told_names("src/**") == []
    assert "*.pyi" in (told_names(file_type="py") or [])
