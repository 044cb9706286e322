"""Tests what every `Backend` must do; subclass `BackendContract`.

class TestMyBackend(BackendContract):
    @pytest.fixture
    def backend(self):
        return MyBackend()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from ..backends.protocol import Backend, FileStat
from ..content.source import CHUNK_BYTES, Chunk
from ..errors import Conflict, FsToolsError, Invalid, IsDirectory, NotADirectory, NotFound, OutsideRoot


class BackendContract:
    """The five verbs; `backend` is an empty one, new for each test.

    Attributes:
        refused_names: odd names that the backend cannot hold; it must refuse them as `Invalid`, so nothing is lost.
        longest_name: in bytes; at most 1024.
    """

    refused_names: frozenset[str] = frozenset()
    longest_name: int = 255

    @pytest.fixture
    def backend(self) -> Backend:
        """An empty backend."""
        raise NotImplementedError("give the fixture `backend`")

    def test_what_was_written_is_read(self, backend: Backend) -> None:
        put(backend, "a.txt", b"one\ntwo\n")
        assert content(backend, "a.txt") == b"one\ntwo\n"

    def test_it_is_closed_once_or_twice(self, backend: Backend) -> None:
        put(backend, "a.txt", b"one")
        backend.close()
        backend.close()

    def test_an_empty_file_is_a_file(self, backend: Backend) -> None:
        assert put(backend, "empty", b"").size == 0
        assert content(backend, "empty") == b""

    def test_writing_tells_what_stat_tells(self, backend: Backend) -> None:
        assert put(backend, "a.txt", b"one") == backend.stat("a.txt")
        assert put(backend, "a.txt", b"two") == backend.stat("a.txt")

    def test_a_stat_names_path_key_kind_size_and_version(self, backend: Backend) -> None:
        put(backend, "folder/a.txt", b"12345")
        stat = backend.stat("folder/a.txt")
        assert (stat.path, stat.kind, stat.size) == ("folder/a.txt", "file", 5)
        assert stat.key == f"{backend.root_key}/folder/a.txt"
        assert stat.version
        assert stat.mtime_ns > 10**18

    def test_the_root_is_a_folder(self, backend: Backend) -> None:
        for path in ("", ".", "./"):
            assert (backend.stat(path).path, backend.stat(path).kind) == ("", "directory")

    def test_a_missing_file_is_no_error_to_stat(self, backend: Backend) -> None:
        stat = backend.stat("no/such/file")
        assert (stat.path, stat.kind, stat.size, stat.version) == ("no/such/file", "missing", 0, "")

    def test_spellings_of_a_path_are_one_file(self, backend: Backend) -> None:
        put(backend, "folder/a.txt", b"")
        spellings = ("folder/a.txt", "./folder//a.txt", "folder/./a.txt", "folder/../folder/a.txt")
        assert {backend.stat(path).key for path in spellings} == {f"{backend.root_key}/folder/a.txt"}

    @pytest.mark.parametrize("path", ["..", "../a", "folder/../../a", "a/../../b", "/".join(["x"] * 3 + [".."] * 4)])
    def test_nothing_leads_out_of_the_root(self, backend: Backend, path: str) -> None:
        put(backend, "folder/x", b"")
        put(backend, "a/x", b"")
        with pytest.raises(OutsideRoot):
            backend.stat(path)

    @pytest.mark.parametrize("name", ["..foo", "foo..bar", "...", "....", "te..st", "%2e%2e", "~", "-n", "a b\n'\"é🎉"])
    def test_odd_names_are_names(self, backend: Backend, name: str) -> None:
        if name in self.refused_names:
            with pytest.raises(Invalid):
                put(backend, f"folder/{name}", b"here")
            return
        put(backend, f"folder/{name}", b"here")
        assert content(backend, f"folder/{name}") == b"here"
        assert [entry.name for entry in backend.list("folder")] == [name]

    def test_a_name_may_be_long(self, backend: Backend) -> None:
        longest = "é" * (self.longest_name // 2)
        put(backend, f"folder/{longest}", b"here")
        assert content(backend, f"folder/{longest}") == b"here"
        assert [entry.name for entry in backend.list("folder")] == [longest]

    @pytest.mark.parametrize("path", ["a\0b", "x" * 1025, "x/" * 2049, "\ud800", "gone/../a.txt"])
    def test_a_path_that_cannot_be_is_invalid(self, backend: Backend, path: str) -> None:
        with pytest.raises(Invalid):
            backend.stat(path)

    def test_a_file_is_no_folder(self, backend: Backend) -> None:
        put(backend, "file", b"kept")
        for path in ("file/x", "file/", "file/.", "file/../file"):
            with pytest.raises(NotADirectory):
                backend.stat(path)
        with pytest.raises(NotADirectory):
            backend.write("file/x/y", [b""], if_match=None)
        with pytest.raises(NotADirectory):
            list(backend.list("file"))
        assert content(backend, "file") == b"kept"

    def test_a_folder_is_no_file(self, backend: Backend) -> None:
        put(backend, "folder/x", b"")
        for path in ("folder", ""):
            with pytest.raises(IsDirectory), backend.read(path):
                pass
            for if_match in (None, backend.stat(path).version):
                with pytest.raises(IsDirectory):
                    backend.write(path, [b""], if_match=if_match)
            with pytest.raises(IsDirectory):
                backend.delete(path, if_match=backend.stat(path).version)

    def test_what_is_not_there_is_not_found(self, backend: Backend) -> None:
        for path in ("a.txt", "no/such/a.txt"):
            with pytest.raises(NotFound), backend.read(path):
                pass
            with pytest.raises(NotFound):
                list(backend.list(path))
            with pytest.raises(NotFound):
                backend.delete(path, if_match="1")

    def test_missing_folders_are_made(self, backend: Backend) -> None:
        put(backend, "one/two/three/a.txt", b"deep")
        assert backend.stat("one/two").kind == "directory"
        assert content(backend, "one/two/three/a.txt") == b"deep"

    def test_a_new_file_never_replaces_one(self, backend: Backend) -> None:
        put(backend, "a.txt", b"first")
        with pytest.raises(Conflict, match="not modified"):
            backend.write("a.txt", [b"second"], if_match=None)
        assert content(backend, "a.txt") == b"first"

    def test_only_the_version_that_was_seen_is_replaced_or_removed(self, backend: Backend) -> None:
        seen = put(backend, "a.txt", b"first")
        put(backend, "a.txt", b"second, by somebody else")
        with pytest.raises(Conflict, match="not modified"):
            backend.write("a.txt", [b"third"], if_match=seen.version)
        with pytest.raises(Conflict):
            backend.delete("a.txt", if_match=seen.version)
        assert content(backend, "a.txt") == b"second, by somebody else"

    def test_a_file_that_is_gone_is_not_made_again(self, backend: Backend) -> None:
        seen = put(backend, "a.txt", b"first")
        backend.delete("a.txt", if_match=seen.version)
        assert backend.stat("a.txt").kind == "missing"
        with pytest.raises(Conflict):
            backend.write("a.txt", [b"again"], if_match=seen.version)
        assert backend.stat("a.txt").kind == "missing"

    def test_identical_bytes_change_nothing(self, backend: Backend) -> None:
        before = put(backend, "a.txt", b"same")
        assert backend.write("a.txt", [b"sa", b"me"], if_match=before.version) == before
        assert backend.stat("a.txt") == before

    def test_each_chunk_is_used_before_the_next_is_asked_for(self, backend: Backend) -> None:
        def reused() -> Iterator[Chunk]:
            buffer = bytearray(4)
            for letter in b"abc":
                buffer[:] = bytes([letter]) * 4
                yield buffer

        seen = put(backend, "a.txt", b"old")
        backend.write("b.txt", reused(), if_match=None)
        backend.write("a.txt", reused(), if_match=seen.version)
        assert content(backend, "a.txt") == content(backend, "b.txt") == b"aaaabbbbcccc"

    def test_large_files_come_in_chunks_and_windows(self, backend: Backend) -> None:
        data = bytes(range(256)) * (5 * CHUNK_BYTES // 256) + b"tail"
        backend.write("large", (data[at : at + 700_000] for at in range(0, len(data), 700_000)), if_match=None)
        with backend.read("large") as file:
            assert file.size == file.stat.size == len(data)
            assert b"".join(bytes(chunk) for chunk in file.chunks()) == data
            assert b"".join(bytes(chunk) for chunk in file.chunks(3, 2 * CHUNK_BYTES)) == data[3 : 2 * CHUNK_BYTES]
            assert file.read(CHUNK_BYTES - 1, 5) == data[CHUNK_BYTES - 1 : CHUNK_BYTES + 4]
            assert file.read(len(data) - 2, 100) == b"il"
            assert file.read(len(data) + 5, 100) == b""

    def test_an_open_file_knows_when_it_is_no_longer_the_same(self, backend: Backend) -> None:
        seen = put(backend, "a.txt", b"old")
        with backend.read("a.txt") as file:
            assert file.unchanged()
            assert file.stat == seen
            backend.write("a.txt", [b"newer"], if_match=seen.version)
            assert not file.unchanged() or file.read(0, 9) == b"old"

    def test_a_failing_source_leaves_the_file_and_nothing_else(self, backend: Backend) -> None:
        def failing() -> Iterator[Chunk]:
            yield b"half"
            raise FsToolsError("the source failed")

        seen = put(backend, "folder/a.txt", b"old")
        for path, if_match in (("folder/a.txt", seen.version), ("folder/b.txt", None), ("new/c.txt", None)):
            with pytest.raises(FsToolsError, match="the source failed"):
                backend.write(path, failing(), if_match=if_match)
        assert content(backend, "folder/a.txt") == b"old"
        assert names(backend) == ["folder", "folder/a.txt"]

    def test_a_listing_is_of_one_folder(self, backend: Backend) -> None:
        for path in ("a/b/c.txt", "a/d.txt"):
            put(backend, path, b"")
        assert {(entry.path, entry.name, entry.kind) for entry in backend.list("a")} == {
            ("a/b", "b", "directory"),
            ("a/d.txt", "d.txt", "file"),
        }

    def test_a_listing_tells_what_stat_tells(self, backend: Backend) -> None:
        put(backend, "a/b.txt", b"one")
        put(backend, "a/b.txt", b"two")
        for path, folder in (("a/b.txt", "a"), ("a", "")):
            (entry,) = backend.list(folder)
            assert entry.stat in (None, backend.stat(path))

    def test_one_of_many_creators_wins(self, backend: Backend) -> None:
        assert len(race(lambda n: backend.write("new/a.txt", [b"%d" % n], if_match=None))) == 1
        assert names(backend) == ["new", "new/a.txt"]

    def test_one_of_many_writers_wins(self, backend: Backend) -> None:
        seen = put(backend, "a.txt", b"old")
        winners = race(lambda n: backend.write("a.txt", [b"writer %d" % n], if_match=seen.version))
        assert [content(backend, "a.txt")] == [b"writer %d" % n for n in winners]
        assert names(backend) == ["a.txt"]

    def test_a_reader_sees_old_or_new_bytes(self, backend: Backend) -> None:
        put(backend, "a.txt", b"0" * 100_000)
        done = threading.Event()
        mixtures: list[bytes] = []

        def look() -> None:
            while not done.is_set():
                if len(set(seen := content(backend, "a.txt"))) != 1 or len(seen) != 100_000:
                    mixtures.append(seen)

        reader = threading.Thread(target=look)
        reader.start()
        for digit in b"123456789" * 5:
            put(backend, "a.txt", bytes([digit]) * 100_000)
        done.set()
        reader.join()
        assert not mixtures


def put(backend: Backend, path: str, data: bytes) -> FileStat:
    """Write a file, over an existing one too."""
    stat = backend.stat(path)
    return backend.write(stat.path, [data], if_match=stat.version or None)


def content(backend: Backend, path: str) -> bytes:
    """A file's bytes."""
    with backend.read(backend.stat(path).path) as file:
        return b"".join(bytes(chunk) for chunk in file.chunks())


def names(backend: Backend) -> list[str]:
    """The paths of all files and folders."""
    found, waiting = [], [""]
    while waiting:
        entries = list(backend.list(waiting.pop()))
        found += [entry.path for entry in entries]
        waiting += [entry.path for entry in entries if entry.kind == "directory"]
    return sorted(found)


def race(write: Callable[[int], object], count: int = 8) -> list[int]:
    """The indices of the threads that succeeded, of `count` writing at once; the others got a `Conflict`."""
    winners: list[int] = []
    start = threading.Barrier(count)

    def compete(number: int) -> None:
        start.wait()
        try:
            write(number)
            winners.append(number)
        except Conflict:
            pass

    threads = [threading.Thread(target=compete, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return winners
