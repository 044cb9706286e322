"""The main job on real files: a cell reads, a REST client edits, the gate refuses changed files, undo takes back."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

from jupyter_client import BlockingKernelClient

from tests.browser.chromium import MISSING, find_chromium
from tests.processes import RunningServer, run_cell, running_kernel

PICTURE = Path(__file__).parents[1] / "build" / "demo.png"
STORY = 'def greeting(name):\n    return "Hello, " + name\n\n\nprint(greeting("Ada"))\n'


def step(number: int, text: str) -> None:
    print(f"\n\033[1m{number}. {text}\033[0m" if sys.stdout.isatty() else f"\n{number}. {text}", flush=True)


def shown(text: str) -> None:
    print("\n".join(f"   {line}" for line in text.rstrip().split("\n")), flush=True)


def ask(kernel: BlockingKernelClient, code: str) -> None:
    print(f"   In: {code}")
    shown(run_cell(kernel, code))


def tell(root: Path, server: RunningServer, kernel: BlockingKernelClient) -> None:
    file = root / "hello.py"
    file.write_text(STORY, "utf-8")

    step(1, "A notebook cell reads a file.")
    ask(kernel, "%fs read hello.py")

    step(2, "A REST client of the same session edits it: it was read, so it may.")
    edit = {"path": "hello.py", "old_string": '"Hello, " + name', "new_string": 'f"Hello, {name}!"'}
    status, answer = server.call("POST", "/tools/edit_file", edit)
    shown(f"POST /api/fstools/tools/edit_file -> {status}\n{answer['content'][0]['text']}")
    require(status == 200)
    first = answer["change"]["id"]

    step(3, "Somebody changes the file in between.")
    file.write_text(file.read_text("utf-8").replace('"Ada"', '"Grace"'), "utf-8")
    shown("hello.py now greets Grace.")

    step(4, "The next edit is refused: it says what changed and what to do.")
    edit = {"path": "hello.py", "old_string": "def greeting(name):", "new_string": "def greeting(name: str) -> str:"}
    status, answer = server.call("POST", "/tools/edit_file", edit)
    error = answer["error"]
    changed = error["details"]["diff"]
    shown(
        f"POST /api/fstools/tools/edit_file -> {status} {error['code']}: {error['message']}\n{error['hint']}\n{changed}"
    )
    require(status == 412 and "Grace" in changed)

    step(5, "It reads the file again, and the second attempt lands.")
    require(server.call("POST", "/tools/read_file", {"path": "hello.py"})[0] == 200)
    status, answer = server.call("POST", "/tools/edit_file", edit)
    shown(f"POST /api/fstools/tools/edit_file -> {status}\n{answer['content'][0]['text']}")
    require(status == 200)

    step(6, "The journal has both changes.")
    ask(kernel, "%fs changes")

    step(7, "%fs undo brings the bytes from before the last edit back.")
    before = file.read_text("utf-8").replace("(name: str) -> str:", "(name):")
    ask(kernel, "%fs undo hello.py")
    require(file.read_text("utf-8") == before)

    step(8, "The first edit cannot be undone over what the person wrote since.")
    ask(kernel, f"%fs undo {first}")
    require("Grace" in file.read_text("utf-8"))
    shown("\nhello.py, at the end:\n" + file.read_text("utf-8"))


def show_in_jupyterlab(root: Path, server: RunningServer) -> None:
    """Show an edit that arrives in an open notebook while its person types, and the panel with the steps above."""
    if importlib.util.find_spec("playwright") is None or find_chromium() is None:
        print(f"\nNo picture of JupyterLab: Playwright is not installed, or there is {MISSING}.")
        return
    from tests.picture import photograph

    PICTURE.parent.mkdir(exist_ok=True)
    photograph(server, root, PICTURE)
    print(f"\nWhat a person sees in JupyterLab: {PICTURE}")


def require(condition: bool) -> None:
    if not condition:
        raise SystemExit("\nThe demo did not go as told above.")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="fstools-demo-") as folder:
        root = Path(folder, "work")
        root.mkdir()
        for name in ("config", "data", "runtime"):
            os.environ[f"JUPYTER_{name.upper()}_DIR"] = str(Path(folder, name))
        os.environ["IPYTHONDIR"] = str(Path(folder, "ipython"))
        server = RunningServer(root, interface=True)
        try:
            server.wait()
            with running_kernel(root) as kernel:
                tell(root, server, kernel)
            show_in_jupyterlab(root, server)
        finally:
            server.stop()
    print("\nDone: nothing was lost, nothing was overwritten unseen.")


if __name__ == "__main__":
    main()
