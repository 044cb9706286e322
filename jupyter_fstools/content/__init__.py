"""Reads, fingerprints and splices bytes from any place."""
