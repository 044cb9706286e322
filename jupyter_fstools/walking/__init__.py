"""Walks folders for glob, grep, listings and name suggestions."""
