"""D1 to D5: PostgreSQL against SQLite, several servers, a full database, and a search over S3."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from jupyter_fstools import Workspace, call_tool, open_workspace
from tests import emulators, postgresql

from .harness import NotHere, Result, compare, measure, reported

CALLS = 30
EDITS = 40
SERVERS = (1, 2, 4, 8)
RECEIPTS, CHANGES = 10_000_000, 1_000_000
OBJECTS = 2000

EDITING = f"""
import sys, time
from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Conflict, Stale, TimedOut
files = open_workspace(sys.argv[1], session=sys.argv[3], store=sys.argv[2], durable=False)
path = sys.argv[4]
call_tool(files, "write_file", path=path, content="0\\n") if path != "shared.txt" else None
print("ready", flush=True)
sys.stdin.readline()
for number in range({EDITS}):
    while True:
        read = call_tool(files, "read_file", path=path, force=True).data["content"]
        try:
            mine = sys.argv[3] + str(number)
            call_tool(files, "edit_file", path=path, old_string=read.splitlines()[0], new_string=mine)
            break
        except (Stale, Conflict, TimedOut):
            continue
print(time.perf_counter())
files.close()
"""


@contextmanager
def database() -> Iterator[str]:
    if postgresql.programs() is None:
        raise NotHere("PostgreSQL is not installed")
    with postgresql.running() as server:
        yield server.address


def against_sqlite() -> Iterator[Result]:
    """Gated read and edit of 10 KB: the database on the loopback, the file on the disk."""
    with database() as address, tempfile.TemporaryDirectory() as place:
        far, near = (opened(Path(place, name), where) for name, where in (("a", address), ("b", f"sqlite:{place}/s")))
        yield compare("D1 gated read of 10 KB, PostgreSQL to SQLite", lambda: reads(far), lambda: reads(near), target=2)
        yield compare("D1 gated edit of 10 KB, PostgreSQL to SQLite", lambda: edits(far), lambda: edits(near), target=2)
        for files in (far, near):
            files.close()


def opened(root: Path, store: str, **settings: int) -> Workspace:
    root.mkdir()
    (root / "a.txt").write_text("0\n" + "line of text\n" * 780)
    files = open_workspace(root, store=store, durable=False, **settings)
    call_tool(files, "read_file", path="a.txt")
    return files


def reads(files: Workspace) -> None:
    for _ in range(CALLS):
        call_tool(files, "read_file", path="a.txt", force=True)


def edits(files: Workspace) -> None:
    for _ in range(CALLS // 2):
        call_tool(files, "edit_file", path="a.txt", old_string="0\n", new_string="1\n")
        call_tool(files, "edit_file", path="a.txt", old_string="1\n", new_string="0\n")


def servers_at_once() -> Iterator[Result]:
    """Edits per second, each a read and an edit, by so many servers on files of their own."""
    with database() as address, tempfile.TemporaryDirectory() as place:
        for count in SERVERS:
            rate = partial(together, place, address, count)
            yield measure(f"D2 edits per second, {count} servers", rate, target=None, unit="per second", rounds=1)


def servers_on_one_file() -> Iterator[Result]:
    """The same on one file, and how much longer the last server took than the first."""
    with database() as address, tempfile.TemporaryDirectory() as place:
        for count in SERVERS[1:]:
            ends: list[float] = []
            rate = partial(together, place, address, count, shared=True, ends=ends)
            name = f"D3 edits per second, {count} servers on one file"
            yield measure(name, rate, target=None, unit="per second", rounds=1)
            yield reported(f"D3 last of {count} servers to the first", [ends[-1] / ends[0]], target=None)


def together(root: str, address: str, count: int, *, shared: bool = False, ends: list[float] | None = None) -> float:
    Path(root, "shared.txt").write_text("0\n")
    paths = ["shared.txt" if shared else f"{number}.txt" for number in range(count)]
    for path in paths if not shared else ():
        Path(root, path).unlink(missing_ok=True)
    commands = [[sys.executable, "-c", EDITING, root, address, f"s{n}", path] for n, path in enumerate(paths)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for command in commands]
    for process in started:
        assert process.stdout.readline() == b"ready\n"
    begin = time.perf_counter()
    for process in started:
        process.stdin.close()
    times = []
    for process in started:
        times.append(float(process.stdout.read()) - begin)
        process.stdout.close()
        process.wait()
        assert process.returncode == 0
    if ends is not None:
        ends[:] = sorted(times)
    return count * EDITS / (time.perf_counter() - begin)


def full_database() -> Iterator[Result]:
    """The same read and edit with 10 million receipts and a million changes in the database, and with none."""
    with database() as full, database() as empty, tempfile.TemporaryDirectory() as place:
        kept = {"journal_max_changes": 2 * CHANGES, "max_all_receipts": 2 * RECEIPTS}
        far, near = (opened(Path(place, name), where, **kept) for name, where in (("a", full), ("b", empty)))
        fill(full)
        yield compare(
            "D4 gated read of 10 KB, full to empty database", lambda: reads(far), lambda: reads(near), target=1.2
        )
        yield compare(
            "D4 gated edit of 10 KB, full to empty database", lambda: edits(far), lambda: edits(near), target=1.2
        )
        for files in (far, near):
            files.close()


def fill(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        now = time.time()
        connection.execute(
            "INSERT INTO fstools.receipts SELECT convert_to('u' || n %% 10000, 'UTF8'), 's', "
            "convert_to('/r/' || n, 'UTF8'), %s, %s, false, '{}', NULL FROM generate_series(1, %s) n",
            (int(now * 1e6), now, RECEIPTS),
        )
        connection.execute(
            "INSERT INTO fstools.changes (revision, id, keys, owner, session, status, created_at, body, splices) "
            "SELECT -n, convert_to('old' || n, 'UTF8'), ARRAY[convert_to('/r/' || n, 'UTF8')], 'u', 's', 'applied', "
            "%s, '{}', '' FROM generate_series(1, %s) n",
            (now, CHANGES),
        )
        connection.execute("ANALYZE")


def search_over_s3() -> Iterator[Result]:
    """grep over 2,000 objects, against s3fs reading them all and Python's `re`."""
    import obstore
    import s3fs
    from obstore.store import from_url

    with (
        tempfile.TemporaryDirectory() as place,
        emulators.s3(Path(place)) as environment,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setenv("JUPYTER_DATA_DIR", f"{place}/data")
        emulators.make_bucket(environment, "team")
        bucket = from_url("s3://team", client_options={"allow_http": True})
        for number in range(OBJECTS):
            obstore.put(bucket, f"d/{number:04}.txt", b"some hay\n" * 100 + (b"needle\n" if number % 50 == 0 else b""))
        files = open_workspace("s3://team", store="memory:", search_seconds=600.0)
        peer = s3fs.S3FileSystem(
            endpoint_url=environment["AWS_ENDPOINT_URL"], use_listings_cache=False, skip_instance_cache=True
        )

        def first() -> None:
            for kept in Path(place, "data", "fstools", "objects").glob("*"):
                kept.unlink()
            again()

        def again() -> None:
            assert call_tool(files, "grep", pattern="^needle$", output_mode="files").data["total"] == OBJECTS // 50

        def theirs() -> None:
            read = peer.cat(peer.find("team/d")).values()
            assert sum(re.search(rb"(?m)^needle$", data) is not None for data in read) == OBJECTS // 50

        yield compare("D5 grep of 2,000 objects, first, to s3fs and re", first, theirs, target=0.5, rounds=1)
        yield compare("D5 grep of 2,000 objects, again, to s3fs and re", again, theirs, target=0.5, rounds=1)


BENCHMARKS = {
    "D1": against_sqlite,
    "D2": servers_at_once,
    "D3": servers_on_one_file,
    "D4": full_database,
    "D5": search_over_s3,
}
