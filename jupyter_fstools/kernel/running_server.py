"""Finds the Jupyter server that serves this kernel's files."""

from __future__ import annotations

import os

from ..runtime_files import JupyterServer, running_servers, servers_around


def running_server(root: str) -> JupyterServer | None:
    """The server; None if there is none.

    Args:
        root: real path; without a server of the kernel's own, the one with the deepest root around it counts.
    """
    parent = os.environ.get("JPY_PARENT_PID")
    own = (server for server in running_servers() if str(server.process) == parent)
    return next(own, None) or next(iter(servers_around(root)), None)
