"""Edits of large files take the memory of small ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("edit_in_little_memory.py")
SIZE = 1 << 30  # The largest file that is edited.


@pytest.mark.skipif(sys.platform == "win32", reason="resource is there on POSIX only")
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_an_edit_of_one_place_in_a_large_file_takes_little_memory(tmp_path, ending):
    if shutil.disk_usage(tmp_path).free < 3 * SIZE:
        pytest.skip("the file and its new version need 2 GiB of disk")
    block = (b"x" * 62 + ending) * 16_384
    with (tmp_path / "large.txt").open("wb") as file:
        for number in range(SIZE // len(block) - 1):
            file.write(block if number != 150 else block + b"the one place" + ending)
    command = [sys.executable, str(PROGRAM), str(tmp_path), "large.txt"]
    grown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROGRAM.parents[2]).stdout
    assert int(grown) < 96 << 20
    with (tmp_path / "large.txt").open("rb") as file:
        file.seek(150 * len(block) + len(block))
        assert file.read(16) == b"another" + ending + b"place" + ending + b"x" * (9 - 2 * len(ending) - 5)
    (tmp_path / "large.txt").unlink()
