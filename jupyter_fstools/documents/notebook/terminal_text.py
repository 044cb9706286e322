"""Strips colours and collapses progress bars in a stream."""

from __future__ import annotations

import re

# CSI and OSC sequences, then two-character escapes.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>78cDEHMNOZ])")


def without_ansi(text: str) -> str:
    """The text without ANSI escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def collapsed(text: str) -> str:
    r"""The text with every line that was overwritten by `\r` in its last state, and without ANSI sequences."""
    text = without_ansi(text)
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.replace("\r\n", "\n").split("\n"))


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state]
    return states[-1] if states else ""
