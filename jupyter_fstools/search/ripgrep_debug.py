"""What ripgrep says with `--debug` of the files and folders that it passes over, a line each."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Literal, cast

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
_PATH_OF_BINARY = rb"([^\n]*[^\n/]): found binary data at offset \d+\n"
_BINARY = re.compile(rb"^(rg: DEBUG\|[^|\n]+\|[^|\n]+?:\d+: ignoring \.//)" + _PATH_OF_BINARY, re.M)
_ABOUT_A_PATH = re.compile(_SPOKEN + rb"(?:ignoring|opened|whitelisting) ")
_REASON = re.compile(
    rb": (?:(?:Ignore|Whitelist)\(IgnoreMatch\(|failed to pass haystack filter: |found binary data at offset "
    rb"|\d+ bytes(?:$|:))"
)
_COMPLAINT = re.compile(rb"rg: (?P<path>.+?): (?:IO error for operation on .+: )?[^:]+ \(os error (?P<code>\d+)\)")
_FAULTS: dict[bytes, Kind] = {b"1": "unreadable", b"2": "gone", b"13": "unreadable"}
_NOTHING_SEARCHED = b"rg: No files were searched"
_REPLACED = "\ufffd".encode()


PassedOver = defaultdict[Kind, list[str]]
"""Paths by why they were passed over."""


def passed_over(said: bytes) -> PassedOver:
    """Read whole lines of what was said.

    Raises:
        RipgrepFailed: a line is not what it is known to say, or a name cannot be told from it.
    """
    found: PassedOver = defaultdict(list)
    if first := _BINARY.search(said):
        # Most lines are of this kind and begin alike, and no name can hold what they begin with.
        others, paths = _apart(re.split(re.escape(first[1]) + _PATH_OF_BINARY, said))
        if b": " not in paths and _REPLACED not in paths:  # None looks as if it held a reason.
            found["binary"] = os.fsdecode(paths).split("\n")
            said = others
    for line in said.removesuffix(b"\n").split(b"\n") if said else ():
        if kind_and_path := _read(line):
            found[kind_and_path[0]].append(kind_and_path[1])
    return found


def _apart(parts: list[bytes]) -> tuple[bytes, bytes]:
    return b"".join(parts[::2]), b"\n".join(parts[1::2])


def _read(line: bytes) -> tuple[Kind, str] | None:
    if said := _LINE.fullmatch(line):
        kind = cast("Kind | None", said.lastgroup if said.lastgroup != "path" else None)
        if kind == "rules":
            return kind, path_of(said["rules"])
        if kind is not None and len(_REASON.findall(line)) != 1:
            raise RipgrepFailed("a name looks like a reason")
        return kind and (kind, _path(said["path"] or said["kept"]))
    if complaint := _COMPLAINT.fullmatch(line):
        if complaint["code"] not in _FAULTS:
            raise RipgrepFailed(line.decode("utf-8", "replace"))
        return _FAULTS[complaint["code"]], _path(complaint["path"])
    # The last part of a name in several lines ends with a reason, too.
    tells = _ABOUT_A_PATH.match(line) or _REASON.search(line)
    if tells or not line.startswith((b"rg: DEBUG|", _NOTHING_SEARCHED)):
        raise RipgrepFailed(line.decode("utf-8", "replace")[:500])
    return None


def _path(printed: bytes) -> str:
    """A path, which begins as only one that is printed can."""
    path = path_of(printed)
    if _REPLACED in printed or not printed.startswith(BEGINNING.encode()) or not path or path[-1] == "/":
        raise RipgrepFailed("a name cannot be told")
    return path
