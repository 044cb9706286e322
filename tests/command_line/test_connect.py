"""`jupyter fstools connect`: a token, a configuration in the client's own form, and the first call."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import tomllib
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.client.configurations import (
    CLIENTS,
    address_entry,
    command_entry,
    configuration,
    jupyter_folders,
    mcp_address,
    merged,
    server_of,
)
from jupyter_fstools.client.json_text import plain_json
from jupyter_fstools.errors import Invalid

URL, TOKEN = "http://localhost:8888/api/fstools/mcp", "fst_secret"
BEARER = {"Authorization": "Bearer fst_secret"}
ADDRESSES = {
    "claude-code": {"mcpServers": {"jupyter": {"type": "http", "url": URL, "headers": BEARER, "alwaysLoad": True}}},
    "codex": {"mcp_servers": {"jupyter": {"url": URL, "http_headers": BEARER}}},
    "vscode": {"servers": {"jupyter": {"type": "http", "url": URL, "headers": BEARER}}},
    "cursor": {"mcpServers": {"jupyter": {"url": URL, "headers": BEARER}}},
    "zed": {"context_servers": {"jupyter": {"url": URL, "headers": BEARER}}},
    "gemini-cli": {"mcpServers": {"jupyter": {"httpUrl": URL, "headers": BEARER}}},
    "jupyter-ai": {
        "mcp_servers": [
            {
                "name": "jupyter",
                "type": "http",
                "url": URL,
                "headers": [{"name": "Authorization", "value": "Bearer fst_secret"}],
            }
        ]
    },
    "generic": {"mcpServers": {"jupyter": {"type": "http", "url": URL, "headers": BEARER}}},
}


def read(client, text):
    return tomllib.loads(text) if client.form == "toml" else json.loads(text)


@pytest.mark.parametrize("name", CLIENTS)
def test_an_address_is_told_in_the_form_of_each_client(name):
    client = CLIENTS[name]
    assert read(client, configuration(client, "jupyter", address_entry(client, URL, TOKEN))) == ADDRESSES[name]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_command_is_told_in_the_form_of_each_client(name):
    client = CLIENTS[name]
    entry = command_entry(client, ["a program", "mcp", "--root", 'C:\\"x"'], TOKEN)
    told = read(client, configuration(client, "jupyter", entry))[client.key]
    one = told[0] if client.form == "list" else told["jupyter"]
    assert (one["command"], one["args"]) == ("a program", ["mcp", "--root", 'C:\\"x"'])
    assert TOKEN in json.dumps(one["env"])


def test_a_command_is_told_where_jupyter_s_runtime_files_are(monkeypatch):
    """Codex passes no variables to a command but those of its entry."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/run/jupyter")
    entry = command_entry(CLIENTS["codex"], ["a"], TOKEN, jupyter_folders())
    assert entry["env"]["JUPYTER_RUNTIME_DIR"] == "/run/jupyter" and entry["env"]["JUPYTER_TOKEN"] == TOKEN


@pytest.mark.parametrize("name", CLIENTS)
def test_a_server_is_added_to_those_that_are_there(name):
    client = CLIENTS[name]
    first = configuration(client, "other", address_entry(client, URL, "x"))
    kept = f"model = 1\n{first}" if client.form == "toml" else json.dumps({"theme": "dark", **json.loads(first)})
    told = read(client, merged(client, kept, "jupyter", address_entry(client, URL, TOKEN)))
    assert {"model", "theme"} & set(told) and len(told[client.key]) == 2
    assert read(client, merged(client, "", "jupyter", address_entry(client, URL, TOKEN))) == ADDRESSES[name]


@pytest.mark.parametrize("name", sorted(set(CLIENTS) - {"codex"}))
def test_a_server_of_the_same_name_is_replaced(name):
    client = CLIENTS[name]
    old = configuration(client, "jupyter", address_entry(client, "http://elsewhere", "x"))
    assert read(client, merged(client, old, "jupyter", address_entry(client, URL, TOKEN))) == ADDRESSES[name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zed", "// settings\n{,}"),
        ("zed", '{"a": 1 /* no end'),
        ("cursor", '{"mcpServers": []}'),
        ("jupyter-ai", '{"mcp_servers": {}}'),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": {}, "mcpServers": {}}'),
        ("cursor", '{"mcpServers": {"jupyter": {}, "jupyter": {}}}'),
        ("jupyter-ai", '{"mcp_servers": [{"name": "jupyter"}, {"name": "jupyter"}]}'),
        ("cursor", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("codex", "a = " + "[" * 100_000 + "]" * 100_000),
        ("codex", "= 1"),
        ("codex", "mcp_servers.jupyter.url = 'x'\n"),
        ("codex", "[mcp_servers.jupyter]\nargs = [\n'x']\n"),
        ("codex", "[mcp_servers.jupyter]\nurl = 'x'\n[mcp_servers.jupyter.http_headers]\na = 'b'\n"),
        ("codex", '[mcp_servers.jupyter]\nnote = """\nurl = \'x\'\n"""\n'),
        ("codex", 'note = """\n[mcp_servers.jupyter]\n"""\n[ mcp_servers.jupyter ]\nurl = \'x\'\n'),
        ("codex", "[mcp_servers]\njupyter = 1\n"),
        ("codex", "mcp_servers = { other = { url = 'x' } }\n"),
    ],
    ids=lambda text: text[:50],
)
def test_a_configuration_that_cannot_be_merged_is_left_to_the_person(name, text):
    client = CLIENTS[name]
    with pytest.raises(Invalid, match="left as it is") as refused:
        merged(client, text, "jupyter", address_entry(client, URL, TOKEN))
    assert "by hand" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        (
            '{"n": 1.10, "big": 1e400, "s": "é😀\\u00e9", "a": 1, "a": 2}',
            '{"n": 1.10, "big": 1e400, ',
            '"a": 2, "servers": {"j',
        ),
        ('{\r\n\t"a" : 1\r\n}', '{\r\n\t"a" : 1,\r\n\t"servers": {\r\n\t\t"jupyter": {\r\n', "\r\n\t}\r\n}"),
        (
            '{\n "servers": {\n  "a": {"x":1.0}\n } ,\n "b":[ ]}\n',
            '{\n "servers": {\n  "a": {"x":1.0},\n  "jup',
            "\n } ,\n ",
        ),
        ('{\n    "servers": {}\n}', '{\n    "servers": {\n        "jupyter": {\n', "\n        }\n    }\n}"),
        ('{"b": null, "servers": null}', '{"b": null, "servers": {"jupyter": {', '"}}}}'),
    ],
)
def test_all_else_in_a_json_configuration_stays_to_the_character(text, begins, ends):
    client = CLIENTS["vscode"]
    told = merged(client, text, "jupyter", address_entry(client, URL, TOKEN))
    assert told.startswith(begins) and ends in told and (told.count("\r") == told.count("\n") or "\r" not in text)
    assert read(client, told)["servers"]["jupyter"] == ADDRESSES["vscode"]["servers"]["jupyter"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("// settings\n{ // none yet\n}\n", "// settings\n{ // none yet\n  NEW\n}\n"),
        (
            '{\n  // b\n  "a/*": "x//y", // or "z",\n  /* size,\n   * in points */ "a": [1, /*,*/ 2,],\n}\n',
            '{\n  // b\n  "a/*": "x//y", // or "z",\n  /* size,\n   * in points */ "a": [1, /*,*/ 2,],\n  NEW,\n}\n',
        ),
        ('{\r\n\t"a": 1 // one\r\n}', '{\r\n\t"a": 1, // one\r\n\tNEW\r\n}'),
        ('{\n  "a": 1 /* two\n  lines */\n}', '{\n  "a": 1,\n  NEW /* two\n  lines */\n}'),
        ('{"a": 1, /* b */ }', '{"a": 1, NEW, /* b */ }'),
        ('{"a": "\\\\"} // end', '{"a": "\\\\", NEW} // end'),
        ("// none yet", "// none yet\n{\n  NEW\n}\n"),
        ("// a\r\n// b\r\n", "// a\r\n// b\r\n{\r\n  NEW\r\n}\r\n"),
        ("/* none\n * yet */\n\n", "/* none\n * yet */\n{\n  NEW\n}\n"),
    ],
)
def test_comments_of_a_json_configuration_stay(text, told):
    """Zed's own settings begin with comments, and VS Code writes commas behind last members."""
    client = CLIENTS["zed"]
    merged_text = merged(client, text, "jupyter", address_entry(client, URL, TOKEN))
    begin = merged_text.index('"context_servers": ')
    servers, end = json.JSONDecoder().raw_decode(merged_text, begin + len('"context_servers": '))
    assert {"context_servers": servers} == ADDRESSES["zed"]
    assert f"{merged_text[:begin]}NEW{merged_text[end:]}" == told


_COMMENTS = st.lists(st.sampled_from(["", " ", "\n  ", '// {"a": [,\n', '/* ", */', "/* two\nlines */ "]), max_size=3)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["none", "null", "empty", "other", "same"]),
    st.data(),
)
def test_a_server_is_added_to_any_json_with_comments(value, servers, data):
    entry = address_entry(CLIENTS["zed"], URL, TOKEN)
    known = {
        "null": {"context_servers": None},
        "empty": {"context_servers": {}},
        "other": {"context_servers": {"x": value}},
        "same": {"context_servers": {"jupyter": {"url": 1}, "x": value}},
    }
    comments = []

    def comment():
        drawn = data.draw(_COMMENTS)
        comments.extend(one.strip() for one in drawn if one.strip())
        return "".join(drawn)

    def written(one):
        if not isinstance(one, (dict, list)) or not one:
            return json.dumps(one)
        named = one.items() if isinstance(one, dict) else ((None, item) for item in one)
        inside = [f"{comment()}{'' if name is None else json.dumps(name) + ':'}{written(item)}" for name, item in named]
        last = data.draw(st.sampled_from(["", ","]))
        begin, end = "{}" if isinstance(one, dict) else "[]"
        return f"{begin}{','.join(inside)}{last}{comment()}{end}"

    there = {"a": value, **known.get(servers, {})}
    text = f"{comment()}{written(there)}{comment()}"
    told = merged(CLIENTS["zed"], text, "jupyter", entry)
    servers_told = {**(there.get("context_servers") or {}), "jupyter": entry}
    assert json.loads(plain_json(told)) == {**there, "context_servers": servers_told}
    if servers in ("none", "empty", "other"):  # A value that is replaced goes with the comments inside it.
        assert [one for one in comments if one in told] == comments


@pytest.mark.parametrize("name", ["vscode", "jupyter-ai"])
def test_a_server_is_replaced_where_it_stands(name):
    client = CLIENTS[name]
    text = merged(client, "", "jupyter", address_entry(client, "http://elsewhere", "old"))
    text = merged(client, text, "other", address_entry(client, "http://other", "its"))
    told = merged(client, text, "jupyter", address_entry(client, URL, TOKEN))
    assert told == text.replace("http://elsewhere", URL).replace("old", TOKEN) and "other" in told


@pytest.mark.parametrize("name", ["cursor", "zed", "codex", "jupyter-ai"])
def test_a_byte_order_mark_stays_before_a_configuration(name):
    client = CLIENTS[name]
    old = merged(client, "", "jupyter", address_entry(client, "http://elsewhere", "old"))
    for text in ("", old):
        told = merged(client, f"\ufeff{text}", "jupyter", address_entry(client, URL, TOKEN))
        assert told[0] == "\ufeff" and read(client, told[1:]) == ADDRESSES[name]


def test_a_toml_configuration_keeps_its_line_ends():
    client = CLIENTS["codex"]
    text = '# c\r\nmodel = "x"\r\n\r\n'
    told = merged(client, text, "jupyter", address_entry(client, URL, TOKEN))
    assert told.startswith(text) and told.count("\r\n") == told.count("\n")
    assert read(client, told)["mcp_servers"] == ADDRESSES["codex"]["mcp_servers"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("command", [(), ("--root", "/project")])
def test_a_server_in_toml_is_replaced_and_keeps_what_a_person_set(end, command):
    client = CLIENTS["codex"]
    before = server_of(client, "codex", "old", url=URL, command=command).entry
    text = merged(client, 'model = "x"\n', "jupyter", before)
    text += '# mine\ndefault_tools_approval_mode = "approve"\n\n[mcp_servers.other]\nurl = "x"\n[tui]\na = 1\n'
    told = merged(client, text.replace("\n", end), "jupyter", address_entry(client, URL, TOKEN))
    table = configuration(client, "jupyter", address_entry(client, URL, TOKEN))
    old = configuration(client, "jupyter", before)
    assert old in text and told == text.replace(old, table).replace("\n", end)
    by_hand = "[mcp_servers.jupyter]\nurl = 'x'"
    assert read(client, merged(client, by_hand, "jupyter", address_entry(client, URL, TOKEN))) == ADDRESSES["codex"]


@pytest.mark.parametrize("folder", ["/😀", "/ü", "/\x7f\t", '/"\\'])
def test_toml_holds_every_folder_s_name(folder):
    client = CLIENTS["codex"]
    entry = command_entry(client, ["a", "--root", folder], TOKEN, {"JUPYTER_DATA_DIR": folder})
    [told] = read(client, configuration(client, "jupyter", entry))["mcp_servers"].values()
    assert told["args"] == ["--root", folder] and told["env"]["JUPYTER_DATA_DIR"] == folder


def test_a_folder_s_name_that_toml_cannot_hold_is_refused():
    client = CLIENTS["codex"]
    with pytest.raises(Invalid, match="not UTF-8"):
        configuration(client, "jupyter", command_entry(client, ["a", "/\udcff"], TOKEN))


def test_behind_a_hub_the_address_is_the_hub_s(monkeypatch):
    server = "http://127.0.0.1:5000/user/ada/"
    assert mcp_address(server) == mcp_address(server.rstrip("/")) == "http://127.0.0.1:5000/user/ada/api/fstools/mcp"
    monkeypatch.setenv("JUPYTERHUB_PUBLIC_URL", "https://hub.example.org/user/ada/")
    assert mcp_address(server) == "https://hub.example.org/user/ada/api/fstools/mcp"


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"), ("codex", "CODEX_HOME", "config.toml")],
)
def test_the_variable_of_a_client_moves_its_file(monkeypatch, name, variable, file):
    monkeypatch.delenv(variable, raising=False)
    assert CLIENTS[name].file_below("/project") == Path(CLIENTS[name].file).expanduser()
    monkeypatch.setenv(variable, "/elsewhere")
    assert CLIENTS[name].file_below("/project") == Path("/elsewhere", file)
    assert CLIENTS["vscode"].file_below("/project") == Path("/project/.vscode/mcp.json")
    assert CLIENTS["generic"].file_below("/project") is None


@pytest.mark.slow
def test_the_configuration_is_written_and_the_first_call_ends_the_waiting(served):
    home, folder = served
    words = ("connect", "vscode", "--root", str(folder), "--write", "--wait", "60", "--tools", "read")
    with home.start(*words, folder=folder, stderr=subprocess.PIPE) as process:
        said = []
        for line in process.stderr:
            said.append(line.decode())
            if "Waiting" in said[-1]:
                threading.Thread(target=call_once, args=[folder / ".vscode" / "mcp.json"]).start()
        out = process.stdout.read().decode()
        assert process.wait(60) == 0, said
    assert "VS Code has called: it works." in said[-1] and json.loads(out)["servers"]["jupyter"]["type"] == "http"
    assert (folder / ".vscode" / "mcp.json").stat().st_mode & 0o777 == 0o600
    assert any("code.visualstudio.com" in line for line in said)


@pytest.mark.slow
def test_a_configuration_that_is_a_link_is_written_where_it_leads(served):
    home, folder = served
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "real.json").write_text('{"inputs": []}')
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "mcp.json").symlink_to("../elsewhere/real.json")
    ran = home.run("connect", "vscode", "--root", str(folder), "--write", "--wait", "0")
    assert ran.code == 0, ran.err
    assert set(json.loads((folder / "elsewhere" / "real.json").read_text())) == {"inputs", "servers"}
    assert [path.name for path in (folder / ".vscode").iterdir()] == ["mcp.json"]
    # A file that cannot be replaced leaves no temporary file with the token behind.
    (folder / "elsewhere" / "real.json").unlink()
    (folder / "elsewhere" / "real.json").mkdir()
    assert home.run("connect", "vscode", "--root", str(folder), "--write", "--wait", "0").code == 1
    assert [path.name for path in (folder / "elsewhere").iterdir()] == ["real.json"]


@pytest.mark.slow
def test_the_token_that_a_configuration_had_is_revoked_and_no_other(served, run):
    home, folder = served

    def valid(*words):
        assert run(home, "connect", "vscode", "--root", str(folder), "--write", "--wait", "0", *words).code == 0
        return {row.split()[0] for row in run(home, "token", "list", "--root", str(folder)).out.splitlines()}

    two = valid("--name", "two")
    first = valid()
    second = valid("--stdio")
    assert two < first and two < second and len(first) == len(second) == len(two) + 1 and first != second


@pytest.mark.slow
def test_a_configuration_is_written_with_the_line_ends_it_has(served, run):
    home, folder = served
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "mcp.json").write_bytes(b'{\r\n  "inputs": []\r\n}\r\n')
    assert run(home, "connect", "vscode", "--root", str(folder), "--write", "--wait", "0").code == 0
    written = (folder / ".vscode" / "mcp.json").read_bytes()
    assert written.count(b"\r\n") == written.count(b"\n") > 5


@pytest.mark.slow
def test_what_lies_beside_a_configuration_is_neither_followed_nor_taken_over(served, run):
    home, folder = served
    (folder / "thesis.txt").write_text("four years of work\n")
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / ".mcp.json.fstools").symlink_to("../thesis.txt")
    assert run(home, "connect", "vscode", "--root", str(folder), "--write", "--wait", "0").code == 0
    assert (folder / "thesis.txt").read_text() == "four years of work\n"
    assert not (folder / ".vscode" / "mcp.json").is_symlink()
    (folder / ".vscode" / ".mcp.json.fstools").unlink()
    (folder / ".vscode" / ".mcp.json.fstools").touch()
    (folder / ".vscode" / ".mcp.json.fstools").chmod(0o666)
    assert run(home, "connect", "vscode", "--root", str(folder), "--write", "--wait", "0").code == 0
    assert (folder / ".vscode" / "mcp.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("hindrance", ["no JSON", "latin-1", "folder", "fifo", "loop", "read-only", "file above"])
def test_a_configuration_that_cannot_be_written_leaves_no_token(served, run, hindrance):
    home, folder = served
    file = folder / ".vscode" / "mcp.json"
    hinder(file, hindrance)
    before = run(home, "token", "list", "--root", str(folder)).out
    refused = run(home, "connect", "vscode", "--root", str(folder), "--write", "--wait", "0")
    assert refused.code > 0 and not refused.out and "without --write" in refused.err
    assert run(home, "token", "list", "--root", str(folder)).out == before
    shown = run(home, "connect", "vscode", "--root", str(folder), "--wait", "0")
    assert shown.code == 0 and json.loads(shown.out)["servers"] and "by hand" in shown.err


def hinder(file, hindrance):
    if hindrance == "file above":
        file.parent.touch()
        return
    file.parent.mkdir()
    if hindrance == "folder":
        file.mkdir()
    elif hindrance == "fifo":
        os.mkfifo(file)
    elif hindrance == "loop":
        file.symlink_to("mcp.json")
    elif hindrance == "read-only":
        file.write_bytes(b"{}")
        file.chmod(0o444)
    else:
        file.write_bytes({"no JSON": b"{ // a comment\n", "latin-1": b'{"a": "\xe9"}'}[hindrance])


@pytest.mark.parametrize("wait", ["-5", "x", "1e9", "9" * 5000])
def test_a_wait_that_is_no_number_of_seconds_is_refused(home, run, wait):
    ran = run(home, "connect", "generic", f"--wait={wait}")
    assert ran.code == 2 and "takes a number of seconds" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(("wait", "said"), [("1", "within 1 second."), ("2", "within 2 seconds.")])
def test_a_call_that_does_not_come_is_said_not_to_have_come(served, run, wait, said):
    home, _ = served
    ran = run(home, "connect", "generic", "--root", str(home.files), "--wait", wait)
    assert ran.code == 0 and said in ran.err


@pytest.mark.slow
def test_a_client_whose_file_nobody_knows_is_not_said_to_be_written(served, run):
    home, _ = served
    ran = run(home, "connect", "generic", "--root", str(home.files), "--write", "--wait", "0")
    assert ran.code == 0 and "No file is known" in ran.err and "Written" not in ran.err


@pytest.mark.slow
def test_an_address_that_a_person_names_is_the_one_that_is_configured(served, run):
    home, _ = served
    hub = "https://hub.example.org/user/ada/"
    [file] = home.runtime.glob("jpserver-*.json")
    server = json.loads(file.read_text())
    for where, expected in ((("--root", str(home.files)), hub), (("--url", server["url"]), server["url"])):
        variables = {"JUPYTERHUB_PUBLIC_URL": hub, "JUPYTER_TOKEN": server["token"]}
        ran = run(home, "connect", "cursor", *where, "--wait", "0", **variables)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["mcpServers"]["jupyter"]["url"] == f"{expected.rstrip('/')}/api/fstools/mcp"


def call_once(file):
    entry = json.loads(file.read_text())["servers"]["jupyter"]
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {**entry["headers"], "X-Fstools-Session": "any"}
    with urllib.request.urlopen(urllib.request.Request(entry["url"], json.dumps(listing).encode(), headers)) as answer:
        assert len(json.load(answer)["result"]["tools"]) == 5


@pytest.mark.slow
def test_the_command_it_configures_opens_what_the_token_does(served):
    home, folder = served
    (folder / "a.txt").write_text("one\n")
    ran = home.run("connect", "generic", "--stdio", "--tools", "read", "--wait", "0", folder=folder)
    entry = json.loads(ran.out)["mcpServers"]["jupyter"]
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    path = os.path.relpath(folder / "a.txt", home.files)
    calls = [("read_file", {"path": path}), ("edit_file", {"path": path, "old_string": "one", "new_string": "1"})]
    given = "".join(
        json.dumps({"jsonrpc": "2.0", "id": at, "method": "tools/call",
                    "params": {"name": name, "arguments": arguments, "_meta": meta}}) + "\n"
        for at, (name, arguments) in enumerate(calls)
    )  # fmt: skip
    environment = {"PATH": "/usr/bin:/bin", **home.environment, **entry["env"]}
    words = [entry["command"], *entry["args"]]
    done = subprocess.run(words, input=given, env=environment, capture_output=True, text=True, timeout=60, check=False)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert not answers[0]["isError"] and answers[0]["resultType"] == "complete", done.stderr
    assert answers[1]["isError"] and "denied" in answers[1]["content"][0]["text"]
    assert re.search(r"`jupyter fstools token revoke \w+` revokes its token", ran.err)
