"""Tools called in a folder whose files pages in this process have open."""

from __future__ import annotations

import pytest

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.open_documents.browser import BrowserDocuments, Pages
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from tests.conftest import Caller


@pytest.fixture
def pages():
    return Pages()


@pytest.fixture
def call(tmp_path, pages):
    root = tmp_path / "root"
    root.mkdir()
    backend, store = LocalDisk(root, durable=False), InMemoryStore()
    documents = [BrowserDocuments(pages, backend, store, seconds=0.2)]
    locks = FileLocks(tmp_path / "locks")
    with Workspace(backend, store, locks, Policy(), Reader("ada", "default"), documents=documents) as workspace:
        yield Caller(workspace, root)
