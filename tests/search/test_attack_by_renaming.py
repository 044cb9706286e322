"""A folder that is renamed or swapped for something else while it is searched."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from itertools import product

import pytest

from jupyter_fstools.errors import FsToolsError

pytestmark = pytest.mark.slow


@contextmanager
def coming_and_going(folder, away, in_its_place):
    """Moves a folder away and back again and again, with a link or a file in its place meanwhile."""
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(folder, away)
            if in_its_place == "link":
                folder.symlink_to(away.parent / "outside")
            elif in_its_place == "file":
                folder.touch()
            stop.wait(0.002)
            folder.unlink(missing_ok=True)
            os.rename(away, folder)
            stop.wait(0.005)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        yield
    finally:
        stop.set()
        swapping.join()


@pytest.mark.parametrize("in_its_place", ["nothing", "link", "file"])
def test_a_search_in_a_folder_that_comes_and_goes_answers_or_refuses(call, tmp_path, in_its_place):
    """More than a thousand files: ripgrep searches them, and a walk meets them in several lots."""
    folder, outside = call.root / "p" / "q", tmp_path / "outside"
    for place, text, count in ((folder / "d", "needle", 1200), (outside / "d", "needle of others", 5)):
        place.mkdir(parents=True)
        for number in range(count):
            (place / f"f{number}.txt").write_text(f"{text}\n")
    with coming_and_going(folder, tmp_path / "away", in_its_place):
        for path, mode in product((".", "p", "p/q/d", "p/q/d/f1.txt"), ("content", "files", "count")):
            try:
                found = call("grep", pattern="needle", path=path, output_mode=mode, limit=2000)
            except FsToolsError as refusal:
                assert refusal.code != "io", refusal
            else:
                assert "of others" not in found.content[0]["text"]
