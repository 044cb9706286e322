"""Emits changes and activity on Jupyter's event bus."""
