"""What ripgrep says with `--debug` of the files and folders that it passes over, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from .ripgrep_process import BEGINNING, RipgrepFailed, path_of

Kind = Literal[
    "binary", "large", "unreadable", "ignored", "excluded", "hidden", "notebook", "link", "gone", "kept", "rules"
]
"""Why something was passed over; `kept`: a rule takes back that it is; `rules`: an ignore file was read."""
NOTEBOOKS = ("--type-add=notebook:*.[iI][pP][yY][nN][bB]", "--type-not=notebook")
"""Have it pass over notebooks, which are searched by cells, and say so of each."""
_SPOKEN = rb"rg: DEBUG\|[^|]+\|[^|]+?:\d+: "
_LINE = re.compile(
    _SPOKEN + rb"(?:opened gitignore file: (?P<rules>.+)|whitelisting (?P<kept>.+?): Whitelist\(IgnoreMatch\(.*"
    rb"|ignoring (?P<path>.+?): (?:(?P<binary>found binary data at offset \d+)|(?P<large>\d+ bytes)"
    rb"|Ignore\(IgnoreMatch\((?:(?P<ignored>Gitignore)|(?P<excluded>Override)|(?P<hidden>Hidden)|(?P<notebook>Types)).*"
    rb"|failed to pass haystack filter: .*?(?:(?P<link>is_symlink: true)|is_symlink: false).*))",
)
_ABOUT_A_PATH = re.compile(_SPOKEN + rb"(?:ignoring|opened|whitelisting) ")
_REASON = re.compile(
    rb": (?:(?:Ignore|Whitelist)\(IgnoreMatch\(|failed to pass haystack filter: |found binary data at offset "
    rb"|\d+ bytes(?:$|:))"
)
_COMPLAINT = re.compile(rb"rg: (?P<path>.+?): (?:IO error for operation on .+: )?[^:]+ \(os error (?P<code>\d+)\)")
_FAULTS: dict[bytes, Kind] = {b"1": "unreadable", b"2": "gone", b"13": "unreadable"}
_NOTHING_SEARCHED = b"rg: No files were searched"
_REPLACED = "\ufffd".encode()


class PassedOver(NamedTuple):
    """One path, as it was printed, and why it was passed over."""

    path: str
    kind: Kind


def passed_over(lines: Iterable[bytes]) -> Iterator[PassedOver]:
    """Read what was said.

    Raises:
        RipgrepFailed: a line is not what it is known to say, or a name cannot be told from it.
    """
    for line in lines:
        if said := _LINE.fullmatch(line):
            kind = said.lastgroup
            if kind == "rules":
                yield PassedOver(_path(said["rules"]), "rules")
            elif kind not in (None, "path"):
                if len(_REASON.findall(line)) != 1:
                    raise RipgrepFailed("a name looks like a reason")
                yield PassedOver(_path(said["path"] or said["kept"]), kind)  # type: ignore[arg-type]
        elif complaint := _COMPLAINT.fullmatch(line):
            if complaint["code"] not in _FAULTS:
                raise RipgrepFailed(line.decode("utf-8", "replace"))
            yield PassedOver(_path(complaint["path"]), _FAULTS[complaint["code"]])
        elif _ABOUT_A_PATH.match(line) or not line.startswith((b"rg: DEBUG|", _NOTHING_SEARCHED)):
            raise RipgrepFailed(line.decode("utf-8", "replace")[:500])


def _path(printed: bytes) -> str:
    """A path, which begins as only one that is printed can."""
    path = path_of(printed)
    if _REPLACED in printed or not printed.startswith((BEGINNING.encode(), b"/")) or not path or path[-1] == "/":
        raise RipgrepFailed("a name cannot be told")
    return path
