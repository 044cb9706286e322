"""What ripgrep says of what it passes over."""

from __future__ import annotations

import pytest

from jupyter_fstools.search.ripgrep_debug import passed_over
from jupyter_fstools.search.ripgrep_process import RipgrepFailed

WALK = b"rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:1799: "


def test_each_path_comes_with_its_reason() -> None:
    """S9, S33, G21: a file that is gone meanwhile is no fault."""
    lines = [
        b"rg: DEBUG|globset|lib.rs:448: built glob set; 0 literals",
        b"rg: DEBUG|grep_printer::summary|summary.rs:698: ignoring .//a: b: found binary data at offset 7",
        WALK + b"ignoring .//c: 4053 bytes",
        WALK + b'ignoring .//l: Ignore(IgnoreMatch(Gitignore(Glob { from: Some("./.gitignore"), original: "l" })))',
        WALK + b"ignoring .//x/.git: Ignore(IgnoreMatch(Override(Glob(Matched(Glob { from: None })))))",
        WALK + b"ignoring .//.h: Ignore(IgnoreMatch(Hidden))",
        WALK + b'ignoring .//n.ipynb: Ignore(IgnoreMatch(Types(Glob(Matched { def: FileTypeDef { name: "n" } }))))',
        WALK + b"whitelisting .//keep.log: Whitelist(IgnoreMatch(Gitignore(Glob { from: None })))",
        b"rg: DEBUG|ignore::gitignore|gitignore.rs:393: opened gitignore file: .//x/.gitignore",
        b"rg: DEBUG|rg::haystack|haystack.rs:70: ignoring .//s: failed to pass haystack filter: file type: "
        b"Some(FileType { is_file: false, is_dir: false, is_symlink: true, .. }), metadata: Ok(Metadata)",
        b"rg: DEBUG|rg::haystack|haystack.rs:70: ignoring .//fifo: failed to pass haystack filter: file type: "
        b"Some(FileType { is_file: false, is_dir: false, is_symlink: false, .. }), metadata: Ok(Metadata)",
        b"rg: .//d: Permission denied (os error 13)",
        b"rg: .//g: IO error for operation on .//g: Permission denied (os error 13)",
        b"rg: .//e: No such file or directory (os error 2)",
        b"rg: No files were searched, which means ripgrep probably applied a filter you didn't expect.",
    ]
    assert passed_over(b"".join(line + b"\n" for line in lines)) == {
        "binary": ["a: b"], "large": ["c"], "ignored": ["l"], "excluded": ["x/.git"], "hidden": [".h"],
        "notebook": ["n.ipynb"], "kept": ["keep.log"], "rules": ["x/.gitignore"], "link": ["s"],
        "unreadable": ["d", "g"], "gone": ["e"],
    }  # fmt: skip


def test_very_many_binary_files_are_read_at_once() -> None:
    line = (
        b"rg: DEBUG|grep_printer::summary|summary.rs:698: ignoring .//caf\xc3\xa9/%d: found binary data at offset 7\n"
    )
    said = b"".join(line % number for number in range(1000)) + WALK + b"ignoring .//c: 4053 bytes\n"
    assert passed_over(said) == {"binary": [f"café/{number}" for number in range(1000)], "large": ["c"]}
    assert passed_over(b"") == {}


@pytest.mark.parametrize(
    "line",
    [
        WALK + b"ignoring .//new",
        b"line.bin: found binary data at offset 7",
        b"rg: DEBUG|a|b:1: ignoring forged.log: found binary data at offset 7",
        WALK + b"ignoring .//: 4053 bytes",
        WALK + b"ignoring .//a: Ignore(IgnoreMatch(Hidden.log: Ignore(IgnoreMatch(Gitignore(Glob { from: None })))",
        WALK + b"ignoring .//caf\xef\xbf\xbd: 4053 bytes",
        WALK + b"ignoring .//a: for a reason of another version",
        b"rg: .//.gitignore: line 1: error parsing glob '[z': unclosed character class; missing ']'",
        b"rg: .//g: IO error for operation on .//g: File name too long (os error 36)",
        b"rg: .//g: Too many open files (os error 24)",
        b"",
    ],
)
def test_a_line_that_is_not_understood_ends_it(line: bytes) -> None:
    """G15, G16: a name in several lines, one that is no UTF-8, or a fault that is not one file's."""
    with pytest.raises(RipgrepFailed):
        passed_over(line + b"\n")
