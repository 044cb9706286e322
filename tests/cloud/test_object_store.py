"""Object stores by the contract: in memory, over S3's API and over Azure's emulator."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import obstore
import pytest
from obstore.exceptions import GenericError
from obstore.store import MemoryStore

from jupyter_fstools import Workspace, call_tool, open_workspace
from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.object_store import ObjectStore
from jupyter_fstools.backends.version_files import VersionFiles
from jupyter_fstools.entry_points import open_backend
from jupyter_fstools.errors import Conflict, Disabled, InputOutput, Invalid, NotADirectory, TimedOut
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.limits import Limits
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.testing.backend_contract import BackendContract, content, put
from tests import proxy

ODD = frozenset({"a b\n'\"é🎉"})


class TestInMemoryBucket(BackendContract):
    refused_names, longest_name = ODD, 900

    @pytest.fixture
    def backend(self, tmp_path):
        return ObjectStore(MemoryStore(), "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))


class TestS3(BackendContract):
    refused_names, longest_name = ODD, 900

    @pytest.fixture
    def backend(self, s3):
        return open_backend(s3)


class TestAzure(BackendContract):
    refused_names, longest_name = ODD, 900

    @pytest.fixture
    def backend(self, az):
        return open_backend(az)


class TestGoogle(BackendContract):
    refused_names, longest_name = ODD, 900

    @pytest.fixture
    def backend(self, gs):
        return open_backend(gs)


@pytest.fixture
def moved(monkeypatch):
    """The number of bytes that each request for an object asked for; HEAD requests are not counted."""
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
    monkeypatch.setattr("jupyter_fstools.tools.read_file._RECENT_NS", 0)  # No recent write.
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


def test_a_write_that_the_store_took_is_written_though_the_look_at_it_fails(monkeypatch):
    bucket, look = MemoryStore(), obstore.head
    files = workspace_on(ObjectStore(bucket, "memory://bucket"))
    call_tool(files, "write_file", path="a.txt", content="one")

    def failing(asked, path):
        if bytes(obstore.get(bucket, path).bytes()) == b"two":
            raise GenericError("503 Service Unavailable")
        return look(asked, path)

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "head", failing)
        edit = call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="two")
    assert edit.change.status == "applied"
    call_tool(files, "undo", change_id=edit.change.id)
    assert content(files.backend, "a.txt") == b"one"


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


def test_a_new_name_takes_as_many_requests_in_a_deep_folder_as_in_a_flat_one(monkeypatch):
    bucket, asked = MemoryStore(), []
    backend = ObjectStore(bucket, "memory://bucket")
    deep = "/".join("abcdefgh")
    for path in ("flat/old.txt", f"{deep}/old.txt", "file.txt"):
        obstore.put(bucket, path, b"one\n")

    def counted(request):
        return lambda *given, **more: asked.append(given) or request(*given, **more)

    for name in ("head", "get", "list"):
        monkeypatch.setattr(obstore, name, counted(getattr(obstore, name)))
    counts = []
    for path in ("flat/new.txt", f"{deep}/new.txt"):
        asked.clear()
        assert backend.stat(path).kind == "missing"
        counts.append(len(asked))
    assert counts == [3, 3]
    with pytest.raises(NotADirectory):
        backend.stat("file.txt/b/new.txt")
    assert backend.stat("nowhere/b/new.txt").kind == "missing"


@pytest.mark.parametrize("damage", [b"", b"head\n", b"0" * 34_021])
def test_a_damaged_copy_is_fetched_again_and_an_edit_keeps_the_whole_file(tmp_path, damage):
    bucket, text = MemoryStore(), b"head\n" + b"important line..\n" * 2000
    obstore.put(bucket, "a.txt", text)
    backend = ObjectStore(bucket, "memory://bucket", VersionFiles(tmp_path / "objects", 10 << 20))
    assert content(backend, "a.txt") == text
    [copy] = (tmp_path / "objects").iterdir()
    copy.write_bytes(damage)
    files = workspace_on(backend)
    call_tool(files, "read_file", path="a.txt")
    call_tool(files, "edit_file", path="a.txt", old_string="head", new_string="HEAD")
    assert obstore.get(bucket, "a.txt").bytes() == b"HEAD" + text[4:]


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
    return Workspace(backend, InMemoryStore(), FileLocks(None), Policy(), Reader("ada", "default"))


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


def test_no_command_is_run_where_the_files_are_not_on_this_machine():
    files = open_workspace("memory://", store="memory:", enable_execute=True)
    with pytest.raises(Disabled, match="needs files on this machine"):
        call_tool(files, "execute", command="echo hello")


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


def test_what_a_listing_tells_is_not_asked_for_again_object_by_object(monkeypatch):
    bucket, asked = MemoryStore(), []
    for number in range(40):
        obstore.put(bucket, f"{number:02}/a.txt", b"needle\n")
        obstore.put(bucket, f"d/{number:02}.txt", b"needle\n")
    files = workspace_on(ObjectStore(bucket, "memory://bucket"))

    def counted(request):
        def count(*given, **named):
            asked.append(given[1:])
            return request(*given, **named)

        return count

    for verb in ("head", "list"):
        monkeypatch.setattr(obstore, verb, counted(getattr(obstore, verb)))
    assert call_tool(files, "list_files").data["total"] == 41
    assert call_tool(files, "glob", path="d", pattern="*.txt").data["total"] == 40
    for mode in ("files", "count"):
        assert call_tool(files, "grep", pattern="needle", path="d", output_mode=mode).data["total"] == 40
    assert len(asked) < 30, asked


@pytest.mark.parametrize("mode", ["files", "content", "count"])
def test_a_search_ends_in_time_where_the_store_does_not_answer(monkeypatch, mode):
    bucket, over, late = MemoryStore(), threading.Event(), []
    for number in range(40):
        obstore.put(bucket, f"d{number % 2}/{number:02}.txt", b"needle\n")
    files = Workspace(
        ObjectStore(bucket, "memory://bucket"),
        *(InMemoryStore(), FileLocks(None), Policy(), Reader("ada", "default")),
        limits=Limits(search_seconds=0.5),
    )
    get = obstore.get

    def hanging(bucket, path, *, options=None):
        if not over.wait(30):
            late.append(path)
        return get(bucket, path, options=options)

    monkeypatch.setattr(obstore, "get", hanging)
    try:
        with pytest.raises(TimedOut):
            call_tool(files, "grep", pattern="needle", output_mode=mode)
        assert late == []
    finally:
        over.set()


def test_who_reads_what_others_keep_writing_is_told_to_wait_for_a_pause(monkeypatch):
    bucket, number = MemoryStore(), itertools.count()
    obstore.put(bucket, "a.txt", b"-")
    files, get = workspace_on(ObjectStore(bucket, "memory://bucket")), obstore.get

    def overtaken(bucket, path, *, options=None):
        obstore.put(bucket, path, b"%d" % next(number))
        return get(bucket, path, options=options)

    monkeypatch.setattr(obstore, "get", overtaken)
    with pytest.raises(Conflict, match="other writers changed it 20 times while it was fetched") as refused:
        call_tool(files, "read_file", path="a.txt")
    assert "while no other program writes it" in refused.value.hint


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
    assert "Check the store's endpoint, the network and the credentials" in refused.value.hint


def open_backend_quickly(address, monkeypatch):
    """Without waiting long for a store that is not there."""
    monkeypatch.setattr("jupyter_fstools.backends.object_requests.RETRIES", {"max_retries": 0})
    return open_backend(address)


EDITS = """
import random, sys, time
from jupyter_fstools.entry_points import open_backend
from jupyter_fstools.errors import Conflict
backend, me = open_backend(sys.argv[1]), sys.argv[2]
done = 0
while done < 50:
    try:
        with backend.read("shared.txt") as file:
            data, version = file.read(0, file.size), file.stat.version
        backend.write("shared.txt", [data + f"{me}-{done}\\n".encode()], if_match=version)
    except Conflict:  # Of a read, too, that others overtook again and again.
        time.sleep(random.random() / 4)
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


def is_failing(fault, method, number, chance):
    if fault == "timed out":
        return chance.random() < 0.25
    return number % (2 if method == "PUT" else 3) == 0


@contextmanager
def failing(upstream, fault):
    """Proxy of a store: every third request is answered 500 or 503, every second one of the writes.

    With the fault `answer lost` the write is made, but its answer does not arrive. With `timed out` it is made, too,
    and there is no answer at all.
    """
    ended = threading.Event()
    asked, chance = itertools.count(1), random.Random(5)

    def answer(request):
        number = next(asked)
        fails = is_failing(fault, request.command, number, chance)
        if fails and (fault == "refused" or request.command != "PUT"):
            request.reply(503 if number % 4 else 500, {}, b"")
            return
        answered = request.answered()
        if fails and fault == "timed out":
            ended.wait(60)
            request.close_connection = True
        else:
            request.reply(*((500, {}, b"") if fails else answered))

    with proxy.before(upstream, answer) as url:
        try:
            yield url
        finally:
            ended.set()


def opened_at_last(address):
    """The opened backend, after retries: the check at opening may fail, too."""
    for _ in range(20):
        with suppress(InputOutput):
            return open_backend(address)
    raise AssertionError("it is never opened")


@pytest.mark.parametrize("fault", ["refused", "answer lost", "timed out"])
def test_a_store_that_fails_now_and_then_loses_and_repeats_nothing(s3, monkeypatch, fault):
    monkeypatch.setattr("jupyter_fstools.backends.object_requests.TIMEOUT", "1s")
    edits = 4 if fault == "timed out" else 20
    direct = open_backend(s3)
    put(direct, "a.txt", b"")
    with failing(os.environ["AWS_ENDPOINT_URL"], fault) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        shaky = opened_at_last(s3)
        for number in range(edits):
            with shaky.read("a.txt") as file:
                data, version = file.read(0, file.size), file.stat.version
            shaky.write("a.txt", [data + b"%d\n" % number], if_match=version)
    assert content(direct, "a.txt") == b"".join(b"%d\n" % number for number in range(edits))


@pytest.mark.parametrize("op", ["edit", "undo"])
@pytest.mark.parametrize("written", [True, False])
def test_a_change_whose_outcome_the_store_did_not_tell_is_settled_once_it_does(s3, monkeypatch, written, op):
    """The store carries out a write or a removal, or does not, and answers nothing from then on."""
    is_down, breaks = threading.Event(), threading.Event()

    def answer(request):
        if breaks.is_set() and request.command in ("PUT", "POST", "DELETE") and not is_down.is_set():
            is_down.set()
            if written:
                request.answered()
        request.reply(*((503, {}, b"") if is_down.is_set() else request.answered()))

    with proxy.before(os.environ["AWS_ENDPOINT_URL"], answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setattr("jupyter_fstools.backends.object_requests.RETRIES", {"max_retries": 0})
        files = open_workspace(s3, store="memory:")
        made = call_tool(files, "write_file", path="a.txt", content="one\n").change
        breaks.set()
        with pytest.raises(InputOutput, match="whether it was modified is not known") as refused:
            if op == "edit":
                call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="two")
            else:
                call_tool(files, "undo", change_id=made.id)
        assert refused.value.details["modified"] == "unknown"
        assert "not modified" not in refused.value.message
        breaks.clear()
        is_down.clear()
        assert call_tool(files, "list_files").data["total"] == (0 if written and op == "undo" else 1)
        statuses = [change.status for change in Journal(files).changes(ChangeQuery())]
        settled = ["applied", "applied" if op == "edit" else "undone"]
        assert statuses == (settled if written else ["applied"])
        assert files.store.unfinished(files.backend.root_key) == []


@pytest.mark.parametrize("lands", [True, False])
def test_a_write_without_an_answer_may_land_later(s3, monkeypatch, lands):
    monkeypatch.setattr("jupyter_fstools.backends.object_requests.TIMEOUT", "1s")
    hangs, goes_on, over = threading.Event(), threading.Event(), threading.Event()

    def answer(request):
        if request.command == "PUT" and hangs.is_set():
            goes_on.wait(60)
            if lands:
                request.answered()
            over.set()
            request.close_connection = True
        else:
            request.reply(*request.answered())

    with proxy.before(os.environ["AWS_ENDPOINT_URL"], answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        files = open_workspace(s3, store="memory:")
        call_tool(files, "write_file", path="a.txt", content="one\n")
        hangs.set()
        with pytest.raises(InputOutput, match="whether it was modified is not known") as refused:
            call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="two")
        assert refused.value.details["modified"] == "unknown"
        goes_on.set()
        assert over.wait(60)
        hangs.clear()
        assert call_tool(files, "read_file", path="a.txt").data["content"] == ("two\n" if lands else "one\n")
        made = [change.diff.op for change in Journal(files).changes(ChangeQuery())]
        assert made == (["edit", "create"] if lands else ["create"])
        assert files.store.unfinished(files.backend.root_key) == []


def test_what_somebody_else_wrote_is_no_success_of_ours():
    bucket = MemoryStore()
    backend = ObjectStore(bucket, "memory://bucket")
    seen = put(backend, "a.txt", b"one")
    obstore.put(bucket, "a.txt", b"two")
    with pytest.raises(Conflict, match="not modified"):
        backend.write("a.txt", [b"two"], if_match=seen.version)


def test_a_folder_of_100_000_objects_is_listed_in_pages():
    bucket = MemoryStore()
    for number in range(100_000):
        obstore.put(bucket, f"d/{number:06}.txt", b"x")
    files = workspace_on(ObjectStore(bucket, "memory://bucket"))
    page = call_tool(files, "list_files", path="d", limit=100, offset=99_900).data
    assert (page["entries"][0]["path"], len(page["entries"]), page["total"]) == ("d/099900.txt", 100, 100_000)
