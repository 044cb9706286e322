"""Serves REST, MCP and events as a Jupyter server extension."""

SETTING = "jupyter_fstools"
"""Key of the `Served` in the web application's settings, once the tools are opened."""

ROOM_EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"
"""Both extensions for real-time collaboration emit these."""
