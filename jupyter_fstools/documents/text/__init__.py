"""Decodes, shows and edits text files."""
