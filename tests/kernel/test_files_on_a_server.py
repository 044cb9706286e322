"""`%fs` in a kernel without access to the files: all calls go over REST to a real server."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_fstools.errors import Conflict, Denied, InputOutput, Invalid, NotFound, NotRead, Stale
from jupyter_fstools.kernel.desk import Desk, connected_files
from jupyter_fstools.kernel.magic import Completion
from jupyter_fstools.kernel.server_calls import ServerCalls
from tests.kernel.elsewhere import LOOK, ways
from tests.kernel.real_kernel import RealKernel, private_environment
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

VARIABLES = ("JUPYTERHUB_API_TOKEN", "JUPYTER_TOKEN")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    files = tmp_path_factory.mktemp("files")
    options = {"durable": False, "enable_execute": True, "execute_approval": False}
    given = (f"--FsToolsConfig.{name}={value}" for name, value in options.items())
    server = RunningServer(files, *given, environment=private_environment(tmp_path_factory.mktemp("home")))
    try:
        server.wait()
        server.files = files
        yield server
    finally:
        server.stop()


@pytest.fixture
def address(server, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUPYTER_TOKEN", server.token)
    return server.url.removesuffix("api/fstools")


@pytest.fixture
def far(make_shell, address, server, request):
    """`far(line, body)`: what the magics answer; each test in a session of its own. The kernel's root stays empty."""
    shell = make_shell(server=address)

    def call(line, body=None):
        return shell.run_line_magic("fs", line) if body is None else shell.run_cell_magic("fs", line, body)

    call(f"session {abs(hash(request.node.name))}")
    return call


def test_a_file_is_read_edited_and_taken_back(far, server, root):
    (server.files / "a.py").write_text("def f(x):\n    return x\n")
    assert far("read a.py").data["total_lines"] == 2
    done = far("edit a.py --old 'return x' --new 'return -x'")
    assert "-    return x" in str(done._repr_mimebundle_()["text/plain"])
    assert (server.files / "a.py").read_text() == "def f(x):\n    return -x\n"
    assert done.change.id in far("changes a.py").text
    assert "return -x" in far(f"diff {done.change.id}").text
    far("undo")
    assert (server.files / "a.py").read_text() == "def f(x):\n    return x\n"
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["", "none", "a/b", "..", "?after=1", "é", "\udcff"])
def test_a_change_that_is_not_there_is_not_found_under_any_name(far, name):
    with pytest.raises(NotFound, match="there is no change"):
        far(f"diff {shlex.quote(name)}")


def test_texts_of_a_cell_are_written_as_they_are(far, server):
    far("write b.txt", "one\ntwo {x} $y\n")
    assert (server.files / "b.txt").read_text() == "one\ntwo {x} $y\n"
    far("edit b.txt", "<<<<<<< old\none\n=======\n1\n>>>>>>> new\n")
    assert far("grep '^1$'").data["matches"]
    assert "b.txt" in far("glob *.txt").text
    assert "b.txt" in far("ls").text


def test_refusals_are_the_same_exceptions_in_the_words_of_the_magic(far, server):
    (server.files / "c.txt").write_text("one\n")
    with pytest.raises(NotRead) as refused:
        far("edit c.txt --old one --new 1")
    assert "%fs read" in "\n".join(refused.value._render_traceback_())
    far("read c.txt")
    (server.files / "c.txt").write_text("other\n")
    with pytest.raises(Stale) as refused:
        far("edit c.txt --old one --new 1")
    assert "+other" in refused.value.details["diff"]


def test_a_change_that_was_taken_back_already_is_refused_as_such(far):
    change = far("write e.txt", "one\n").change
    far(f"undo {change.id}")
    with pytest.raises(Conflict, match=r"was undone by .*; only one that is applied can be undone") as refused:
        far(f"undo {change.id}")
    assert refused.value.details["status"] == "undone"
    assert "not modified" in refused.value.message


def test_a_session_counts_on_the_server(far, server):
    (server.files / "d.txt").write_text("one\n")
    far("read d.txt")
    far("session other")
    with pytest.raises(NotRead):
        far("edit d.txt --old one --new 1")


def test_a_command_shows_what_it_prints(far, capsys):
    assert far("sh echo from-afar; exit 2").data["exit_code"] == 2
    assert "from-afar" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not tell what a process has loaded")
def test_a_server_of_the_disk_has_loaded_no_driver_of_databases_or_clouds(far, server):
    (server.files / "f.txt").write_text("one\n")
    far("read f.txt")
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "sqlite3" in loaded
    assert [name for name in ("psycopg", "libpq", "obstore") if name in loaded] == []


def test_the_status_says_where_the_files_are_and_no_token(far, server, address):
    status = far("status")
    assert status.data["server"]["url"] == address
    assert status.data["root"] == server.files.name
    assert server.token not in status.text


def test_paths_and_changes_are_completed(make_shell, address, server, root):
    (server.files / "sub").mkdir()
    (server.files / "sub" / "deep file.txt").write_text("")
    completion = Completion(Desk(make_shell(server=address).config, str(root)))
    offered = [one.text for one in completion.matches("%fs read sub/")["completions"]]
    assert offered == ["'sub/deep file.txt'"]
    assert [one.text for one in completion.matches("%fs read su")["completions"]] == ["sub/"]
    assert completion.matches("%fs read no/such/")["completions"][0].text != "sub/"


def test_a_path_is_completed_in_a_folder_of_very_many_files(make_shell, address, server, root, monkeypatch):
    monkeypatch.setattr("jupyter_fstools.kernel.desk.MOST_ENTRIES", 3)
    (server.files / "many/[x]").mkdir(parents=True)
    for name in ("a", "b", "c", "[x]1", "[x]2", "x"):
        (server.files / "many" / name).touch()
    completion = Completion(Desk(make_shell(server=address).config, str(root)))
    offered = completion.matches("%fs read many/[")["completions"]
    assert [one.text for one in offered] == ["many/[x]/", "many/[x]1", "many/[x]2"]


def test_a_call_is_one_request_on_the_connection_that_is_there(far, server, monkeypatch):
    (server.files / "e.txt").write_text("x" * 10_000)
    made = []
    exchange = ServerCalls._exchange
    monkeypatch.setattr(
        ServerCalls,
        "_exchange",
        lambda self, *words, **more: made.append(words[1]) or exchange(self, *words, **more),
    )
    far("read e.txt")
    far("edit e.txt --old xxx --new y --all")
    assert made == ["/tools/read_file", "/tools/edit_file"]


def test_the_hubs_token_comes_first_and_a_file_before_both(address, server, monkeypatch, tmp_path, make_shell, root):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "wrong")
    with pytest.raises(Denied):
        Desk(make_shell(server=address).config, str(root)).call("list_files", {})
    file = tmp_path / "token"
    file.write_text(f"{server.token}\n")
    file.chmod(0o600)
    desk = Desk(make_shell(server=address, server_token_file=str(file)).config, str(root))
    assert desk.call("list_files", {}).data["total"] >= 0


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o604])
def test_a_token_that_others_may_read_is_not_used(address, tmp_path, make_shell, root, mode):
    file = tmp_path / "token"
    file.write_text("t")
    file.chmod(mode)
    desk = Desk(make_shell(server=address, server_token_file=str(file)).config, str(root))
    with pytest.raises(Invalid, match=f"mode {mode:03o}") as refused:
        desk.call("list_files", {})
    assert "chmod 600" in refused.value.hint


def test_without_a_token_it_says_where_one_may_come_from(far, address, monkeypatch, make_shell, root):
    monkeypatch.delenv("JUPYTER_TOKEN")
    with pytest.raises(Denied) as refused:
        Desk(make_shell(server=address).config, str(root)).call("list_files", {})
    assert "JUPYTERHUB_API_TOKEN or JUPYTER_TOKEN" in refused.value.hint


def test_a_token_that_is_set_or_replaced_later_is_used(server, address, monkeypatch, tmp_path, make_shell, root):
    monkeypatch.delenv("JUPYTER_TOKEN")
    desk = Desk(make_shell(server=address).config, str(root))
    with pytest.raises(Denied):
        desk.call("list_files", {})
    monkeypatch.setenv("JUPYTER_TOKEN", server.token)
    assert desk.files.user()
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text("old")
    desk = Desk(make_shell(server=address, server_token_file=str(file)).config, str(root))
    with pytest.raises(Denied):
        desk.call("list_files", {})
    file.write_text(server.token)
    assert desk.call("list_files", {}).tool == "list_files"


def test_a_server_that_is_gone_is_a_refusal(make_shell, root):
    desk = Desk(make_shell(server="http://127.0.0.1:9/").config, str(root))
    with pytest.raises(InputOutput, match="does not answer"):
        desk.call("list_files", {})


def test_a_password_in_the_address_is_shown_nowhere(make_shell, root):
    desk = Desk(make_shell(server="http://ada:secret@127.0.0.1:9/?token=hidden").config, str(root))
    assert "secret" not in repr(connected_files(desk.settings, "default")._calls.server)
    with pytest.raises(InputOutput) as refused:
        desk.call("list_files", {})
    assert "secret" not in str(refused.value)
    assert "hidden" not in str(refused.value)


@pytest.fixture
def elsewhere(server, address, private_jupyter, tmp_path):
    """A real kernel in a mount namespace of its own, in which the server's folder is an empty disk."""
    spec = private_jupyter / "jupyter_data_dir" / "kernels" / "elsewhere"
    spec.mkdir(parents=True)
    command = [*ways(server.files)[0], sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "elsewhere", "language": "python"}))
    profile = tmp_path / "ipythondir" / "profile_default"
    profile.mkdir(parents=True, mode=0o700)
    (profile / "ipython_kernel_config.py").write_text(f"c = get_config()\nc.FsToolsConfig.server = {address!r}\n")
    kernel = RealKernel(tmp_path, tmp_path, name="elsewhere", more={"JUPYTER_TOKEN": server.token})
    yield kernel
    kernel.stop()


def test_a_kernel_that_cannot_open_the_files_reads_and_changes_them_by_the_same_gate(elsewhere, server):
    file = server.files / "far.py"
    file.write_text("one = 1\n")
    assert elsewhere.run(LOOK.format(str(file))).streams == "nothing\n"
    refused = elsewhere.run("%fs edit far.py --old 1 --new 2")
    assert (refused.error["ename"], file.read_text()) == ("NotRead", "one = 1\n")
    assert "one = 1" in elsewhere.run("%fs read far.py").text
    shown = elsewhere.run("%fs edit far.py --old 1 --new 2")
    assert file.read_text() == "one = 2\n", shown.message
    assert "-one = 1" in shown.text
    assert "one = 2" in shown.html
    file.write_text("one = 3\n")
    stale = elsewhere.run("%fs edit far.py --old one --new two")
    assert stale.error["ename"] == "Stale"
    assert "+one = 3" in stale.message
    assert "far.py" in elsewhere.run("r = %fs changes far.py\nprint(r.text)").streams
    assert elsewhere.run("r = %fs sh cat far.py\nprint(r.data['exit_code'])").streams == "one = 3\n0\n"
    assert "far.py" in elsewhere.completions("%fs read fa")["matches"]
    assert file.read_text() == "one = 3\n"


def test_each_way_to_run_elsewhere_closes_the_folder_and_no_other(tmp_path):
    for name in ("closed", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("text\n")
    for way in ways(tmp_path / "closed"):
        for name, said in (("closed", "nothing\n"), ("open", "text\n\n")):
            code = LOOK.format(str(tmp_path / name / "a.txt"))
            done = subprocess.run([*way, sys.executable, "-c", code], capture_output=True, text=True, check=True)
            assert done.stdout == said, way
