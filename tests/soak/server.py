"""A Jupyter server whose clock jumps."""

from __future__ import annotations

import random
import threading
import time

from jupyter_server.serverapp import main

from .worker import jump


def _jump_now_and_then() -> None:
    chance = random.Random()
    while True:
        time.sleep(chance.uniform(1, 10))
        jump(chance)


if __name__ == "__main__":
    threading.Thread(target=_jump_now_and_then, daemon=True).start()
    main()
