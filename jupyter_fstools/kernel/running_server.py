"""The Jupyter server that runs this kernel, or one that serves the same files; never its token."""

from __future__ import annotations

import os

from ..runtime_files import running_servers, servers_around


def running_server(root: str) -> dict[str, str] | None:
    """The server's `{"url", "root"}`; None if there is none.

    Args:
        root: real path; without a server of the kernel's own, the one with the deepest root around it counts.
    """
    parent = os.environ.get("JPY_PARENT_PID")
    own = (server for server in running_servers() if str(server.process) == parent)
    server = next(own, None) or next(iter(servers_around(root)), None)
    return None if server is None else {"url": server.url, "root": server.root}
