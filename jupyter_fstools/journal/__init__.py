"""Lists, approves, rejects and undoes changes."""
