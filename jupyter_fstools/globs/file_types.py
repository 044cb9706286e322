"""Maps file types such as `py` to globs, as ripgrep 14.1 does."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

from ..errors import Invalid
from .patterns import Choice, GlobPattern
from .segments import expand_braces

_TABLE = Path(__file__).with_name("file_types.txt")
"""One type per line: its name, a colon, globs. Generated from `rg --type-list`, so that both engines know the same."""
EVERYDAY_NAMES = {
    **dict.fromkeys(("javascript", "javascriptreact", "nodejs", "ecmascript"), "js"),
    "typescriptreact": "ts",
    **dict.fromkeys(("python2", "python3", "py3", "pyi"), "py"),
    **dict.fromkeys(("c++", "cxx", "cplusplus"), "cpp"),
    **dict.fromkeys(("c#", "dotnet"), "cs"),
    "f#": "fsharp",
    **dict.fromkeys(("objective-c", "objectivec"), "objc"),
    **dict.fromkeys(("shell", "shellscript", "bash"), "sh"),
    **dict.fromkeys(("powershell", "pwsh"), "ps"),
    "golang": "go",
    "rustlang": "rust",
    **dict.fromkeys(("notebook", "notebooks", "ipython"), "jupyter"),
    **dict.fromkeys(("text", "plaintext", "plain"), "txt"),
    **dict.fromkeys(("latex", "bibtex"), "tex"),
    "makefile": "make",
    "dockerfile": "docker",
    "terraform": "tf",
}
"""Common names of types that ripgrep knows by another name."""


@cache
def file_types() -> dict[str, list[str]]:
    """The globs of every type."""
    rows = (line.split(":", 1) for line in _TABLE.read_text("utf-8").splitlines())
    return {name: globs.split() for name, globs in rows}


def globs_of_type(file_type: str) -> list[str]:
    """The globs of one type, without braces.

    Raises:
        Invalid: there is no such type; names similar ones.
    """
    known = file_types()
    if file_type not in known:
        near = _near(file_type.lower().lstrip(".*"))
        hint = f"Near: {', '.join(near)}." if near else "Name files by their ending instead: `glob='*.ext'`."
        raise Invalid(f"file_type: there is no type {file_type[:80]!r}", hint=hint, field="file_type", near=near)
    return [each for glob in known[file_type] for each in expand_braces(glob)]


def _near(asked: str) -> list[str]:
    """The type with this common name, else types with this file ending and types with similar names."""
    known = file_types()
    if asked in EVERYDAY_NAMES:
        return [EVERYDAY_NAMES[asked]]
    ending = [name for name, globs in known.items() if f"*.{asked}" in globs]
    called = [EVERYDAY_NAMES[name] for name in difflib.get_close_matches(asked, EVERYDAY_NAMES, 1, 0.75)]
    alike = difflib.get_close_matches(asked, known, 3, 0.6)
    return list(dict.fromkeys([*ending, *called, *alike]))[:5]


@cache
def names_of_type(file_type: str) -> Choice:
    """Chooses the names of files of one type; raises as `globs_of_type`."""
    globs = [["**", glob] for glob in globs_of_type(file_type)]
    return GlobPattern(globs, include_hidden=True, from_root=False, malformed=None).start.fitting
