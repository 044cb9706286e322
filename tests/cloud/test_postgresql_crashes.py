"""Edits by several servers through crashes of their database and resets of connections: each once or not at all."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Conflict, InputOutput, NotRead, Stale
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from tests import postgresql

NAMES = [f"{number}.txt" for number in range(4)]
WRITERS = 4
WHOLE = re.compile(r"(\d+-\d+\n)*")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for name in NAMES:
        (root / name).write_text("")
    return root


class Edits:
    """Edits by several servers on the same files, each of which appends a line of its own.

    Attributes:
        done: file and line of each edit that was answered.
        refused: how often each refusal was given.
    """

    def __init__(self, root, address, most):
        self.root, self.address, self.most = root, address, most
        self.done, self.refused = [], Counter()

    def make(self):
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(self._work, range(WRITERS)))

    def _work(self, writer):
        chance, number = random.Random(writer), 0
        files = open_workspace(self.root, session=f"writer-{writer}", store=self.address, durable=False)
        while len(self.done) < self.most:
            name, number = chance.choice(NAMES), number + 1
            line = f"{writer}-{number}\n"
            try:
                shown = call_tool(files, "read_file", path=name, force=True).data["content"]
                call_tool(files, "write_file", path=name, content=shown + line)
                self.done.append((name, line))
            # Another server was faster, or a read during an outage of the database left no receipt.
            except (Conflict, InputOutput, NotRead, Stale) as refusal:
                self.refused[type(refusal)] += 1
                time.sleep(0.01)
        files.store.close()


def require_agreement(edits, address):
    """No answered edit is lost, none is there twice or torn, and the journal has each edit of each file."""
    files = open_workspace(edits.root, store=address, durable=False)
    # Reading the journal settles changes that a fault left pending.
    applied = Journal(files).changes(ChangeQuery(status="applied", limit=10_000))
    for name in NAMES:
        text = (edits.root / name).read_text()
        assert WHOLE.fullmatch(text), "torn"
        lines = text.splitlines(keepends=True)
        assert len(lines) == len(set(lines)), "twice"
        assert {line for path, line in edits.done if path == name} <= set(lines), "lost"
        assert sum(change.path == name for change in applied) == len(lines)
    assert files.store.unfinished(files.backend.root_key) == []
    files.store.close()


def test_five_hundred_edits_through_crashes_of_the_database_are_done_once_or_not_at_all(root):
    with postgresql.running() as server:
        edits = Edits(root, server.address, most=500)
        over = threading.Event()

        def crash():
            for done in range(80, 500, 80):
                while len(edits.done) < done and not over.is_set():
                    time.sleep(0.01)
                server.stop("immediate")
                server.start()

        crashing = threading.Thread(target=crash)
        crashing.start()
        try:
            edits.make()
        finally:
            over.set()
            crashing.join()
        assert edits.refused[InputOutput] > 0, "no crash met an edit"
        require_agreement(edits, server.address)


@contextlib.contextmanager
def resetting(port, chance):
    """Proxy of a database: forwards all data, and resets each connection after a random number of bytes."""

    def hand_on(source, target, left):
        with contextlib.suppress(OSError):
            while left[0] > 0 and (heard := source.recv(4096)):
                target.sendall(heard[: left[0]])
                left[0] -= len(heard)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", port))
                ends.extend((near, far))
                left = [chance.randrange(2000, 40_000)]
                for pair in ((near, far), (far, near)):
                    threads.append(threading.Thread(target=hand_on, args=(*pair, left), daemon=True))
                    threads[-1].start()

    ends, threads = [], []
    listener = socket.create_server(("127.0.0.1", 0))
    threads.append(threading.Thread(target=serve, daemon=True))
    threads[0].start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for end in ends:
            end.close()


HALF_ANSWERED = """
import sys
from jupyter_fstools.stores.postgresql_answers import Patient
connection = Patient.connect(sys.argv[1], autocommit=True)
print("connected", flush=True)
sys.stdin.readline()
connection.send(b"SELECT 1")
print(connection.is_usable(1.0))
"""


def test_an_answer_of_which_the_end_is_missing_is_not_waited_for_without_limit(database):
    """The next user of a connection reads the answer to a lock's release; in libpq it would block all threads."""
    port, is_cut = psycopg.conninfo.conninfo_to_dict(database)["port"], threading.Event()

    def hand_on(source, target, missing):
        while heard := source.recv(65536):
            target.sendall(heard[: len(heard) - missing] if is_cut.is_set() else heard)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = database.replace(f":{port}/", f":{listener.getsockname()[1]}/")
        command = [sys.executable, "-c", HALF_ANSWERED, address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asking:
            near, far = listener.accept()[0], socket.create_connection(("127.0.0.1", int(port)))
            with near, far:
                # The last message of an answer, by which the server says that it is ready for the next, has 6 bytes.
                ways = [threading.Thread(target=hand_on, args=way) for way in ((near, far, 0), (far, near, 6))]
                for way in ways:
                    way.start()
                assert asking.stdout.readline() == "connected\n"
                is_cut.set()
                try:
                    said, _ = asking.communicate("\n", timeout=60)
                finally:
                    asking.kill()
                    far.shutdown(socket.SHUT_RDWR)
                    for way in ways:
                        way.join()
    assert said == "False\n"


def test_edits_over_connections_that_are_reset_are_done_once_or_not_at_all(database, root):
    port = psycopg.conninfo.conninfo_to_dict(database)["port"]
    with resetting(int(port), random.Random(7)) as shaky:
        edits = Edits(root, database.replace(f":{port}/", f":{shaky}/"), most=60)
        edits.make()
    assert edits.refused[InputOutput] > 0, "no reset met an edit"
    require_agreement(edits, database)
