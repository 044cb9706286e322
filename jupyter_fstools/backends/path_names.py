"""Checks and compares names and paths as strings."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import unicodedata
from collections.abc import Callable

from ..errors import Denied, Invalid, NotADirectory, OutsideRoot
from .operating_system import split_path

HIDDEN_PREFIX = ".~fstools-"
"""Prefix of the backends' own temporary files, which are never listed or given to a caller."""

LONGEST_PATH, LONGEST_NAME = 4096, 255
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]+")

_RESERVED = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} | {
    f"{port}{digit}" for port in ("COM", "LPT") for digit in "123456789¹²³"
}


def parts_of(path: str, longest_name: int = LONGEST_NAME) -> list[str]:
    """The parts of a caller's path, including `.`, `..` and empty ones.

    Raises:
        Invalid: it has a NUL or a name that no disk can hold, or is too long.
        Denied: it names one of the backends' own temporary files.
    """
    if "\0" in path:
        raise Invalid("A path cannot hold a NUL character.", hint="Take the NUL out of `path`.")
    try:
        path = path if path.isascii() else spelled_for_system(path)
        long = len(path) * 4 > LONGEST_NAME and _is_too_long(path, longest_name)
    except UnicodeEncodeError as error:
        raise Invalid(
            f"`path` holds a character that no name can have (at {error.start}).",
            hint="Give the path as a listing gave it.",
        ) from None
    if long:
        if _steps_out(path):
            raise leads_out(path)
        raise Invalid(
            f"`path` is too long: at most {LONGEST_PATH} bytes, and {longest_name} for each name in it.",
            hint="Use a shorter path.",
        )
    parts = split_path(path)
    if HIDDEN_PREFIX in path and any(part.startswith(HIDDEN_PREFIX) for part in parts):
        raise Denied(
            f"Names that begin with '{HIDDEN_PREFIX}' are temporary files of the tools themselves.",
            hint="Use another name.",
        )
    return parts


def names_without_links(
    path: str,
    is_file: Callable[[str], bool],
    is_folder: Callable[[str], bool],
    longest_name: int = LONGEST_NAME,
) -> list[str]:
    """The canonical names of a caller's path, for a backend without links.

    Args:
        path: as a caller spells it; an absolute one begins at the root.
        is_file: tells whether a canonical path is a file ...
        is_folder: ... or a folder; called only where a `..` steps up from it.
        longest_name: in bytes.

    Raises:
        NotADirectory: a part before the last is a file; OutsideRoot; Invalid: also as `parts_of`; Denied
    """
    names: list[str] = []
    stepped = False
    for part in parts_of(path, longest_name):
        here = "/".join(names)
        if names and is_file(here):
            raise NotADirectory(f"'{path}': '{here}' is a file, not a folder.", hint="Check the path.")
        if part == "..":
            if not names:
                raise leads_out(path)
            stepped = stepped or not is_folder(here)
            names.pop()
        elif part not in ("", "."):
            names.append(part)
    if stepped:
        raise Invalid(f"'{path}' steps up from a folder that does not exist.", hint="Leave the '..' out.")
    return names


def canonical_parts(path: str, longest_name: int = LONGEST_NAME) -> list[str]:
    """The names in a `FileStat.path`; [] for the root itself.

    Raises:
        OutsideRoot, Invalid: the path is not canonical.
    """
    if not path:
        return []
    parts = parts_of(path, longest_name)
    # On every system an absolute path begins with a separator or has a colon.
    if ".." in parts or ((not parts[0] or ":" in path) and os.path.isabs(path)):
        raise leads_out(path)
    if "" in parts or "." in parts:
        raise Invalid("This path is not the canonical one.", hint="Use the path that its stat gave.")
    return parts


def check_names(names: list[str]) -> None:
    """Refuse names that Windows would interpret as something else.

    Raises:
        Invalid: with the reason.
    """
    for name in names:
        if os.name == "nt" and (fault := windows_fault(name)):
            raise Invalid(f"The name '{name}' {fault}.", hint="Use another name.")


def windows_fault(name: str) -> str:
    """The reason why Windows would interpret this name as something else; "" if it would not."""
    if any(sign in '<>:"|?*' or sign < " " for sign in name):
        return "holds a character that Windows keeps for itself"
    if name.endswith((".", " ")) and name.strip("."):
        return "ends with a dot or a space"
    if name.partition(".")[0].rstrip(" ").upper() in _RESERVED:
        return "is the name of a device"
    return ""


def leads_out(path: str) -> OutsideRoot:
    """The refusal of any path outside the root; it shows no absolute path and does not reveal whether it exists."""
    subject = "This path" if os.path.isabs(path) else f"'{path}'"
    return OutsideRoot(f"{subject} leads out of the root", hint='Give a path relative to the root ("." is the root).')


def folded(name: str) -> str:
    """A form of a name that is equal for all names which a case-insensitive disk treats as the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def readable(text: str) -> str:
    """A text with the characters that its escaped bytes spell, as rules are written with characters in any locale."""
    return text if text.isascii() else _ESCAPED_BYTES.sub(_characters, text)


def _characters(run: re.Match[str]) -> str:
    return run[0].encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def temporary_name(name: str) -> str:
    """Name of the temporary file for new bytes of `name`; always the same, so that an abandoned one is found."""
    return HIDDEN_PREFIX + hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def spelled_for_system(text: str) -> str:
    """A text in the one spelling that listings give; `UnicodeEncodeError` if the system has none."""
    if sys.getfilesystemencoding() != "ascii":
        # A caller may escape the bytes of a character, too: two spellings of one file would be two files to rules.
        return os.fsdecode(os.fsencode(text))
    # In a C locale, names on the disk are still UTF-8, but listings give their bytes as surrogate escapes.
    return text.encode("utf-8", "surrogateescape").decode("ascii", "surrogateescape")


def _is_too_long(path: str, longest_name: int) -> bool:
    encoded = os.fsencode(path)
    return len(encoded) > LONGEST_PATH or any(len(part) > longest_name for part in encoded.split(b"/"))


def _steps_out(path: str) -> bool:
    depth = 0
    for part in split_path(path):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return True
    return False
