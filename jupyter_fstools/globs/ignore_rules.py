"""Parses `.gitignore` files and applies their rules to names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import repeat

from .segments import MalformedSegment, class_end, segment_regex

MOST_KNOWN = 1 << 14
"""Most names cached as not ignored, as the same names recur often."""
_FOLDERS = "(?:[^/]+/)*"
_STAR = "[^/]*"
_LONGEST = 4096  # Characters of a rule: no path is longer, and some take quadratic time to read.
_TOGETHER = 100  # Rules that are combined into one expression.
_PART = re.compile(r"\(\?>\[\^/\]\*\?((?:[^\\()\[\]*?|]|\\\W)+)\)\[\^/\]\*")
"""Matches the expression of `*part*`."""
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


class RuleFile:
    """The rules of one ignore file (https://git-scm.com/docs/gitignore), for its folder and all below.

    Bare names must be encoded by `by_byte`.

    Args:
        text: the file's bytes.
        base: the folder the rules are relative to, as a path from the root ("" for the root itself).

    Attributes:
        deepest: no anchored rule can match in folders with more names in their path.
        negated: the rules, by their order, that negate others.
    """

    def __init__(self, text: bytes, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        rules = [rule for order, line in enumerate(_lines(text)) for rule in _rules(line, order)]
        self._anywhere = [rule for rule in rules if rule.folder is None]
        self._anchored = [(re.compile(rule.folder), rule) for rule in rules if rule.folder is not None]
        folders = "|".join(dict.fromkeys(folder.pattern for folder, _ in self._anchored))
        self._some_anchored = re.compile(folders) if self._anchored else None
        depths = [rule.depth for rule in rules if rule.folder is not None]
        self.deepest = len(base.split("/")) * bool(base) + max(depths) if depths else -1
        self._plain: dict[bool, dict[str, int]] = {True: {}, False: {}}
        self._suffix: dict[bool, dict[str, int]] = {True: {}, False: {}}
        self._other: list[_Together] = []
        self._sort_out()
        self.negated = frozenset(rule.order for rule in rules if rule.negated)

    def __bool__(self) -> bool:
        return bool(self._anywhere or self._anchored)

    def is_anchored_in(self, folder: str) -> bool:
        """Whether an anchored rule can match a name directly in `folder` (a path from the root)."""
        if self._some_anchored is None:
            return False
        return self._some_anchored.fullmatch(self._from_here(folder)) is not None

    def in_folder(self, folder: str) -> list[tuple[Callable[[str], object], Rule]]:
        """The anchored rules that can match a name directly in `folder`, each with its matcher."""
        if not self.is_anchored_in(folder):
            return []
        below = self._from_here(folder)
        return [(re.compile(rule.name).fullmatch, rule) for at, rule in self._anchored if at.fullmatch(below)]

    def _from_here(self, folder: str) -> str:
        relative = by_byte(folder[self._skip :])
        return relative and relative + "/"

    def anywhere(self, name: str, is_folder: bool) -> int:
        """The last rule for a bare name, by its order in the file; -1 for none."""
        found = self._plain[is_folder].get(name, -1)
        suffixes = self._suffix[is_folder]
        dot = name.find(".")
        while dot >= 0:
            found = max(found, suffixes.get(name[dot:], -1))
            dot = name.find(".", dot + 1)
        for together in self._other:
            found = together.last(name, is_folder, found)
        return found

    def untouched(self, names: list[str]) -> list[str]:
        """The bare names, of files or folders, that no rule matches."""
        plain, suffixes = self._plain[True], tuple(self._suffix[True])
        few = [name for name in names if name not in plain and not name.endswith(suffixes)]
        for together in self._other:
            few = [name for name in few if not together.fits(name)]
        return few

    def _sort_out(self) -> None:
        """Sort rules into look-up tables for names and `*.suffix`, which most are, and expressions for the others."""
        others: tuple[list[Rule], list[Rule]] = [], []
        for rule in self._anywhere:
            kinds = (True,) if rule.folders_only else (True, False)
            plain = _literal(rule.name)
            suffix = _literal(rule.name.removeprefix(_STAR))
            if plain is not None:
                table, key = self._plain, plain
            elif suffix is not None and suffix.startswith("."):
                table, key = self._suffix, suffix
            else:
                others[_PART.fullmatch(rule.name) is not None].append(rule)
                continue
            for kind in kinds:
                table[kind][key] = max(rule.order, table[kind].get(key, -1))
        for rules in others:
            self._other += [_Together(rules[at : at + _TOGETHER]) for at in range(0, len(rules), _TOGETHER)]


class _Together:
    """Several rules for bare names, either all `*part*` or none; one expression tells whether a name matches any.

    Attributes:
        fits: whether a name, of a file or folder, matches one of them.
    """

    def __init__(self, rules: list[Rule]) -> None:
        self._rules = rules[::-1]
        parts = [part[1] for rule in rules if (part := _PART.fullmatch(rule.name))]
        either = re.compile("|".join(dict.fromkeys(parts or [rule.name for rule in rules])))
        self.fits: Callable[[str], object] = either.search if parts else either.fullmatch

    @cached_property
    def _each(self) -> list[tuple[Callable[[str], object], Rule]]:
        return [(re.compile(rule.name).fullmatch, rule) for rule in self._rules]

    def last(self, name: str, is_folder: bool, found: int) -> int:
        """The order of the last rule for `name`, if that is greater than `found`; else `found`."""
        if self._rules[0].order > found and self.fits(name):
            for fits, rule in self._each:
                if rule.order > found and (is_folder or not rule.folders_only) and fits(name):
                    return rule.order
        return found


class FolderRules:
    """The ignore files that apply in one folder, nearest first.

    Args:
        files: these files.
        folder: the folder, as a path from the root; None: one that is deeper than any anchored rule reaches.
        everywhere: the rules for all folders of that kind; None: they are made here.
    """

    def __init__(self, files: tuple[RuleFile, ...], folder: str | None, everywhere: FolderRules | None = None) -> None:
        self.files = files
        self.everywhere = everywhere or (self if folder is None else FolderRules(files, None))
        self._active = [(file, file.in_folder(folder) if folder is not None else []) for file in files]
        self._anchored = any(rules for _, rules in self._active)
        self._deepest = max((file.deepest for file in files), default=-1)
        self._untouched: set[str] = set()

    def below(self, folder: str) -> FolderRules:
        """The same files' rules for a folder further down."""
        if folder.count("/") >= self._deepest:
            return self.everywhere
        if self._anchored or any(map(RuleFile.is_anchored_in, self.files, repeat(folder))):
            return FolderRules(self.files, folder, self.everywhere)
        return self

    def touch_none_of(self, names: list[str]) -> bool:
        """A fast check that no rule matches any of these names, of files or folders, directly in this folder.

        The same names recur often: a bounded number of those that no rule matches are cached.
        """
        if self._anchored:
            return False
        known = self.everywhere._untouched
        if known.issuperset(names):
            return True
        new = [by_byte(name) for name in names if name not in known]
        untouched = reduce(lambda left, file: file.untouched(left), self.files, new)
        if len(known) + len(untouched) > MOST_KNOWN:
            known.clear()
        known.update(name for name in untouched[:MOST_KNOWN] if name.isascii())
        return len(untouched) == len(new)

    def kept(self, names: list[str], is_folder: bool) -> list[str]:
        """The names directly in this folder that are not ignored."""
        known = frozenset[str]() if self._anchored else self.everywhere._untouched
        return [name for name in names if name in known or not self.ignored(name, is_folder)]

    def ignored(self, name: str, is_folder: bool) -> bool:
        """Whether `name`, directly in this folder, is ignored."""
        name = by_byte(name)
        for file, anchored in self._active:
            last = file.anywhere(name, is_folder)
            for fits, rule in anchored:
                if rule.order > last and (is_folder or not rule.folders_only) and fits(name):
                    last = rule.order
            if last >= 0:
                return last not in file.negated
        return False


def _lines(text: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in text.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")]


def by_byte(name: str) -> str:
    """A name with one character per byte, as git matches names and rules: `?` matches one byte."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("latin-1")


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


def _literal(regex: str) -> str | None:
    """The text that `regex` matches, if it matches only one text."""
    plain = re.sub(r"\\([^\w])", r"\1", regex)
    return plain if re.escape(plain) == regex else None
