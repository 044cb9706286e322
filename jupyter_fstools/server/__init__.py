"""Serves REST, MCP and events as a Jupyter server extension."""
