"""The environment of a command: that of this process, without what opens the server, and without colours."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ..errors import Invalid

_KEPT_BACK = re.compile(r"JUPYTER_TOKEN.*|JPY_.*|JUPYTERHUB_.*|CONFIGPROXY_AUTH_TOKEN|(FORCE_COLOR|CLICOLOR.*)")
"""Tokens and what leads to them; and, in brackets, what a kernel sets to have colours where there is no terminal."""
_PLAIN_TEXT = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def environment(folder: str, added: Mapping[str, str]) -> dict[str, str]:
    """What a command finds in its environment.

    Args:
        folder: where it begins.
        added: the caller's own, which replace what is there.
    """
    kept = {name: value for name, value in os.environ.items() if not _KEPT_BACK.fullmatch(name)}
    return {**kept, **_PLAIN_TEXT, "PWD": folder, **added}


def check_environment(added: Mapping[str, str]) -> None:
    """Refuse names and values that no environment can hold.

    Raises:
        Invalid
    """
    for name, value in added.items():
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"env: takes names of letters, digits and _, got {ascii(name)[:60]}",
                hint="Correct the name.",
                field="env",
            )
        check_text("env", value)


def check_text(field: str, text: str) -> None:
    """Refuse a text that cannot be handed to a program.

    Raises:
        Invalid: it holds a NUL, or a lone surrogate that stands for no byte.
    """
    if "\0" in text:
        raise Invalid(f"{field}: holds a NUL character", hint="Leave it out.", field=field)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise Invalid(f"{field}: holds a lone surrogate", hint="Send whole characters.", field=field) from None
