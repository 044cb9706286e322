"""Counts the calls and bytes that tasks of an assistant take, with our tools and with those of the peers."""
