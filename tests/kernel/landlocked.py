"""Runs a command that can open nothing in a folder: `landlocked.py FOLDER COMMAND…`.

Landlock asks for no rights and no namespace, only for Linux 5.13; https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE
_NO_NEW_PRIVS = 38


def _system(number: int, *given: object) -> int:
    answer = ctypes.CDLL(None, use_errno=True).syscall(number, *given)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def is_there() -> bool:
    """Whether this system supports it."""
    try:
        return sys.platform == "linux" and _system(_CREATE_RULESET, None, 0, 1) > 0
    except OSError:
        return False


def close(folder: Path) -> None:
    """Restrict this process and its children: they can open files outside the folder, and none inside it."""
    handled = struct.pack("<Q", _OF_FILES | _READ_DIR)
    rules = _system(_CREATE_RULESET, handled, len(handled), 0)
    for way in (folder, *folder.parents):
        for beside in way.parent.iterdir() if way != way.parent else ():
            if beside != way and not beside.is_symlink():
                _allow(rules, beside)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    _system(_RESTRICT_SELF, rules, 0)


def _allow(rules: int, path: Path) -> None:
    opened = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    allowed = _OF_FILES | (_READ_DIR if path.is_dir() else 0)
    _system(_ADD_RULE, rules, 1, struct.pack("<Qi", allowed, opened), 0)
    os.close(opened)


if __name__ == "__main__":
    close(Path(sys.argv[1]).resolve())
    os.execvp(sys.argv[2], sys.argv[2:])
