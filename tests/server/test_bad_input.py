"""Whatever a client sends, it gets an answer that says what is wrong, never a crash."""

from __future__ import annotations

import os

import pytest

BODIES = {
    "broken": b'{"path": "a.txt"',
    "a list": b'["a.txt"]',
    "a string": b'"a.txt"',
    "null": b"null",
    "no UTF-8": b'{"path": "caf\xe9.txt"}',
    "UTF-16": '{"path": "a.txt"}'.encode("utf-16"),
    "NaN": b'{"path": "a.txt", "offset": NaN}',
    "infinity": b'{"path": "a.txt", "offset": -Infinity}',
    "too deep": b'{"path": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep": b'{"path": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a number without end": b'{"path": "a.txt", "offset": ' + b"9" * 5000 + b"}",
    "a fraction": b'{"path": "a.txt", "offset": 1.5}',
    "a wrong type": b'{"path": 5}',
    "NUL": b'{"path": "a\\u0000.txt"}',
    "a surrogate that is no byte": b'{"path": "\\ud800.txt"}',
    "empty path": b'{"path": ""}',
    "long path": b'{"path": "' + b"x/" * 51_200 + b'"}',
    "unknown argument": b'{"path": "a.txt", "\\udcff": 1}',
    "nothing": b"",
}


@pytest.mark.parametrize("name", BODIES)
def test_bad_input_is_invalid(shared_server, name):
    """X10, X16: lone surrogates too."""
    answer = shared_server.post("/tools/read_file", BODIES[name])
    assert (answer.status, answer.error["code"]) == (400, "invalid")
    assert answer.error["message"] and answer.error["hint"]


def test_a_huge_body_is_too_large(shared_server):
    answer = shared_server.post("/tools/write_file", b'{"content": "' + b"x" * 5_000_000 + b'"}')
    assert (answer.status, answer.error["code"]) == (413, "too_large")


def test_a_gigantic_number_is_a_number(folder):
    path = folder.write("a.txt", b"one\n")
    body = b'{"path": "%s", "limit": %s}' % (path.encode(), b"1" + b"0" * 400)
    assert folder.server.post("/tools/read_file", body).json["data"]["content"] == "one\n"


def test_a_name_that_is_no_utf8_travels_there_and_back(folder):
    """X16: as an escape in JSON, which every client can send back."""
    folder.write(os.fsdecode(b"caf\xe9.txt"), b"one\n")
    listed = folder.call("list_files", path=folder.name)
    assert b"caf\\udce9.txt" in listed.body
    path = listed.json["data"]["entries"][0]["path"]
    assert folder.call("read_file", path=path).json["data"]["content"] == "one\n"


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=5000", "limit=x", "status=done", "session=a%20b", "after=-1", "colour=red", "limit=1&limit=2"],
)
def test_a_wrong_query_is_invalid(shared_server, query):
    answer = shared_server.get(f"/changes?{query}")
    assert (answer.status, answer.error["code"]) == (400, "invalid")


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        ("POST", "/changes/x/approve", b'{"nope": 1}', "The body takes optionally hunks, reason, content."),
        ("POST", "/tools/read_file?x=1", b"{}", "The URL's query takes optionally answer."),
        ("GET", "/changes?nope=1", None, "The URL's query takes optionally path, session"),
        ("GET", "/activity?nope=1", None, "The URL's query takes optionally path, session"),
        ("POST", "/tools/read_file", b'{"path": "a.txt", "nope": 1}', "It takes path, and optionally offset"),
    ],
)
def test_an_unknown_argument_is_answered_with_what_is_taken(shared_server, method, path, body, told):
    answer = shared_server.ask(method, path, body)
    assert answer.status == 400 and answer.error["hint"].startswith(told)


def test_a_number_without_end_is_refused_in_plain_words(shared_server):
    error = shared_server.post("/tools/read_file", BODIES["a number without end"]).error
    assert error["message"] == "the body holds a number of 5000 digits" and "sys." not in error["hint"]


@pytest.mark.parametrize("session", ["a b", "x" * 129, "caf\xe9", "../x"])
def test_a_session_must_be_a_plain_name(shared_server, session):
    answer = shared_server.call("list_files", session=session)
    assert (answer.status, answer.error["code"]) == (400, "invalid")


def test_an_unknown_route_is_not_found(shared_server):
    for method, path in (("GET", "/nothing"), ("POST", "/changes/x/merge"), ("DELETE", "/tools/a/b")):
        answer = shared_server.ask(method, path)
        assert (answer.status, answer.error["code"]) == (404, "not_found")


def test_a_wrong_method_names_the_right_ones(shared_server):
    answer = shared_server.get("/tools/read_file")
    assert (answer.status, answer.error["code"]) == (405, "invalid")
    assert answer.headers["allow"] == "POST, OPTIONS"
    assert answer.error["hint"] == "This route takes POST."
    assert shared_server.post("/receipts").error["hint"] == "This route takes GET, DELETE."


def test_an_unknown_change_is_not_found(shared_server):
    for method, path in (("GET", "/changes/none"), ("POST", "/changes/none/approve"), ("POST", "/changes/%FF%00/undo")):
        answer = shared_server.ask(method, path)
        assert answer.status in (400, 404), answer.body
