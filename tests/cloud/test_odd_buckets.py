"""Buckets as other programs leave them, and stores with fewer features than S3."""

from __future__ import annotations

import os
from contextlib import contextmanager

import boto3
import obstore
import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.entry_points import open_backend
from jupyter_fstools.errors import FsToolsError, InputOutput, Invalid, IsDirectory, NotADirectory
from jupyter_fstools.testing.backend_contract import content, put
from tests import proxy


@pytest.fixture
def other(s3):
    """Another program: puts objects of any key below the prefix, as S3 takes them."""
    client = boto3.client(
        "s3",
        endpoint_url=os.environ["AWS_ENDPOINT_URL"],
        region_name=os.environ["AWS_REGION"],
        aws_access_key_id="grace",
        aws_secret_access_key="another",
    )
    bucket, _, prefix = s3.removeprefix("s3://").partition("/")
    client.put_here = lambda key, data=b"": client.put_object(Bucket=bucket, Key=f"{prefix}/{key}", Body=data)
    return client


def listed(files, path="."):
    entries = call_tool(files, "list_files", path=path).data["entries"]
    return [(entry["path"], entry["is_directory"]) for entry in entries]


def test_an_object_that_stands_for_an_empty_folder_is_a_folder(s3, other):
    for key in ("", "empty/", "some/", "some/inner/", "some/a.txt"):
        other.put_here(key)
    files = open_workspace(s3, store="memory:")
    assert listed(files) == [("empty", True), ("some", True)]
    assert listed(files, "empty") == []
    assert listed(files, "some") == [("some/inner", True), ("some/a.txt", False)]
    assert listed(files, "some/inner") == []
    found = call_tool(files, "glob", pattern="**")
    assert "unreadable" not in found.text
    assert found.data["total"] == 1
    call_tool(files, "write_file", path="empty/b.txt", content="b\n")
    assert listed(files, "empty") == [("empty/b.txt", False)]


def test_an_object_with_the_name_of_a_folder_is_listed_once(s3, other):
    for key, data in (("f", b"needle\n"), ("f/x.txt", b"needle\n"), ("marked", b""), ("marked/y.txt", b"y\n")):
        other.put_here(key, data)
    files = open_workspace(s3, store="memory:")
    assert listed(files) == [("f", True), ("marked", True)]
    assert call_tool(files, "glob", pattern="**").data["total"] == 2
    assert call_tool(files, "grep", pattern="needle", output_mode="files").data["files"][0]["path"] == "f/x.txt"
    # The object is opened by its name, and the folder by its name with a slash.
    assert call_tool(files, "read_file", path="f").data["content"] == "needle\n"
    call_tool(files, "edit_file", path="f", old_string="needle", new_string="pin")
    assert content(files.backend, "f") == b"pin\n"
    assert listed(files, "f/") == [("f/x.txt", False)]
    assert call_tool(files, "grep", path="f/", pattern="needle", output_mode="files").data["total"] == 1
    with pytest.raises(NotADirectory):
        listed(files, "f")
    # An empty object only stands for the folder.
    assert listed(files, "marked") == [("marked/y.txt", False)]
    with pytest.raises(IsDirectory):
        call_tool(files, "read_file", path="marked")
    with pytest.raises(IsDirectory):
        call_tool(files, "write_file", path="marked", content="file\n")
    call_tool(files, "write_file", path="marked/z.txt", content="z\n")
    assert listed(files, "marked") == [("marked/y.txt", False), ("marked/z.txt", False)]


def test_an_object_whose_name_no_path_spells_is_named_where_it_bars_its_folder(s3, other):
    other.put_here("good/a.txt", b"needle\n")
    other.put_here("bad//b.txt")
    other.put_here("bad/a.txt", b"needle\n")
    files = open_workspace(s3, store="memory:")
    for call in ({"tool": "list_files"}, {"tool": "glob", "pattern": "*"}, {"tool": "grep", "pattern": "needle"}):
        with pytest.raises(InputOutput, match=r"bad//b\.txt") as refused:
            call_tool(files, call.pop("tool"), path="bad", **call)
        assert "Rename that object" in refused.value.hint
    assert listed(files) == [("bad", True), ("good", True)]
    found = call_tool(files, "grep", pattern="needle", output_mode="files")
    assert found.data["total"] == 1
    assert "1 unreadable" in found.text
    call_tool(files, "read_file", path="bad/a.txt")
    call_tool(files, "edit_file", path="bad/a.txt", old_string="needle", new_string="pin")
    assert content(files.backend, "bad/a.txt") == b"pin\n"
    assert files.backend.stat("bad").kind == "directory"
    call_tool(files, "write_file", path="bad/new.txt", content="new\n")
    assert content(files.backend, "bad/new.txt") == b"new\n"


def test_names_that_look_alike_or_encoded_are_names_of_their_own(s3, other):
    names = ["a b.txt", "a+b.txt", "a%20b.txt", "a%2Fb.txt", "#?*.txt", "e\u0301.txt", "\u00e9.txt"]
    for number, name in enumerate(names):
        other.put_here(f"d/{name}", b"%d\n" % number)
    files = open_workspace(s3, store="memory:")
    assert sorted(listed(files, "d")) == sorted((f"d/{name}", False) for name in names)
    for number, name in enumerate(names):
        call_tool(files, "read_file", path=f"d/{name}")
        call_tool(files, "edit_file", path=f"d/{name}", old_string=str(number), new_string=f"{number}!")
    assert [content(files.backend, f"d/{name}") for name in names] == [b"%d!\n" % number for number in range(7)]


def test_the_longest_name_of_an_object_is_read_and_changed_and_a_longer_one_refused(s3, other):
    room = 1024 - len(s3.removeprefix("s3://team/")) - 1
    longest = "d/" + "é" * (room // 2 - 1)
    other.put_here(longest, b"needle\n")
    files = open_workspace(s3, store="memory:")
    assert listed(files, "d") == [(longest, False)]
    assert call_tool(files, "grep", pattern="needle", path="d", output_mode="files").data["total"] == 1
    call_tool(files, "read_file", path=longest)
    call_tool(files, "edit_file", path=longest, old_string="needle", new_string="pin")
    assert content(files.backend, longest) == b"pin\n"
    for call in ({"tool": "read_file"}, {"tool": "write_file", "content": ""}):
        with pytest.raises(Invalid, match="1024 bytes at most"):
            call_tool(files, call.pop("tool"), path=f"{longest}xx", **call)


def test_a_name_of_1024_bytes_fits_in_a_bucket_without_a_prefix(s3):
    files = open_workspace("s3://team", store="memory:")
    longest = "d/" + "x" * 1022
    call_tool(files, "write_file", path=longest, content="needle\n")
    assert content(files.backend, longest) == b"needle\n"
    with pytest.raises(Invalid, match="1024 bytes at most"):
        call_tool(files, "read_file", path=f"{longest}x")


def test_two_spellings_of_a_prefix_share_receipts_and_changes(s3):
    one, same = (open_backend(f"{s3}/{spelled}") for spelled in ("my project/é", "my%20project/x/../%C3%A9/"))
    assert one.root_key == same.root_key == f"{s3}/my project/é"
    put(one, "a.txt", b"needle\n")
    assert same.stat("a.txt") == one.stat("a.txt")


@pytest.mark.parametrize("more", ["?sv=1&sig=hidden", "#hidden", "/?hidden", "/x?y"])
def test_an_address_that_the_library_would_cut_is_refused_without_repeating_it(s3, more):
    with pytest.raises(Invalid, match=r"behind a \? or #") as refused:
        open_backend(s3 + more)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("name", ["..", ".", "a\tb", "a\x01b"])
def test_an_object_that_no_path_names_bars_its_folder_alone(s3, other, name):
    other.put_here(f"bad/{name}", b"needle\n")
    other.put_here("good/a.txt", b"needle\n")
    files = open_workspace(s3, store="memory:")
    with pytest.raises(InputOutput) as refused:
        listed(files, "bad")
    assert "Rename that object" in refused.value.hint
    found = call_tool(files, "grep", pattern="needle", output_mode="files")
    assert (found.data["total"], "1 unreadable" in found.text) == (1, True)


def test_a_bucket_that_is_not_there_is_named_at_start(s3):
    with pytest.raises(Invalid, match="there is no bucket or container of s3://nobody-has-it") as refused:
        open_backend("s3://nobody-has-it/x")
    assert "set another root" in refused.value.hint


def test_an_object_that_was_uploaded_in_parts_is_edited_by_its_version(s3, other):
    place = {"Bucket": "team", "Key": f"{s3.removeprefix('s3://team/')}/parts.txt"}
    upload = {**place, "UploadId": other.create_multipart_upload(**place)["UploadId"]}
    tags = [
        other.upload_part(**upload, PartNumber=number, Body=data)["ETag"]
        for number, data in ((1, b"line of 16 bytes\n" * 310_000), (2, b"needle\n"))
    ]
    parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
    other.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    files = open_workspace(s3, store="memory:")
    assert files.backend.stat("parts.txt").version.endswith('-2"')
    call_tool(files, "read_file", path="parts.txt", offset=310_001)
    call_tool(files, "edit_file", path="parts.txt", old_string="needle", new_string="pin")
    assert content(files.backend, "parts.txt").endswith(b"bytes\npin\n")


def test_a_file_that_a_search_fetched_is_not_fetched_again_from_a_bucket_that_keeps_versions(
    s3, other, monkeypatch, private_jupyter
):
    other.create_bucket(Bucket="versioned")
    other.put_bucket_versioning(Bucket="versioned", VersioningConfiguration={"Status": "Enabled"})
    files = open_workspace("s3://versioned", store="memory:")
    put(files.backend, "a.txt", b"old\n")
    # Written by another program, so that nothing of it is cached here.
    other.put_object(Bucket="versioned", Key="a.txt", Body=b"needle\n")
    fetched, get = [], obstore.get

    def counted(bucket, path, *, options=None):
        if not (options or {}).get("head"):
            fetched.append(path)
        return get(bucket, path, options=options)

    monkeypatch.setattr(obstore, "get", counted)
    assert call_tool(files, "grep", pattern="needle", output_mode="files").data["total"] == 1
    call_tool(files, "read_file", path="a.txt")
    call_tool(files, "edit_file", path="a.txt", old_string="needle", new_string="pin")
    assert content(files.backend, "a.txt") == b"pin\n"
    assert fetched == ["a.txt"]


def test_a_listing_of_many_pages_is_whole(gs):
    backend = open_backend(gs)
    for number in range(250):
        put(backend, f"d/{number:03}.txt", b"x")
    assert [entry.name for entry in backend.list("d")] == [f"{number:03}.txt" for number in range(250)]


@contextmanager
def without(upstream, *headers):
    """Proxy of a store that does not know some headers: they are in no request and in no answer."""

    def known(given):
        return {name: one for name, one in given.items() if name.lower() not in (*headers, "connection")}

    def answer(request):
        status, told, data = request.answered(known(request.headers))
        request.reply(status, known(told), data)

    with proxy.before(upstream, answer) as url:
        yield url


@pytest.mark.parametrize("header", ["if-match", "if-none-match"])
def test_a_store_that_overwrites_whatever_is_there_is_refused_at_start(s3, other, monkeypatch, header):
    other.put_here("a.txt", b"kept")
    with without(os.environ["AWS_ENDPOINT_URL"], header) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(Invalid, match="does not support conditional writes"):
            open_backend(s3)
        objects = other.list_objects_v2(Bucket="team", Prefix=s3.removeprefix("s3://team/"))["Contents"]
    assert [one["Key"].rpartition("/")[2] for one in objects] == ["a.txt"], "what was tried is gone"


def test_a_store_with_weak_versions_is_refused_at_start(s3, other, monkeypatch):
    """A proxy that compresses makes them weak, and no condition is ever true of those: each write was a conflict."""
    other.put_here("a.txt", b"kept")

    def answer(request):
        status, told, data = request.answered()
        tags = {name: f"W/{tag}" for name, tag in told.items() if name.lower() == "etag" and request.command != "PUT"}
        request.reply(status, told | tags, data)

    with proxy.before(os.environ["AWS_ENDPOINT_URL"], answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(InputOutput, match="weak version") as refused:
            open_backend(s3)
        assert "compression" in refused.value.hint
        objects = other.list_objects_v2(Bucket="team", Prefix=s3.removeprefix("s3://team/"))["Contents"]
    assert [one["Key"].rpartition("/")[2] for one in objects] == ["a.txt"], "what was tried is gone"


def test_a_store_without_versions_is_refused_at_start(s3, monkeypatch):
    with without(os.environ["AWS_ENDPOINT_URL"], "etag") as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(InputOutput, match="ETag") as refused:
            open_backend(s3)
    assert "Use a store that sends ETags" in refused.value.hint


TOLD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>ExpiredToken</Code><Message>The provided token has expired.'
    "</Message><AWSAccessKeyId>AKIA-ada</AWSAccessKeyId></Error>"
)


@pytest.mark.parametrize(("status", "code"), [(400, "io"), (401, "denied"), (403, "denied")])
def test_the_stores_own_reason_is_told_and_not_what_else_is_in_its_answer(s3, other, monkeypatch, status, code):
    long = "long-name/" * 40 + "a.txt"
    other.put_here(long, b"needle\n")

    def without_get(request):
        request.reply(*((status, {}, TOLD.encode()) if request.command == "GET" else request.answered()))

    with proxy.before(os.environ["AWS_ENDPOINT_URL"], without_get) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        files = open_workspace(s3, store="memory:")
        for tool, given in (
            ("list_files", {}),
            ("glob", {"pattern": "*"}),
            ("grep", {"pattern": "x"}),
            ("read_file", {"path": long}),
        ):
            with pytest.raises(FsToolsError, match=r"The provided token has expired\. \(ExpiredToken\)") as refused:
                call_tool(files, tool, **given)
            assert (refused.value.code, "AKIA" in str(refused.value)) == (code, False)
            assert "credentials" in refused.value.hint


def test_a_store_that_permits_no_write_is_named_at_start(s3, monkeypatch, caplog):
    """As without credentials; who may only read goes on."""

    def without_put(request):
        request.reply(*((403, {}, TOLD.encode()) if request.command == "PUT" else request.answered()))

    with proxy.before(os.environ["AWS_ENDPOINT_URL"], without_put) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        assert listed(open_workspace(s3, store="memory:")) == []
    [said] = [record.getMessage() for record in caplog.records if record.name == "jupyter_fstools"]
    assert said.startswith(f"root: nothing can be written below '{s3}'") and "AKIA" not in said
    assert "The provided token has expired." in said and "Check the credentials" in said


def test_no_backslash_leads_past_a_rule_where_the_store_takes_it_for_a_slash(az):
    """Azure does: https://github.com/Azure/Azurite/blob/main/src/blob/middlewares/blobStorageContext.middleware.ts"""
    files = open_workspace(az, store="memory:", deny_read=["secret/"], approval=["ask/"])
    for path in ("secret/a.txt", "ask/a.txt", "sub/a.txt"):
        put(files.backend, path, b"needle\n")
    for path in ("secret\\a.txt", "ask\\a.txt", "sub\\a.txt", "secret\\a.txt/x", "..\\new.txt", "./sub\\a.txt"):
        for call in (
            {"tool": "read_file"},
            {"tool": "write_file", "content": "x"},
            {"tool": "edit_file", "old_string": "needle", "new_string": "pin"},
            {"tool": "grep", "pattern": "needle"},
            {"tool": "list_files"},
        ):
            with pytest.raises(Invalid, match="backslash"):
                call_tool(files, call.pop("tool"), path=path, **call)
    assert [content(files.backend, f"{folder}/a.txt") for folder in ("secret", "ask", "sub")] == [b"needle\n"] * 3
    assert listed(files) == [("ask", True), ("sub", True)]
