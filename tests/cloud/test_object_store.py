"""Object stores by the contract: in memory, over S3's API and over Azure's emulator."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import obstore
import pytest
from obstore.store import MemoryStore

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.backends.object_store import ObjectStore
from jupyter_fstools.backends.open_backend import open_backend
from jupyter_fstools.backends.version_files import VersionFiles
from jupyter_fstools.errors import Conflict, InputOutput, Invalid
from jupyter_fstools.testing.backend_contract import BackendContract, content, put
from tests import emulators

ODD = frozenset({"a b\n'\"é🎉"})
NUMBERS = itertools.count()


class TestInMemoryBucket(BackendContract):
    refused_names = ODD

    @pytest.fixture
    def backend(self, tmp_path):
        return ObjectStore(MemoryStore(), "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))


@pytest.fixture(scope="module")
def s3_environment(tmp_path_factory):
    with emulators.s3(tmp_path_factory.mktemp("s3")) as environment:
        emulators.make_bucket(environment, "team")
        yield environment


@pytest.fixture
def s3(s3_environment, monkeypatch):
    """The address of a prefix of the test's own."""
    for name, value in s3_environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://team/test-{next(NUMBERS)}"


class TestS3(BackendContract):
    refused_names = ODD

    @pytest.fixture
    def backend(self, s3):
        return open_backend(s3)


@pytest.fixture(scope="module")
def azure_environment(tmp_path_factory):
    with emulators.azure(tmp_path_factory.mktemp("azure")) as environment:
        emulators.make_container(environment, "team")
        yield environment


class TestAzure(BackendContract):
    refused_names = ODD

    @pytest.fixture
    def backend(self, azure_environment, monkeypatch):
        for name, value in azure_environment.items():
            monkeypatch.setenv(name, value)
        return open_backend(f"az://team/test-{next(NUMBERS)}")


@pytest.fixture
def moved(monkeypatch):
    """How many bytes each request for an object asked for; a look asks for none."""
    sizes = []
    get = obstore.get

    def counted(bucket, path, *, options=None):
        answer = get(bucket, path, options=options)
        if not (options or {}).get("head"):
            start, end = answer.range
            sizes.append(end - start)
        return answer

    monkeypatch.setattr(obstore, "get", counted)
    return sizes


def test_a_window_of_a_large_file_moves_little_more_than_it_shows(monkeypatch, moved, tmp_path):
    monkeypatch.setattr("jupyter_fstools.backends.object_store.WHOLE_BYTES", 1 << 20)
    monkeypatch.setattr("jupyter_fstools.tools.read_file.EAGER_BYTES", 1 << 20)
    monkeypatch.setattr("jupyter_fstools.tools.read_file._RECENT_NS", 0)  # It was not written just now.
    bucket = MemoryStore()
    obstore.put(bucket, "large.txt", b"0123456789abcde\n" * (64 << 16), mode="create")
    files = workspace_on(ObjectStore(bucket, "memory://bucket"))
    shown = call_tool(files, "read_file", path="large.txt", limit=100)
    assert shown.data["content"].count("\n") == 100
    assert sum(moved) <= (2 << 20) + 1600


def test_what_another_writes_right_after_is_not_taken_for_what_was_written(monkeypatch, tmp_path):
    bucket, real_put = MemoryStore(), obstore.put
    backend = ObjectStore(bucket, "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))
    first = put(backend, "a.txt", b"ours")

    def overtaken(*args, **options):
        answer = real_put(*args, **options)
        real_put(bucket, "a.txt", b"them")
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", overtaken)
        mine = backend.write("a.txt", [b"mine"], if_match=first.version)
    assert content(backend, "a.txt") == b"them"
    with pytest.raises(Conflict):
        backend.write("a.txt", [b"next"], if_match=mine.version)


def test_a_whole_file_is_fetched_once_per_version(moved, tmp_path):
    bucket = MemoryStore()
    backend = ObjectStore(bucket, "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))
    obstore.put(bucket, "a.txt", b"one\n" * 1000)
    for _ in range(3):
        assert content(backend, "a.txt") == b"one\n" * 1000
    assert moved == [4000]
    obstore.put(bucket, "a.txt", b"two\n" * 1000)
    assert content(backend, "a.txt") == b"two\n" * 1000
    assert moved == [4000, 4000]


def test_what_is_kept_on_the_disk_is_bounded_and_for_its_user_alone(tmp_path):
    versions = VersionFiles(tmp_path / "objects", 10_000)
    for number in range(100):
        versions.put("key", str(number), b"x" * 1000)
    kept = list((tmp_path / "objects").iterdir())
    assert sum(file.stat().st_size for file in kept) <= 10_000
    assert versions.get("key", "99") == b"x" * 1000
    assert versions.get("key", "0") is None
    assert (tmp_path / "objects").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in kept)


def workspace_on(backend):
    files = open_workspace("memory:", store="memory:")
    files.backend = backend
    return files


def test_the_tools_work_on_a_bucket(s3, private_jupyter):
    files = open_workspace(s3, store="memory:")
    call_tool(files, "write_file", path="src/a.py", content="one = 1\n")
    call_tool(files, "write_file", path="src/b.py", content="two = 2\n")
    call_tool(files, "write_file", path=".gitignore", content="ignored/\n")
    call_tool(files, "write_file", path="ignored/c.py", content="one = 3\n")
    assert [one["path"] for one in call_tool(files, "list_files", path="src").data["entries"]] == [
        "src/a.py",
        "src/b.py",
    ]
    found = call_tool(files, "grep", pattern=r"^\w+ = \d", output_mode="content").data
    assert [one["path"] for one in found["matches"]] == ["src/a.py", "src/b.py"]
    assert call_tool(files, "glob", pattern="**/*.py").data["total"] == 2
    done = call_tool(files, "edit_file", path="src/a.py", old_string="1", new_string="11")
    assert content(files.backend, "src/a.py") == b"one = 11\n"
    call_tool(files, "undo", change_id=done.change.id)
    assert content(files.backend, "src/a.py") == b"one = 1\n"


def test_files_of_a_folder_are_fetched_together_and_in_order(moved, tmp_path):
    bucket = MemoryStore()
    for number in range(200):
        obstore.put(bucket, f"d/{number:03}.txt", b"needle\n" if number % 2 else b"hay\n")
    backend = ObjectStore(bucket, "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))
    files = workspace_on(backend)
    for _ in range(2):
        found = call_tool(files, "grep", pattern="needle", output_mode="files").data
        assert found["total"] == 100
    assert len(moved) == 200, "the second search asks for nothing but the listing"


def test_what_is_written_keeps_what_else_is_known_of_the_object():
    bucket = MemoryStore()
    obstore.put(bucket, "a.html", b"old", attributes={"Content-Type": "text/html", "owner": "ada"})
    put(ObjectStore(bucket, "memory://bucket"), "a.html", b"new")
    kept = obstore.get(bucket, "a.html").attributes
    assert (kept["Content-Type"], kept["owner"]) == ("text/html", "ada")


def test_a_store_without_conditional_writes_is_refused_at_start(s3, monkeypatch):
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")
    with pytest.raises((Invalid, InputOutput), match=r"does not heed|cannot do that"):
        open_backend(s3)


def test_an_address_with_a_password_is_refused_without_repeating_it():
    with pytest.raises(Invalid) as refused:
        open_backend("s3://ada:hidden@team/x")
    assert "hidden" not in str(refused.value)


def test_credentials_are_in_no_answer(s3, monkeypatch):
    files = open_workspace(s3, store="memory:")
    call_tool(files, "write_file", path="a.txt", content="x\n")
    answers = call_tool(files, "list_files"), call_tool(files, "read_file", path="a.txt")
    said = "".join(f"{answer.data} {answer.content}" for answer in answers)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(InputOutput) as refused:
        open_backend_quickly(s3, monkeypatch)
    assert "the-secret" not in said + str(refused.value)


def open_backend_quickly(address, monkeypatch):
    """Without waiting long for a store that is not there."""
    monkeypatch.setattr("jupyter_fstools.backends.object_requests.RETRIES", {"max_retries": 0})
    return open_backend(address)


EDITS = """
import sys
from jupyter_fstools.backends.open_backend import open_backend
from jupyter_fstools.errors import Conflict
backend, me = open_backend(sys.argv[1]), sys.argv[2]
done = 0
while done < 50:
    with backend.read("shared.txt") as file:
        data, version = file.read(0, file.size), file.stat.version
    try:
        backend.write("shared.txt", [data + f"{me}-{done}\\n".encode()], if_match=version)
    except Conflict:
        continue
    done += 1
"""


def test_eight_processes_without_any_lock_lose_no_edit(s3):
    backend = open_backend(s3)
    put(backend, "shared.txt", b"")
    edits = [subprocess.Popen([sys.executable, "-c", EDITS, s3, str(number)]) for number in range(8)]
    assert [edit.wait(280) for edit in edits] == [0] * 8
    lines = content(backend, "shared.txt").decode().splitlines()
    assert sorted(lines) == sorted(f"{number}-{edit}" for number in range(8) for edit in range(50))


@contextmanager
def failing(upstream, *, answer_lost=False):
    """Stands before a store: every third request is answered 500 or 503, of writes every second one.

    With `answer_lost` the write is done all the same: only its answer does not arrive.
    """
    host = urlsplit(upstream).netloc
    asked = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            number = next(asked)
            fails = number % 2 == 0 if self.command == "PUT" else number % 3 == 0
            if fails and not (answer_lost and self.command == "PUT"):
                self.reply(503 if number % 4 else 500, {}, b"")
                return
            connection = HTTPConnection(host, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            response = connection.getresponse()
            data = response.read()
            connection.close()
            if fails:
                self.reply(500, {}, b"")
            else:
                self.reply(response.status, dict(response.getheaders()), data)

        def reply(self, status, headers, data):
            self.send_response_only(status)
            kept = {
                name: one for name, one in headers.items() if name.lower() not in ("transfer-encoding", "connection")
            }
            if self.command != "HEAD":
                kept = {name: one for name, one in kept.items() if name.lower() != "content-length"}
                kept["Content-Length"] = str(len(data))
            for name, one in kept.items():
                self.send_header(name, one)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_any

        def log_message(self, *words):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("answer_lost", [False, True])
def test_a_store_that_fails_now_and_then_loses_and_repeats_nothing(s3, monkeypatch, answer_lost):
    direct = open_backend(s3)
    put(direct, "a.txt", b"")
    with failing(os.environ["AWS_ENDPOINT_URL"], answer_lost=answer_lost) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        shaky = open_backend(s3)
        for number in range(20):
            with shaky.read("a.txt") as file:
                data, version = file.read(0, file.size), file.stat.version
            shaky.write("a.txt", [data + b"%d\n" % number], if_match=version)
    assert content(direct, "a.txt") == b"".join(b"%d\n" % number for number in range(20))


def test_what_somebody_else_wrote_is_no_success_of_ours():
    bucket = MemoryStore()
    backend = ObjectStore(bucket, "memory://bucket")
    seen = put(backend, "a.txt", b"one")
    obstore.put(bucket, "a.txt", b"two")
    with pytest.raises(Conflict, match="not modified"):
        backend.write("a.txt", [b"two"], if_match=seen.version)
