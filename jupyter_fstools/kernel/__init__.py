"""Provides the `%fs` and `%%fs` magics of an IPython kernel."""
