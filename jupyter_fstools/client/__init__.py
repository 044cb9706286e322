"""Asks a running Jupyter server for its tools over HTTP."""
