"""Where receipts and changes are kept; the place where processes meet."""
