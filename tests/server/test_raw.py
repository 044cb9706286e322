"""A file's bytes over HTTP."""

from __future__ import annotations

import os

import pytest

DATA = bytes(range(256)) * 40
LARGE = bytes(range(256)) * 5000  # more than one chunk


@pytest.fixture(params=[DATA, LARGE], ids=["small", "large"])
def data(request):
    return request.param


def test_the_bytes_come_as_they_are(folder, data):
    folder.write("a.bin", data)
    answer = folder.raw("a.bin")
    assert (answer.status, answer.body) == (200, data)
    assert answer.headers["content-length"] == str(len(data))


def test_a_browser_renders_nothing(folder):
    folder.write("a b'\".html", b"<script>alert(1)</script>")
    headers = folder.raw("a b'\".html").headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == "attachment; filename*=utf-8''a%20b%27%22.html"
    assert "sandbox" in headers["content-security-policy"]


def test_an_unchanged_file_is_not_sent_again(folder, data):
    folder.write("a.bin", data)
    etag = folder.raw("a.bin").headers["etag"]
    assert not etag.startswith("W/")
    again = folder.raw("a.bin", **{"If-None-Match": f'"other", {etag}'})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)


def test_other_bytes_have_another_etag(folder, data):
    folder.write("a.bin", data)
    etag = folder.raw("a.bin").headers["etag"]
    folder.write("a.bin", data[:-1] + b"!")
    answer = folder.raw("a.bin", **{"If-None-Match": etag})
    assert (answer.status, answer.body) == (200, data[:-1] + b"!")


def test_other_bytes_of_the_same_size_and_time_have_another_etag(folder):
    folder.write("a.bin", b"one")
    path = os.path.join(folder.path, "a.bin")
    before, etag = os.stat(path), folder.raw("a.bin").headers["etag"]
    folder.write("a.bin", b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert folder.raw("a.bin").headers["etag"] != etag


RANGES = {
    "bytes=0-0": slice(0, 1),
    "bytes=5-9": slice(5, 10),
    "bytes=100-": slice(100, None),
    "bytes=-7": slice(-7, None),
    "bytes=10-999999999": slice(10, None),
    "bytes=-999999999": slice(0, None),
}


def test_one_range_is_sent_alone(folder, data):
    folder.write("a.bin", data)
    for spelled, expected in RANGES.items():
        answer = folder.raw("a.bin", Range=spelled)
        start, stop, _ = expected.indices(len(data))
        assert (answer.status, answer.body) == (206, data[expected]), spelled
        assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(data)}"


def test_what_is_no_single_range_counts_as_none(folder):
    folder.write("a.bin", DATA)
    for spelled in ("bytes=1-2,4-5", "lines=1-2", "bytes=9-5", "bytes=", "bytes=-", "nonsense"):
        answer = folder.raw("a.bin", Range=spelled)
        assert (answer.status, answer.body) == (200, DATA), spelled


def test_a_range_behind_the_end_names_the_total(folder):
    folder.write("a.bin", DATA)
    for spelled in (f"bytes={len(DATA)}-", "bytes=-0"):
        answer = folder.raw("a.bin", Range=spelled)
        assert (answer.status, answer.error["code"]) == (416, "out_of_range")
        assert answer.headers["content-range"] == f"bytes */{len(DATA)}"


def test_a_range_of_an_older_file_is_not_sent(folder):
    folder.write("a.bin", DATA)
    etag = folder.raw("a.bin").headers["etag"]
    assert folder.raw("a.bin", Range="bytes=1-2", **{"If-Range": etag}).status == 206
    assert folder.raw("a.bin", Range="bytes=1-2", **{"If-Range": '"older"'}).status == 200


def test_a_head_says_what_a_get_would_send(folder, data):
    path = folder.write("a.bin", data)
    answer = folder.server.ask("HEAD", f"/raw/{path}")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] == str(len(data))
    assert answer.headers["etag"] == folder.raw("a.bin").headers["etag"]


def test_a_path_is_decoded_once(folder):
    """%2e is a dot, %252e is the name's own percent sign."""
    folder.write("%2e.txt", b"percent")
    folder.write("a b+c.txt", b"space and plus")
    assert folder.server.get(f"/raw/{folder.name}/%252e.txt").body == b"percent"
    assert folder.server.get(f"/raw/{folder.name}/a%20b+c.txt").body == b"space and plus"
    assert folder.server.get(f"/raw/{folder.name}%2Fa%20b%2Bc.txt").status == 200


def test_a_path_of_any_bytes_names_its_file(folder):
    folder.write(os.fsdecode(b"caf\xe9.txt"), b"latin")
    assert folder.server.get(f"/raw/{folder.name}/caf%E9.txt").body == b"latin"


REFUSED = {
    "/raw/%2e%2e%2f%2e%2e%2fetc%2fpasswd": "outside_root",
    "/raw//etc/passwd": "outside_root",
    "/raw/%252e%252e%252fetc": "not_found",
    "/raw/a%00b": "invalid",
    "/raw/": "invalid",
    "/raw/.": "is_directory",
    "/raw/.ssh/id_rsa": "denied",
}


def test_the_rules_hold_for_raw_bytes(shared_server):
    for path, code in REFUSED.items():
        assert shared_server.get(path).error["code"] == code, path


def test_raw_bytes_leave_no_receipt(folder):
    path = folder.write("a.txt", b"one\n")
    folder.server.get(f"/raw/{path}", session=folder.name)
    refused = folder.call("edit_file", path=path, old_string="one", new_string="1")
    assert refused.error["code"] == "not_read"


def test_an_empty_file_is_empty(folder):
    folder.write("a.txt", b"")
    assert (folder.raw("a.txt").status, folder.raw("a.txt").body) == (200, b"")
    assert folder.raw("a.txt", Range="bytes=0-").status == 416
