"""Where bytes live: backends that move bytes and know nothing of their meaning."""
