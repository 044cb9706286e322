"""The walk that glob and grep share: which files there are to look at, and what was passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..backends.protocol import Backend, FileStat
from ..errors import Denied, FsToolsError
from .folders import CONTROL, Folder, joined, open_folder
from .ignore_rules import FolderRules, RuleFile
from .patterns import GlobPattern, States
from .stopping import Stop

EXCLUDED = frozenset({".git", "node_modules", "__pycache__", ".ipynb_checkpoints"})
"""Folders that are passed over unless the pattern or the path names them, or ignored files are asked for too."""
LARGEST_RULE_FILE = 1 << 20
NoneDenied = Callable[[str, Sequence[str]], bool] | None
NO_RULES = FolderRules((), "")


@dataclass
class Tally:
    """What a walk passed over.

    Attributes:
        ignored: files that fitted the pattern and folders that could have held some, left out by an ignore file.
        excluded: names of default exclusions that were met.
        unreadable: folders and files that the system did not let us look into.
    """

    ignored: int = 0
    excluded: set[str] = field(default_factory=set)
    unreadable: int = 0


class Fitting(NamedTuple):
    """The files of one folder that fit; `folder` is open until the walk goes on.

    `links` are names of links to files inside the root, with what they lead to.
    """

    folder: Folder
    files: list[str]
    links: list[tuple[str, FileStat]]


@dataclass(slots=True)
class Open:
    """A folder being walked, the rules and states that hold in it, and the folders in it still to enter."""

    folder: Folder
    rules: FolderRules
    states: States
    inside: list[tuple[str, States]] = field(default_factory=list)


class Walk:
    """One walk over the files below a folder that fit a pattern.

    No link to a folder is followed; a link to a file inside the root is a file of its own name. Ignore files
    (`.gitignore` from the root down, `.git/info/exclude`) hold as in git, with or without a repository; a repository
    in a folder begins anew. A file that git tracks although it is ignored counts as ignored: only the index knows.

    Args:
        backend: where the files are.
        base: canonical path of the folder that `pattern` is relative to. It may itself be hidden or ignored: it was
            named.
        may_read: whether a canonical path may be shown; asked for folders and for files that fit. None: every path.
        none_denied: a quick yes for many names in a folder; after a no, `may_read` is asked for each.
    """

    def __init__(
        self,
        backend: Backend,
        base: str,
        pattern: GlobPattern,
        *,
        include_ignored: bool,
        may_read: Callable[[str], bool] | None,
        none_denied: NoneDenied = None,
        stop: Stop,
    ) -> None:
        self.tally = Tally()
        self._backend = backend
        self._base = base
        self._pattern = pattern
        self._include_ignored = include_ignored
        self._may_read = may_read
        self._none_denied = none_denied
        self._stop = stop

    def __iter__(self) -> Iterator[Fitting]:
        """The folders with fitting files, in no order.

        Raises:
            Denied, NotFound, NotADirectory, Conflict: for the base itself.
        """
        opened = self._open_start()
        stack: list[Open] = []
        try:
            while opened is not None:
                stack.append(opened)
                fitting = self._scan(opened, is_base=len(stack) == 1)
                if fitting is not None and (fitting.files or fitting.links):
                    yield fitting
                opened = None if self._stop.now() else self._next(stack)
        finally:
            for each in stack:
                each.folder.close()

    def _next(self, stack: list[Open]) -> Open | None:
        while stack:
            above = stack[-1]
            if not above.inside:
                stack.pop().folder.close()
                continue
            name, states = above.inside.pop()
            try:
                return Open(above.folder.enter(name), above.rules, states)
            except (OSError, FsToolsError):
                self.tally.unreadable += 1
        return None

    def _scan(self, opened: Open, *, is_base: bool) -> Fitting | None:
        folder = opened.folder
        try:
            names = folder.names(self._pattern.names(opened.states) or _nothing)
        except (OSError, FsToolsError) as error:
            if is_base:
                raise Denied(f"{self._base or '.'}: cannot be listed") from error
            self.tally.unreadable += 1
            return None
        files, links, rules = names.files, names.links, opened.rules
        if not self._include_ignored and (names.control or rules.files):
            rules = opened.rules = self._rules(folder, rules, names.control)
            if rules.files and (files or links):
                found = len(files) + len(links)
                files, links = rules.kept(files, False), rules.kept(links, False)
                self.tally.ignored += found - len(files) - len(links)
        inside = self._fitting_folders(names.folders, opened) if names.folders else []
        if self._may_read is not None and not self._all_readable(folder.path, [*files, *(name for name, _ in inside)]):
            files = [name for name in files if self._readable(joined(folder.path, name))]
            inside = [each for each in inside if self._readable(joined(folder.path, each[0]))]
        opened.inside = inside
        return Fitting(folder, files, list(self._inside_root(folder.path, links)))

    def _all_readable(self, folder: str, names: list[str]) -> bool:
        return not names or (self._none_denied is not None and self._none_denied(folder, names))

    def _fitting_folders(self, names: list[str], opened: Open) -> list[tuple[str, States]]:
        """The folders to enter, but for those that may not be shown."""
        states, rules, pattern = opened.states, opened.rules, self._pattern
        chosen = [
            (name, deeper)
            for name in names
            if (name not in EXCLUDED or not self._is_excluded(name, states))
            and (deeper := pattern.descend(states, name))
        ]
        if not rules.files:
            return chosen
        kept = set(rules.kept([name for name, _ in chosen], True))
        self.tally.ignored += len(chosen) - len(kept)
        return [each for each in chosen if each[0] in kept]

    def _is_excluded(self, name: str, states: States) -> bool:
        if name not in EXCLUDED or self._include_ignored or self._pattern.spells(states, name):
            return False
        self.tally.excluded.add(name)
        return True

    def _inside_root(self, folder: str, links: list[str]) -> Iterator[tuple[str, FileStat]]:
        for name in links:
            path = joined(folder, name)
            try:
                target = self._backend.stat(path)
            except FsToolsError:
                continue
            if target.kind == "file" and self._readable(path) and self._readable(target.path):
                yield name, target

    def _readable(self, path: str) -> bool:
        return self._may_read is None or self._may_read(path)

    def _open_start(self) -> Open | None:
        """The folder to begin with: the base, or below it the pattern's prefix; None if nothing can match."""
        folder: Folder = open_folder(self._backend, "")
        rules, states = NO_RULES, self._pattern.start
        base = self._base.split("/") if self._base else []
        for depth, name in enumerate(base + self._pattern.prefix):
            if not self._include_ignored:
                rules = self._rules(folder, rules, [name for name in CONTROL if folder.has(name)])
            below = depth >= len(base)
            try:
                entered = folder.enter(name) if not below or self._may_enter(folder, name, rules) else None
            except (OSError, FsToolsError) as error:
                if not below:
                    raise Denied(f"{self._base}: cannot be opened") from error
                entered = None
            finally:
                folder.close()
            if entered is None:
                return None
            folder = entered
            states = self._pattern.descend(states, name) if below else states
        return Open(folder, rules, states)

    def _may_enter(self, folder: Folder, name: str, rules: FolderRules) -> bool:
        if rules.ignored(name, True):
            self.tally.ignored += 1
            return False
        return self._readable(joined(folder.path, name))

    def _rules(self, folder: Folder, above: FolderRules, control: list[str]) -> FolderRules:
        """The rules that hold in `folder`, where `control` are the names that matter."""
        if not control:
            return above.below(folder.path) if above.files else above
        files = above.files
        if ".git" in control:
            files = tuple(self._read_rules(folder, (".git", "info", "exclude")))
        if ".gitignore" in control:
            files = (*self._read_rules(folder, (".gitignore",)), *files)
        return FolderRules(files, folder.path) if files else NO_RULES

    @staticmethod
    def _read_rules(folder: Folder, names: tuple[str, ...]) -> Iterator[RuleFile]:
        opened: list[Folder] = []
        try:
            inner = folder
            for name in names[:-1]:
                inner = inner.enter(name)
                opened.append(inner)
            text = inner.read(names[-1], LARGEST_RULE_FILE)
        except (OSError, FsToolsError):
            return
        finally:
            for each in opened:
                each.close()
        if text and (rules := RuleFile(text, folder.path)):
            yield rules


def _nothing(name: str) -> bool:
    return False
