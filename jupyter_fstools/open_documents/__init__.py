"""Reads and changes files where they are open: disk, browser or room."""
