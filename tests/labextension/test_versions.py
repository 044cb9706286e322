"""Both halves of the extension name the same version, so that a page can tell when it is older than its server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jupyter_fstools
from jupyter_fstools import __version__
from tests.labextension.test_payloads import PACKAGE


def test_both_halves_have_one_version() -> None:
    source = (PACKAGE / "src" / "version.ts").read_text("utf-8")
    told = re.findall(r"VERSION = '([^']+)'", source)
    packed = [
        json.loads((PACKAGE / name).read_text("utf-8"))["version"] for name in ("package.json", "package-lock.json")
    ]
    assert [*told, *packed] == [__version__] * 3


def test_what_is_built_has_no_copy_of_the_package_file_beside_the_settings():
    built = Path(jupyter_fstools.__file__).parent / "labextension"
    assert (built / "schemas" / "jupyter-fstools" / "plugin.json").exists()
    assert list(built.rglob("*.orig")) == []
