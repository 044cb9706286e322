import os
from contextlib import contextmanager, suppress
from itertools import count
from threading import Event, Thread

import pytest

from jupyter_fstools.errors import Conflict, FsToolsError, TimedOut
from jupyter_fstools.tools import call_tool
from jupyter_fstools.walking.trail import FolderTrail

pytestmark = pytest.mark.slow

SMALL, LARGE = 40_000, 6_000_000


@contextmanager
def written_by(step):
    """Calls a step again and again in a thread, with the number of the turn."""
    stop = Event()

    def work():
        for turn in count():
            if stop.is_set():
                return
            step(turn)
            # Without a pause a busy machine leaves hardly a moment in which the file is whole.
            stop.wait(0.001)

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def versions(size):
    """Two contents of one size, with lines of different lengths."""
    return [(b"A" * 39 + b"\n") * (size // 40), (b"B" * 19 + b"\n") * (size // 20)]


def lines_read(call, tries, **window):
    """The answers of repeated reads; a read may be refused, but never shows a mixture."""
    for _ in range(tries):
        try:
            data = call("read_file", path="a", force=True, **window).data
        except FsToolsError as refusal:
            assert refusal.code in ("conflict", "out_of_range", "io"), refusal
            continue
        yield data


@pytest.mark.parametrize(("size", "offset"), [(SMALL, 1), (SMALL, 500), (LARGE, 1), (LARGE, 70_000)])
@pytest.mark.parametrize("truncate", [False, True])
def test_a_file_rewritten_in_place_is_never_shown_mixed(call, size, offset, truncate):
    both = versions(size)
    file = call.put("a", both[0])
    with open(file, "r+b", buffering=0) as writer:

        def rewrite(turn):
            if truncate:
                writer.truncate(0)
            os.pwrite(writer.fileno(), both[turn % 2], 0)

        with written_by(rewrite):
            for data in lines_read(call, 12, offset=offset, limit=2000):
                # While it grows from empty, only a beginning of it exists.
                *whole, last = data["content"].split("\n")
                assert any(set(whole) <= {line} and line.startswith(last) for line in ("A" * 39, "B" * 19))


def test_a_write_that_is_under_way_when_the_file_is_opened_is_not_read_in_part(call):
    """The file's times change as the write begins, and not again until the next one."""
    both = versions(LARGE)
    file = call.put("a", both[0])
    whole = 0
    with (
        open(file, "r+b", buffering=0) as writer,
        written_by(lambda turn: os.pwrite(writer.fileno(), both[turn % 2], 0)),
    ):
        for _ in range(150):
            with suppress(Conflict), call.workspace.show("a") as opened:
                data = b"".join(bytes(chunk) for chunk in opened.chunks())
                if opened.unchanged():
                    assert data in both
                    whole += 1
    assert whole


def test_a_write_that_is_under_way_is_not_searched_in_part(call):
    both = versions(LARGE)
    file = call.put("a", both[0])
    searched = 0
    with (
        open(file, "r+b", buffering=0) as writer,
        written_by(lambda turn: os.pwrite(writer.fileno(), both[turn % 2], 0)),
        FolderTrail(call.workspace.backend) as trail,
    ):
        for _ in range(600):
            with suppress(Conflict):
                assert trail.at("").read("a", LARGE) in both
                searched += 1
    assert searched


@pytest.mark.parametrize("offset", [1, 70_000])
def test_a_replaced_file_is_shown_old_or_new(call, offset):
    both = versions(LARGE)
    call.put("a", both[0])

    def replace(turn):
        call.put("b", both[turn % 2])
        os.replace(call.root / "b", call.root / "a")

    with written_by(replace):
        for data in lines_read(call, 8, offset=offset, limit=2000):
            assert set(data["content"].split("\n")) in ({"A" * 39, ""}, {"B" * 19, ""})


@pytest.mark.parametrize("size", [0, 5_000_000])
def test_a_log_that_grows_is_read_all_the_same(call, size):
    """A read shows the content at the time of opening: whole lines in order."""
    file = call.put("a", "0\n" * (size // 2))
    with open(file, "ab", buffering=0) as log, written_by(lambda turn: log.write(b"%d\n" % (turn + 1))):
        for _ in range(5):
            data = call("read_file", path="a", force=True, offset=1 + size // 2, limit=10_000).data
            numbers = [int(line) for line in data["content"].split("\n")[:-1]]
            assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_reads_of_a_file_that_is_replaced_all_the_time_are_answered_from_the_opened_version(call, size):
    both = versions(size)
    kept = [call.put(name, data) for name, data in zip("xy", both, strict=True)]
    os.link(kept[0], call.root / "a")

    def replace(turn):
        os.link(kept[turn % 2], call.root / f"b{turn}")
        os.replace(call.root / f"b{turn}", call.root / "a")
        kept[turn % 2].unlink()
        kept[turn % 2].write_bytes(both[turn % 2])

    with written_by(replace):
        for _ in range(20):
            text = call("read_file", path="a", force=True, offset=1, limit=2000).data["content"]
            assert set(text.split("\n")) in ({"A" * 39, ""}, {"B" * 19, ""})


def test_the_tools_own_writers_never_make_a_read_fail(call):
    """They replace the file."""
    writer = call.session("writer")
    call.put("a", "A\n")
    writer("read_file", path="a")
    with written_by(lambda turn: writer("write_file", path="a", content="AB"[turn % 2] * 999 + "\n")):
        for _ in range(10):
            text = call("read_file", path="a", force=True).data["content"]
            assert len(set(text)) == 2


def test_a_read_of_a_file_being_written_leaves_no_receipt_for_other_content(call):
    file = call.put("a", "one\n")
    call("read_file", path="a")
    with open(file, "r+b", buffering=0) as writer:
        writer.write(b"two\n")
    call.refused("stale", "edit_file", path="a", old_string="one", new_string="x")
    call("read_file", path="a")
    call("edit_file", path="a", old_string="two", new_string="x")


@pytest.mark.parametrize("gone", [False, True])
def test_a_read_ends_when_its_time_is_over_or_its_client_is_gone(make_call, gone):
    call = make_call(read_seconds=100 if gone else 0)
    call.put("a", b"line\n" * 2_000_000)
    left = Event()
    if gone:
        left.set()
    workspace = call.workspace.for_reader(call.workspace.reader, left)
    with pytest.raises(TimedOut, match="nobody waits" if gone else "took too long"):
        call_tool(workspace, "read_file", path="a", offset=1_900_000, limit=1)
