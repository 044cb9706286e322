"""A soak: servers and other processes against a model, with kills, full disks and clock jumps."""
