"""An interrupt of the kernel strikes between the calls of `%fs`, never in the middle of one."""

from __future__ import annotations

import contextvars
import os
import signal
import subprocess
import sys
import threading

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import NotRead
from jupyter_fstools.kernel.interrupts import between_interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")


@pytest.fixture(autouse=True)
def interrupts_count():
    """As in a kernel: a program started in the background ignores interrupts by default."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_edit_that_is_interrupted_while_it_writes_is_whole_and_in_the_journal(fs, root, monkeypatch):
    (root / "a.py").write_text("one\n")
    fs("read a.py")
    write = LocalDisk.write

    def interrupted(*given, **more):
        interrupt()
        return write(*given, **more)

    monkeypatch.setattr(LocalDisk, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fs("edit a.py --old one --new two")
    monkeypatch.undo()
    assert (root / "a.py").read_text() == "two\n"
    assert [change["status"] for change in fs("changes a.py").data["changes"]] == ["applied"]
    fs("edit a.py --old two --new three")
    assert (root / "a.py").read_text() == "three\n"


def test_what_is_interrupted_is_told_so_and_ends_first():
    ended = []

    def call(cancelled):
        interrupt()
        ended.append(cancelled.wait(60))

    with pytest.raises(KeyboardInterrupt):
        between_interrupts(call)
    assert ended == [True]


FIRST_USE = """
import os, signal, sys
from IPython.core.interactiveshell import InteractiveShell

signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "jupyter_fstools.kernel.desk":
            os.kill(os.getpid(), signal.SIGINT)

shell = InteractiveShell.instance()
shell.extension_manager.load_extension("jupyter_fstools")
sys.meta_path.insert(0, Interrupting())
try:
    shell.run_line_magic("fs", "status")
except KeyboardInterrupt:
    print("jupyter_fstools.kernel.magic" in sys.modules)
"""


def test_the_import_of_the_magic_at_its_first_use_is_not_interrupted(tmp_path):
    run = subprocess.run([sys.executable, "-c", FIRST_USE], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_a_second_interrupt_waits_for_nothing():
    stopped = threading.Event()

    def call(cancelled):
        interrupt()
        cancelled.wait(60)
        interrupt()
        stopped.wait(60)

    with pytest.raises(KeyboardInterrupt):
        between_interrupts(call)
    assert not stopped.is_set()
    stopped.set()


def test_answers_refusals_and_the_cells_context_are_as_without_a_thread(fs, root):
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    assert between_interrupts(lambda cancelled: variable.get()) == 7
    (root / "a.py").write_text("one\n")
    with pytest.raises(NotRead, match="not modified"):
        fs("edit a.py --old one --new two")
