"""Compiles rules as in `.gitignore`, and matches paths with them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from pathspec import GitIgnoreSpec

from ..backends.path_names import readable
from ..errors import Invalid
from ..globs.segments import expand_braces

_BARE_NAME = re.compile(r"(?:\[\^/\]\*?|\\.|\w)+(?:/|\(\?:/\|\$\))", re.DOTALL)
_DEEP = "(?:/.+)?"
_LONGEST = 4096  # Characters of a rule, as of a path: folding or splitting very long ones takes quadratic time.
_MOST_NAMES = 1 << 14
_NAME_ENDS = re.compile(r"\(\?:/\|\$\)|\\\$")
_ITEM = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
_STAR = re.compile(r"\[\^/\]\*((?:(?!\[\^/\]\*)(?:[^/]|(?<=\[\^)/))*)(?=\[\^/\]\*)", re.DOTALL)
"""Matches the star of a name, and the rest up to the next star of the same name."""
_NO_NEWLINE = {0x0A: 0x00}  # `$` in the rules' expressions matches before a final newline; no path holds a NUL.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]) | _NO_NEWLINE


class PathRules:
    """Patterns with a fast check whether one of them matches a path or a folder above it.

    Raises:
        Invalid: one of them is no valid pattern.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._spec = _spec(patterns)
        bodies = _bodies(self._spec)
        for rule in self._spec.patterns:
            if rule.regex is not None:
                rule.regex = re.compile(_without_backtracking(rule.regex.pattern))
        self._maybe = None if bodies is None else _search(bodies)
        bare = bodies is not None and all(map(_BARE_NAME.fullmatch, bodies))
        self._bare_names = _BareNames(bodies) if bare and bodies is not None else None
        # The same few paths are checked again and again; a look-up is faster than two dozen patterns.
        self._judged = lru_cache(maxsize=4096)(self._judge)

    def hold_for(self, path: str) -> bool:
        """Whether a rule matches a path, as a file or as a folder."""
        # A search checks a hundred thousand paths: one expression rules out most of them.
        name = folded(path)
        return (self._maybe is None or bool(self._maybe(f"/{name}/"))) and self._judged(name.lstrip("/"))

    def surely_hold_for_none(self, folder: str, names: list[str]) -> bool:
        """True only if no rule matches any of these names in a folder, which itself no rule matches."""
        if self._bare_names is not None:
            return self._bare_names.are_harmless(names)
        start = f"/{folder}/" if folder else "/"
        between = f"/\0{start}"
        paths = f"{start}{between.join(names)}/"
        if self._maybe is None or "\n" in paths:
            return False
        # No `**` matches across a newline: each path is matched alone, however many there are.
        return not self._maybe(folded(paths).replace("\0", "\n"))

    def _judge(self, name: str) -> bool:
        return self._spec.match_file(name) or self._spec.match_file(f"{name}/")


@lru_cache(maxsize=16)
def rules_of(patterns: tuple[str, ...]) -> PathRules:
    """The compiled rules, cached: most workspaces of a process have the same ones.

    Raises:
        Invalid: one of them is no valid pattern, or holds for no path: whoever set it relies on it.
    """
    rules = PathRules(patterns)
    for rule in expanded(patterns):
        if not {"", ".", ".."}.isdisjoint(rule.removeprefix("!").removeprefix("/").removesuffix("/").split("/")):
            raise Invalid(
                f"the rule {rule[:80]!r} holds for no path",
                hint="Write names alone, from the root on: private/ instead of ./private/.",
            )
    return rules


def expanded(patterns: Iterable[str]) -> list[str]:
    """The rules that patterns stand for, one for each alternative of braces, without comments and empty ones.

    Raises:
        Invalid: one is longer than any path, a brace has no partner, or there are too many alternatives.
    """
    patterns = list(patterns)
    for pattern in patterns:
        if len(pattern) > _LONGEST:
            raise Invalid(
                f"the rule {pattern[:80]!r} has {len(pattern)} characters, more than {_LONGEST}",
                hint="Write several shorter rules.",
            )
    written = [pattern for pattern in patterns if not folded(pattern).startswith("#")]
    rules = [folded(one) for pattern in written for one in expand_braces(pattern)]
    # A comment begins outside of braces: inside, the sign is part of a name.
    return [f"\\{rule}" if rule.startswith("#") else rule for rule in rules if rule.strip()]


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    rules = expanded(patterns)
    try:
        spec = GitIgnoreSpec.from_lines(rules)
    except (ValueError, re.error) as error:
        raise Invalid(
            f"a rule is not a valid pattern: {getattr(error, 'msg', error)}",
            hint="Write it as a line of a .gitignore file.",
        ) from None
    for rule, pattern in zip(rules, spec.patterns, strict=True):
        if pattern.include is None and "[" in rule:
            raise Invalid(f"the rule {rule[:80]!r} holds for no path", hint="Close the bracket, or escape it: \\[.")
    return spec


def _bodies(rules: GitIgnoreSpec) -> list[str] | None:
    """Patterns that match in `/path/`, after a slash, wherever a rule could match; None where that is not known.

    Every rule's expression matches one or more whole names, from the start of the path or from a slash on.
    """
    sources = [rule.regex.pattern for rule in rules.patterns if rule.include and rule.regex is not None]
    bodies = [source.replace("(?P<ps_d>/)", "/").removeprefix("^").removeprefix("(?:.+/)?") for source in sources]
    if any(not source.startswith("^") for source in sources) or any("$" in re.sub(_NAME_ENDS, "", b) for b in bodies):
        return None
    return bodies


def _search(bodies: list[str]) -> Callable[[str], object]:
    return re.compile(f"/(?:{'|'.join(map(_without_backtracking, bodies))})").search if bodies else _nowhere


def _without_backtracking(source: str) -> str:
    """An equivalent expression that takes no more time for many `**`, or for many stars in a name, than for two.

    All before the last of them matches at the first possible place only (an atomic group), as in `globs.segments`.
    """
    if any(item[0][0] == "[" and re.match(item[0], "/") for item in _ITEM.finditer(source)):
        return source  # `[!a]` matches a slash, too: the first place is not always the best.
    first, *others = _STAR.sub(r"(?>[^/]*?\1)", source).split(_DEEP)
    if not others:
        return first
    *middle, last = others
    if first.startswith("^(?:.+/)?"):
        first = f"^(?>(?:.+?/)??{first.removeprefix('^(?:.+/)?')}(?=/))"
    return f"{first}{''.join(f'(?>(?:/.+?)??{part}(?=/))' for part in middle)}{_DEEP}{last}"


class _BareNames:
    """Rules that each match a single name, at any depth.

    The same names are checked again and again: a bounded number of those that no rule matches are cached.
    """

    def __init__(self, bodies: list[str]) -> None:
        self._maybe = _search(bodies)
        self._harmless: set[str] = set()

    def are_harmless(self, names: list[str]) -> bool:
        """Whether no rule matches any of these names."""
        if self._harmless.issuperset(names):
            return True
        if self._maybe(folded(f"/{'/'.join(names)}/")):
            return False
        if len(self._harmless) + len(names) > _MOST_NAMES:
            self._harmless = set()
        self._harmless.update(names[:_MOST_NAMES])
        return True


def _nowhere(path: str) -> None:
    return None


def folded(text: str) -> str:
    """A path as rules compare it: without regard to case or Unicode normalisation."""
    if text.isascii():
        return text.translate(_NO_NEWLINE).lower() if "\n" in text else text.lower()
    # Canonical caseless matching (Unicode, D145), without the characters that HFS+ ignores when it compares names.
    decomposed = unicodedata.normalize("NFD", readable(text).translate(_IGNORED))
    return unicodedata.normalize("NFC", decomposed.casefold())
