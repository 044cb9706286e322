"""Fixtures for every test: separate Jupyter and IPython folders, and hypothesis without deadlines."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.gate.policy import Policy, Rules
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.limits import Limits, StoreLimits
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import TOOLS, ToolResult, call_tool

pytest_plugins = ("pytest_jupyter.jupyter_server",)

# No deadlines anywhere: a busy machine is not a failure. In CI the examples are the same in every run.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

PRIVATE_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
STARTED = {"shared_server", "kernel"}
TESTS = Path(__file__).parent
SLOW_FOLDERS = {"browser", "cloud", "docs", "notebooks"}
INHERITED = ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTER_NO_CONFIG", "JUPYTER_PREFER_ENV_PATH")


@pytest.fixture
def jp_asyncio_loop(request: pytest.FixtureRequest) -> Any:
    """The event loop of pytest-jupyter, which makes one for every test, only for tests that could use it."""
    if "jp_environ" in request.fixturenames or inspect.iscoroutinefunction(request.function):
        return request.getfixturevalue("jp_asyncio_loop")
    return None


@pytest.fixture
def jp_server_cleanup(request: pytest.FixtureRequest, jp_asyncio_loop: Any) -> None:
    """The end of a server of pytest-jupyter, which makes servers only to end them, for tests that could have one."""
    if jp_asyncio_loop is not None:
        request.getfixturevalue("jp_server_cleanup")


@pytest.fixture
def jp_nbconvert_templates() -> None:
    """No copy of nbconvert's templates: no test asks a server of pytest-jupyter to convert a notebook."""


@pytest.fixture(autouse=True)
def private_jupyter(monkeypatch, tmp_path_factory):
    """Keep the test away from the user's Jupyter; outside `tmp_path`, which tests use as a root to list.

    Server tests get the folders of pytest-jupyter's `jp_environ` instead, which is set up later and so wins.
    """
    home = tmp_path_factory.mktemp("jupyter")
    for name in PRIVATE_FOLDERS:
        (home / name.lower()).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in os.environ:
        if name in INHERITED or name.startswith(("JPY_", "FSTOOLS_", "JUPYTER_FSTOOLS_")):
            monkeypatch.delenv(name)
    return home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with a server, a kernel or a browser as slow."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in SLOW_FOLDERS or not STARTED.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Freeze the collected tests, which stay to the end: the garbage collector need not scan them again and again."""
    gc.collect()
    gc.freeze()


class Caller:
    """Calls tools in one folder; a refusal is raised."""

    def __init__(self, workspace: Workspace, root: Path) -> None:
        self.workspace = workspace
        self.root = root

    def __call__(self, name: str, **arguments: Any) -> ToolResult:
        return call_tool(self.workspace, name, arguments)

    def refused(self, code: str, name: str, **arguments: Any) -> FsToolsError:
        """The refusal of a call with this code; if it could have changed a file, it must say that it did not."""
        with pytest.raises(FsToolsError) as caught:
            self(name, **arguments)
        assert caught.value.code == code, caught.value
        if not TOOLS[name].reads_only:
            assert "not modified" in caught.value.message
        return caught.value

    def put(self, path: str, data: str | bytes) -> Path:
        """Write a file as an outsider does."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def got(self, path: str) -> bytes:
        """A file's bytes, as an outsider sees them."""
        return (self.root / path).read_bytes()

    def session(self, name: str, user: str = "ada") -> Caller:
        """The same folder for another reader."""
        return Caller(self.workspace.for_reader(Reader(user, name)), self.root)


@pytest.fixture
def make_call(tmp_path: Path) -> Iterator[Callable[..., Caller]]:
    """Makes a caller of tools in a new folder; keyword arguments go to Policy, Limits and Rules by their names."""
    opened = ExitStack()

    def make(**settings: Any) -> Caller:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        chosen = {
            part: part(**{name: settings[name] for name in settings if name in inspect.signature(part).parameters})
            for part in (Policy, Limits, Rules, StoreLimits)
        }
        workspace = Workspace(
            LocalDisk(root, durable=False),
            settings.get("store") or InMemoryStore(chosen[StoreLimits]),
            FileLocks(tmp_path / "locks", timeout=chosen[Limits].lock_seconds),
            chosen[Policy],
            Reader("ada", "default"),
            limits=chosen[Limits],
            rules=chosen[Rules],
        )
        return Caller(opened.enter_context(workspace), root)

    with opened:
        yield make


@pytest.fixture
def call(make_call: Callable[..., Caller]) -> Caller:
    """Calls tools in a new folder with the default settings."""
    return make_call()
