"""`%fs sh`: the rest of the line as a command, its output as it comes, and how it ends."""

from __future__ import annotations

import shlex
import subprocess
import threading

import pytest

from jupyter_fstools import FsToolsError
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.kernel.desk import Desk
from jupyter_fstools.kernel.magic import Magic
from tests.kernel.real_kernel import RealKernel
from tests.processes import wait_for_line, wait_until_gone


@pytest.fixture
def fs(make_shell):
    """`fs(line)` and `fs(line, body)` where commands run at once."""
    shell = make_shell(enable_execute=True, execute_approval=False, store="memory:")

    def call(line, body=None):
        return shell.run_line_magic("fs", line) if body is None else shell.run_cell_magic("fs", line, body)

    return call


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("sh echo one two", "one two\n"),
        ("sh echo 'a  b' | tr a x", "x  b\n"),
        ('sh echo "it\'s" {braces} \\\\', "it's {braces} \\\n"),
        ("sh echo don\\'t", "don't\n"),
        ("sh -- echo x || echo y", "y\n"),
        ("sh --cwd sub ls", "a.txt\n"),
        ("sh --cwd 'sub' --timeout=60 ls --all | wc -l", "3\n"),
        ("sh echo --timeout 5", "--timeout 5\n"),
        ("  sh   echo -h", "-h\n"),
    ],
)
def test_the_rest_of_the_line_is_the_command(fs, root, capsys, line, output):
    (root / "sub").mkdir()
    (root / "sub/a.txt").touch()
    assert fs(line).data["output"].endswith(output)
    assert capsys.readouterr().out.endswith(output)


def test_a_command_runs_where_there_is_no_stdout(fs, monkeypatch):
    """As in a program without a console."""
    monkeypatch.setattr("sys.stdout", None)
    assert fs("sh echo one").data["output"] == "one\n"


def test_a_cell_is_a_script(fs, capsys):
    result = fs("sh", "for name in one two\ndo echo $name\ndone\nexit 4\n")
    assert (result.data["output"], result.data["exit_code"]) == ("one\ntwo\n", 4)
    assert capsys.readouterr().out == "one\ntwo\n"


def test_a_command_in_the_line_and_in_the_cell_is_refused(fs):
    with pytest.raises(FsToolsError, match="in the line and in the cell"):
        fs("sh ls", "ls\n")


def test_a_line_without_a_command_is_refused(fs):
    with pytest.raises(FsToolsError, match="CMD is required") as caught:
        fs("sh")
    assert "%fs sh" in caught.value.hint and "cwd" not in caught.value.hint


def test_help_is_help_and_no_command(fs):
    assert "the rest of the line" in repr(fs("sh -h"))


def test_an_exit_code_is_a_result_and_shown(fs, capsys):
    result = fs("sh echo shown; touch new.txt; exit 3")
    assert result.data["exit_code"] == 3
    assert capsys.readouterr().out == "shown\n"
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == "[exit code 3]\n[files changed: new.txt]"
    assert "exit code 3" in result.rendered().html
    assert "shown" not in shown["text/html"], "it has been shown as it came"
    assert result.text.startswith("shown\n")


def test_the_end_of_a_long_output_is_shown_with_the_result(fs, capsys):
    shown = fs("sh seq 20000; echo '<b>'")._repr_mimebundle_()
    assert "its end comes with the result" in capsys.readouterr().out
    assert shown["text/plain"].endswith("\n19999\n20000\n<b>\n[exit code 0]")
    assert "20000" in shown["text/html"] and "&lt;b&gt;" in shown["text/html"]


def test_nothing_that_a_terminal_would_obey_is_shown(fs, capsys):
    fs(r"sh printf 'a\tb\r\n\033]0;title\007\n'")
    assert capsys.readouterr().out == "a\tb\r\n\\x1b]0;title\\x07\n"


def test_names_of_files_stay_what_they_are_in_the_notes(fs):
    assert "[files changed: undo]" in fs("sh touch undo")._repr_mimebundle_()["text/plain"]


def test_it_stands_in_the_journal_and_undo_passes_over_it(fs):
    fs("write a.txt", "one\n")
    fs("sh echo x")
    assert "execute" in fs("changes").text.split("\n")[0]
    assert "+echo x" in fs(f"diff {fs('changes').data['changes'][0]['id']}").text
    assert fs("undo").data["path"] == "a.txt"


def test_paths_complete_behind_it(make_shell, root):
    (root / "script.py").touch()
    offered = Magic(make_shell(), str(root)).complete("%fs sh python scr")
    assert [one.text for one in offered["completions"]] == ["script.py"]


NAMES = ["$(id)", "a;b&c", "it's", "a b", "plain"]


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_path_that_completes_behind_it_is_never_taken_for_a_command(make_shell, root, quote):
    for name in NAMES:
        (root / f"x{name}").touch()
    offered = Magic(make_shell(), str(root)).complete(f"%fs sh cat {quote}x")["completions"]
    line = " ".join(one.text for one in offered)
    told = subprocess.check_output(["sh", "-c", f"printf '%s\\n' {line}"], text=True)
    assert sorted(told.splitlines()) == sorted(f"x{name}" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_quote_of_a_folder_that_completes_behind_it_is_left_open(make_shell, root, name):
    (root / f"x{name}").mkdir()
    (offered,) = Magic(make_shell(), str(root)).complete("%fs sh ls x")["completions"]
    closed = offered.text if name == "plain" else f"{offered.text}'"
    assert shlex.split(closed) == [f"x{name}/"]
    assert offered.text == closed.removesuffix("'")


def test_where_it_is_not_enabled_it_is_not_there(make_shell, root):
    shell = make_shell()
    assert "execute" not in shell.run_line_magic("fs", "status").data["tools"]
    with pytest.raises(FsToolsError) as caught:
        shell.run_line_magic("fs", "sh touch x")
    assert caught.value.code == "disabled"
    assert list(root.iterdir()) == []


def test_a_person_approves_it_from_elsewhere(make_shell, root, capsys):
    shell = make_shell(enable_execute=True, execute_approval_seconds=60.0)
    shell.run_line_magic("fs", "session approving")
    desk = Desk(shell.config, str(root))
    stopped = threading.Event()

    def approve():
        journal = Journal(desk.files.workspace)
        while not stopped.wait(0.02):
            for change in journal.changes(ChangeQuery(status="proposed")):
                journal.approve(change.id, commands=True)
                return

    person = threading.Thread(target=approve)
    person.start()
    try:
        result = shell.run_line_magic("fs", "sh echo done")
    finally:
        stopped.set()
        person.join()
    assert result.change.status == "applied"
    assert capsys.readouterr().out == (
        f"Waiting for a person to approve the command (change {result.change.id}).\ndone\n"
    )


@pytest.fixture
def real(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "home").mkdir()
    kernel = RealKernel(tmp_path / "root", tmp_path / "home")
    kernel.run("settings = get_ipython().config.FsToolsConfig; settings.enable_execute = True")
    yield kernel
    kernel.stop()


def started(kernel, line, shown):
    """Start a line, and wait until this much of its output is shown; gives the request's id."""
    asked, seen = kernel.client.execute(line), ""
    while shown not in seen:
        message = kernel.client.get_iopub_msg(timeout=60)
        seen += message["content"].get("text", "") if message["msg_type"] == "stream" else ""
    return asked


def interrupted(kernel, asked):
    """The name of the error that an interrupt ends a running line with."""
    kernel._manager.interrupt_kernel()
    reply = kernel.client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != asked:
        reply = kernel.client.get_shell_msg(timeout=60)
    return reply["content"].get("ename")


def run_after_an_error(kernel, code):
    """Run code, again while the kernel aborts requests, as it does for a moment after an error."""
    shown = kernel.run(code)
    while shown.status == "aborted":
        shown = kernel.run(code)
    return shown


def test_a_real_kernel_shows_output_while_it_comes_and_an_interrupt_ends_it(real):
    real.run("settings.execute_approval = False")
    asked = started(real, "%fs sh echo begun; sleep 1000 & echo $$ $! > pids; wait", "begun")
    processes = wait_for_line(real.folder / "pids").split()
    assert interrupted(real, asked) == "KeyboardInterrupt"
    for process in processes:
        wait_until_gone(process)
    assert run_after_an_error(real, "r = %fs sh exit 7\nr.data['exit_code']").text == "7"


def test_an_interrupt_withdraws_a_command_that_waits(real):
    asked = started(real, "%fs sh touch x", "Waiting for a person")
    assert interrupted(real, asked) == "KeyboardInterrupt"
    after = run_after_an_error(real, "r = %fs changes\nr.data['changes'][0]['status']")
    assert after.text == "'rejected'"
    assert list(real.folder.iterdir()) == []
