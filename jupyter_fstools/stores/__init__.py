"""Keeps receipts and changes where processes meet."""
