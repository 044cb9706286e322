"""Reading, writing and listing on a disk: a file's metadata stays, and nothing blocks."""

from __future__ import annotations

import errno
import os
import resource
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from jupyter_fstools.backends import disk_write, hidden_files, in_place, local_disk, open_file, operating_system
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.content.source import CHUNK_BYTES
from jupyter_fstools.errors import Conflict, Denied, InputOutput, Invalid, IsDirectory, NotADirectory, NotFound
from jupyter_fstools.testing.backend_contract import content, names, put, race

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and devices of POSIX")


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def disk(request, tmp_path):
    return LocalDisk(tmp_path, openat=request.param)


@pytest.fixture
def hard_linked(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"old " * 50)
    (tmp_path / "folder").mkdir()
    os.link(tmp_path / "a.txt", tmp_path / "folder" / "b.txt")
    return tmp_path


def access_list(*entries):
    """In the form of the kernel: tag, rights and user of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [os.mkfifo, make_socket], ids=["fifo", "socket"])
def test_a_fifo_or_socket_is_refused_at_once(disk, tmp_path, make):
    """By its name and through a link."""
    make(tmp_path / "odd")
    (tmp_path / "link").symlink_to("odd")
    seen = disk.stat("link")
    assert (seen.path, seen.kind, seen.size) == ("odd", "other", 0)
    for touch in (lambda: content(disk, "odd"), lambda: put(disk, "odd", b"")):
        with pytest.raises(Denied, match="device, FIFO or socket"):
            touch()


@pytest.mark.parametrize("path", ["zero", "null", "stdin", "fd/0", "tty"])
def test_devices_are_refused_at_once(path):
    disk = LocalDisk("/")
    with pytest.raises((Denied, NotFound, Conflict)):
        content(disk, f"/dev/{path}")


def test_a_linked_device_outside_is_refused(disk, tmp_path):
    (tmp_path / "zero").symlink_to("/dev/zero")
    with pytest.raises((Denied, Conflict)), disk.read("zero"):
        pass


def test_files_of_the_kernel_are_read_though_they_say_they_are_empty():
    disk = LocalDisk("/proc/self")
    assert disk.stat("status").size == 0
    with disk.read("status") as file:
        assert file.read(0, file.size).startswith(b"Name:")
        assert file.size == file.stat.size > 100


def test_a_file_without_read_permission_is_denied(disk, tmp_path):
    """By its mode bits, also for root."""
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "a.txt").chmod(0)
    with pytest.raises(Denied, match="permission"):
        content(disk, "a.txt")


def test_a_file_that_grows_is_read_as_it_was(disk, tmp_path, monkeypatch):
    """The bytes and the version belong to the same moment."""
    (tmp_path / "log").write_bytes(b"one\n")

    def grow():
        with (tmp_path / "log").open("ab") as log:
            log.write(b"more\n")

    reading = before_each_read(monkeypatch, grow)
    with disk.read("log") as file:
        assert file.size == len(file.read(0, 999))
        assert file.read(0, 999) == (b"one\n" + b"more\n" * 99)[: file.size]
        assert not file.unchanged()
    assert reading


def test_a_file_that_changes_all_the_time_is_no_mixture(disk, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"0" * 10)
    letters = iter("abcdefghijklmnop")
    before_each_read(monkeypatch, lambda: (tmp_path / "a.txt").write_bytes(next(letters).encode() * 10))
    with pytest.raises(Conflict, match="changes while it is read"):
        content(disk, "a.txt")


def test_fewer_bytes_than_the_system_says_are_no_empty_file(disk, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"in the cloud")
    monkeypatch.setattr(open_file, "read_at", lambda *_: b"")
    with pytest.raises(InputOutput, match="short read"):
        content(disk, "a.txt")


def test_a_large_file_that_is_cut_short_is_a_conflict(disk, tmp_path):
    put(disk, "large", bytes(5 * CHUNK_BYTES))
    with disk.read("large") as file:
        os.truncate(tmp_path / "large", 10)
        with pytest.raises(Conflict, match="shorter"):
            list(file.chunks())


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o200])
def test_the_mode_of_a_file_stays(disk, tmp_path, mode):
    seen = put(disk, "a.txt", b"old")
    (tmp_path / "a.txt").chmod(mode | 0o6000)
    disk.write("a.txt", [b"new"], if_match=disk.stat("a.txt").version)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode
    assert disk.stat("a.txt").version != seen.version


def test_a_new_file_follows_the_umask(disk, tmp_path):
    before = os.umask(0o027)
    try:
        put(disk, "new/a.txt", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new" / "a.txt").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o750


def test_owner_and_extended_attributes_stay(disk, tmp_path):
    put(disk, "a.txt", b"old")
    try:
        os.setxattr(tmp_path / "a.txt", "user.note", b"kept")
        os.chown(tmp_path / "a.txt", 1234, 4321)
    except OSError:
        pytest.skip("needs root and a disk with extended attributes")
    put(disk, "a.txt", b"new")
    after = (tmp_path / "a.txt").stat()
    assert (after.st_uid, after.st_gid) == (1234, 4321)
    assert os.getxattr(tmp_path / "a.txt", "user.note") == b"kept"


@pytest.mark.parametrize("mode", [0o640, 0o200])
def test_a_changed_file_inherits_no_access_list(disk, tmp_path, mode):
    """The old file has none, although its folder has a default one; a file that cannot be read gets none either."""
    put(disk, "a.txt", b"old")
    (tmp_path / "a.txt").chmod(mode)
    someone_else = access_list((1, 7, -1), (2, 7, 1003), (4, 5, -1), (16, 7, -1), (32, 0, -1))
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", someone_else)
    except (AttributeError, OSError):
        pytest.skip("needs a system and a disk with access lists")
    disk.write("a.txt", [b"new"], if_match=disk.stat("a.txt").version)
    assert "system.posix_acl_access" not in os.listxattr(tmp_path / "a.txt")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


def test_a_changed_file_keeps_its_access_list(disk, tmp_path):
    put(disk, "a.txt", b"old")
    someone_else = access_list((1, 6, -1), (2, 6, 1003), (4, 4, -1), (16, 6, -1), (32, 0, -1))
    try:
        os.setxattr(tmp_path / "a.txt", "system.posix_acl_access", someone_else)
    except (AttributeError, OSError):
        pytest.skip("needs a system and a disk with access lists")
    put(disk, "a.txt", b"new")
    assert os.getxattr(tmp_path / "a.txt", "system.posix_acl_access") == someone_else
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o660


@pytest.mark.parametrize("name", ["old.txt", "linked.txt", "new.txt"])
@pytest.mark.parametrize("verb", ["remove", "move", "sync"])
def test_who_writes_before_a_write_is_answered_makes_another_version(tmp_path, monkeypatch, name, verb):
    """Others see the new file before its folder is synced."""
    disk = LocalDisk(tmp_path)
    put(disk, "old.txt", b"old")
    put(disk, "linked.txt", b"old")
    os.link(tmp_path / "linked.txt", tmp_path / "other.txt")
    after_each_call(monkeypatch, type(disk._root.current()), verb, lambda: save_over(tmp_path / name, b"new", b"NEW"))
    written = put(disk, name, b"new")
    if (tmp_path / name).read_bytes() == b"NEW":
        assert disk.stat(name).version != written.version


def test_who_writes_into_a_hard_linked_file_with_the_last_byte_of_ours_makes_another_version(tmp_path, monkeypatch):
    """The other write comes before the new file's version is looked up."""
    disk = LocalDisk(tmp_path)
    put(disk, "linked.txt", b"old")
    os.link(tmp_path / "linked.txt", tmp_path / "other.txt")
    after_each_call(monkeypatch, os, "ftruncate", lambda: save_over(tmp_path / "other.txt", b"new", b"NEW"))
    written = put(disk, "linked.txt", b"new")
    assert (tmp_path / "linked.txt").read_bytes() == b"NEW"
    assert disk.stat("linked.txt").version != written.version


@pytest.mark.parametrize("verb", ["move", "sync"])
def test_who_writes_into_a_hard_linked_file_while_its_old_bytes_are_saved_is_not_written_over(
    disk, tmp_path, monkeypatch, verb
):
    """The other program ends before our bytes are copied into the file."""
    put(disk, "linked.txt", b"old")
    os.link(tmp_path / "linked.txt", tmp_path / "other.txt")
    folder = type(disk._root.current())
    after_each_call(monkeypatch, folder, verb, lambda: save_over(tmp_path / "other.txt", b"old", b"OLD"))
    with pytest.raises(Conflict, match="not modified: it has changed meanwhile"):
        put(disk, "linked.txt", b"new")
    assert (tmp_path / "linked.txt").read_bytes() == b"OLD"
    assert sorted(os.listdir(tmp_path)) == ["linked.txt", "other.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of Linux")
@pytest.mark.parametrize("size", [10, open_file.MOST_IN_MEMORY + 1])
def test_where_file_times_count_in_ticks_what_is_written_after_a_read_gets_another_time(
    disk, tmp_path, monkeypatch, size
):
    monkeypatch.setattr(operating_system, "_TIMES_TICK", True)
    for _ in range(5):
        (tmp_path / "a.txt").write_bytes(b"a" * size)
        with disk.read("a.txt") as opened:
            assert time.clock_gettime_ns(operating_system.CLOCK_REALTIME_COARSE) > opened.stat.mtime_ns


@pytest.mark.parametrize(
    ("release", "tick"),
    [("5.15.0-91-generic", True), ("6.12", True), ("6.13.0", False), ("6.13-rc1", False), ("7.0", False), ("", False)],
)
def test_versions_of_linux_whose_file_times_count_in_ticks(release, tick):
    assert operating_system._times_tick(release) is tick


@pytest.mark.parametrize("change", ["write", "delete"])
@pytest.mark.parametrize("recreated", [False, True])
def test_a_file_that_another_program_removes_before_it_is_written_is_not_called_read_only(
    disk, tmp_path, monkeypatch, change, recreated
):
    """It may make the file again at once."""
    file, folder, seen = tmp_path / "a.txt", type(disk._root.current()), put(disk, "a.txt", b"old")

    def removed(self, name):
        file.unlink()
        may = may_write(self, name)
        if recreated:
            file.write_bytes(b"theirs")
        return may

    may_write = folder.may_write
    monkeypatch.setattr(folder, "may_write", removed)
    with pytest.raises(Conflict, match="not modified: it has changed meanwhile"):
        if change == "write":
            disk.write("a.txt", [b"new"], if_match=seen.version)
        else:
            disk.delete("a.txt", if_match=seen.version)
    assert file.exists() is recreated


def test_between_the_last_look_at_a_file_and_its_replacement_the_system_is_asked_nothing(tmp_path, monkeypatch):
    """Another program's write that comes there is lost."""
    disk, calls = LocalDisk(tmp_path), []
    put(disk, "a.txt", b"old")
    for name in ("stat", "fstat", "access", "open", "fsync", "replace"):
        after_each_call(monkeypatch, os, name, lambda name=name: calls.append(name))
    put(disk, "a.txt", b"new")
    replaced = calls.index("replace")
    assert calls[replaced - 1 : replaced] == ["stat"]


def test_where_the_owner_cannot_be_kept_the_file_is_written_in_place(disk, tmp_path, monkeypatch):
    """The file keeps its owner."""
    put(disk, "a.txt", b"old")
    before = (tmp_path / "a.txt").stat()
    monkeypatch.setattr(disk_write, "keep_owner", lambda *_: False)
    put(disk, "a.txt", b"new and longer")
    assert (tmp_path / "a.txt").stat().st_ino == before.st_ino
    assert content(disk, "a.txt") == b"new and longer"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("code", [errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_whose_owner_the_system_does_not_let_us_set_can_be_changed(disk, tmp_path, monkeypatch, code):
    """As in a container without root, where few users are known."""
    put(disk, "a.txt", b"old")
    os.chown(tmp_path / "a.txt", 1234, 4321)
    fail_on_call(monkeypatch, os, "fchown", 0, code)
    put(disk, "a.txt", b"new and longer")
    after = (tmp_path / "a.txt").stat()
    assert (content(disk, "a.txt"), after.st_uid, after.st_gid) == (b"new and longer", 1234, 4321)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_file_that_is_a_mount_point_is_written_in_place(disk, tmp_path, monkeypatch):
    """Containers mount single files this way; the system refuses to replace them."""
    put(disk, "a.txt", b"old")
    before, replace = (tmp_path / "a.txt").stat(), os.replace

    def replace_unless_mounted(old, new, **folders):
        if os.path.basename(new) == "a.txt":
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        replace(old, new, **folders)

    monkeypatch.setattr(os, "replace", replace_unless_mounted)
    put(disk, "a.txt", b"new and longer")
    assert (tmp_path / "a.txt").stat().st_ino == before.st_ino
    assert content(disk, "a.txt") == b"new and longer"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_mount_point_that_cannot_be_removed_is_named_as_one(disk, monkeypatch):
    seen = put(disk, "a.txt", b"old")
    fail_on_call(monkeypatch, disk._root.current().__class__, "remove", 1, errno.EBUSY)
    with pytest.raises(InputOutput, match="not modified: another program has it open, or it is a mount point"):
        disk.delete("a.txt", if_match=seen.version)


def test_a_file_that_is_written_in_place_is_not_read_halfway(disk, tmp_path, monkeypatch):
    put(disk, "a.txt", b"old" * CHUNK_BYTES)
    monkeypatch.setattr(disk_write, "keep_owner", lambda *_: False)
    monkeypatch.setattr(local_disk, "PATIENCE", 0.05)
    write_all, halfway = in_place.write_all, []

    def write_and_look(fd, chunk):
        write_all(fd, chunk)
        if (tmp_path / "a.txt").read_bytes() not in (b"old" * CHUNK_BYTES, b"new" * CHUNK_BYTES):
            halfway.append(fd)
            with pytest.raises(Conflict, match="another program is writing it"):
                content(disk, "a.txt")

    monkeypatch.setattr(in_place, "write_all", write_and_look)
    put(disk, "a.txt", b"new" * CHUNK_BYTES)
    assert halfway
    assert content(disk, "a.txt") == b"new" * CHUNK_BYTES


def test_hard_links_stay_linked(disk, hard_linked):
    for data in (b"new", b"longer " * 100, b""):
        assert put(disk, "a.txt", data) == disk.stat("a.txt")
        assert content(disk, "folder/b.txt") == data
    assert (hard_linked / "a.txt").samefile(hard_linked / "folder" / "b.txt")
    assert sorted(os.listdir(hard_linked)) == ["a.txt", "folder"]


def test_two_writers_by_two_names_of_one_file_do_not_write_over_each_other(disk, hard_linked, monkeypatch):
    """The second one starts after the first has checked the version and saved the old bytes."""
    monkeypatch.setattr(hidden_files, "PATIENCE", 0.05)
    copy_bytes, seen = in_place.copy_bytes, disk.stat("folder/b.txt").version

    def copy_and_let_another_write(*args, **kwargs):
        monkeypatch.setattr(in_place, "copy_bytes", copy_bytes)
        copied = copy_bytes(*args, **kwargs)
        with pytest.raises(Conflict, match="not modified: another program is writing it"):
            disk.write("folder/b.txt", [b"second"], if_match=seen)
        return copied

    monkeypatch.setattr(in_place, "copy_bytes", copy_and_let_another_write)
    put(disk, "a.txt", b"first")
    assert content(disk, "folder/b.txt") == b"first"


def test_a_file_can_be_written_from_its_own_bytes(disk, hard_linked):
    """The source may be the very file that is written in place."""
    with disk.read("a.txt") as file:
        chunks = (bytes(chunk) + b"new" for _ in range(2) for chunk in file.chunks())
        disk.write("a.txt", chunks, if_match=file.stat.version)
    assert content(disk, "folder/b.txt") == (b"old " * 50 + b"new") * 2


@pytest.mark.parametrize("fails_at", [0, 1, 2])
def test_hard_links_have_their_old_bytes_after_a_failure(disk, hard_linked, monkeypatch, fails_at):
    """Whichever of the copies fails."""
    before = (hard_linked / "a.txt").stat()
    fail_on_call(monkeypatch, in_place, "write_all", fails_at + 1)
    with pytest.raises(InputOutput, match="not modified: the disk is full"):
        put(disk, "a.txt", b"new" * 500_000 + b"!" * CHUNK_BYTES)
    assert (hard_linked / "folder" / "b.txt").read_bytes() == b"old " * 50
    assert (hard_linked / "a.txt").stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(os.listdir(hard_linked)) == ["a.txt", "folder"]


FULL_DISK = """
import resource, sys
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import InputOutput
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
disk = LocalDisk(sys.argv[1])
for path in ("old.txt", "linked.txt", "new/new.txt"):
    seen = disk.stat(path)
    try:
        disk.write(path, (b"x" * 50_000 for _ in range(5)), if_match=seen.version or None)
    except InputOutput as error:
        print(error.message)
"""


def test_a_full_disk_leaves_the_old_bytes(tmp_path):
    """A real limit of the system."""
    for name in ("old.txt", "linked.txt"):
        (tmp_path / name).write_bytes(b"old")
    os.link(tmp_path / "linked.txt", tmp_path / "second.txt")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.count("was not modified: the disk quota or size limit is reached") == 3
    assert sorted(os.listdir(tmp_path)) == ["linked.txt", "old.txt", "second.txt"]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"old"}


def test_a_new_file_in_a_folder_that_lets_nothing_be_removed_counts_as_made(disk, tmp_path, monkeypatch, caplog):
    """An append-only folder, or one that others only drop files into."""
    fail_on_call(monkeypatch, disk._root.current().__class__, "remove", 0, errno.EPERM)
    made = disk.write("a.txt", [b"new"], if_match=None)
    assert made.size == 3 and content(disk, "a.txt") == b"new"
    assert "its temporary file cannot be removed" in caplog.text


@pytest.mark.parametrize("verb", ["move", "link"])
def test_a_failing_last_step_leaves_the_old_bytes(disk, tmp_path, monkeypatch, verb):
    put(disk, "a.txt", b"old")
    fail_on_call(monkeypatch, disk._root.current().__class__, verb, 1)
    with pytest.raises(InputOutput, match="not modified"):
        put(disk, "a.txt" if verb == "move" else "b.txt", b"new")
    monkeypatch.undo()
    assert content(disk, "a.txt") == b"old"
    assert ".~" not in "".join(os.listdir(tmp_path))


@pytest.mark.parametrize("reason", [errno.EIO, errno.EINVAL], ids=["broken disk", "folders without fsync"])
def test_a_folder_that_cannot_be_synced_leaves_the_new_bytes(tmp_path, monkeypatch, caplog, reason):
    disk = LocalDisk(tmp_path, durable=True)
    put(disk, "a.txt", b"old")
    fsync = os.fsync

    def refuse_folders(fd):
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(reason, os.strerror(reason))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    put(disk, "a.txt", b"new")
    put(disk, "folder/b.txt", b"new")
    put(disk, "c.txt", b"")
    disk.delete("c.txt", if_match=disk.stat("c.txt").version)
    assert (content(disk, "a.txt"), content(disk, "folder/b.txt")) == (b"new", b"new")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "folder"]
    assert "could not be put on the disk at once" in caplog.text


@contextmanager
def descriptors(room):
    """Leave only this many descriptors to open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        for _ in range(room):
            os.close(taken.pop())
        yield
    finally:
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("name", ["old.txt", "linked.txt", "new.txt", "gone.txt"])
@pytest.mark.parametrize("room", range(8))
def test_where_descriptors_run_out_a_file_is_changed_or_the_change_is_refused(tmp_path, name, room):
    disk, path = LocalDisk(tmp_path), tmp_path / name
    if name != "new.txt":
        path.write_bytes(b"old")
    if name == "linked.txt":
        os.link(path, tmp_path / "other.txt")
    version, before = disk.stat(name).version, sorted(os.listdir(tmp_path))
    try:
        with descriptors(room):
            if name == "gone.txt":
                disk.delete(name, if_match=version)
            else:
                disk.write(name, [b"new"], if_match=version or None)
    except InputOutput:
        assert sorted(os.listdir(tmp_path)) == before
        assert name == "new.txt" or path.read_bytes() == b"old"


@pytest.mark.parametrize("closed_after", [3, None], ids=["closed in time", "kept open"])
def test_a_file_that_another_program_keeps_open_is_tried_for_a_while(tmp_path, monkeypatch, closed_after):
    """As on Windows, where an open file cannot be replaced."""
    disk = LocalDisk(tmp_path, openat=False)
    put(disk, "a.txt", b"old")
    replace, tries = os.replace, []

    def replace_unless_open(*names, **folders):
        tries.append(names)
        if closed_after is None or len(tries) <= closed_after:
            raise PermissionError(errno.EACCES, "the file is open")
        replace(*names, **folders)

    for module in (operating_system, disk_write):
        monkeypatch.setattr(module, "RENAMES_OPEN_FILES", False)
    monkeypatch.setattr(operating_system.os, "replace", replace_unless_open)
    if closed_after is None:
        with pytest.raises(InputOutput, match=r"not modified: another program has it open"):
            put(disk, "a.txt", b"new")
    else:
        put(disk, "a.txt", b"new")
    assert (content(disk, "a.txt"), len(tries)) == ((b"old", 20) if closed_after is None else (b"new", 4))
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_read_only_file_is_refused(disk, tmp_path):
    """Even if the folder is writable and the user is root."""
    put(disk, "a.txt", b"old")
    (tmp_path / "a.txt").chmod(0o444)
    for touch in (lambda: put(disk, "a.txt", b"new"),
                  lambda: disk.delete("a.txt", if_match=disk.stat("a.txt").version)):  # fmt: skip
        with pytest.raises(Denied, match="not modified: it is read-only"):
            touch()
    assert content(disk, "a.txt") == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any folder")
def test_a_read_only_folder_is_a_clear_refusal(disk, tmp_path):
    put(disk, "folder/a.txt", b"old")
    (tmp_path / "folder").chmod(0o555)
    with pytest.raises(Denied, match="not modified: the system does not permit it"):
        put(disk, "folder/a.txt", b"new")


def test_a_read_only_disk_is_a_clear_refusal(disk, monkeypatch):
    """The same for root."""
    put(disk, "a.txt", b"old")
    fail_on_call(monkeypatch, disk._root.current().__class__, "open", 2, errno.EROFS)
    with pytest.raises(Denied, match="not modified: the file system is read-only"):
        put(disk, "a.txt", b"new")


def test_temporary_files_are_hidden_and_not_listed(disk, tmp_path):
    put(disk, "a.txt", b"old")
    seen = []

    def watching():
        yield b"new"
        seen.extend((sorted(os.listdir(tmp_path)), names(disk), [entry.name for entry in disk.list("")]))

    disk.write("b.txt", watching(), if_match=None)
    assert seen[0][0].startswith(".~fstools-")
    assert seen[1:] == [["a.txt"], ["a.txt"]]


def test_the_longest_name_can_be_written(disk):
    for name in ("x" * 255, "é" * 127 + "x"):
        put(disk, name, b"old")
        assert content(disk, name) == b"old"
        put(disk, name, b"new")
        assert content(disk, name) == b"new"
    with pytest.raises(Invalid):
        disk.write("x" * 256, [b""], if_match=None)


def test_one_of_many_creators_wins_where_there_are_no_hard_links(disk, tmp_path, monkeypatch):
    fail_on_call(monkeypatch, disk._root.current().__class__, "link", 0, errno.EPERM)
    winners = race(lambda n: disk.write("a.txt", [b"%d" % n], if_match=None))
    assert [content(disk, "a.txt")] == [b"%d" % n for n in winners]
    assert os.listdir(tmp_path) == ["a.txt"]


def test_identical_bytes_touch_nothing(disk, tmp_path):
    put(disk, "a.txt", b"same")
    before = (tmp_path / "a.txt").stat()
    put(disk, "a.txt", b"same")
    after = (tmp_path / "a.txt").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_parent_that_is_a_file_and_a_target_that_is_a_folder(disk):
    put(disk, "folder/file", b"")
    with pytest.raises(NotADirectory):
        put(disk, "folder/file/x", b"")
    for path in ("folder", "folder/", "folder/.", ""):
        with pytest.raises(IsDirectory):
            put(disk, path, b"")


def test_folders_made_for_a_write_that_fails_are_gone(disk, tmp_path):
    put(disk, "kept/a.txt", b"")

    def failing():
        yield b"x"
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(InputOutput, match=r"'kept/one/two/b\.txt' was not modified: the disk is full"):
        disk.write("kept/one/two/b.txt", failing(), if_match=None)
    assert names(disk) == ["kept", "kept/a.txt"]


@pytest.mark.parametrize("verb", ["make", "enter", "sync"])
@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_folders_are_gone_where_the_next_one_cannot_be_made(disk, tmp_path, monkeypatch, verb, fails_at):
    folder = disk._root.current().__class__
    calls = {"make": fails_at, "enter": 2 * fails_at, "sync": fails_at}  # The lookup of each folder fails once before.
    fail_on_call(monkeypatch, folder, verb, calls[verb])
    with pytest.raises(InputOutput, match=r"'one/two/three/a\.txt' was not modified: the disk is full"):
        disk.write("one/two/three/a.txt", [b"x"], if_match=None)
    assert os.listdir(tmp_path) == []


def test_somebody_who_writes_between_check_and_replace_is_not_overwritten(disk, tmp_path):
    """The version is checked again once the new bytes are on the disk."""
    seen = put(disk, "a.txt", b"old")

    def slow():
        yield b"x" * 5 * CHUNK_BYTES
        (tmp_path / "a.txt").write_bytes(b"an outsider's")

    with pytest.raises(Conflict, match="not modified: it has changed meanwhile"):
        disk.write("a.txt", slow(), if_match=seen.version)
    assert os.listdir(tmp_path) == ["a.txt"]
    assert content(disk, "a.txt") == b"an outsider's"


def test_a_program_that_is_started_inherits_no_file(disk, tmp_path):
    put(disk, "a.txt", b"old")
    listing = [sys.executable, "-c", "import os; print(len(os.listdir('/dev/fd')))"]

    def descriptors():
        return subprocess.run(listing, capture_output=True, check=True, close_fds=False).stdout

    before, during = descriptors(), []

    def watching():
        yield b"new"
        during.append(descriptors())

    with disk.read("a.txt"):
        during.append(descriptors())
    disk.write("b.txt", watching(), if_match=None)
    assert set(during) == {before}


def test_names_that_are_no_utf8_come_back_as_they_are(disk, tmp_path):
    odd = [b"\xe9.txt", b"new\nline", b"-rf", b"quo'te\"", b"sp ace ", "🎉".encode()]
    for name in odd:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    listed = [entry.name for entry in disk.list("")]
    assert sorted(map(os.fsencode, listed)) == sorted(odd)
    assert sorted(content(disk, name) for name in listed) == sorted(odd)


def test_a_very_deep_path_is_followed_with_few_files_open(disk, tmp_path):
    by_descriptor = disk._root.current().dir_fd is not None
    disk = LocalDisk(tmp_path, openat=by_descriptor, durable=False)
    path = "/".join(["d"] * (1500 if by_descriptor else 300))  # The system limits the length of one path.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 60, hard))
    try:
        put(disk, f"{path}/a.txt", b"deep")
        assert content(disk, f"{path}/a.txt") == b"deep"
        assert [entry.path for entry in disk.list(path)] == [f"{path}/a.txt"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        subprocess.run(["rm", "-r", tmp_path / "d"], check=True)  # pytest's own is recursive.


def test_readers_never_see_half_of_a_hard_linked_file(tmp_path):
    """Our readers wait for a writer that writes in place."""
    disk = LocalDisk(tmp_path, durable=False)
    put(disk, "a.txt", b"0" * 50_000)
    os.link(tmp_path / "a.txt", tmp_path / "b.txt")
    seen, done = set(), threading.Event()

    def look():
        while not done.is_set():
            data = content(disk, "a.txt")
            seen.add((len(data), len(set(data))))

    reader = threading.Thread(target=look)
    reader.start()
    for digit in b"123456789" * 4:
        put(disk, "a.txt", bytes([digit]) * 50_000)
    done.set()
    reader.join()
    assert seen == {(50_000, 1)}


def before_each_read(monkeypatch, act):
    """Run `act` as another program before each read of bytes; the returned list grows with each read."""
    real, calls = open_file.read_at, []

    def read_at(*args):
        calls.append(args)
        act()
        return real(*args)

    monkeypatch.setattr(open_file, "read_at", read_at)
    return calls


def after_each_call(monkeypatch, owner, name, act):
    """Run `act` as another program after each call of this function."""
    real = getattr(owner, name)

    def call(*args, **kwargs):
        result = real(*args, **kwargs)
        act()
        return result

    monkeypatch.setattr(owner, name, call)


def save_over(file, expected, data):
    """Write in place, if the file is there with the bytes that are expected."""
    if file.exists() and file.read_bytes() == expected:
        file.write_bytes(data)


def fail_on_call(monkeypatch, owner, name, number, code=errno.ENOSPC):
    """Have the `number`th call fail as the system would (0: every one)."""
    real, calls = getattr(owner, name), []

    def call(*args, **kwargs):
        calls.append(args)
        if number in (0, len(calls)):
            raise OSError(code, os.strerror(code))
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


def test_a_large_file_begins_to_go_to_the_disk_while_it_is_written(disk, tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(disk_write, "begin_flush", lambda fd, offset, length: begun.append((offset, length)))
    disk.write("a", [bytes(3 * CHUNK_BYTES)] * 7, if_match=None)
    assert begun == [(0, 9 * CHUNK_BYTES), (9 * CHUNK_BYTES, 9 * CHUNK_BYTES)]
    assert (tmp_path / "a").stat().st_size == 21 * CHUNK_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="sync_file_range is there on Linux only")
def test_beginning_to_flush_is_understood_by_the_system_and_never_fails(tmp_path):
    flush = operating_system._sync_file_range()
    with (tmp_path / "a").open("wb") as file:
        assert flush(file.fileno(), 0, 1 << 33, operating_system._SYNC_FILE_RANGE_WRITE) == 0
    reading, writing = os.pipe()
    os.close(reading)
    operating_system.begin_flush(writing, 0, 1)
    os.close(writing)


@pytest.mark.parametrize("lacking", [("sys.platform", "other"), ("ctypes.CDLL", lambda name: object())])
def test_a_system_that_cannot_flush_a_part_is_left_to_its_own_pace(tmp_path, monkeypatch, lacking):
    monkeypatch.setattr(*lacking)
    operating_system._sync_file_range.cache_clear()
    try:
        with (tmp_path / "a").open("wb") as file:
            operating_system.begin_flush(file.fileno(), 0, 1)
        assert operating_system._sync_file_range() is None
    finally:
        operating_system._sync_file_range.cache_clear()
