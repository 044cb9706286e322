"""Finds who holds a file's current content: disk, browser or room."""
