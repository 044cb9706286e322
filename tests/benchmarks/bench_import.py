"""What `%load_ext jupyter_fstools` costs a kernel that is starting."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.harness import Result, measure, output_of

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


BENCHMARKS = {"I1": load_extension}
