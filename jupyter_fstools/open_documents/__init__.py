"""Finds who holds the current content of a file: the disk, a browser or a room."""
