"""One lock per file, against every other thread and process."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jupyter_fstools.backends import file_locks
from jupyter_fstools.backends.file_locks import BUCKETS, FileLocks
from jupyter_fstools.backends.operating_system import HAS_FLOCK
from jupyter_fstools.errors import InputOutput, TimedOut
from jupyter_fstools.own_folders import lock_folder


@pytest.fixture(params=["flock", "filelock", "threads"])
def make(request, tmp_path):
    """Locks as another process would make them."""
    if request.param == "flock" and not HAS_FLOCK:
        pytest.skip("there is no flock here")
    folder = None if request.param == "threads" else tmp_path / "locks"
    return lambda timeout=30.0: FileLocks(folder, timeout=timeout, flock=request.param == "flock")


def in_thread(act):
    """Run `act` in another thread; gives its result or its exception."""
    answers = []

    def run():
        try:
            answers.append(act())
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


def take(locks, key):
    with locks.hold(key):
        return True


def test_one_thread_at_a_time_is_inside(make):
    locks, inside, most = make(), [], []

    def work():
        for _ in range(10):
            with locks.hold("/a"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 50


def test_who_waits_too_long_is_told_what_is_locked_and_what_to_do(make):
    locks = make(timeout=0.05)
    with locks.hold("/folder/a.txt"):
        error = in_thread(lambda: take(locks, "/folder/a.txt"))
    assert isinstance(error, TimedOut)
    assert "'a.txt' was locked" in error.message
    assert error.hint
    assert take(locks, "/folder/a.txt")


def test_other_files_are_not_kept_waiting(make):
    locks = make(timeout=0.05)
    with locks.hold("/a"):
        assert in_thread(lambda: take(locks, "/b")) is True


def test_taking_a_lock_twice_is_an_error_and_no_deadlock(make):
    locks = make()
    with locks.hold("/a"), pytest.raises(RuntimeError, match="holds the lock of 'a' already"):
        take(locks, "/a")
    assert take(locks, "/a")


def test_keys_that_share_a_lock_file_do_not_wait_for_each_other_in_one_thread(make, monkeypatch):
    monkeypatch.setattr(file_locks, "BUCKETS", 1)
    locks = make(timeout=0.05)
    with locks.hold("/a"):
        with locks.hold("/b"):
            pass
        assert isinstance(in_thread(lambda: take(locks, "/a")), TimedOut)
    with locks.hold("/a", "/b", "/c", "/a"):
        assert isinstance(in_thread(lambda: take(locks, "/c")), TimedOut)
    assert in_thread(lambda: take(locks, "/c")) is True


def test_several_are_taken_in_one_order(make):
    locks, done = make(), []

    def work(keys):
        for _ in range(20):
            with locks.hold(*keys):
                done.append(1)

    threads = [threading.Thread(target=work, args=(keys,)) for keys in (["/a", "/b"], ["/b", "/a"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 40


def test_a_failure_among_several_holds_none(make):
    locks = make(timeout=0.05)
    with locks.hold("/b"):
        assert isinstance(in_thread(lambda: [take_all(locks, ["/a", "/b", "/c"])]), TimedOut)
        assert in_thread(lambda: take_all(locks, ["/a", "/c"])) is True


def take_all(locks, keys):
    with locks.hold(*keys):
        return True


def test_an_error_inside_releases_the_lock(make):
    locks = make(timeout=0.05)
    with pytest.raises(KeyboardInterrupt), locks.hold("/a"):
        raise KeyboardInterrupt
    assert in_thread(lambda: take(locks, "/a")) is True


def test_the_table_is_bounded(tmp_path):
    on_disk, in_process = FileLocks(tmp_path / "locks"), FileLocks(None)
    for number in range(10_000):
        take(on_disk, f"/{number}")
        take(in_process, f"/{number}")
    assert len(os.listdir(tmp_path / "locks")) <= BUCKETS
    assert not in_process._in_process._locks


def test_the_lock_files_are_the_users_alone(tmp_path):
    locks = FileLocks(tmp_path / "new" / "locks")
    take(locks, "/\udce9")
    assert stat.S_IMODE((tmp_path / "new" / "locks").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new" / "locks").iterdir()} == {0o600}


def test_a_lock_folder_that_was_cleaned_up_is_made_again(tmp_path):
    locks = FileLocks(tmp_path / "locks")
    shutil.rmtree(tmp_path / "locks")
    assert take(locks, "/a")


def test_a_lock_folder_that_cannot_be_is_a_refusal(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputOutput, match="lock files"):
        FileLocks(tmp_path / "file")


def test_a_lock_folder_without_room_on_the_disk_is_made_once_there_is_room(tmp_path, monkeypatch):
    """Locks within one process only would hold until it ends, and nobody else would heed them."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", full)
        locks = FileLocks(lock_folder())
        with pytest.raises(InputOutput, match="No space left") as refused:
            take(locks, "/a")
        assert "Free some space" in refused.value.hint
    assert take(locks, "/a")
    assert len(list(lock_folder().iterdir())) == 1


HOLDER = """
import sys
from pathlib import Path
from jupyter_fstools.backends.file_locks import FileLocks
with FileLocks(Path(sys.argv[1])).hold("/a"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not HAS_FLOCK, reason="there is no flock here")
def test_a_lock_holds_across_processes_and_ends_with_the_process(tmp_path):
    locks = FileLocks(tmp_path, timeout=0.05)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TimedOut):
            take(locks, "/a")
        holder.kill()
    assert take(FileLocks(tmp_path), "/a")


@pytest.mark.skipif(not HAS_FLOCK, reason="there is no flock here")
def test_a_child_keeps_no_lock(tmp_path):
    """A child that is started or forked while the lock is held does not keep it."""
    locks = FileLocks(tmp_path, timeout=5)
    with locks.hold("/a"):
        started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    assert in_thread(lambda: take(locks, "/a")) is True
    started.communicate(b"\n")
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from jupyter_fstools.backends.file_locks import FileLocks\n"
        "locks = FileLocks(Path(sys.argv[1]), timeout=0.05)\n"
        "with locks.hold('/a'):\n"
        "    ready, go = os.pipe(), os.pipe()\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os.read(go[0], 1)\n"
        "if child:\n"
        "    with locks.hold('/a'): print('free')\n"
        "    os.write(go[1], b'x'); os.waitpid(child, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "free\n"
