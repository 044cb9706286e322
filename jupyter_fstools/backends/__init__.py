"""Reads and writes files: local disk, memory, object stores."""
