"""Compares lines and describes a file's change."""
