"""Files in memory, by the contract."""

from __future__ import annotations

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.testing.backend_contract import BackendContract, content, names


class TestInMemory(BackendContract):
    @pytest.fixture
    def backend(self):
        return InMemory()


def test_files_can_be_given_at_the_start():
    backend = InMemory({"/folder/a.txt": b"one", "b.txt": b"two"})
    assert names(backend) == ["b.txt", "folder", "folder/a.txt"]
    assert content(backend, "/folder/a.txt") == b"one"


def test_two_of_them_share_no_key():
    assert InMemory().stat("a.txt").key != InMemory().stat("a.txt").key
