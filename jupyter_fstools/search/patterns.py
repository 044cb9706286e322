"""The glob pattern language: what a pattern means, one folder at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..braces import expand_braces
from ..errors import Invalid, OutsideRoot
from .segments import MalformedSegment, escaped, literal_name, segment_regex

LONGEST_PATTERN = 4096
States = frozenset[int]
"""Where in the pattern a folder stands: indexes into `GlobPattern.segments`."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One name of one alternative; `any_depth` is `**`: any number of folders, none too."""

    regex: str
    literal: str | None
    any_depth: bool
    last: bool


class GlobPattern:
    """A compiled pattern. Build it with `compile_glob`.

    A walk carries `States` along: `start` for the folder the pattern is relative to, `descend` for a folder in it, and
    `names` tells which file names fit there.

    Attributes:
        from_root: the pattern was absolute: it is relative to the root, not to the folder searched.
        prefix: the folders that every match lies in; a walk can begin there.
        last_names: what the name of a file must fit, one of these.
        malformed: why the pattern is no pattern. It then stands only for the file that is literally named so.
    """

    def __init__(
        self, alternatives: list[list[str]], *, include_hidden: bool, from_root: bool, malformed: Invalid | None
    ) -> None:
        self.include_hidden = include_hidden
        self.from_root = from_root
        self.malformed = malformed
        self.segments: list[Segment] = []
        first = []
        for names in alternatives:
            first.append(len(self.segments))
            last = len(names) - 1
            self.segments += [self._segment(name, index == last) for index, name in enumerate(names)]
        self.start: States = frozenset().union(*(self._closure(index) for index in first))
        self.prefix = self._common_folders(alternatives)
        self.last_names = frozenset(names[-1] for names in alternatives)
        self._names: dict[States, Callable[[str], object] | None] = {}
        self._unnamed: dict[tuple[States, bool], States | None] = {}

    def descend(self, states: States, name: str) -> States:
        """The states of the folder `name`; empty where nothing below it can match."""
        hidden = name.startswith(".")
        key = (states, hidden)
        if key not in self._unnamed:
            self._unnamed[key] = self._through(states, hidden) if self._depends_on_no_name(states) else None
        known = self._unnamed[key]
        if known is not None:
            return known
        inside: set[int] = set(self._through(states, hidden))
        for index in states:
            segment = self.segments[index]
            if not (segment.any_depth or segment.last) and re.fullmatch(segment.regex, name):
                inside |= self._closure(index + 1)
        return frozenset(inside)

    def names(self, states: States) -> Callable[[str], object] | None:
        """A predicate for the names of files in a folder with these states; None if no file there can match."""
        if states not in self._names:
            last = [self.segments[index].regex for index in sorted(states) if self.segments[index].last]
            regex = re.compile("|".join(dict.fromkeys(last))) if last else None
            self._names[states] = regex.fullmatch if regex else None
        return self._names[states]

    @property
    def literals(self) -> set[str | None]:
        """Every name the pattern writes out."""
        return {segment.literal for segment in self.segments}

    def spells(self, states: States, name: str) -> bool:
        """Whether the pattern writes the folder `name` out, so that a default exclusion does not hold for it."""
        return any(self.segments[index].literal == name for index in states if not self.segments[index].last)

    def matches(self, path: str) -> bool:
        """Whether the file `path` (relative to what the pattern is relative to) matches."""
        *folders, name = path.split("/")
        states = self.start
        for folder in folders:
            states = self.descend(states, folder)
        fits = self.names(states)
        return bool(fits and fits(name))

    def _segment(self, text: str, last: bool) -> Segment:
        no_dot = "" if self.include_hidden else r"(?!\.)"
        if text == "**":
            return Segment(f"{no_dot}[^/]+", None, True, last)
        regex = segment_regex(text)
        named = text.lstrip("\\").startswith(".")
        return Segment(regex if named else no_dot + regex, literal_name(text), False, last)

    def _closure(self, index: int) -> set[int]:
        found = {index}
        while self.segments[index].any_depth and not self.segments[index].last:
            index += 1
            found.add(index)
        return found

    def _through(self, states: States, hidden: bool) -> States:
        """The states that `**` alone keeps alive in a subfolder."""
        if hidden and not self.include_hidden:
            return frozenset()
        deep = [index for index in states if self.segments[index].any_depth]
        return frozenset().union(*(self._closure(index) for index in deep))

    def _depends_on_no_name(self, states: States) -> bool:
        return all(self.segments[index].any_depth or self.segments[index].last for index in states)

    @staticmethod
    def _common_folders(alternatives: list[list[str]]) -> list[str]:
        folders: list[str] = []
        for depth in range(min(len(names) for names in alternatives) - 1):
            spelled = {literal_name(names[depth]) for names in alternatives}
            name = spelled.pop()
            if spelled or name is None or name == "**":
                break
            folders.append(name)
        return folders


def compile_glob(pattern: str, *, include_hidden: bool = False, root: str = "") -> GlobPattern:
    r"""Compile a glob pattern.

    `*` any part of a name, `**` any folders (none too), `?` one character, `[abc]`, `[!a]`, `[^a]`, `{a,b}` (nested),
    `\` takes the meaning from the next character. Without a slash it is looked for at any depth; a leading slash
    anchors it at the folder searched; a trailing slash stands for everything below. Wildcards pass over names that
    begin with a dot, unless `include_hidden`. Case counts, on every disk. A file whose name is the pattern itself,
    character for character, matches too.

    Args:
        pattern: the pattern.
        include_hidden: wildcards take hidden names as well.
        root: the root's own absolute path; a pattern that begins with it is absolute.

    Raises:
        Invalid: empty, too long, with a NUL, or its braces stand for too much. What is only malformed (an open
            bracket) is kept in `malformed`, because a file may have that name.
        OutsideRoot: `..`.
    """
    if not pattern or "\0" in pattern or len(pattern) > LONGEST_PATTERN:
        wrong = "is empty" if not pattern else "holds a NUL" if "\0" in pattern else "is too long"
        raise Invalid(f"pattern: {wrong}; it takes a glob of at most {LONGEST_PATTERN} characters such as **/*.py")
    from_root = bool(root) and (pattern == root or pattern.startswith(root.rstrip("/") + "/"))
    if from_root:
        pattern = "/" + pattern[len(root) :].lstrip("/")
    malformed = None
    spelled = [_names(escaped(pattern))] if re.search(r"[\[\]{}\\]", pattern) else []
    try:
        alternatives = [_names(each) for each in expand_braces(pattern)]
        for names in alternatives:
            for name in names:
                segment_regex(name)
    except (Invalid, MalformedSegment) as error:
        said = error.message if isinstance(error, Invalid) else f"pattern: {error} in {pattern!r}"
        if "more than" in said:
            raise
        malformed, alternatives = Invalid(said, hint="Escape special characters with a backslash."), []
        spelled = [_names(escaped(pattern))]
    unique = list({tuple(names): names for names in alternatives + spelled}.values())
    return GlobPattern(unique, include_hidden=include_hidden, from_root=from_root, malformed=malformed)


def _names(pattern: str) -> list[str]:
    """The pattern's names from the folder searched down, `**` first where it is looked for at any depth."""
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if ".." in map(literal_name, names):
        raise OutsideRoot(
            "pattern: '..' leads out of the folder searched", hint="Name the folder in path, and the pattern below it."
        )
    if pattern.endswith("/"):
        names.append("**")
    if not names:
        raise Invalid(f"pattern: {pattern!r} names no file", hint="All files: **")
    return ["**", *names] if "/" not in pattern and names != ["**"] else names
