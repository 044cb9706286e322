"""Commands as processes: their output, their end, and that no process of theirs is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

from jupyter_fstools.errors import Denied, TooLarge
from jupyter_fstools.execution import processes
from jupyter_fstools.execution.run import environment, run_command
from tests.processes import wait_until_gone


@pytest.fixture
def run(tmp_path):
    def run(command, *, seconds=60.0, most=10_000, cancelled=None, tell=None):
        added = environment(str(tmp_path), {})
        return run_command(
            command,
            str(tmp_path),
            added,
            folder_fd=None,
            seconds=seconds,
            most=most,
            cancelled=cancelled,
            tell=tell,
        )

    return run


def test_both_streams_come_in_the_order_they_were_written(run):
    assert run("echo one; echo two >&2; echo three").output == "one\ntwo\nthree\n"


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("exit 3", 3), ("nowhere-to-be-found", 127)])
def test_the_exit_code_is_the_shells(run, command, code):
    assert run(command).exit_code == code


@pytest.mark.parametrize("command", ["kill -KILL $$", "sh -c 'kill -KILL $$'; exit $?"])
def test_an_exit_by_a_signal_is_said_as_shells_say_it(run, command):
    assert run(command).exit_code == 137


def test_a_command_that_begins_with_a_dash_is_no_option_of_the_shell(run):
    ran = run("-x")
    assert (ran.exit_code, "-x" in ran.output) == (127, True)


def test_a_command_has_no_input(run):
    assert run("cat; read -r line || echo nothing").output == "nothing\n"


def test_a_command_has_no_terminal(run):
    ran = run("test -t 1 || echo no terminal; (: < /dev/tty) 2>&1 | tail -c 1 | wc -l")
    assert ran.output.split() == ["no", "terminal", "1"]


def test_text_is_cut_between_characters_with_a_count_of_what_is_left_out(run):
    ran = run("printf 'é%.0s' $(seq 30000)", most=1001)
    head, marker, tail = ran.output.split("\n")
    assert ran.truncated
    assert set(head + tail) == {"é"}
    shown = len((head + tail).encode())
    assert marker == f"[... {60000 - shown} bytes left out ...]"
    assert 990 < shown <= 1001


def test_output_that_just_fits_is_whole(run):
    ran = run("head -c 1000 /dev/zero | tr '\\0' x", most=1000)
    assert (ran.output, ran.truncated) == ("x" * 1000, False)


def test_bytes_that_are_no_text_are_replaced(run):
    assert run(r"printf 'a\377\000b\303'").output == "a\ufffd\0b\ufffd"


def test_a_flood_of_output_takes_little_memory(run):
    run("true")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run("head -c 1000000000 /dev/zero", most=1 << 20)
    assert ran.exit_code == 0
    assert "bytes left out" in ran.output
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


def test_what_is_told_live_is_bounded_too(run):
    told = []
    run("head -c 10000000 /dev/zero | tr '\\0' x", most=1000, tell=told.append)
    assert "".join(told).startswith("x" * 1000 + "\n[... more output")
    assert len("".join(told)) < 1200


def test_characters_are_told_whole(run):
    told = []
    run(r"printf '\303'; sleep 0.3; printf '\251'; sleep 0.3; printf '\303'", tell=told.append)
    assert told == ["é", "\ufffd"]


def test_over_its_time_a_command_is_ended_with_what_it_had_printed(run):
    ran = run("echo begun; sleep 1000", seconds=0.5)
    assert (ran.output, ran.timed_out, ran.exit_code) == ("begun\n", True, 143)


def test_a_command_can_put_its_things_in_order_before_it_ends(run):
    ran = run("trap 'echo in order; exit 9' TERM; echo begun; sleep 1000 & wait", seconds=0.5)
    assert (ran.output, ran.timed_out, ran.exit_code) == ("begun\nin order\n", True, 9)


def test_a_command_that_will_not_end_is_made_to(run):
    ran = run("trap '' TERM; echo $$; while :; do sleep 1000; done", seconds=0.5)
    assert ran.exit_code == 137
    wait_until_gone(ran.output)


def test_a_stopped_command_is_ended_too(run):
    ran = run("sleep 1000 & echo $!; kill -STOP $! $$", seconds=0.5)
    assert ran.timed_out
    wait_until_gone(ran.output)


@pytest.mark.parametrize("redirected", ["", ">/dev/null 2>&1", "</dev/null"])
def test_what_runs_on_in_the_background_is_ended_and_hangs_nobody(run, redirected):
    ran = run(f"sleep 1000 {redirected} & echo $!")
    assert (ran.exit_code, ran.timed_out) == (0, False)
    wait_until_gone(ran.output)


def test_who_leaves_the_group_and_keeps_the_pipe_hangs_nobody(run, tmp_path):
    ran = run("setsid sh -c 'echo $$ > pid; exec sleep 30' & until [ -s pid ]; do sleep 0.05; done; echo done")
    assert (ran.output, ran.exit_code) == ("done\n", 0)
    os.kill(int((tmp_path / "pid").read_text()), 9)


def test_a_command_that_closes_its_output_is_waited_for(run, tmp_path):
    assert run("exec >&- 2>&-; sleep 0.5; touch late").exit_code == 0
    assert (tmp_path / "late").exists()


def test_what_a_pipeline_says_last_is_heard(run):
    assert run("exec > >(sleep 0.02; cat); echo said").output == "said\n"


def test_a_cancelled_command_is_ended_at_once_with_its_children(run, tmp_path):
    cancelled, told = threading.Event(), []

    def cancel(text):
        told.append(text)
        cancelled.set()

    ran = run("trap '' TERM; sleep 1000 & echo $!; wait", cancelled=cancelled, tell=cancel)
    assert (ran.cancelled, ran.timed_out, ran.exit_code) == (True, False, 137)
    wait_until_gone(told[0])


def test_an_interrupted_caller_leaves_no_process(run):
    told = []

    def interrupt(text):
        told.append(text)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("sleep 1000 & echo $!; wait", tell=interrupt)
    wait_until_gone(told[0])


RUNS_A_COMMAND = """
import sys
from jupyter_fstools.execution.run import run_command
run_command(sys.argv[1], "/", {}, folder_fd=None, seconds=1000, most=100, tell=lambda text: print(text, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_a_command_ends_with_the_process_that_runs_it(number):
    command = "trap '' TERM HUP; /bin/sleep 1000 & echo $! $$; wait"
    with subprocess.Popen([sys.executable, "-c", RUNS_A_COMMAND, command], stdout=subprocess.PIPE, text=True) as caller:
        told = caller.stdout.readline().split()
        caller.send_signal(number)
    for process in told:
        wait_until_gone(process)


def test_a_command_whose_guard_has_gone_runs_all_the_same(run, monkeypatch):
    monkeypatch.setattr(processes, "_GUARDING", "exit")
    assert run("sleep 0.2; echo done").output == "done\n"


def test_a_command_inherits_no_descriptors(run, tmp_path):
    with open(tmp_path / "secret", "w") as file:
        os.set_inheritable(file.fileno(), True)
        assert "secret" not in run("ls -l /proc/$$/fd").output


def test_no_descriptors_are_left_behind(run):
    run("true")
    before = len(os.listdir("/proc/self/fd"))
    for command in ("true", "sleep 1000 &", "exit 1"):
        run(command)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_command_longer_than_the_system_takes_is_refused(run):
    with pytest.raises(TooLarge, match="longer than the system allows"):
        run("true " + "x" * 3_000_000)


def test_a_folder_that_cannot_be_entered_is_refused(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root enters every folder")
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(Denied):
        run_command("true", str(tmp_path / "closed"), {}, folder_fd=None, seconds=1, most=100)


def test_a_folder_held_open_is_where_it_begins_wherever_its_name_leads(tmp_path):
    (tmp_path / "a").mkdir()
    fd = os.open(tmp_path / "a", os.O_RDONLY)
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").mkdir()
    try:
        run_command("touch here", str(tmp_path / "a"), dict(os.environ), folder_fd=fd, seconds=60, most=100)
    finally:
        os.close(fd)
    assert (tmp_path / "b" / "here").exists()
