"""Loading the extension costs a kernel next to nothing."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"pydantic", "nbformat", "jsonschema", "numpy", "jupyter_server", "tornado", "pathspec", "sqlite3"}

LOAD = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
shell.extension_manager.load_extension("jupyter_fstools")
shell.run_cell("1")
print(*sorted(set(sys.modules) - before))
"""


def test_loading_imports_nothing_heavy():
    imported = subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True, text=True).stdout
    modules = set(imported.splitlines()[-1].split())
    assert "jupyter_fstools.kernel.loading" in modules
    assert not {name.partition(".")[0] for name in modules} & (HEAVY - {"sqlite3"})
    assert not modules & {"jupyter_fstools.kernel.magic", "jupyter_fstools.gate.workspace", "jupyter_fstools.config"}


def test_importing_the_package_imports_no_ipython():
    code = "import sys, jupyter_fstools; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {name.partition(".")[0] for name in imported.split()} & (HEAVY | {"IPython", "traitlets"})
