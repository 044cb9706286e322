"""`jupyter fstools status`, `changes` and `undo`, with a server and without one."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.command_line.desks import StoreDesk
from tests.command_line.conftest import COMMAND

pytestmark = pytest.mark.slow


@pytest.fixture(params=["served", "alone"])
def place(request):
    """A folder that a server serves, and one without a server: the commands give the same answers for both."""
    if request.param == "served":
        return request.getfixturevalue("served")
    home = request.getfixturevalue("home")
    return home, home.files


@pytest.fixture
def as_user(place, monkeypatch):
    """Calls tools as another process of the same user does."""
    home, folder = place
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    inside = os.path.relpath(folder, home.files)
    with open_workspace(home.files, session="me") as workspace:
        yield lambda tool, path, **arguments: call_tool(workspace, tool, path=f"{inside}/{path}", **arguments)


def test_changes_are_listed_newest_first_with_what_they_did(place, as_user):
    home, folder = place
    as_user("write_file", "a.txt", content="one\ntwo\n")
    as_user("edit_file", "a.txt", old_string="two", new_string="2")
    ran = home.run("changes", str(folder), "--diff")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"edit_file  .*a\.txt  \+1 -1  me\n.*-two\n\+2\n.*write_file", ran.out, re.DOTALL)


def test_the_diff_of_several_files_names_each_of_them(place, as_user, run):
    home, folder = place
    for name in ("a.txt", "b.txt"):
        as_user("write_file", name, content="x\n")
    inside = os.path.relpath(folder, home.files)
    edits = [{"path": f"{inside}/{name}", "old_string": "x", "new_string": "y"} for name in ("a.txt", "b.txt")]
    as_user("edit_file", "a.txt", edits=edits)
    lines = run(home, "changes", "--diff", "--limit", "1", folder=folder).out.splitlines()
    assert [line.rpartition("/")[2] for line in lines if line.endswith(": edit")] == ["a.txt: edit", "b.txt: edit"]


def test_changes_are_narrowed_down(place, as_user, run):
    home, folder = place
    as_user("write_file", "a.txt", content="x\n")
    as_user("write_file", "b.txt", content="x\n")
    assert run(home, "changes", "a.txt", "--session", "me", folder=folder).out.count("applied") == 1
    assert run(home, "changes", "--limit", "1", folder=folder).out.count("applied") == 1
    assert run(home, "changes", ".", "--status", "proposed", folder=folder).out == "There are no changes.\n"
    assert run(home, "changes", "--session", "nobody", folder=folder).out == "There are no changes.\n"


def test_what_a_list_leaves_out_is_counted_and_comes_with_the_next_one(place, as_user, run):
    home, folder = place
    for number in range(5):
        as_user("write_file", f"{number}.txt", content="x\n")
    first = run(home, "changes", ".", "--limit", "2", folder=folder).out.splitlines()
    assert first[2:] == ["[3 more; --offset 2 shows the next, --limit N up to 1000 at once]"]
    next_ones = run(home, "changes", ".", "--limit", "3", "--offset", "2", folder=folder).out.splitlines()
    named = [line.split()[5].rpartition("/")[2] for line in [*first[:2], *next_ones]]
    assert named == ["4.txt", "3.txt", "2.txt", "1.txt", "0.txt"]
    assert run(home, "changes", ".", "--offset", "5", folder=folder).out == "There are no more changes.\n"


def test_a_list_without_a_limit_says_that_it_stops_at_twenty(place, as_user, run):
    home, folder = place
    for number in range(21):
        as_user("write_file", f"{number}.txt", content="x\n")
    rows = run(home, "changes", ".", folder=folder).out.splitlines()
    assert (len(rows), rows[-1].partition(";")[0]) == (21, "[1 more")
    assert len(run(home, "changes", ".", "--limit", "21", folder=folder).out.splitlines()) == 21


def test_a_change_is_undone_by_its_id_and_a_file_by_its_name(place, as_user, run):
    home, folder = place
    as_user("write_file", "a.txt", content="x\n")
    change = as_user("edit_file", "a.txt", old_string="x", new_string="y").change
    ran = run(home, "undo", change.id, folder=folder)
    assert ran.out.startswith(f"Undid change {change.id} of ")
    assert (folder / "a.txt").read_text() == "x\n"
    assert run(home, "undo", "a.txt", folder=folder).code == 0
    assert not (folder / "a.txt").exists()


def test_what_an_outsider_changed_is_not_undone(place, as_user, run):
    home, folder = place
    as_user("write_file", "a.txt", content="x\n")
    (folder / "a.txt").write_text("mine\n")
    ran = run(home, "undo", "a.txt", folder=folder)
    assert (ran.code, ran.out) == (1, "")
    assert "has changed since (not modified)\nHint: " in ran.err
    assert "-x\n+mine\n" in ran.err
    assert (folder / "a.txt").read_text() == "mine\n"


def test_status_says_what_is_there(place, run):
    home, folder = place
    facts = dict(re.split(r" {2,}", line, maxsplit=1) for line in run(home, "status", folder=folder).out.splitlines())
    assert facts["root"] == str(home.files)
    assert (facts["approval"], facts["read only"], facts["changes waiting"]) == ("never", "no", "0")
    assert facts["server"] == "none" or facts["server"].startswith("http://127.0.0.1:")


def test_what_waits_is_counted_and_the_servers_settings_hold_without_a_server(home, run):
    settings = {"FsToolsConfig": {"approval": "always", "store": f"sqlite:{home.path}/gate.db"}}
    (home.path / "jupyter_config_dir" / "jupyter_server_config.json").write_text(json.dumps(settings))
    with home.server(home.files) as server:
        assert server.call("POST", "/tools/write_file", {"path": "a.txt", "content": "x"})[0] == 202
        assert "changes waiting  1\n" in run(home, "status").out
    alone = run(home, "status").out
    assert "server           none\n" in alone
    assert "changes waiting  1\n" in alone


def test_the_password_of_a_store_is_not_told(home, monkeypatch):
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    desk = StoreDesk(str(home.files))
    desk._settings.store = "postgresql://fstools:s3cret@db.example/hub"
    assert desk.status()["store"] == "postgresql://fstools@db.example/hub"


def test_a_wrong_setting_is_named(home, run):
    (home.path / "jupyter_config_dir" / "jupyter_server_config.json").write_text('{"FsToolsConfig": {"approval": 5}}')
    ran = run(home, "status")
    assert ran.code == 2
    assert "approval" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("json", '{"FsToolsConfig": 5}'),
        ("json", "{"),
        ("json", "[" * 100_000),
        ("py", "c.FsToolsConfig.approval =\n"),
        ("py", "1 / 0\n"),
    ],
    ids=lambda text: text[:30],
)
def test_settings_that_cannot_be_read_are_refused(home, run, file, settings):
    (home.path / "jupyter_config_dir" / f"jupyter_server_config.{file}").write_text(settings)
    ran = run(home, "status")
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"jupyter fstools: the settings of Jupyter's server cannot be read: .+\nHint: .+\n", ran.err)


def test_settings_that_a_server_hands_on_are_ignored_where_they_are_nested_too_deeply(home, run):
    ran = run(home, "status", JUPYTER_FSTOOLS_SETTINGS="[" * 50_000)
    assert ran.code == 0 and "approval         never\n" in ran.out


@pytest.mark.parametrize(
    "words",
    [
        ["undo", "c000000000000"],
        ["undo", "no/file"],
        ["changes", "../.."],
        ["undo", ""],
        ["undo", os.fsdecode(b"caf\xe9")],
    ],
)
def test_a_refusal_is_two_lines(place, words, run):
    home, folder = place
    ran = run(home, *words, folder=folder)
    assert (ran.code, ran.out) == (1, "")
    assert re.fullmatch(r"jupyter fstools: .+\nHint: .+\n", ran.err)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nope"],
        ["undo"],
        ["changes", "--limit", "0"],
        ["changes", "--limit", "x"],
        ["changes", "--limit", "1001"],
        ["changes", "--offset", "-1"],
        ["changes", "--offset", "9" * 5000],
        ["changes", "--status", "x"],
    ],
)
def test_arguments_that_do_not_fit_are_explained(home, words, run):
    ran = run(home, *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage: jupyter fstools")


@pytest.mark.parametrize("words", [["changes", "--session", "a b"], ["mcp", "--session", ""]])
@pytest.mark.parametrize("place", ["served_home", "home"])
def test_a_session_that_is_none_is_invalid(place, words, run, request):
    ran = run(request.getfixturevalue(place), *words)
    assert ran.code == 2
    assert "session: takes 1 to 128" in ran.err


@pytest.mark.parametrize("command", ["", "mcp", "status", "changes", "undo"])
def test_each_command_explains_itself(home, command, run):
    ran = run(home, *command.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"usage: jupyter fstools {command}".rstrip())


def test_a_name_that_no_terminal_shows_is_spelled_out(place, as_user):
    home, folder = place
    as_user("write_file", "\x1b[31m\u202eé\n.txt", content="\x1b[2J\n")
    ran = home.run("changes", str(folder), "--diff", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (0, "")
    assert "\\x1b[31m\\u202e\\xe9\\x0a.txt" in ran.out
    assert "\\x1b[2J" in ran.out
    assert "\x1b" not in ran.out


def test_a_reader_that_wants_no_more_is_no_error(place, as_user):
    home, folder = place
    as_user("write_file", "a.txt", content="x\n" * 100_000)
    with home.start("changes", "--diff", folder=folder) as process:
        process.stdout.close()
        assert process.wait(30) == 1
        assert process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed as POSIX's shells do")
@pytest.mark.parametrize(("words", "code"), [("status", 0), ("changes --session a/b", 2), ("nope", 2), ("mcp", 1)])
def test_a_command_runs_where_its_standard_streams_are_closed(home, words, code):
    command = f"exec {shlex.join(COMMAND)} {words} <&- >&- 2>errors"
    environment = {"PATH": os.environ["PATH"], **home.environment}
    ran = subprocess.run(["sh", "-c", command], cwd=home.files, env=environment, check=False)
    assert ran.returncode == code
    assert "Traceback" not in (home.files / "errors").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_a_full_disk_for_the_output_is_named(home):
    with open("/dev/full", "w") as full, home.start("status", stdout=full) as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.decode() == "jupyter fstools: [Errno 28] No space left on device\nHint: Free some space.\n"


def test_nothing_heavy_is_imported_for_the_bridge():
    code = "import sys, jupyter_fstools.command_line.bridge, jupyter_fstools.command_line.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "tornado", "traitlets", "jupyter_server", "mcp", "nbformat", "orjson"} & set(loaded)


def test_a_token_is_made_listed_and_revoked(place, run):
    home, _ = place
    made = run(home, "token", "create", "my agent", "--session", "s1", "--tools", "read_file,grep", "--path", "docs/")
    assert (made.code, made.out[:4]) == (0, "fst_")
    listed = run(home, "token", "list").out.splitlines()[0]
    id = listed.split()[0]
    assert listed.startswith(f"{id}  my agent  session s1  read_file,grep  docs/  expires 20")
    assert listed.endswith("not used") and made.err.startswith(listed)
    assert made.out.strip() not in listed
    assert run(home, "token", "revoke", id).out == f"Revoked {id}.\n"
    assert id not in run(home, "token", "list").out
    again = run(home, "token", "revoke", id)
    assert (again.code, again.err.partition(":")[2].strip()[:17]) == (1, "there is no token")
    assert "there is no token ''" in run(home, "token", "revoke", "").err


@pytest.mark.parametrize("words", [["create", "bot"], ["list"], ["revoke", "0123"]])
@pytest.mark.parametrize("store", ["sqlite:{}/file/below.db", "memory:"])
def test_no_token_is_kept_in_a_store_that_ends_with_the_command(home, run, words, store):
    (home.path / "file").touch()
    settings = {"FsToolsConfig": {"store": store.format(home.path)}}
    (home.path / "jupyter_config_dir" / "jupyter_server_config.json").write_text(json.dumps(settings))
    ran = run(home, "token", *words)
    assert (ran.code, ran.out) == (1, "")
    assert "no token outlasts this command" in ran.err and "assistant now" not in ran.err


@pytest.mark.parametrize("rule", ["", " ", "# a"])
def test_a_rule_that_opens_nothing_is_refused_for_a_token(place, run, rule):
    home, _ = place
    made = run(home, "token", "create", "agent", "--path", "docs/", "--path", rule)
    assert (made.code, made.out) == (2, "") and "paths" in made.err


def test_rules_that_only_exclude_are_refused_for_a_token(place, run):
    home, _ = place
    made = run(home, "token", "create", "agent", "--path", "!secret/", "--path", "!*.pem")
    assert (made.code, made.out) == (2, "") and "Begin with * to open all other files." in made.err
    assert run(home, "token", "create", "agent", "--path", "*", "--path", "!secret/").code == 0


def test_a_token_of_unknown_tools_or_without_a_name_is_refused(place, run):
    home, _ = place
    assert run(home, "token", "create", "agent", "--tools", "shell").code == 2
    assert run(home, "token", "create", "\n").code == 2
    assert run(home, "token", "create", "agent", "--days", "nan").code == 2


def test_the_journal_says_that_an_undo_came_from_a_shell(place, as_user, run):
    home, folder = place
    as_user("write_file", "a.txt", content="x\n")
    assert run(home, "undo", str(folder / "a.txt")).code == 0
    assert "applied via command line  undo of" in run(home, "changes", str(folder)).out
