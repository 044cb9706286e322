"""Refuses requests while the tools cannot be opened."""

from __future__ import annotations

from copy import copy

from tornado.web import HTTPError

from ..errors import FsToolsError
from .base_handler import ToolsHandler
from .token_login import presented


class ClosedHandler(ToolsHandler):
    """Refuses every request to the tools with the reason why they could not be opened."""

    def initialize(self, refusal: FsToolsError) -> None:  # type: ignore[override]  # Tornado passes it.
        """Take the reason."""
        super().initialize()
        self._refusal = refusal
        self.changes_files = self.request.method == "POST"  # Nobody can tell which calls would change files.

    async def prepare(self) -> None:  # type: ignore[override]  # As Jupyter's own subclass has it.
        """Refuse; who logs in by Jupyter has to be logged in, while nothing can tell whether a token is valid."""
        if presented(self.request) is None:
            await super().prepare()
            if self.current_user is None:
                raise HTTPError(403)
        raise copy(self._refusal)  # The answer adds to its message; a raised one keeps the request in its traceback.
