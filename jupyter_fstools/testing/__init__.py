"""Conformance suites for anyone who writes a backend or a store of their own."""
