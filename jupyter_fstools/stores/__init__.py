"""Stores receipts, changes and tokens (SQLite, PostgreSQL, memory) for all processes."""
