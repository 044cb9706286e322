"""Running a command: its processes, what it printed, and which files it changed."""
