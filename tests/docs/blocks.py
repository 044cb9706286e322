"""Finds the fenced blocks of a Markdown page, and runs or checks each by its language."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from IPython.core.interactiveshell import InteractiveShell
from packaging.requirements import Requirement
from traitlets.config import Config

from jupyter_fstools.config import FsToolsConfig
from jupyter_fstools.errors import FsToolsError
from tests.processes import RunningServer

REPOSITORY = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^(?:<!-- refused: (?P<refused>\w+) -->\n)?"
    r"(?P<indent> *)```(?P<language>[^\s`]*)[^\n`]*\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}},
}


@dataclass(frozen=True)
class Block:
    """One fenced block: where it begins, its language, its text, and the code with which it is refused."""

    place: str
    language: str
    text: str
    refused: str | None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(
            f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}",
            found["language"],
            found["text"],
            found["refused"],
        )
        for found in BLOCK.finditer(text)
    ]


@dataclass
class Reader:
    """A person who follows a page from top to bottom, in a folder with the sample files."""

    folder: Path
    shell: InteractiveShell
    names: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def server(self) -> RunningServer:
        server = RunningServer(self.folder)
        server.wait()
        return server

    def stop(self) -> None:
        if "server" in vars(self):
            self.server.stop()

    def follow(self, block: Block) -> None:
        """Run or check a block.

        Raises:
            KeyError: blocks of this language cannot be run or checked.
        """
        refused = RUNNERS[block.language](self, block.text)
        assert refused == block.refused, f"{block.place}: {refused or 'not refused'}"

    def in_shell(self, text: str) -> str | None:
        """Run a cell; the code with which it was refused."""
        done = self.shell.run_cell(text)
        problem = done.error_before_exec or done.error_in_exec
        if problem is None or isinstance(problem, FsToolsError):
            return problem and problem.code
        raise problem

    def in_python(self, text: str) -> None:
        config = Config()
        self.names |= {"c": config, "get_ipython": lambda: self.shell, "__name__": "page"}
        exec(compile(text, "page", "exec"), self.names)
        assert set(config.FsToolsConfig) <= set(FsToolsConfig.class_trait_names(config=True))
        FsToolsConfig(config=config)

    def in_bash(self, text: str) -> None:
        """Run a block; commands that would install or start something are only checked."""
        lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        rest = [line for line in lines if not is_checked(shlex.split(line, comments=True))]
        if not rest:
            return
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "URL": self.server.url.removesuffix("/api/fstools"),
            "TOKEN": self.server.token,
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(rest)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stdout.startswith('{"error"'), done.stdout

    def with_json(self, text: str) -> None:
        self.connect(json.loads(text))

    def with_toml(self, text: str) -> None:
        self.connect(tomllib.loads(text))

    def connect(self, configuration: dict[str, Any]) -> None:
        """Connect to each MCP server that a client's configuration names."""
        for name in ("mcpServers", "servers", "mcp_servers", "context_servers"):
            for server in configuration.get(name, {}).values():
                said = self.over_http(server) if "url" in server else self.over_stdio(server)
                assert said["result"]["serverInfo"]["name"] == "jupyter-fstools", server

    def over_http(self, server: dict[str, Any]) -> dict[str, Any]:
        assert server["url"].endswith("/api/fstools/mcp")
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers["Authorization"] = f"token {self.server.token}"
        request = Request(f"{self.server.url}/mcp", json.dumps(INITIALIZE).encode(), headers)
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def over_stdio(self, server: dict[str, Any]) -> dict[str, Any]:
        assert self.server.process.poll() is None
        command = [str(Path(sys.executable).with_name(server["command"])), *server["args"]]
        asked = json.dumps(INITIALIZE).encode() + b"\n"
        done = subprocess.run(command, input=asked, cwd=self.folder, stdout=subprocess.PIPE, timeout=60, check=True)
        return json.loads(done.stdout.splitlines()[0])


def is_checked(words: list[str]) -> bool:
    """Check a command that would install or start something; False for one that can be run."""
    match words:
        case ["pip", "install" | "uninstall", *wanted]:
            for one in wanted:
                check_requirement(Requirement(one))
        case ["make", *targets]:
            known = re.findall(r"^(\w+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)
            assert [target for target in targets if "=" not in target and target not in known] == []
        case [".venv/bin/python", "-m", module, *_]:
            assert find_spec(module), module
        case [".venv/bin/pytest", *paths]:
            assert all((REPOSITORY / path).exists() for path in paths)
        case ["jupyter", "lab", *options]:
            assert all(option.startswith("--FsToolsConfig.") for option in options)
        case _:
            return False
    return True


def check_requirement(wanted: Requirement) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    if wanted.name == project["name"]:
        assert wanted.extras <= set(project["optional-dependencies"])


def nothing(reader: Reader, text: str) -> None:
    """Drawings and answers are only read."""


RUNNERS: dict[str, Callable[[Reader, str], str | None]] = {
    "ipython": Reader.in_shell,
    "python": Reader.in_python,
    "bash": Reader.in_bash,
    "json": Reader.with_json,
    "toml": Reader.with_toml,
    "text": nothing,
    "{toctree}": nothing,
    "{include}": nothing,
    "{eval-rst}": nothing,
}
"""By the language of a block; the last ones are Sphinx's."""
