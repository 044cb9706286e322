"""Checks and makes session names."""

from __future__ import annotations

import re

from .errors import Invalid

DEFAULT_SESSION = "default"
SESSION = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def checked_session(name: object) -> str:
    """A session's name, if it is one.

    Raises:
        Invalid: not 1 to 128 of letters, digits and `._:-`.
    """
    if not isinstance(name, str) or not SESSION.fullmatch(name):
        raise Invalid(
            f"session: takes 1 to 128 letters, digits, '.', '_', ':' or '-', got {name!a:.60}",
            hint='Use a plain name, such as "default".',
            field="session",
        )
    return name
