"""Follows changes and activity of all processes, for events and panels."""
