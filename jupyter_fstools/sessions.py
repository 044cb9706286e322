"""Checks and makes session names; names the account that runs this process."""

from __future__ import annotations

import getpass
import os
import re
import secrets
from functools import cache

from .errors import Invalid

DEFAULT_SESSION = "default"
TOKEN_PREFIX = "fst_"  # noqa: S105  # Not a secret: it distinguishes assistants' tokens from Jupyter's own.
"""Prefix of every assistant's token; its id and its secret follow."""
SESSION = re.compile(r"[A-Za-z0-9._:-]{1,128}")

_TOKEN_ID = re.compile(rf"\b{TOKEN_PREFIX}([0-9a-f]{{12}})")
_OF_CLIENT = re.compile(r"(mcp-[a-z0-9-]+)-[0-9a-f]{16}")
_NO_PLAIN = re.compile(r"[^a-z0-9]+")
_MOST_OF_NAME = 40


def token_ids(text: str) -> set[str]:
    """The ids of the assistants' tokens in a text."""
    return set(_TOKEN_ID.findall(text))


def client_session(client: str) -> str:
    """The session shared by all calls of an MCP client that names no session, derived from the client's name."""
    return f"mcp-{_NO_PLAIN.sub('-', client.lower()).strip('-')[:_MOST_OF_NAME].strip('-') or 'client'}"


def new_client_session(client: str) -> str:
    """A new session of an MCP client, with a name that others cannot guess."""
    return f"{client_session(client)}-{secrets.token_hex(8)}"


def client_of(session: str) -> str | None:
    """The client's part of a name from `new_client_session`; None for any other session."""
    match = _OF_CLIENT.fullmatch(session)
    return match[1] if match else None


def checked_session(name: object, field: str = "session") -> str:
    """Return `name` if it is a valid session name.

    Args:
        name: the name.
        field: the argument that gave it.

    Raises:
        Invalid: it is not 1 to 128 letters, digits or `._:-`.
    """
    if not isinstance(name, str) or not SESSION.fullmatch(name):
        raise Invalid(
            f"{field}: takes 1 to 128 letters, digits, '.', '_', ':' or '-', got {name!a:.60}",
            hint='Use a plain name, such as "default".',
            field=field,
        )
    return name


def system_user() -> str:
    """The account this process runs as; it stands for every user without an own identity.

    On JupyterHub it is the hub's user name, which kernels get from their environment.
    """
    return os.environ.get("JUPYTERHUB_USER") or _login_name()


@cache
def _login_name() -> str:
    # Each change asks for it, and looking it up may take as long as reading a small file.
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
