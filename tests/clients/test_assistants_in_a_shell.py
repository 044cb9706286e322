"""Claude Code, Codex and Gemini CLI themselves, with the configuration that `connect` writes and a scripted model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.scripted_models import GenerateContent, Messages, Responses, Scripted, ScriptedModel, served
from tests.documents.media.samples import picture
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / ".venv" / "clients" / "shell"
PROGRAMS = FOLDER / "node_modules" / ".bin"
VARIABLES = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
LONG = "".join(f"line {number} of a file that is longer than some clients show\n" for number in range(1500))
TOOLS = {"read_file", "write_file", "edit_file", "glob", "grep", "list_files", "read_notebook", "edit_notebook", "undo"}


def script(path):
    """A refusal, a read, an edit, a picture, and a text that is shown in windows."""
    edit = {"path": path, "edits": [{"old_string": "one", "new_string": "eins"}]}
    read = [Scripted("read_file", {"path": one}) for one in (path, "a.png", "long.txt")]
    return [Scripted("edit_file", edit), read[0], Scripted("edit_file", edit), *read[1:]]


class Program(NamedTuple):
    """An assistant's program.

    Attributes:
        model: its model's dialect.
        command: the arguments that run it once; `prepare` may add to them.
        prepare: given its home and the model's address, writes its other settings; gives its environment.
    """

    model: type[ScriptedModel]
    command: list[str]
    prepare: Callable[[Path, str], dict[str, str]]


def prepare_claude(home, url):
    quiet = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    more = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url}
    return dict.fromkeys(quiet, "1") | more


def prepare_codex(home, url):
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f"""
model = "gpt-5.5"
model_provider = "stand_in"
check_for_update_on_startup = false
model_providers.stand_in = {{ name = "stand-in", base_url = "{url}/v1", env_key = "KEY", wire_api = "responses" }}

[analytics]
enabled = false

[features]
plugins = false
""")
    return {"KEY": "none"}


def prepare_gemini(home, url):
    (home / ".gemini").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}


# A run without a person can ask nobody; on a busy machine a command takes longer than Codex waits by default.
CODEX = [f"mcp_servers.jupyter.{said}" for said in ('default_tools_approval_mode="approve"', "startup_timeout_sec=60")]
ASSISTANTS = {
    "claude-code": Program(Messages, ["claude", "-p", "Go on.", "--allowedTools", "mcp__jupyter"], prepare_claude),
    "codex": Program(
        Responses, ["codex", "exec", "--skip-git-repo-check", "-c", CODEX[0], "-c", CODEX[1], "Go on."], prepare_codex
    ),
    "gemini-cli": Program(GenerateContent, ["gemini", "-p", "Go on.", "--skip-trust", "--yolo"], prepare_gemini),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Separate Jupyter folders, and no network: requests that would leave this machine meet a closed port."""
    home = tmp_path_factory.mktemp("jupyter", numbered=True)
    folders = {name: home / name.lower() for name in VARIABLES}
    for folder in folders.values():
        folder.mkdir(mode=0o700)
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    here = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    return {"PATH": os.environ["PATH"], **{name: str(folder) for name, folder in folders.items()}, **nowhere, **here}


@pytest.fixture(scope="module")
def server(environment, tmp_path_factory):
    if not (FOLDER / ".installed").exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no {FOLDER}: run `make clients`")
    root = tmp_path_factory.mktemp("served") / "root"
    root.mkdir()
    (root / "long.txt").write_text(LONG)
    (root / "a.png").write_bytes(picture())
    server = RunningServer(root, "--FsToolsConfig.durable=False", environment=environment)
    server.root = root
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("way", [[], ["--stdio"]], ids=["http", "stdio"])
@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistant_is_refused_reads_edits_and_sees(name, way, server, environment, tmp_path):
    program = ASSISTANTS[name]
    # Both ways share one session, because the token is named after the client: each has a file of its own.
    path = f"{name}{''.join(way)}.txt"
    (server.root / path).write_text("one\ntwo\n")
    model = program.model(script(path))
    with served(model) as url:
        own = {**environment, "HOME": str(tmp_path), **program.prepare(tmp_path, url)}
        where = ["--root", str(server.root), "--write", "--wait", "0"]
        run([Path(sys.executable).with_name("jupyter-fstools"), "connect", name, *where, *way], own, tmp_path)
        run([PROGRAMS / program.command[0], *program.command[1:]], own, tmp_path)
    assert set(model.tools) == TOOLS
    refused, read, edited, seen, long = model.shown
    assert f"not_read: {path}" in refused.text and "Read the file" in refused.text.replace("\\n", "\n")
    assert "1\tone\n2\ttwo" in read.text
    assert f"Edited {path}" in edited.text
    assert (server.root / path).read_text() == "eins\ntwo\n"
    assert seen.pictures == 1 and "60×40 pixels" in seen.text
    assert shown_to_the_end(long.text)


def shown_to_the_end(text):
    """Whether the model was shown every line before the announced offset, or else all lines."""
    more = re.search(r"Go on with offset=(\d+)", text)
    last = int(more[1]) - 1 if more else 1500
    return last > 400 and all(f"\n{number}\tline {number - 1} of" in text for number in range(1, last + 1))


def run(words, environment, folder):
    done = subprocess.run(
        words,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
