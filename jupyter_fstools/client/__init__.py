"""Finds running Jupyter servers and calls their tools over HTTP."""
