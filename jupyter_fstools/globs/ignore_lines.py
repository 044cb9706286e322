"""Reads the lines of `.gitignore` files as rules."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .segments import MalformedSegment, class_end, segment_regex

_FOLDERS = "(?:[^/]+/)*"
_LONGEST = 4096  # Characters of a rule: no path is longer, and some take quadratic time to read.
_GLUED = re.compile(r"(/?[^*?\[\\]*[^*?\[\\/])\*\*+(?:/(.*))?", re.DOTALL)
"""Matches text without wildcards directly before a `**` that ends its name."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of one line.

    Attributes:
        order: its position in the file: the last rule that matches decides.
        negated: what it matches is not ignored after all.
        folders_only: it matches no files.
        folder: expression for the path of the parent; None: any.
        depth: how many folders deep the parent can be.
        name: expression for the name.
    """

    order: int
    negated: bool
    folders_only: bool
    folder: str | None
    depth: float
    name: str


def rules_in(text: bytes) -> list[Rule]:
    """The rules of a file, in order; their expressions match names that are encoded by `by_byte`."""
    lines = text.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    return [rule for order, line in enumerate(lines) for rule in _rules(line.removesuffix("\r"), order)]


def _rules(line: str, order: int) -> list[Rule]:
    """One line as a rule, or as two equivalent ones; none for blank lines, comments and rules that can never match."""
    if line.startswith("#"):
        return []
    line = _without_spaces_at_end(line)
    if len(line) > _LONGEST:
        return []
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    both = (_rule(each, order, negated=negated, folders_only=folders_only) for each in _crossing(line))
    return [rule for rule in both if rule]


def _without_spaces_at_end(line: str) -> str:
    """The line without the spaces at its end; one that is escaped stays."""
    bare = line.rstrip(" ")
    return line[: len(bare) + (len(bare) - len(bare.rstrip("\\"))) % 2]


def _crossing(line: str) -> list[str]:
    """The lines equivalent to one where `**` follows text: git matches the text first, then a `**` of its own."""
    if "/" not in line or not (glued := _GLUED.fullmatch(line)):
        return [line]
    text, rest = glued[1], re.sub(r"^(?:\*\*+/)+", "", glued[2] or "**")
    if not rest.strip("*") and len(rest) > 1:
        return [f"/{text.removeprefix('/')}*", f"{text}*/**"]
    return [f"/{text.removeprefix('/')}{rest}", f"{text}*/**/{rest}"]


def _rule(line: str, order: int, *, negated: bool, folders_only: bool) -> Rule | None:
    names = ["**" if len(name) > 1 and not name.strip("*") else name for name in _names(line.removeprefix("/"))]
    anchored = "/" in line and names[:-1] != ["**"]
    if names == [""] or "" in names:
        return None
    try:
        *folders, name = names
        last = segment_regex(name)
        folder = _folder_regex(folders, below=name == "**") if anchored else None
    except MalformedSegment:
        return None
    depth = math.inf if "**" in names else len(folders)
    return Rule(order, negated, folders_only, folder, depth, last)


def _names(line: str) -> list[str]:
    """The names of a line; a slash in brackets does not separate names."""
    names, start, at = list[str](), 0, 0
    while at < len(line):
        if line[at] == "/":
            names.append(line[start:at])
            start = at + 1
        at = (class_end(line, at) or at + 1) if line[at] == "[" else at + 1 + (line[at] == "\\")
    return [*names, line[start:]]


def _folder_regex(folders: list[str], *, below: bool) -> str:
    """The pattern of the parent's path, with a slash after each name.

    As with stars in a name, the names between two `**` match at the first possible place, without backtracking.
    """
    chunks = [""]
    for name in folders + (["**"] if below else []):
        if name == "**":
            chunks += [""] if chunks[-1] or len(chunks) == 1 else []
        else:
            chunks[-1] += segment_regex(name) + "/"
    if len(chunks) == 1:
        return chunks[0]
    middle = "".join(f"(?>{_FOLDERS}?{chunk})" for chunk in chunks[1:-1])
    return f"{chunks[0]}{middle}{_FOLDERS}{chunks[-1]}"
