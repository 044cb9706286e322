"""A writer that is killed anywhere leaves the old or the new bytes, and the next access cleans up after it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import pytest

from jupyter_fstools.backends import hidden_files, local_disk, operating_system
from jupyter_fstools.backends.in_place import backup_name, new_name
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.backends.path_names import HIDDEN_PREFIX, temporary_name
from jupyter_fstools.errors import Conflict
from jupyter_fstools.testing.backend_contract import content, put
from jupyter_fstools.walking.listing import EVERYTHING, names_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")

WRITERS = """
import os, signal, sys
from jupyter_fstools.backends import disk_write
from jupyter_fstools.backends.local_disk import LocalDisk

folder, kind = sys.argv[1:]
if kind == "somebody else's":
    disk_write.keep_owner = lambda *_: False
calls = 0

def killing(call, kill_at):
    def counted(*args, **kwargs):
        global calls
        calls += 1
        if calls == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return counted

def write(path, kill_at):
    disk = LocalDisk(folder)
    seen = disk.stat(path)
    for name in ("open", "write", "fsync", "ftruncate", "link", "unlink", "replace", "close"):
        setattr(os, name, killing(getattr(os, name), kill_at))
    disk.write(path, [b"new" * 1000, b"new" * 200_000], if_match=seen.version or None)

for kill_at in range(1, 100):
    os.mkdir(f"{folder}/{kill_at}")
    if kind != "new":
        with open(f"{folder}/{kill_at}/a.txt", "wb") as file:
            file.write(b"old" * 1000)
    if kind == "hard-linked":
        os.link(f"{folder}/{kill_at}/a.txt", f"{folder}/{kill_at}/b.txt")
    if not (child := os.fork()):
        write(f"{kill_at}/a.txt", kill_at)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""
NEW, OLD = b"new" * 201_000, b"old" * 1000


def killed_at_every_step(folder, kind):
    """Kill writers, each one system call later than the one before; gives the folders they wrote in."""
    subprocess.run([sys.executable, "-c", WRITERS, folder, kind], check=True)
    return sorted(os.listdir(folder))


def names_in_folder(disk, path):
    return names_in(disk, path, EVERYTHING)


def names_of_backend(disk, path):
    return list(disk.list(path))


@pytest.mark.parametrize("kind", ["plain", "hard-linked", "somebody else's"])
def test_a_writer_killed_at_any_step_leaves_old_or_new_bytes(tmp_path, kind):
    """No other file is left once the file has been read."""
    outcomes, disk = [], LocalDisk(tmp_path)
    for folder in killed_at_every_step(tmp_path, kind):
        outcomes.append(content(disk, f"{folder}/a.txt"))
        files = ["a.txt", "b.txt"] if kind == "hard-linked" else ["a.txt"]
        assert sorted(os.listdir(tmp_path / folder)) == files
        assert {(tmp_path / folder / name).read_bytes() for name in files} == {outcomes[-1]}
    assert set(outcomes) == {OLD, NEW}
    assert len(outcomes) > 8


def test_a_creator_killed_at_any_step_leaves_the_whole_file_or_none(tmp_path):
    outcomes, disk = set(), LocalDisk(tmp_path)
    for folder in killed_at_every_step(tmp_path, "new"):
        seen = disk.stat(f"{folder}/a.txt")
        outcomes.add(content(disk, seen.path) if seen.kind == "file" else None)
        assert not [name for name in os.listdir(tmp_path / folder) if name.startswith(".~")]
    assert outcomes == {None, NEW}


@pytest.mark.parametrize("listed", [names_in_folder, names_of_backend])
def test_an_old_temporary_file_of_a_file_that_never_came_to_be_is_removed_by_a_listing(tmp_path, listed):
    """Young ones stay: where the disk has no locks, their writer may be alive."""
    disk = LocalDisk(tmp_path)
    folders = killed_at_every_step(tmp_path, "new")
    left = [tmp_path / folder / temporary_name("a.txt") for folder in folders]
    left = [file for file in left if file.exists()]
    for folder in folders:
        listed(disk, folder)
    assert len(left) > 4
    assert all(file.exists() for file in left)
    for file in left:
        os.utime(file, (1, 1))
        listed(disk, file.parent.name)
    assert not any(file.exists() for file in left)


def test_a_temporary_file_on_a_disk_that_has_become_read_only_hinders_no_reader(tmp_path, monkeypatch):
    def unlink(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    (tmp_path / "a.txt").write_bytes(b"old")
    (tmp_path / temporary_name("a.txt")).write_bytes(b"half of what was n")
    monkeypatch.setattr(os, "unlink", unlink)
    disk = LocalDisk(tmp_path)
    assert content(disk, disk.stat("a.txt").path) == b"old"


def test_a_listing_leaves_what_a_half_written_file_is_restored_from(tmp_path, half_written):
    for file in tmp_path.iterdir():
        os.utime(file, (1, 1))
    names_in_folder(LocalDisk(tmp_path), "")
    assert half_written.exists()


def test_a_listing_leaves_the_temporary_file_of_a_slow_writer(tmp_path):
    disk = LocalDisk(tmp_path)

    def chunks():
        yield b"new" * 2_000_000
        os.utime(tmp_path / temporary_name("a.txt"), (1, 1))
        names_in_folder(disk, "")
        yield b"end"

    disk.write("a.txt", chunks(), if_match=None)
    assert (tmp_path / "a.txt").read_bytes().endswith(b"newend")


@pytest.mark.parametrize("kind", ["plain", "hard-linked", "somebody else's", "new"])
def test_the_next_write_cleans_up_too(tmp_path, kind):
    disk = LocalDisk(tmp_path)
    for folder in killed_at_every_step(tmp_path, kind):
        put(disk, f"{folder}/a.txt", b"next")
        assert content(disk, f"{folder}/a.txt") == b"next"
        assert not [name for name in os.listdir(tmp_path / folder) if name.startswith(".~")]


@pytest.fixture
def half_written(tmp_path):
    """The backup of a hard-linked file whose writer was killed; the old and the new bytes lie beside the file."""
    (tmp_path / "a.txt").write_bytes(NEW[:2000] + OLD[2000:])
    os.link(tmp_path / "a.txt", tmp_path / "b.txt")
    status = (tmp_path / "a.txt").stat()
    (tmp_path / new_name(status)).write_bytes(NEW)
    backup = tmp_path / backup_name(status)
    backup.write_bytes(OLD)
    return backup


@pytest.mark.parametrize("access", ["stat", "read", "write", "delete"])
def test_every_access_restores_a_hard_linked_file(tmp_path, half_written, access):
    disk = LocalDisk(tmp_path)
    stale = "a version from before"
    if access in ("write", "delete"):
        with pytest.raises(Conflict):
            disk.delete("a.txt", if_match=stale) if access == "delete" else disk.write("a.txt", [], if_match=stale)
    elif access == "read":
        assert content(disk, "b.txt") == OLD
    else:
        assert disk.stat("a.txt").size == len(OLD)
    assert (tmp_path / "b.txt").read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("torn", [NEW[:3500], OLD[:1000] + NEW[1000:4000], NEW[:-1], OLD, NEW])
def test_new_bytes_among_the_old_ones_are_a_killed_writers(tmp_path, half_written, torn):
    """In any order, as after a power cut."""
    (tmp_path / "a.txt").write_bytes(torn)
    assert content(LocalDisk(tmp_path), "a.txt") == (NEW if torn == NEW else OLD)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("theirs", [b"", b"repaired", OLD + b"!", NEW + b"!", NEW[:2000] + b"!" + OLD[2001:], OLD[:-1]])
def test_what_somebody_wrote_after_the_kill_is_not_undone(tmp_path, half_written, theirs, caplog):
    """Written at once, or into another file that got the same inode."""
    (tmp_path / "a.txt").write_bytes(theirs)
    assert content(LocalDisk(tmp_path), "a.txt") == theirs
    kept = half_written.with_name(half_written.name + "-kept")
    assert kept.read_bytes() == OLD
    assert kept.name in caplog.text
    assert sorted(os.listdir(tmp_path)) == [kept.name, "a.txt", "b.txt"]


@pytest.mark.parametrize("name", [backup_name, new_name])
def test_what_somebody_else_laid_there_is_not_trusted(tmp_path, half_written, name):
    os.link(tmp_path / name((tmp_path / "a.txt").stat()), tmp_path / "theirs")
    torn = (tmp_path / "a.txt").read_bytes()
    assert content(LocalDisk(tmp_path), "a.txt") == torn
    assert (tmp_path / "a.txt").read_bytes() == torn


def test_a_living_writer_is_waited_for_and_then_a_conflict(tmp_path, half_written, monkeypatch):
    import fcntl

    monkeypatch.setattr("jupyter_fstools.backends.local_disk.PATIENCE", 0.05)
    with (tmp_path / "b.txt").open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="another program is writing it"):
            content(LocalDisk(tmp_path), "a.txt")
    assert content(LocalDisk(tmp_path), "a.txt") == OLD


def test_a_living_writers_temporary_file_is_left_alone(tmp_path, monkeypatch):
    """Two writers that share no lock."""
    monkeypatch.setattr(hidden_files, "PATIENCE", 0.05)
    disk = LocalDisk(tmp_path)
    put(disk, "a.txt", OLD)
    seen = disk.stat("a.txt").version

    def slow():
        yield b"x" * 5_000_000
        with pytest.raises(Conflict, match="another program is writing it"):
            disk.write("a.txt", [b"second"], if_match=seen)
        assert content(disk, "a.txt") == OLD

    disk.write("a.txt", slow(), if_match=seen)
    assert content(disk, "a.txt") == b"x" * 5_000_000


@pytest.fixture
def by_another_user(monkeypatch):
    """Files left in the folder cannot be opened, as if another user had made them."""
    real = operating_system.Folder.open

    def opened(folder, name, flags, mode=0o666):
        if name.startswith(HIDDEN_PREFIX) and not flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(folder, name, flags, mode)

    monkeypatch.setattr(operating_system.Folder, "open", opened)
    monkeypatch.setattr(hidden_files, "PATIENCE", 0.05)


@pytest.mark.parametrize("path", ["a.txt", "new.txt"])
def test_another_users_temporary_file_blocks_a_file_for_minutes_only(tmp_path, by_another_user, path):
    (tmp_path / "a.txt").write_bytes(OLD)
    left = tmp_path / temporary_name(path)
    left.write_bytes(b"half")
    disk = LocalDisk(tmp_path)
    with pytest.raises(Conflict, match="another program is writing it"):
        put(disk, path, NEW)
    assert content(disk, "a.txt") == OLD
    os.utime(left, (time.time() - 600,) * 2)
    put(disk, path, NEW)
    assert content(disk, path) == NEW
    assert not left.exists()


def test_a_file_that_another_users_killed_writer_left_torn_is_read_and_written(tmp_path, half_written, by_another_user):
    """Only that user can bring its old bytes back; they are kept when it is written."""
    disk, torn = LocalDisk(tmp_path), (tmp_path / "a.txt").read_bytes()
    assert content(disk, "a.txt") == torn
    assert half_written.read_bytes() == OLD
    put(disk, "a.txt", b"mine")
    assert (tmp_path / "b.txt").read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == [half_written.name + "-kept", "a.txt", "b.txt"]


def test_a_suspended_writer_who_was_taken_for_dead_does_not_publish_others_bytes(tmp_path):
    disk, temporary = LocalDisk(tmp_path), tmp_path / temporary_name("a.txt")
    seen = put(disk, "a.txt", OLD)

    def suspended():
        yield b"x" * 5_000_000
        temporary.unlink()
        temporary.write_bytes(b"half of another")

    with pytest.raises(Conflict, match="not modified: its temporary file was removed"):
        disk.write("a.txt", suspended(), if_match=seen.version)
    assert content(disk, "a.txt") == OLD


@pytest.fixture
def on_nfs(monkeypatch):
    """NFS locks only files that are open for writing."""
    import fcntl

    real = fcntl.flock

    def flock(fd, operation):
        if operation & fcntl.LOCK_EX and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(hidden_files, "PATIENCE", 0.05)
    monkeypatch.setattr(local_disk, "PATIENCE", 0.05)


@pytest.fixture
def read_only_for_us(monkeypatch):
    real = operating_system.Folder.open

    def opened(folder, name, flags, mode=0o666):
        if flags & (os.O_RDWR | os.O_CREAT) == os.O_RDWR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(folder, name, flags, mode)

    monkeypatch.setattr(operating_system.Folder, "open", opened)


def test_a_temporary_file_that_a_killed_writer_left_is_removed_on_nfs(tmp_path, on_nfs):
    (tmp_path / "a.txt").write_bytes(OLD)
    (tmp_path / temporary_name("a.txt")).write_bytes(b"half")
    disk = LocalDisk(tmp_path)
    assert content(disk, "a.txt") == OLD
    (tmp_path / temporary_name("a.txt")).write_bytes(b"half")
    put(disk, "a.txt", NEW)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_hard_linked_file_is_restored_on_nfs(tmp_path, half_written, on_nfs):
    assert content(LocalDisk(tmp_path), "a.txt") == OLD
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


def test_what_cannot_be_locked_on_nfs_blocks_for_minutes_only(tmp_path, half_written, on_nfs, read_only_for_us):
    """It cannot be known whether its writer still runs."""
    disk, torn = LocalDisk(tmp_path), (tmp_path / "a.txt").read_bytes()
    left = tmp_path / temporary_name("c.txt")
    left.write_bytes(b"half")
    for access in (lambda: content(disk, "a.txt"), lambda: put(disk, "c.txt", NEW)):
        with pytest.raises(Conflict, match="another program is writing it"):
            access()
    for file in (half_written, left):
        os.utime(file, (time.time() - 600,) * 2)
    assert content(disk, "a.txt") == torn
    put(disk, "c.txt", NEW)
    assert sorted(os.listdir(tmp_path)) == sorted([half_written.name, new_name((tmp_path / "a.txt").stat()),
                                                   "a.txt", "b.txt", "c.txt"])  # fmt: skip
