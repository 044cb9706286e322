"""Gives bytes a meaning: text, notebook, picture, PDF."""
