"""Refuses requests while the tools' database or bucket does not answer."""

from __future__ import annotations

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

    async def prepare(self) -> None:  # type: ignore[override]  # As Jupyter's own subclass has it.
        """Refuse; who logs in by Jupyter has to be logged in, while nothing can tell whether a token is valid."""
        if presented(self.request) is None:
            await super().prepare()
            if self.current_user is None:
                raise HTTPError(403)
        raise self._refusal
