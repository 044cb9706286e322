"""One real kernel for the tests of a module, and shells within the test's own process."""

from __future__ import annotations

import atexit
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.kernel.real_kernel import RealKernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel that loaded the magic by itself; its root is its working directory."""
    running = RealKernel(tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("home"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def one_shell(tmp_path_factory):
    """One shell for all tests: a shell is slow to make, and loading the magic into it again is quick."""
    displayhook = sys.displayhook
    quiet = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(config=quiet, ipython_dir=str(tmp_path_factory.mktemp("ipython")))
    yield shell
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)
    sys.displayhook = displayhook


@pytest.fixture
def make_shell(one_shell, root, monkeypatch):
    """The shell with the magic, its root the working directory; settings are `FsToolsConfig`'s."""
    monkeypatch.chdir(root)

    def load(**settings):
        one_shell.config.FsToolsConfig = Config(settings)
        one_shell.extension_manager.load_extension("jupyter_fstools")
        return one_shell

    yield load
    one_shell.extension_manager.unload_extension("jupyter_fstools")


@pytest.fixture
def fs(make_shell):
    """`fs(line)` and `fs(line, body)`: what the magics answer."""
    shell = make_shell()

    def call(line, body=None):
        return shell.run_line_magic("fs", line) if body is None else shell.run_cell_magic("fs", line, body)

    return call


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return folder
