"""Searches text with Python alone."""
