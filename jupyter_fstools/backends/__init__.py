"""Moves bytes, whatever they mean: local disk, memory, object stores."""
