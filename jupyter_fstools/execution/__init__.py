"""Runs a shell command and reports its output and file changes."""
