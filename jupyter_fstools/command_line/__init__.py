"""The shell: `jupyter fstools`, and the stdio bridge for assistants that take a command."""
