"""Rewrites refusals and notes in the words of `%fs`."""

from __future__ import annotations

import re

from ..errors import Binary, FsToolsError
from ..plain_text import lines_of

SIGNS: dict[str, str] = {}
"""How a line of `%fs` begins that calls a tool, by tool; each subcommand enters its own."""
_QUOTED = r"(?<!\w)'[^']*'(?!\w)"
"""A name of a file, which stands in a hint as it is."""
_TOOL = re.compile(rf"{_QUOTED}|(?<![\w./])(?<!%fs )(\w+)(?!\.?\w)(?![/(=])")
_GLOB = re.compile(r"\bglob=(?='[^']*'(?!\w))")
_FLAG = re.compile(r"\b(force)=true\b")
_SPELLED = {
    "include_ignored=true": "--no-ignore",
    "literal=true": "-F",
    "multiline=true": "-U",
    "set replace_all to true": "set replace_all to true (in a line: --all)",
    "create_only": "--create-only",
    "before_lines and after_lines": "-B and -A",
    "file_type": "--type",
    "List the changes": "List the changes with %fs changes",
    "Name what was changed in this session.": "List the changes with %fs changes to see what there was.",
}
_VALUE = re.compile(r"\b(if_stale|offset|limit|encoding|column|pages)=\"?(\w[\w-]*)\"?")


def in_words_of_the_magic(text: str) -> str:
    """A hint or note with subcommands and options in the place of tools and arguments."""
    text = _TOOL.sub(lambda match: SIGNS.get(match[1], match[0]), text)
    for argument, option in _SPELLED.items():
        text = text.replace(argument, option)
    text = _GLOB.sub("--glob ", text)
    text = _FLAG.sub(lambda match: f"--{match[1]}", text)
    return _VALUE.sub(lambda match: f"--{match[1].replace('_', '-')} {match[2]}", text)


def refusal_lines(refusal: FsToolsError) -> list[str]:
    """How IPython shows a refusal: what was wrong, the next step, and what changed where that is known."""
    first, *more = lines_of(refusal.message) or [""]
    shown = [f"{refusal.code}: {first}", *more]
    if refusal.hint:
        # Names of files, or of the arguments in a cell's JSON, stand in these as they are.
        as_it_is = refusal.details.get("near") or refusal.details.get("fields")
        hint = refusal.hint if as_it_is else in_words_of_the_magic(refusal.hint)
        if isinstance(refusal, Binary):
            hint = f"In Python, open(path, 'rb') has its bytes. {hint}"
        first, *more = lines_of(hint)
        shown += [f"Hint: {first}", *more]
    diff = refusal.details.get("diff")
    if isinstance(diff, str):
        shown += lines_of(diff)
    return shown
