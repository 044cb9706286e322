"""Walking and matching: which files there are, and which lines say something."""
