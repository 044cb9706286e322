"""An assistant, its model a script, mends a repository over MCP; a person approves each step over REST."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.mcp_client import connected
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

FILES = {
    "prices.py": "TAX = 0.19\n\n\ndef gross(net):\n    return net * 1 + TAX\n",
    "stock.py": "def left(stock, sold):\n    return stock - sold\n",
    "tests/test_prices.py": "from prices import gross\n\n\ndef test_gross():\n    assert gross(100) == 119\n",
    "conftest.py": "",
}
CHECK = f"{sys.executable} -m pytest -q -p no:cacheprovider tests"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "shop"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.fixture
def server(root):
    settings = ("enable_execute=True", "approval=always", "structured_content=True")
    running = RunningServer(root, *(f"--FsToolsConfig.{setting}" for setting in settings))
    running.wait()
    yield running
    running.stop()


@contextmanager
def person(server, approves) -> Iterator[list[tuple[str, str, str]]]:
    """A person who looks at waiting changes and decides; gives what they saw and decided."""
    seen: list[tuple[str, str, str]] = []
    gone = threading.Event()

    def decide():
        while not gone.is_set():
            for change in server.call("GET", "/changes?status=proposed")[1]["changes"]:
                decision = "approve" if approves(change) else "reject"
                status, _ = server.call("POST", f"/changes/{change['id']}/{decision}")
                if status == 200:
                    seen.append((change["tool"], change["path"], decision))
            time.sleep(0.05)

    watcher = threading.Thread(target=decide)
    watcher.start()
    try:
        yield seen
    finally:
        gone.set()
        watcher.join()


async def wait_until_written(server, change_id):
    answer = await asyncio.to_thread(server.call, "GET", f"/changes/{change_id}?wait=30")
    return answer[1]["change"]["status"]


async def mend(server, said):
    """Make the calls that a model would make, each chosen by the answer to the one before."""
    async with connected(f"{server.url}/mcp", server.token) as session:

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            said.append((tool, result.is_error, result.content[0].text))
            return result.structured_content

        failing = await call("execute", command=CHECK)
        assert failing["exit_code"] == 1 and "assert" in failing["output"]
        found = await call("grep", pattern=r"def gross", output_mode="files")
        path = found["files"][0]["path"]
        edit = {"path": path, "old_string": "net * 1 + TAX", "new_string": "net * (1 + TAX)"}
        refused = await call("edit_file", **edit)
        assert refused["error"]["code"] == "not_read"
        await call("read_file", path=path)
        proposed = await call("edit_file", **edit)
        assert proposed["status"] == "proposed"
        assert await wait_until_written(server, proposed["change_id"]) == "applied"
        assert (await call("execute", command=CHECK))["exit_code"] == 0
        await call("execute", command="rm -rf .git")


def test_an_assistant_mends_a_failing_test_and_a_person_has_the_say(server, root):
    said = []
    with person(server, approves=lambda change: ".git" not in change["diff"]["hunks"][0]["rows"][-1]["text"]) as seen:
        asyncio.run(asyncio.wait_for(mend(server, said), 120))
    assert (root / "prices.py").read_text("utf-8") == FILES["prices.py"].replace("net * 1 + TAX", "net * (1 + TAX)")
    assert [(tool, failed) for tool, failed, _ in said if failed] == [("edit_file", True), ("execute", True)]
    assert "a person rejected" in said[-1][2] and (root / ".git").is_dir()
    assert seen == [
        ("execute", ".", "approve"),
        ("edit_file", "prices.py", "approve"),
        ("execute", ".", "approve"),
        ("execute", ".", "reject"),
    ]
