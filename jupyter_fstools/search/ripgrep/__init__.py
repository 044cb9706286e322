"""Searches text with the ripgrep program."""
