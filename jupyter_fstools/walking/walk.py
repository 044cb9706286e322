"""Walks the files below a folder that match a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ..backends.protocol import Backend, FileStat
from ..errors import Denied, FsToolsError, InputOutput, NotADirectory, NotFound
from ..globs.ignore_rules import FolderRules, RuleFile
from ..globs.patterns import GlobPattern, Position
from .folders import open_folder
from .listing import EVERYTHING, Visible, link_target, permitted
from .names import CONTROL, EXCLUDED, Folder, joined
from .stopping import Stop

LARGEST_RULE_FILE = 1 << 20
LOT = 100
"""Names that are matched with a folder's rules between two checks whether to stop: both may be many."""
NO_RULES = FolderRules((), None)
CLOSED = "This user has no permission to list it: name another folder in path, or ask for the permission."


@dataclass
class Tally:
    """Counts of what a walk skipped.

    Attributes:
        ignored: matching files, and folders that could contain some, that an ignore file left out.
        excluded: names of default exclusions that were found.
        unreadable: folders and files that the system did not let us look into, or whose paths are too long.
    """

    ignored: int = 0
    excluded: set[str] = field(default_factory=set)
    unreadable: int = 0


class Fitting(NamedTuple):
    """The matching files of one folder; `folder` is open until the walk continues.

    Attributes:
        folder: the folder.
        files: names of files.
        links: names of links to files inside the root, with their targets.
        complete: `files` are all files of the folder with matching names; none is ignored or hidden from the caller.
    """

    folder: Folder
    files: list[str]
    links: list[tuple[str, FileStat]]
    complete: bool = False


Step = Fitting | tuple[str, Position]
"""A step of a walk in a folder: files of it, or a subfolder's name with its position in the pattern."""
Open = tuple[Folder, FolderRules, list[Step]]
"""A folder being walked, the rules that apply in it, and the steps left in it, last first."""


class Walk:
    """One walk over the files below a folder that fit a pattern.

    No link to a folder is followed; a link to a file inside the root is a file with a name of its own. Ignore files
    (`.gitignore` from the root down, `.git/info/exclude`) work as in git, with or without a repository; a nested
    repository has only its own rules. A tracked file that is ignored counts as ignored, as only git's index knows that
    it is tracked.

    Args:
        backend: where the files are.
        base: canonical path of the folder that `pattern` is relative to. It may itself be hidden or ignored: it was
            named.
        pattern: of the files' paths, relative to `base`.
        include_ignored: walk what ignore files exclude, too.
        visible: decides what is shown; asked for folders and for files that fit.
        stop: ends the walk early.
        in_order: all paths come in the order of their strings, those of one folder in runs of files, runs of links and
            the folders between them; nothing is listed before it is needed. It may be set to False on the way: what is
            listed from then on comes in no order.
    """

    def __init__(
        self,
        backend: Backend,
        base: str,
        pattern: GlobPattern,
        *,
        include_ignored: bool,
        visible: Visible = EVERYTHING,
        stop: Stop,
        in_order: bool = False,
    ) -> None:
        self.tally = Tally()
        self.in_order = in_order
        self._backend = backend
        self._base = base
        self._pattern = pattern
        self._include_ignored = include_ignored
        self._visible = visible
        self._stop = stop

    def __iter__(self) -> Iterator[Fitting]:
        """The folders with fitting files.

        Raises:
            Denied, NotFound, NotADirectory, Conflict: for the base itself.
        """
        stack = self._first()
        try:
            while stack:
                folder, rules, steps = stack[-1]
                if not steps:
                    stack.pop()
                    folder.close()
                    continue
                step = steps.pop()
                if isinstance(step, Fitting):
                    yield step
                    continue
                if self._stop.now():
                    return
                try:
                    entered = self._listed(folder.enter(step[0]), rules, step[1])
                except (OSError, FsToolsError):
                    self.tally.unreadable += 1
                    continue
                if entered[2]:
                    stack.append(entered)
                else:
                    entered[0].close()
            self._stop.now()
        finally:
            for folder, _, _ in stack:
                folder.close()

    def _first(self) -> list[Open]:
        start = self._open_start()
        try:
            return [self._listed(*start)] if start else []
        except (OSError, FsToolsError) as error:
            if start and start[0].path == self._base:
                if isinstance(error, Denied | InputOutput):
                    raise
                raise Denied(f"{self._base or '.'}: cannot be listed", hint=CLOSED) from error
            self.tally.unreadable += not isinstance(error, (FileNotFoundError, NotFound, NotADirectory))
            return []

    def _listed(self, folder: Folder, rules: FolderRules, position: Position) -> Open:
        """A folder and the steps in it; a folder that cannot be listed is closed."""
        try:
            folder.check_enterable()
            folders, files, links, others, control, too_long = folder.names()
            self.tally.unreadable += len(too_long)
            if (control or rules.everywhere is not rules) and not self._include_ignored:
                rules = self._rules(folder, rules, control)
            if files:
                files = position.fitting(files)
            if links:
                links = position.fitting(links)
            if others:
                self._kept(folder, rules, position.fitting(others), False)  # Only counted: these are never searched.
            inside = self._fitting_folders(folder, folders, position) if folders else {}
            return folder, rules, self._steps(folder, rules, files, links, inside) if files or links or inside else []
        except BaseException:
            folder.close()
            raise

    def _fitting_folders(self, folder: Folder, names: list[str], position: Position) -> dict[str, Position]:
        if not (self._include_ignored or EXCLUDED.isdisjoint(names)):
            excluded = {name for name in EXCLUDED.intersection(names) if not position.spells(name)}
            self.tally.excluded.update(permitted(folder.path, [*excluded], self._visible))
            names = [name for name in names if name not in excluded]
        return position.descend(names)

    def _steps(
        self, folder: Folder, rules: FolderRules, files: list[str], links: list[str], inside: dict[str, Position]
    ) -> list[Step]:
        """The steps to files and folders that are not ignored and may be shown."""
        names, fitting = [*files, *inside], len(files)
        if rules.files and (links or len(names) > LOT or not rules.touch_none_of(names)):
            files, links = self._kept(folder, rules, files, False), self._kept(folder, rules, links, False)
            inside = {name: inside[name] for name in self._kept(folder, rules, list(inside), True)}
            names = [*files, *inside]
        shown = permitted(folder.path, names, self._visible)
        if len(shown) < len(names):
            seen = frozenset(shown)
            files = [name for name in files if name in seen]
            inside = {name: deeper for name, deeper in inside.items() if name in seen}
        targets = list(self._inside_root(folder.path, links)) if links else []
        if self.in_order:
            return _in_order(Fitting(folder, files, targets), inside)
        steps: list[Step] = list(inside.items())
        if files or targets:
            steps.append(Fitting(folder, files, targets, complete=len(files) == fitting))
        return steps

    def _kept(self, folder: Folder, rules: FolderRules, names: list[str], is_folder: bool) -> list[str]:
        """The names that are not ignored, among those checked before the walk was stopped."""
        kept: list[str] = []
        for at in range(0, len(names), LOT):
            if at and self._stop.now():
                return kept
            lot = names[at : at + LOT]
            left = lot if len(names) > LOT and rules.touch_none_of(lot) else rules.kept(lot, is_folder)
            if len(left) < len(lot):
                self.tally.ignored += len(permitted(folder.path, [*{*lot}.difference(left)], self._visible))
            kept += left
        return kept

    def _inside_root(self, folder: str, links: list[str]) -> Iterator[tuple[str, FileStat]]:
        for name in permitted(folder, links, self._visible):
            target = link_target(self._backend, joined(folder, name), self._visible)
            if target is not None and target.kind == "file":
                yield name, target

    def _open_start(self) -> tuple[Folder, FolderRules, Position] | None:
        """The folder to begin with: the base, or below it the pattern's prefix; None if nothing can match."""
        try:
            folder: Folder = open_folder(self._backend, "")
        except OSError as error:
            raise Denied("the root cannot be opened", hint=CLOSED) from error
        rules, position = NO_RULES, self._pattern.start
        base = self._base.split("/") if self._base else []
        for depth, name in enumerate(base + self._pattern.prefix):
            if not self._include_ignored:
                rules = self._rules(folder, rules, [name for name in CONTROL if folder.has(name)])
            below = depth >= len(base)
            try:
                entered = folder.enter(name) if not below or self._may_enter(folder, name, rules) else None
            except (OSError, FsToolsError) as error:
                if not below:
                    raise Denied(f"{self._base}: cannot be opened", hint=CLOSED) from error
                self.tally.unreadable += _is_closed(folder, name)
                entered = None
            finally:
                folder.close()
            if entered is None:
                return None
            folder = entered
            position = position.descend([name])[name] if below else position
        return folder, rules, position

    def _may_enter(self, folder: Folder, name: str, rules: FolderRules) -> bool:
        if rules.ignored(name, True):
            self.tally.ignored += 1
            return False
        return self._visible.may_read(joined(folder.path, name))

    def _rules(self, folder: Folder, above: FolderRules, control: list[str]) -> FolderRules:
        """The rules that apply in `folder`; `control` are its names that define rules."""
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


def _is_closed(folder: Folder, name: str) -> bool:
    """Whether a name that could not be entered is, or may be, a folder."""
    try:
        return folder.see(name).kind == "directory"
    except (OSError, FsToolsError) as error:
        return isinstance(error, PermissionError)


def _in_order(fits: Fitting, inside: dict[str, Position]) -> list[Step]:
    """The steps in a folder, last first, in the order of the paths they lead to: a folder sorts by its name and `/`."""
    targets = dict(fits.links)

    def kind(key: str) -> str:
        return "folder" if key[-1] == "/" else "link" if key in targets else "file"

    steps: list[Step] = []
    for each, keys in groupby(sorted([*fits.files, *targets, *(f"{name}/" for name in inside)]), kind):
        if each == "folder":
            steps += [(key[:-1], inside[key[:-1]]) for key in keys]
            continue
        names = list(keys)
        files, links = (names, []) if each == "file" else ([], [(name, targets[name]) for name in names])
        steps.append(Fitting(fits.folder, files, links))
    steps.reverse()
    return steps
