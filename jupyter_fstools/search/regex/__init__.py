"""Translates one pattern dialect for ripgrep and for Python."""
