"""Compiles glob patterns and matches them one folder at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from ..backends.path_names import spelled_for_system
from ..backends.protocol import Backend
from ..errors import FsToolsError, Invalid, OutsideRoot
from .segments import ExcessiveBraces, MalformedSegment, escaped, expand_braces, literal_name, segment_regex

LONGEST_PATTERN = 4096
_NEVER_IN_NAMES = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")
"""NUL, and surrogates except those that stand for bytes that are not UTF-8."""
_TOLD_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(dc[89a-f][0-9a-f])")
"""A byte that is not UTF-8, written as `\\udcXX`, as many clients show it; the backslash itself is not escaped."""
Choice = Callable[[list[str]], list[str]]
"""Chooses the matching names of many."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One name of one alternative.

    Attributes:
        regex: expression for the whole name.
        literal: the name, if it has no wildcard.
        ending: every name with this ending matches, except hidden ones; None if that is not equivalent.
        any_depth: it is `**`: any number of folders, or none.
        last: it is for the file, not for a folder.
    """

    regex: str
    literal: str | None
    ending: str | None
    any_depth: bool
    last: bool


class GlobPattern:
    """A compiled pattern. Build it with `compile_glob`.

    Attributes:
        start: the position of the folder that the pattern is relative to.
        from_root: the pattern was absolute: it is relative to the root, not to the folder searched.
        prefix: the folders that contain every match; a walk can begin there.
        last_names: the name of a file must match one of these.
        bare_names: those of them that match in any folder.
        differs_in_names: in a folder where any file matches, every file that matches one of `last_names` does.
        malformed: why the pattern is not valid. It then matches only a file with this literal name.
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
        self._positions: dict[frozenset[int], Position] = {}
        self.start = self.position(first)
        self.prefix = self._common_folders(alternatives)
        self.last_names = frozenset(names[-1] for names in alternatives)
        self.differs_in_names = len({tuple(names[:-1]) for names in alternatives}) == 1
        self.bare_names = frozenset(names[-1] for names in alternatives if names[:-1] == ["**"])

    def position(self, indexes: Iterable[int]) -> Position:
        """The position before these segments, and before those after a `**` among them, which may match no folder."""
        standing, pending = set[int](), list(indexes)
        for index in pending:
            standing.add(index)
            if self.segments[index].any_depth and not self.segments[index].last:
                pending.append(index + 1)
        key = frozenset(standing)
        if key not in self._positions:
            self._positions[key] = Position(self, sorted(key))
        return self._positions[key]

    def matching(self, folder: str, names: list[str]) -> list[str]:
        """The files in `folder` that match; the folder is relative to that of the pattern ("" for that itself)."""
        position: Position | None = self.start
        for name in folder.split("/") if folder else ():
            position = position and position.descend([name]).get(name)
        return position.fitting(names) if position else []

    def _segment(self, text: str, last: bool) -> Segment:
        no_dot = "" if self.include_hidden else r"(?!\.)"
        if text == "**":
            return Segment(f"{no_dot}[^/]+", None, "", True, last)
        regex = segment_regex(text, as_git=False)
        named = text.lstrip("\\").startswith(".")
        ending = literal_name(text.lstrip("*")) if text.startswith("*") else None
        return Segment(regex if named else no_dot + regex, literal_name(text), ending, False, last)

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


class Position:
    """A folder's position in a pattern, which tells the names that files and folders in it must have.

    Attributes:
        fitting: chooses the names of files in the folder that match.
    """

    def __init__(self, pattern: GlobPattern, indexes: list[int]) -> None:
        segments = [(index, pattern.segments[index]) for index in indexes]
        self._pattern = pattern
        self._deep = [index for index, segment in segments if segment.any_depth]
        named = [(index, segment) for index, segment in segments if not (segment.any_depth or segment.last)]
        self._named = [(re.compile(segment.regex).fullmatch, index + 1) for index, segment in named]
        self._literals = {segment.literal for _, segment in named}
        self.fitting = _choice([segment for _, segment in segments if segment.last], pattern.include_hidden)

    def spells(self, name: str) -> bool:
        """Whether the pattern has the folder's literal `name`, so that a default exclusion does not apply."""
        return name in self._literals

    def descend(self, names: list[str]) -> dict[str, Position]:
        """The subfolders below which something can match, with their positions."""
        if self._named:
            return {name: inside for name in names if (inside := self._inside(name)) is not None}
        if not self._deep:
            return {}
        shown = names if self._pattern.include_hidden else [name for name in names if name[0] != "."]
        return dict.fromkeys(shown, self._everywhere)

    @cached_property
    def _everywhere(self) -> Position:
        """The position to which `**` alone leads."""
        return self._pattern.position(self._deep)

    def _inside(self, name: str) -> Position | None:
        deep = self._deep if self._pattern.include_hidden or name[0] != "." else []
        indexes = deep + [index for fits, index in self._named if fits(name)]
        return self._pattern.position(indexes) if indexes else None


def _choice(segments: list[Segment], include_hidden: bool) -> Choice:
    """A function that chooses the names that match one of the segments, by the fastest way for all of them together."""
    endings = tuple(segment.ending for segment in segments if segment.ending is not None)
    if not segments:
        return lambda names: []
    if len(endings) < len(segments):
        fits = re.compile("|".join(dict.fromkeys(segment.regex for segment in segments))).fullmatch
        return lambda names: [name for name in names if fits(name)]
    if "" in endings:
        return lambda names: names if include_hidden else [name for name in names if name[0] != "."]
    if include_hidden:
        return lambda names: [name for name in names if name.endswith(endings)]
    return lambda names: [name for name in names if name.endswith(endings) and name[0] != "."]


def glob_in(backend: Backend, pattern: str, *, include_hidden: bool = False, field: str = "glob") -> GlobPattern:
    """`compile_glob` for a pattern that may be absolute, in any spelling of the root that the backend accepts."""
    root = root_spelled(backend, pattern)
    return compile_glob(pattern, include_hidden=include_hidden, root=root, field=field)


def root_spelled(backend: Backend, pattern: str) -> str:
    """The root's path as an absolute pattern begins with it, also through links; "" for any other pattern."""
    root = backend.root_key
    if not root or f"{pattern}/".startswith(f"{root}/"):
        return root
    if not os.path.isabs(pattern) or len(pattern) > LONGEST_PATTERN or _led_to(backend, pattern) is None:
        return ""
    for end in re.finditer(r"(?<=[^/])(?=/|\Z)", pattern):
        beginning = pattern[: end.start()]
        inside = _led_to(backend, beginning)
        if inside is not None:
            # A backend that reads every absolute path as one below its root takes `/.` for the root.
            return "" if inside or beginning.endswith("/.") else beginning
    return ""


def _led_to(backend: Backend, path: str) -> str | None:
    """The path's target in the root, or the path itself if that is unknown; None if it leads out of the root."""
    try:
        return backend.stat(path).path
    except OutsideRoot:
        return None
    except FsToolsError:
        return path


def compile_glob(pattern: str, *, include_hidden: bool = False, root: str = "", field: str = "glob") -> GlobPattern:
    r"""Compile a glob pattern.

    `*` matches any part of a name, `**` any number of folders, `?` one character; `[abc]`, `[!a]`, `[^a]` and `{a,b}`
    (nested) work; `\` escapes the next character, but `\udcXX` is the byte XX, as names that are not UTF-8 are shown. A
    pattern without a slash matches at any depth; a leading slash anchors it at the folder searched; a trailing slash
    stands for everything below. Wildcards do not match names that begin with a dot, unless `include_hidden` is set.
    Case matters, on every disk. A file whose name is exactly the pattern matches, too.

    Args:
        pattern: the pattern.
        include_hidden: wildcards take hidden names as well.
        root: the root's own absolute path; a pattern that begins with it is absolute.
        field: the argument that gives the pattern, which a refusal names.

    Raises:
        Invalid: empty, too long, with characters that no name can have, or its braces stand for too much. A pattern
            that is only malformed (an open bracket, a reversed range) is noted in `malformed`, because a file may have
            that name.
        OutsideRoot: `..`.
    """
    try:
        return _compiled(pattern, include_hidden=include_hidden, root=root, field=field)
    except (Invalid, OutsideRoot) as refusal:
        refusal.say_which_argument(field)
        raise


def _compiled(pattern: str, *, include_hidden: bool, root: str, field: str) -> GlobPattern:
    wrong = "is empty" if not pattern else "is too long" if len(pattern) > LONGEST_PATTERN else ""
    if wrong or _NEVER_IN_NAMES.search(pattern):
        wrong = wrong or "holds a NUL or half a surrogate pair"
        raise Invalid(wrong, hint=f"It takes at most {LONGEST_PATTERN} characters, such as **/*.py.")
    try:
        pattern = spelled_for_system(pattern)
    except UnicodeEncodeError:
        raise Invalid("holds a character that no name can have", hint="Write ? for it.") from None
    from_root = bool(root) and (pattern == root or pattern.startswith(root.rstrip("/") + "/"))
    if from_root:
        pattern = "/" + pattern[len(root) :].lstrip("/")
    malformed = None
    spelled = [_names(escaped(pattern))] if re.search(r"[\[\]{}\\]", pattern) else []
    try:
        # An empty alternative, as in {a,b,}, matches no name.
        alternatives = [_names(each) for each in expand_braces(_with_bytes(pattern)) if each]
        if not alternatives:
            raise Invalid(f"{pattern!r} names no file")
        for names in alternatives:
            for name in names:
                segment_regex(name, as_git=False)
    except ExcessiveBraces:
        raise
    except (Invalid, MalformedSegment) as error:
        said = error.message if isinstance(error, Invalid) else f"{error} in {pattern!r}"
        malformed, alternatives = Invalid(said, hint="Escape special characters with a backslash."), []
        malformed.say_which_argument(field)
        spelled = [_names(escaped(pattern))]
    unique = list({tuple(names): names for names in alternatives + spelled}.values())
    return GlobPattern(unique, include_hidden=include_hidden, from_root=from_root, malformed=malformed)


def _with_bytes(pattern: str) -> str:
    """The pattern with its escaped bytes that are not UTF-8 decoded."""
    return _TOLD_BYTE.sub(lambda told: told[1] + chr(int(told[2], 16)), pattern)


def _names(pattern: str) -> list[str]:
    """The pattern's names from the folder searched down; `**` comes first if it matches at any depth."""
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if ".." in map(literal_name, names):
        raise OutsideRoot(
            "'..' leads out of the folder searched", hint="Name the folder in path, and what is below it here."
        )
    if pattern.endswith(("/", "/.")):
        names.append("**")
    if not names:
        raise Invalid(f"{pattern!r} names no file", hint="For all files use **.")
    return ["**", *names] if "/" not in pattern and names != ["**"] else names
