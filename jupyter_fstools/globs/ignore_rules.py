"""Applies the rules of `.gitignore` files to names."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, reduce
from itertools import repeat

from .ignore_lines import Rule, rules_in

MOST_KNOWN = 1 << 14
"""Most names cached as not ignored, as the same names recur often."""
_STAR = "[^/]*"
_TOGETHER = 100  # Rules that are combined into one expression.
_PART = re.compile(r"\(\?>\[\^/\]\*\?((?:[^\\()\[\]*?|]|\\\W)+)\)\[\^/\]\*")
"""Matches the expression of `*part*`."""


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
        rules = rules_in(text)
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


def by_byte(name: str) -> str:
    """A name with one character per byte, as git matches names and rules: `?` matches one byte."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("latin-1")


def _literal(regex: str) -> str | None:
    """The text that `regex` matches, if it matches only one text."""
    plain = re.sub(r"\\([^\w])", r"\1", regex)
    return plain if re.escape(plain) == regex else None
