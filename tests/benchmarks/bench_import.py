"""Startup cost of jupyter-fstools in a kernel and in a server."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.harness import Result, measure, output_of, peak_memory, reported

HEAVY = ("nbformat", "jsonschema", "pydantic", "numpy", "jupyter_server")

LOAD = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
start = time.perf_counter()
shell.extension_manager.load_extension("jupyter_fstools")
print(time.perf_counter() - start)
assert "fs" in shell.magics_manager.magics["line"], "the magic is not there"
print(*sorted(set(sys.modules) - before))
"""


def load_extension() -> Iterator[Result]:
    """I1: loading takes at most 5 ms and imports nothing heavy."""
    yield measure("I1 %load_ext", load_seconds, target=5, unit="ms", scale=1000)


def load_seconds() -> float:
    seconds, modules = output_of(LOAD).splitlines()
    heavy = set(HEAVY).intersection(modules.split())
    if heavy:
        raise AssertionError(f"%load_ext imports {', '.join(sorted(heavy))}")
    return float(seconds)


SERVE = """
import os, sys, tempfile, time
# With the store where it is by default: any other is opened at once.
folder = tempfile.TemporaryDirectory()
os.environ["JUPYTER_DATA_DIR"] = f"{folder.name}/data"
from jupyter_server.serverapp import ServerApp
app = ServerApp()
given = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root", "--log-level=ERROR",
         f"--ServerApp.root_dir={folder.name}"]
app.jpserver_extensions = {"jupyter_fstools": sys.argv[1] == "ours"}
app.initialize(given, find_extensions=False)
assert ("jupyter_fstools.config" in sys.modules) is (sys.argv[1] == "ours")
print(time.process_time())
"""


def start_server(rounds: int = 5) -> Iterator[Result]:
    """I2: a server that starts takes at most 0.4 s of CPU and 8 MiB more."""
    pairs = [[float(output_of(SERVE, which)) for which in ("ours", "none")] for _ in range(rounds)]
    yield reported("I2 server start, CPU added", [ours - none for ours, none in pairs], target=0.4, unit="s")
    pairs = [[peak_memory(SERVE, which) for which in ("ours", "none")] for _ in range(rounds)]
    yield reported("I2 server start, memory added", [ours - none for ours, none in pairs], target=8, unit="MiB")


BENCHMARKS = {"I1": load_extension, "I2": start_server}
