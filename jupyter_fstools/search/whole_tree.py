"""Searching a whole tree with one run of ripgrep, where it is sure to go the way that our own walk goes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from ..backends.local_disk import LocalDisk
from ..backends.path_names import HIDDEN_PREFIX
from ..errors import FsToolsError
from ..walking.folders import joined
from ..walking.names import CONTROL, EXCLUDED
from ..walking.trail import FolderTrail, reachable
from ..walking.visible import AllAllowed, MayRead, link_target, permitted
from .batches import Batch, Counted, Part
from .heeded_rules import HeededRules
from .ripgrep_debug import NOTEBOOKS, Kind, PassedOver, passed_over
from .ripgrep_process import FAULTS, RipgrepFailed, counts_of, unreadable_at_end
from .ripgrep_run import Talk
from .text_query import TextQuery
from .walk import Tally, Walk

Ran = Callable[[list[str], list[str]], AbstractContextManager[Talk]]
InFolder = tuple[str, list[str]]
"""A folder, and names in it."""
_MOST_FOLDERS = 1 << 12
"""Remembered as open or closed: the next paths are mostly in the same ones."""
_RULES_OF_GIT = ("--no-require-git", "--no-ignore-dot", "--no-ignore-global")


class WholeTree:
    """One search of everything below a folder, but what is hidden, ignored or excluded by default.

    Ripgrep walks by itself and says what it passes over. That is turned into what our walk would have come to; where
    the two may differ (`HeededRules`, and names that cannot be told from what it says) the run does not count.

    Args:
        backend: the disk.
        query: what to look for; `can_search` holds for it.
        base: canonical path of the folder.
        walk: our own walk over the same, which is given the tally.
        may_read: whether a canonical path may be shown.
        all_allowed: a quick yes for many names in a folder.
    """

    def __init__(
        self,
        backend: LocalDisk,
        query: TextQuery,
        base: str,
        walk: Walk,
        *,
        may_read: MayRead,
        all_allowed: AllAllowed,
    ) -> None:
        self._backend = backend
        self._query = query
        self._base = base
        self._may_read, self._none_denied = may_read, all_allowed
        self._walk = walk
        self._rules = HeededRules(backend)
        self._entered = {"": True, base: True}
        self._faults = 0

    @staticmethod
    def can_search(query: TextQuery) -> bool:
        """Whether ripgrep can be told what to search, and says enough of the rest.

        Where names are chosen it says too much, a line for each; over several lines it counts other lines than it
        lists; of hidden `.git` files it says nothing; and it has no order to stop in.
        """
        told = query.glob is None and query.file_type is None
        return (
            told and not query.multiline and query.exact_total and (query.include_ignored or not query.include_hidden)
        )

    @property
    def folders_with_rules(self) -> frozenset[str]:
        """The folders in which ripgrep has come upon rules."""
        return frozenset(self._rules.folders)

    def batches(self, pattern: list[str], ran: Ran) -> Iterator[Batch]:
        """What ripgrep came to, some at a time, each to be gone on with.

        Args:
            pattern: what to look for, in ripgrep's words.
            ran: runs it, and ends it when the search is stopped.

        Raises:
            RipgrepFailed: it failed, or it is not sure that it went our way.
            Stopped
        """
        self._walk.tally = Tally()
        with ran([*self._options(), *pattern], [self._base]) as run:
            line = count = b""
            for printed, beside in run.said():
                lines, end, line = (line + beside).rpartition(b"\n")
                if lines:
                    yield self._batch(passed_over(lines + end))
                counts, count = counts_of(count + printed)
                if counts:
                    yield self._found(counts)
            if run.code not in (None, FAULTS):
                unreadable_at_end(run.code, b"", [])
            if line and run.code is not None:
                yield self._batch(passed_over(line + b"\n"))
            if run.code == FAULTS and not self._faults:
                raise RipgrepFailed("it failed without a complaint")
            self._rules.check_repositories()

    def _found(self, counts: dict[str, int]) -> Batch:
        paths = reachable(self._backend, _paths(self._permitted(counts)))
        return Batch(found=[Counted(path, path, counts[path]) for path in paths])

    def _options(self) -> list[str]:
        query = self._query
        options = ["--count", "--debug", f"--max-filesize={query.max_file_bytes}", *NOTEBOOKS]
        options += ["--hidden"] if query.include_hidden else []
        if query.include_ignored:
            return [*options, "--no-ignore"]
        options += [*_RULES_OF_GIT, *(f"--glob=!{name}/" for name in sorted(EXCLUDED))]
        self._rules.from_above = self._rules_above()
        return options if self._rules.from_above else [*options, "--no-ignore-parent"]

    def _rules_above(self) -> bool:
        """Whether rules from above the folder hold in it; they and its own are looked at before anything is run."""
        above = [self._base[: slash.start()] for slash in re.finditer("/", self._base)]
        above = ["", *above] if self._base else []
        found = False
        with FolderTrail(self._backend) as trail:
            for folder in above:
                there = [name for name in CONTROL if trail.at(folder).has(name)]
                found = found or bool(there)
                if ".git" in there:
                    self._rules.add_repository(folder)
                self._rules.check_plain(trail, folder, above=True)
            self._rules.check_plain(trail, self._base)
        return found

    def _batch(self, said: PassedOver) -> Batch:
        """What some lines tell: counts of what is not searched, and files that are still to be searched."""
        for path in said["rules"]:
            self._rules.add_file(path)
        for path in (*said["excluded"], *said["hidden"], *said["ignored"], *said["kept"]):
            if path == ".git" or path.endswith("/.git"):
                self._rules.add_repository(path[: -len("/.git")])
        self._walk.tally.excluded |= {_name(path) for path in said["excluded"] if self._may_enter(_folder(path))}
        self._walk.tally.ignored += sum(len(names) for _, names in self._visible(said["ignored"]))
        self._faults += len(said["unreadable"]) + len(said["gone"])
        batch = Batch()
        reasons: tuple[Kind, ...] = ("binary", "unreadable")
        for reason in reasons:
            batch.skipped[reason] = sum(len(names) for _, names in self._permitted(said[reason]))
        if batch.skipped["unreadable"]:
            self._check_folders(said["unreadable"])
        notebooks, their_links = self._files_and_links(said["notebook"])
        batch.notebooks += [Part(folder, names) for folder, names in notebooks]
        large, large_links = self._files_and_links(said["large"])  # To ripgrep a link is as large as its own text.
        batch.skipped["large"] = sum(len(names) for _, names in large)
        for path in _paths(self._permitted(said["link"] + their_links + large_links)):
            target = link_target(self._backend, path, self._may_read)
            if target is not None and target.kind == "file":
                batch.add_file(path, target)
        return batch

    def _files_and_links(self, paths: list[str]) -> tuple[list[InFolder], list[str]]:
        """Those of the paths that may be shown: files, and links by their paths."""
        files, links = [], []
        with FolderTrail(self._backend) as trail:
            for folder, names in self._permitted(paths):
                seen = {name: self._kind(trail, folder, name) for name in names}
                files.append((folder, [name for name in names if seen[name] == "file"]))
                links += [joined(folder, name) for name in names if seen[name] == "link"]
        return files, links

    @staticmethod
    def _kind(trail: FolderTrail, folder: str, name: str) -> str:
        try:
            return trail.at(folder).see(name).kind
        except PermissionError as error:
            raise RipgrepFailed("it listed a folder that cannot be entered") from error
        except (OSError, FsToolsError):
            return "gone"

    def _check_folders(self, paths: list[str]) -> None:
        """Refuse what ripgrep says one by one of a folder that cannot be entered, which is unreadable as a whole."""
        with FolderTrail(self._backend) as trail:
            for folder, names in self._permitted(paths):
                for name in names[:1]:
                    self._kind(trail, folder, name)

    def _permitted(self, paths: Iterable[str]) -> Iterator[InFolder]:
        """Those of the paths that may be shown."""
        for folder, names in self._visible(paths):
            yield folder, permitted(folder, names, self._may_read, self._none_denied)

    def _visible(self, paths: Iterable[str]) -> Iterator[InFolder]:
        """Those that are not hidden, in folders that may be shown."""
        folders: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            folder, _, name = path.rpartition("/")
            folders[folder].append(name)
        for folder in sorted(folders):
            if self._may_enter(folder):
                yield folder, [name for name in folders[folder] if name[0] != "." or self._is_seen(name)]

    def _may_enter(self, folder: str) -> bool:
        unknown = []
        while folder not in self._entered:
            unknown.append(folder)
            folder = _folder(folder)
        may_enter = self._entered[folder]
        if len(self._entered) > _MOST_FOLDERS:
            self._entered = {"": True, self._base: True}
        for path in reversed(unknown):
            may_enter = may_enter and self._is_seen(_name(path)) and (self._may_read is None or self._may_read(path))
            self._entered[path] = may_enter
        return may_enter

    def _is_seen(self, name: str) -> bool:
        # A rule that takes back what others ignore takes back for ripgrep that a name is hidden.
        return name[0] != "." or (self._query.include_hidden and not name.startswith(HIDDEN_PREFIX))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _paths(folders: Iterable[InFolder]) -> Iterator[str]:
    return (joined(folder, name) for folder, names in folders for name in names)
