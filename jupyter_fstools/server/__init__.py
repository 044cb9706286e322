"""The Jupyter server extension: REST, the change feed, and whoever else speaks HTTP."""
