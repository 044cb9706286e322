"""Finds the running server for a folder or a name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ..client.configurations import TOKEN_VARIABLE
from ..client.requests import ask, without_secrets
from ..client.runtime_files import JupyterServer, running_servers, servers_around
from ..errors import Denied, FsToolsError, NotFound
from ..sessions import TOKEN_PREFIX

_LOGIN_ONLY = (
    "This server has a login and no token: use the panel and *Connect an Assistant…* in JupyterLab, or start it with a "
    "token (--IdentityProvider.token)."
)


def find_server(folder: str, url: str | None = None, *, login: str = "") -> JupyterServer:
    """A running server with our extension.

    Args:
        folder: the folder that its root must contain.
        url: the address of a server without a runtime file here; its token comes from the environment.
        login: an assistant's own token; it is used instead of the person's, which a server with a password has not.

    Raises:
        NotFound: there is none; the message names the running ones and tells how to start one. Denied: it does not
            accept the token.
    """
    if url is not None:
        named = JupyterServer(without_secrets(url), token=os.environ.get(TOKEN_VARIABLE, ""))
        try:
            _require_tools(named)
        except Denied as refusal:
            # The server's own hint says what to do about an assistant's token.
            if not named.token.startswith(TOKEN_PREFIX):
                refusal.hint = (
                    f"Set {TOKEN_VARIABLE} to the server's token; jupyter server list shows it where it runs."
                )
            raise
        return named
    folder = os.path.realpath(folder)
    around = servers_around(folder)
    reasons = []
    for found in around:
        server = replace(found, token=login or found.token)
        try:
            _require_tools(server)
        except FsToolsError as refusal:
            if isinstance(refusal, Denied) and not server.token:
                refusal.hint = _LOGIN_ONLY
            reasons.append(refusal)
        else:
            return server
    raise reasons[0] if reasons else _none(folder, [server.root for server in running_servers()])


def _require_tools(server: JupyterServer) -> None:
    """Refuse a server that does not offer our tools.

    Raises:
        NotFound: it does not have our extension; FsToolsError: it does not answer, or refuses us.
    """
    try:
        # An assistant's own token gives access to the tools only.
        told = ask(server, "GET", "/tools" if server.token.startswith(TOKEN_PREFIX) else "/")
        if isinstance(told.get("tools"), list):
            return
    except FsToolsError as refusal:
        if refusal.details.get("status") != 404:
            raise
    raise NotFound(
        f"the Jupyter server at {server.url} does not have jupyter-fstools",
        hint="Install jupyter-fstools in its environment and restart it; jupyter server extension list shows it then.",
    )


def _none(folder: str, roots: Sequence[str]) -> NotFound:
    others = f" (the running ones serve {', '.join(sorted(roots))})" if roots else ""
    return NotFound(
        f"no Jupyter server runs that serves {folder}{others}",
        hint="Start one in that folder (jupyter lab), or name a folder that is served with --root.",
    )
