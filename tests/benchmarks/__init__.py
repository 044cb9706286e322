"""Speed and memory beside the peers, measured in turn in one run."""
