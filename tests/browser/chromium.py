"""The Chromium that the tests start, and its options."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The headless shell first: the same engine without pages of its own; JupyterLab opens with a third less work."""
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = f"no browser: none of {', '.join(NAMES)} is on PATH, and CHROMIUM is not set"


def find_chromium() -> str | None:
    """CHROMIUM, or else the first of `NAMES` on PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
