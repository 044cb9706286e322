"""T1, T2: receipts against Redis on loopback, locks against filelock."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.stores.records import Reader, Receipt
from jupyter_fstools.stores.sqlite import SqliteStore

from .harness import NotHere, Result, compare
from .samples import folder

PAIRS = 500
PROCESSES = 4


def receipts() -> Iterator[Result]:
    """Keep and look up receipts, in one process and in four at once."""
    with folder() as root, _redis() as port:
        import redis

        peer = redis.Redis(host="127.0.0.1", port=port)
        store = SqliteStore(root / "store.sqlite")
        reader = Reader("ada", "bench")
        made = [_receipt(reader, number) for number in range(PAIRS)]
        documents = [receipt.model_dump_json() for receipt in made]

        def put() -> None:
            for receipt in made:
                store.put_receipt(receipt)

        def redis_put() -> None:
            for number, document in enumerate(documents):
                peer.hset("ada/bench", f"/root/{number}.py", document)

        def look_up() -> None:
            for receipt in made:
                store.receipt(reader, receipt.key)

        def redis_look_up() -> None:
            for number in range(PAIRS):
                Receipt.model_validate_json(peer.hget("ada/bench", f"/root/{number}.py"))

        yield compare("T1 receipt upsert, to Redis", put, redis_put, target=0.25)
        yield compare("T1 receipt lookup, to Redis", look_up, redis_look_up, target=0.2)
        # Pairs per second: the peer's time over ours.
        yield compare(
            f"T1 pairs per second, {PROCESSES} processes, to Redis",
            lambda: _together(_SQLITE, str(root / "store.sqlite")),
            lambda: _together(_REDIS, str(port)),
            target=3.0,
            rounds=3,
            ratio=lambda ours, theirs: theirs / ours,
            better="higher",
        )
        peer.close()


def locks() -> Iterator[Result]:
    """Take and release a lock that no other process wants."""
    with tempfile.TemporaryDirectory() as place:
        ours = FileLocks(Path(place, "locks"))
        theirs = FileLock(Path(place, "peer.lock"))
        path = os.path.join(place, "floor.lock")

        def hold() -> None:
            for _ in range(1000):
                with ours.hold("/root/a.py"):
                    pass

        def hold_peer() -> None:
            for _ in range(1000):
                with theirs:
                    pass

        def hold_file() -> None:
            for _ in range(1000):
                fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.fstat(fd)
                fcntl.flock(fd, fcntl.LOCK_UN)
                os.close(fd)

        yield compare("T2 uncontended lock, to filelock", hold, hold_peer, target=0.1)
        yield compare("T2 opening, locking and closing a file, to filelock", hold_file, hold_peer, target=None)


def _receipt(reader: Reader, number: int) -> Receipt:
    return Receipt(
        user=reader.user,
        session=reader.session,
        key=f"/root/{number}.py",
        version="1-2-3-4-5",
        text_sha="0" * 64,
        exact_sha="0" * 64,
        lines=[(1, 100)],
        read_at=time.time(),
    )


_SQLITE = """
import sys, time
from pathlib import Path
from jupyter_fstools.stores.sqlite import SqliteStore
from tests.benchmarks.bench_store import _receipt
from jupyter_fstools.stores.records import Reader
store, reader = SqliteStore(Path(sys.argv[1])), Reader("ada", "bench" + sys.argv[2])
made = [_receipt(reader, number) for number in range(100)]
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
for _ in range(10):
    for receipt in made:
        store.put_receipt(receipt)
        store.receipt(reader, receipt.key)
print(time.perf_counter() - start)
"""
_REDIS = """
import sys, time, redis
from tests.benchmarks.bench_store import _receipt
from jupyter_fstools.stores.records import Reader, Receipt
peer, reader = redis.Redis(host="127.0.0.1", port=int(sys.argv[1])), Reader("ada", "bench" + sys.argv[2])
made = [_receipt(reader, number) for number in range(100)]
peer.ping()
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
for _ in range(10):
    for receipt in made:
        peer.hset("ada/" + reader.session, receipt.key, receipt.model_dump_json())
        Receipt.model_validate_json(peer.hget("ada/" + reader.session, receipt.key))
print(time.perf_counter() - start)
"""


def _together(code: str, argument: str) -> float:
    """Seconds that the slowest of some processes took for a thousand pairs."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, argument, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return max(float(process.communicate()[0]) for process in processes)


@contextmanager
def _redis() -> Iterator[int]:
    program: Any = shutil.which("redis-server")
    if program is None:
        raise NotHere("redis-server is not installed")
    try:
        import redis
    except ImportError:
        raise NotHere("the Python package redis is not installed") from None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        with redis.Redis(host="127.0.0.1", port=port) as peer:
            for _ in range(100):
                try:
                    peer.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.02)
        try:
            yield port
        finally:
            process.terminate()


BENCHMARKS = {"T1": receipts, "T2": locks}
