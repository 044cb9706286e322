"""Files below one folder of the disk: the contract, and features that only a disk has."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.testing.backend_contract import BackendContract


class TestByDescriptors(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path):
        return LocalDisk(tmp_path, openat=True)


class TestByPaths(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path):
        return LocalDisk(tmp_path, openat=False)


class TestIgnoringCase(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path):
        return LocalDisk(tmp_path, case_insensitive=True, durable=False)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no memory disk")
class TestOnAMemoryDisk(BackendContract):
    @pytest.fixture
    def backend(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            yield LocalDisk(folder)
