"""Hides paths from a search or a listing."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_fstools.walking.listing import Visible


class Only(Visible):
    """Shows only the paths that fit; each is asked for, unless the quick yes for many names answers."""

    def __init__(self, fits: Callable[[str], bool], quick: Callable[[str, list[str]], bool] | None = None) -> None:
        self.may_read = fits
        self.all_allowed = quick or (lambda folder, names: False)
