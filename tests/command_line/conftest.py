"""Real servers in a home of their own, and the command as a shell starts it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from jupyter_fstools.command_line.app import main
from tests.processes import RunningServer

JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
COMMAND = [str(Path(sys.executable).with_name("jupyter")), "fstools"]


@dataclass
class Home:
    """Jupyter's folders of one user, and a folder for their files."""

    path: Path

    @property
    def files(self) -> Path:
        return self.path / "files"

    @property
    def environment(self) -> dict[str, str]:
        return {name: str(self.path / name.lower()) for name in JUPYTER_FOLDERS}

    @property
    def runtime(self) -> Path:
        return self.path / "jupyter_runtime_dir"

    @contextmanager
    def server(self, root: Path, *options: str, token: str | None = None):
        """A running server; its URL is the one below which the tools are."""
        with pytest.MonkeyPatch.context() as patch:
            for name, folder in self.environment.items():
                patch.setenv(name, folder)
            server = RunningServer(root, "--FsToolsConfig.durable=False", *options, token=token)
        try:
            server.wait()
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()

    def start(self, *words: str, folder: Path | None = None, **more: Any) -> subprocess.Popen[bytes]:
        """The command, started in a folder."""
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            **self.environment,
            **more.pop("env", {}),
        }
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | more
        return subprocess.Popen([*COMMAND, *words], cwd=folder or self.files, env=environment, **pipes)

    def run(self, *words: str, folder: Path | None = None, given: bytes = b"", **more: Any) -> Ran:
        """The command, run to its end."""
        with self.start(*words, folder=folder, **more) as process:
            out, err = process.communicate(given, timeout=60)
            return Ran(process.returncode, out.decode(), err.decode())

    def talk(self, script: Callable[[ClientSession], Awaitable[Any]], *words: str, folder: Path | None = None) -> Any:
        """Run a script in one session of the official client, over `jupyter fstools mcp`."""

        async def main() -> Any:
            async with self.client(*words, folder=folder) as session:
                return await script(session)

        return asyncio.run(main())

    @asynccontextmanager
    async def client(self, *words: str, folder: Path | None = None):
        parameters = StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "mcp", *words],
            env=self.environment | {"LC_ALL": "C"},
            cwd=folder or self.files,
        )
        with (self.path / "stderr").open("w") as errors:
            async with stdio_client(parameters, errors) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                yield session


@dataclass
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capfd):
    """The command, run in this process: a new one each time would take ten times as long."""

    def run(home: Home, *words: str, folder: Path | None = None, **environment: str) -> Ran:
        for name, value in {**home.environment, **environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder or home.files)
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        return Ran(code, *capfd.readouterr())

    return run


def made_home(path: Path) -> Home:
    for name in JUPYTER_FOLDERS:
        (path / name.lower()).mkdir(mode=0o700)
    (path / "files").mkdir()
    return Home(path)


@pytest.fixture
def home(tmp_path):
    """A home without a server."""
    return made_home(tmp_path)


@pytest.fixture(scope="package")
def served_home(tmp_path_factory):
    """A home whose files are served, for the tests that leave the server as it is."""
    home = made_home(tmp_path_factory.mktemp("served"))
    options = {"max_output_bytes": "10_000_000", "enable_execute": "True", "execute_approval": "False"}
    with home.server(home.files, *(f"--FsToolsConfig.{name}={value}" for name, value in options.items())):
        yield home


@pytest.fixture
def served(served_home, request):
    """The served home, and a folder of the test's own in it."""
    folder = served_home.files / request.node.name.replace("[", "_").replace("]", "")
    folder.mkdir()
    return served_home, folder
