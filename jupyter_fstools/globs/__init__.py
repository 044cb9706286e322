"""Reads glob patterns, ignore rules and file types."""
