"""Any input of a client gets an answer that says what is wrong, never a crash."""

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
    """Lone surrogates too."""
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
    """As an escape in JSON, which every client can send back."""
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
        ("POST", "/changes/x/approve", b'{"nope": 1}', "The body takes optionally hunks, reason, content, base."),
        ("POST", "/tools/read_file?x=1", b"{}", "The URL's query takes optionally answer."),
        ("GET", "/changes?nope=1", None, "The URL's query takes optionally path, session"),
        ("GET", "/activity?nope=1", None, "The URL's query takes optionally path, session"),
        ("POST", "/tools/read_file", b'{"path": "a.txt", "nope": 1}', "It takes path, and optionally offset"),
    ],
)
def test_an_unknown_argument_is_answered_with_what_is_taken(shared_server, method, path, body, told):
    answer = shared_server.ask(method, path, body)
    assert answer.status == 400 and answer.error["hint"].startswith(told)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"name": ""}', "name: takes a length of 1 or more, got ''"),
        (b'{"paths": [%s"x"]}' % (b'"x",' * 100), "paths: takes a length of 100 or less, got a list"),
    ],
)
def test_a_length_that_does_not_fit_is_told_in_plain_words(shared_server, body, said):
    answer = shared_server.ask("POST", "/clients/generic", body)
    assert (answer.status, answer.error["message"]) == (400, said)


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
    assert "openapi.json lists the routes" in shared_server.ask("TRACE", "/nothing").error["hint"]


def test_an_unknown_change_is_not_found(shared_server):
    for method, path in (("GET", "/changes/none"), ("POST", "/changes/none/approve"), ("POST", "/changes/%FF%00/undo")):
        answer = shared_server.ask(method, path)
        assert answer.status in (400, 404), answer.body


NO_PATHS = [
    *("", " ", "a\0b", "..", "../x", "/etc/passwd", "a/../../x", "//", "link/passwd", "dangling", "loop", "loop/x"),
    *("fifo", "zero", "zero/x", "/proc/self/mem", "/dev/zero", "\ud800", "x" * 300, "x/" * 3000, "a.secret"),
    *(5, 1.5, True, [], {}, ["a.txt"], {"path": "a.txt"}, "a.txt/x", "a.txt/..", "a.txt/."),
]
TAKES_A_PATH = {
    "list_files": {},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "x"},
    "read_file": {},
    "write_file": {"content": "x"},
    "edit_file": {"old_string": "one", "new_string": "1"},
    "read_notebook": {},
    "edit_notebook": {"cell_id": "c0", "new_source": "x"},
    "undo": {},
}


@pytest.fixture
def full_of_traps(folder):
    folder.write("a.txt", b"one\n")
    folder.write("a.secret", b"one\n")
    for name, target in {"link": "/etc", "dangling": "/tmp/no/such", "loop": "loop", "zero": "/dev/zero"}.items():
        os.symlink(target, os.path.join(folder.path, name))
    os.mkfifo(os.path.join(folder.path, "fifo"))
    folder.call("read_file", path=f"{folder.name}/a.txt")
    return folder


@pytest.mark.parametrize("tool", TAKES_A_PATH)
def test_no_tool_takes_a_path_that_leads_nowhere_good(full_of_traps, tool):
    folder, there = full_of_traps, sorted(os.listdir(full_of_traps.path))
    for path in NO_PATHS:
        inside = isinstance(path, str) and path.strip(" .") and not path.startswith(("/", ".."))
        given = f"{folder.name}/{path}" if inside else path
        answers = [folder.call(tool, path=given, **TAKES_A_PATH[tool])]
        if tool.startswith("edit"):
            answers.append(folder.call(tool, edits=[{"path": given, **TAKES_A_PATH[tool]}]))
        for answer in answers:
            assert 400 <= answer.status < 500, (path, answer.body)
            assert answer.error["message"] and b"root:" not in answer.body and len(answer.body) < 20_000
    assert sorted(os.listdir(folder.path)) == there
    assert folder.read("a.txt") == folder.read("a.secret") == b"one\n"
