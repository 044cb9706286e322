"""Serves REST, MCP and events as a Jupyter server extension."""

SETTING = "jupyter_fstools"
"""Where the web application's settings hold the `Served`, once it is there."""

ROOM_EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"
"""Both extensions for real-time collaboration emit these."""
