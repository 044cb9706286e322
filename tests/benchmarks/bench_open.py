"""O: one cell of an open, saved notebook edited, against the same edit of the closed file; to the answer, the pixel."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.chromium import MISSING, OPTIONS, find_chromium
from tests.browser.lab import Folder, Lab, LabPage
from tests.browser.open_documents.documents import Notebook, notebook_text, replace
from tests.legs import FOLDER, NEWEST

from .harness import NotHere, Result, compare, measure

_OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["0123456789" * 1000 + "\n"]}
# An assistant's calls are seconds apart: meanwhile the page draws the previous edit and marks its change.
_AT_REST = """() => new Promise(rests =>
    setTimeout(() => requestAnimationFrame(() => requestIdleCallback(rests)), 1500))"""
_SEEN = """([index, text]) => document.querySelector(
    `.jp-Cell[data-windowed-list-index="${index}"] .jp-InputArea .cm-content`)?.textContent === text"""


def saved() -> Iterator[Result]:
    """A saved document in plain JupyterLab."""
    for name, size, rounds in (("10 KB", 10_000, 15), ("5 MB", 5 << 20, 9), ("50 MB", 50 << 20, 3)):
        with _opened(NEWEST, size) as (folder, page):
            target = 2.0 if size <= 5 << 20 else None
            yield compare(
                f"O1 edit of a cell in an open notebook of {name}, to the closed file",
                _edits(folder, page, "open.ipynb"),
                _edits(folder, page, "closed.ipynb"),
                target=target,
                rounds=rounds,
            )
            yield measure(
                f"O1 edit of a cell in an open notebook of {name}, to the pixel",
                _to_the_pixel(folder, page),
                target=None,
                unit="ms",
                scale=1000,
                rounds=rounds,
            )


def room() -> Iterator[Result]:
    """A room of jupyter-collaboration."""
    leg = "collaboration"
    if not (FOLDER / leg / ".installed").exists():
        raise NotHere("jupyter-collaboration (make legs)")
    with _opened(leg, 5 << 20) as (folder, page):
        yield compare(
            "O2 edit of a cell in a room's notebook of 5 MB, to the closed file",
            _edits(folder, page, "open.ipynb"),
            _edits(folder, page, "closed.ipynb"),
            target=2.0,
        )
        yield measure(
            "O2 edit of a cell in a room's notebook of 5 MB, to the pixel",
            _to_the_pixel(folder, page),
            target=None,
            unit="ms",
            scale=1000,
        )


@contextmanager
def _opened(leg: str, size: int) -> Iterator[tuple[Any, Any]]:
    """A lab with two notebooks of a size that an assistant has read; one of them is open in a page."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    if chromium is None:
        raise NotHere(MISSING)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        lab: Any = Lab(Path(home), leg=leg)
        browser = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        try:
            folder: Any = Folder(lab, "bench")
            text = notebook_text("x = 0", *["y = 1\n"] * (size // 10_500), outputs=[_OUTPUT])
            for file in ("open.ipynb", "closed.ipynb"):
                folder.write(file, text)
                folder.call("read_notebook", file, cell_id="c0")
            window: Any = LabPage(browser.new_page(), lab, Path(home), path=folder.path("open.ipynb"))
            window.page.set_default_timeout(120_000)
            Notebook(window)
            folder.call("read_notebook", "open.ipynb", cell_id="c0")
            yield folder, window.page
        finally:
            browser.close()
            lab.stop()


def _edits(folder: Any, page: Any, file: str) -> Callable[[], float]:
    """From the call to the answer."""
    count = iter(range(1, 10_000))

    def edit() -> float:
        page.evaluate(_AT_REST)
        began = time.perf_counter()
        status, answer = replace(folder, "c0", f"x = {next(count)}", file=file)
        seconds = time.perf_counter() - began
        if status != 200:
            raise RuntimeError(answer)
        return seconds

    return edit


def _to_the_pixel(folder: Any, page: Any) -> Callable[[], float]:
    """From the call to the first frame that shows the change."""
    count = iter(range(10_000, 20_000))

    def edit() -> float:
        text = f"x = {next(count)}"
        page.evaluate(_AT_REST)
        began = time.perf_counter()
        call = threading.Thread(target=replace, args=(folder, "c0", text), kwargs={"file": "open.ipynb"})
        call.start()
        page.wait_for_function(_SEEN, arg=[0, text])
        seconds = time.perf_counter() - began
        call.join()
        return seconds

    return edit


BENCHMARKS = {"O1": saved, "O2": room}
