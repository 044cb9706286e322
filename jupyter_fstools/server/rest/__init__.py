"""Serves the tools and the journal over REST."""
