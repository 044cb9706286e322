"""Public clients of MCP read, edit, are refused, repair and see a picture, over HTTP and over the stdio bridge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.media.samples import picture
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / ".venv" / "clients"
SCRIPT = Path(__file__).with_name("rounds.py")
INSPECTOR = FOLDER / "node" / "node_modules" / ".bin" / "mcp-inspector"
# Clients of the SDK's first version cannot be installed beside those of its second.
ENVIRONMENTS = {
    "new": ("official SDK", "fastmcp", "pydantic-ai", "inspector"),
    "old": ("langchain-mcp-adapters", "openai-agents"),
}
ROUNDS = [
    (name, client, way) for name, clients in ENVIRONMENTS.items() for client in clients for way in ("http", "stdio")
]
STEPS = ("refused", "read", "edited", "picture")
VARIABLES = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


def test_public_clients_are_refused_read_edit_and_see_a_picture(tmp_path, monkeypatch, capsys):
    """All at once against one server: its start and the clients' imports take most of the time.

    `make clients` prints it.
    """
    if not (FOLDER / ".installed").exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no {FOLDER}: run `make clients`")
    for name in VARIABLES:
        (tmp_path / name.lower()).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    root = tmp_path / "root"
    root.mkdir()
    server = RunningServer(root, "--FsToolsConfig.durable=False")
    try:
        server.wait()
        met = run_all(server, root, tmp_path)
    finally:
        server.stop()
    with capsys.disabled():
        sys.stdout.write("\n" + "".join(f"{line}\n" for line in map(told, met)))
    assert [(one["client"], one["transport"]) for one in met] == [(client, way) for _, client, way in ROUNDS]
    assert not [one for one in met if not went_well(one)]


def told(one):
    steps = "  ".join(f"{step}: {one[step].split(chr(10))[0][:44]}" for step in STEPS if step in one)
    return f"{one['client']:<24}{one['transport']:<7}{one.get('seconds', '-'):>5} s  {one.get('problem', steps)}"


def went_well(one):
    return (
        "problem" not in one
        and "not_read" in one["refused"]
        and "Read the file" in one["refused"]
        and "1\tone" in one["read"]
        and "Edited" in one["edited"]
        and one["pictures"] == 1
        and "60×40 pixels" in one["picture"]
    )


def run_all(server, root, home):
    """The results of each client, in the order of the rounds."""
    found, processes = {}, []
    for name in ENVIRONMENTS:
        asked = {
            "url": f"{server.url}/mcp",
            "command": [str(Path(sys.executable).with_name("jupyter-fstools")), "mcp", "--root", str(root)],
            "environment": {"PATH": os.environ["PATH"], **{each: os.environ[each] for each in VARIABLES}},
            "inspector": str(INSPECTOR),
            "rounds": [prepared(server, root, client, way) for kind, client, way in ROUNDS if kind == name],
        }
        (home / f"{name}.json").write_text(json.dumps(asked))
        words = [FOLDER / name / "bin" / "python", "-W", "ignore", SCRIPT, home / f"{name}.json"]
        processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home))
    for process in processes:
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err.decode()[-3000:]
        found |= {(one["client"], one["transport"]): one for one in map(json.loads, out.splitlines())}
    return [found[client, way] for _, client, way in ROUNDS if (client, way) in found]


def prepared(server, root, client, way):
    """A folder and a token of the round's own."""
    name = f"{client}-{way}".replace(" ", "-")
    (root / name).mkdir()
    (root / name / "a.txt").write_text("one\ntwo\n")
    (root / name / "a.png").write_bytes(picture())
    status, token = server.call("POST", "/tokens", {"name": name})
    assert status == 201
    return {"client": client, "transport": way, "token": token["token"], "folder": name}
