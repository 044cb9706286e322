"""A Jupyter server whose clock jumps, and whose own saves are whole."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from jupyter_server.serverapp import main
from jupyter_server.services.contents import fileio

from .worker import jump


@contextmanager
def _whole_or_not(path: str, **given: Any) -> Iterator[BinaryIO]:
    """Write a file beside another and put it in its place.

    Jupyter's own way writes in place, and leaves the file empty where the last flush fails on a full disk or the server
    is killed meanwhile (jupyter_server 2.21). A loss could then not be attributed to the tools.
    """
    beside = Path(f"{path}.saving")
    with beside.open("wb") as file:
        yield file
    os.replace(beside, path)


def _jump_now_and_then() -> None:
    chance = random.Random()
    while True:
        time.sleep(chance.uniform(1, 10))
        jump(chance)


if __name__ == "__main__":
    fileio.atomic_writing = _whole_or_not
    threading.Thread(target=_jump_now_and_then, daemon=True).start()
    main()
