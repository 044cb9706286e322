"""Whether ripgrep heeds the same ignore files as our own walk, and reads them in the same way."""

from __future__ import annotations

import re

from ..backends.protocol import Backend
from ..errors import FsToolsError
from ..walking.folders import joined
from ..walking.trail import FolderTrail
from .ripgrep_process import RipgrepFailed
from .walk import LARGEST_RULE_FILE

IGNORE_FILE, EXCLUDE_FILE = ".gitignore", ".git/info/exclude"
_BRACKETS = r"\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?|[._@#$~\r])+\]"
_NAME = rf"(?:[\w.@+~$%&=,:;'()#? -]|\\[ #!.*?\[\]]|\*(?!\*)|{_BRACKETS})+"
_NAMES = rf"{_NAME}(?:/{_NAME})*"
_PLAIN = re.compile(rf"(?:!?/?(?:\*\*/)?{_NAMES}(?:/\*\*|(?:/\*\*/{_NAMES})?/?))?", re.ASCII)
_ANYWHERE = re.compile(rf"!?\*\*/{_NAMES}/\*\*(?:/{_NAMES}/?)?", re.ASCII)
MOST_RULES_BYTES = 4 << 20
"""Of all ignore files together: to look at each line takes time that nobody limits."""
_RANGE = re.compile(r"(\w)-(\w)")
_LONGEST = 1000
"""Characters of a line; ripgrep repeats it for everything that it ignores."""
_ODD_BEGINNING = (" ", "! ", "/ ", "!/ ")


def is_plain(line: str) -> bool:
    """Whether a line of an ignore file is one that ripgrep and git are known to read alike.

    Names with stars, question marks and simple brackets are, anchored or not, negated or not, and one `**`, or a second
    one behind one at the beginning: where what is between them fits first, the most can fit behind it. Others are not:
    other brackets differ, and other `**` may step back or not.
    """
    if line.startswith("#"):
        return True
    if len(line) > _LONGEST or line.startswith(_ODD_BEGINNING):
        return False
    if any(low > high for each in re.findall(_BRACKETS, line) for low, high in _RANGE.findall(each)):
        return False
    return (_PLAIN if line.count("**") <= 1 else _ANYWHERE).fullmatch(line) is not None


class HeededRules:
    """The ignore files that a run of ripgrep has read, and the repositories that it has met.

    A repository inside another is to ripgrep, as we run it, a folder like any other; to git and to our walk the rules
    from above end there.

    Args:
        backend: the disk.

    Attributes:
        folders: those in which there are rules.
        from_above: rules from above the folder searched hold in it; else ripgrep reads them and goes by none.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.folders: set[str] = set()
        self.from_above = False
        self._excludes: set[str] = set()
        self._repositories: set[str] = set()
        self._room = MOST_RULES_BYTES

    def add_file(self, printed: str) -> None:
        """Note an ignore file, by the path that ripgrep has printed.

        Raises:
            RipgrepFailed: our walk would not heed it, or not read it so.
        """
        if printed.startswith("/") and not self.from_above:
            return
        path = printed.removeprefix(self._backend.root_key.rstrip("/") + "/")
        name = EXCLUDE_FILE if path.endswith(EXCLUDE_FILE) else IGNORE_FILE
        folder = path.removesuffix(name).removesuffix("/")
        # Of a work tree beside its repository, git's and ripgrep's are the repository's.
        if path.startswith("/") or path != joined(folder, name) or path in self._excludes:
            raise RipgrepFailed(f"{printed}: our walk has other rules")
        if name == EXCLUDE_FILE:
            self._excludes.add(path)
        with FolderTrail(self._backend) as trail:
            if self._rules(trail, folder, name, above=printed.startswith("/")):
                self.folders.add(folder)

    def add_repository(self, folder: str) -> None:
        """Note a folder that is a repository."""
        self._repositories.add(folder)

    def check_plain(self, trail: FolderTrail, folder: str, *, above: bool = False) -> None:
        """Look at a folder's rules before ripgrep does, which reads `**` wrongly in those from `above` where it walks.

        Raises:
            RipgrepFailed: it would not read them as our walk does.
        """
        if trail.at(folder).has(IGNORE_FILE):
            self._rules(trail, folder, IGNORE_FILE, above=above)

    def check_repositories(self) -> None:
        """Whether no rules reach into a repository from outside.

        Raises:
            RipgrepFailed: some do, to ripgrep.
        """
        for repository in self._repositories:
            above = repository
            while above:
                above = above.rpartition("/")[0]
                if above in self.folders:
                    raise RipgrepFailed(f"{repository} is a repository inside another")

    def _rules(self, trail: FolderTrail, folder: str, name: str, *, above: bool) -> list[str]:
        inside, _, last = joined(folder, name).rpartition("/")
        try:
            text = trail.at(inside).read(last, LARGEST_RULE_FILE)
            lines = [line.removesuffix("\r").rstrip(" ") for line in (text or b"").decode().split("\n")]
        except (OSError, FsToolsError, UnicodeDecodeError) as error:
            raise RipgrepFailed(f"{folder}: its ignore file cannot be read") from error
        self._room -= len(text or b"")
        if text is None or self._room < 0 or not all(map(is_plain, lines)):
            raise RipgrepFailed(f"{folder}: its ignore file may be read in two ways")
        rules = [line for line in lines if line and line[0] != "#"]
        if above and any("**" in rule for rule in rules):
            raise RipgrepFailed(f"{folder}: its ignore file is read in another way further down")
        return rules
