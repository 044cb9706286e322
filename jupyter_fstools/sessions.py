"""Checks and makes session names; names the account that runs this process."""

from __future__ import annotations

import getpass
import os
import re
import secrets

from .errors import Invalid

DEFAULT_SESSION = "default"
TOKEN_PREFIX = "fst_"  # noqa: S105  # Public: it tells assistants' tokens from Jupyter's own.
"""Prefix of every assistant's token; the rest is the secret."""
SESSION = re.compile(r"[A-Za-z0-9._:-]{1,128}")

_OF_CLIENT = re.compile(r"(mcp-[a-z0-9-]+)-[0-9a-f]{16}")
_NO_PLAIN = re.compile(r"[^a-z0-9]+")
_MOST_OF_NAME = 40


def client_session(client: str) -> str:
    """The session that all calls of an MCP client share which names none, by what the client calls itself."""
    return f"mcp-{_NO_PLAIN.sub('-', client.lower()).strip('-')[:_MOST_OF_NAME].strip('-') or 'client'}"


def new_client_session(client: str) -> str:
    """A new session of an MCP client, which no other one can guess."""
    return f"{client_session(client)}-{secrets.token_hex(8)}"


def client_of(session: str) -> str | None:
    """The common part of the sessions that one client began; None for a session with a name of its own."""
    match = _OF_CLIENT.fullmatch(session)
    return match[1] if match else None


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


def system_user() -> str:
    """The account this process runs as: the reader of everybody without an identity of their own.

    A JupyterHub names its users; kernels learn the name from their environment.
    """
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
