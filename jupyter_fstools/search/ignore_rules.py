"""What git ignores: one `.gitignore` file, and the files that hold for a folder together."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import repeat

from .segments import MalformedSegment, segment_regex

MOST_KNOWN = 1 << 14
"""Names that are remembered as not ignored: the same ones come again and again."""
_FOLDERS = "(?:[^/]+/)*"
_STAR = "[^/]*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line.

    Attributes:
        order: where it stands in the file: the last one that fits decides.
        folder: what the path of the parent must be; None: any.
        depth: how many folders deep the parent can be.
        name: what the name must be.
    """

    order: int
    negated: bool
    folders_only: bool
    folder: str | None
    depth: float
    name: str


class RuleFile:
    """The rules of one ignore file (https://git-scm.com/docs/gitignore), for the folder it lies in and all below.

    Bare names are asked for as `by_byte` spells them.

    Args:
        text: the file's bytes.
        base: the folder the rules are relative to, as a path from the root ("" for the root itself).

    Attributes:
        deepest: in folders with more names in their path no anchored rule can match.
        negated: the rules, by their order, that take back what others ignore.
    """

    def __init__(self, text: bytes, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        rules = [rule for order, line in enumerate(_lines(text)) if (rule := _rule(line, order)) is not None]
        self._anywhere = [rule for rule in rules if rule.folder is None]
        self._anchored = [(re.compile(rule.folder), rule) for rule in rules if rule.folder is not None]
        folders = "|".join(dict.fromkeys(folder.pattern for folder, _ in self._anchored))
        self._some_anchored = re.compile(folders) if self._anchored else None
        depths = [rule.depth for rule in rules if rule.folder is not None]
        self.deepest = len(base.split("/")) * bool(base) + max(depths) if depths else -1
        self._plain: dict[bool, dict[str, int]] = {True: {}, False: {}}
        self._suffix: dict[bool, dict[str, int]] = {True: {}, False: {}}
        self._other: list[tuple[Callable[[str], object], Rule]] = []
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
        """Those anchored rules."""
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
        for fits, rule in reversed(self._other):
            if rule.order < found:
                break
            if (is_folder or not rule.folders_only) and fits(name):
                return rule.order
        return found

    def untouched(self, names: list[str]) -> list[str]:
        """Those of many bare names that no rule is about, be they a file's or a folder's."""
        plain, suffixes, others = self._plain[True], tuple(self._suffix[True]), [fits for fits, _ in self._other]
        few = [name for name in names if name not in plain and not name.endswith(suffixes)]
        return [name for name in few if not any(fits(name) for fits in others)] if others else few

    def _sort_out(self) -> None:
        """Most rules are a name or `*.suffix`: those are looked up, only the others are tried one by one."""
        for rule in self._anywhere:
            kinds = (True,) if rule.folders_only else (True, False)
            plain = _literal(rule.name)
            suffix = _literal(rule.name.removeprefix(_STAR))
            if plain is not None:
                table, key = self._plain, plain
            elif suffix is not None and suffix.startswith("."):
                table, key = self._suffix, suffix
            else:
                self._other.append((re.compile(rule.name).fullmatch, rule))
                continue
            for kind in kinds:
                table[kind][key] = max(rule.order, table[kind].get(key, -1))


class FolderRules:
    """The ignore files that hold in one folder, nearest first.

    Args:
        files: these files.
        folder: the folder, as a path from the root; None: one so deep that no anchored rule is about names in it.

    Attributes:
        everywhere: the rules that hold further down than any anchored one reaches; they are the same for every folder.
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
        """A quick yes: no rule is about one of these names directly in this folder, be it a file's or a folder's.

        The same names come again and again: those that no rule is about are remembered, up to a number.
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
        return [name for name in names if not self.ignored(name, is_folder)]

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
    """A name with a character for each of its bytes, as git reads names and rules: `?` stands for one of them."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("latin-1")


def _rule(line: str, order: int) -> Rule | None:
    """One line as a rule; None for blank lines, comments and patterns that can never match."""
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\)((?:\\\\)*) +$", r"\1", line)
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    names = ["**" if len(name) > 1 and not name.strip("*") else name for name in line.removeprefix("/").split("/")]
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


def _folder_regex(folders: list[str], *, below: bool) -> str:
    """What the parent's path, a slash after each name, must be.

    As with stars in a name, what stands between two `**` takes the first place it fits and never gives it back.
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
    """The text that `regex` stands for, if it stands for one text."""
    plain = re.sub(r"\\([^\w])", r"\1", regex)
    return plain if re.escape(plain) == regex else None
