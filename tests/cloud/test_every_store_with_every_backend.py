"""The gate over each store with files in each place."""

from __future__ import annotations

import pytest

from jupyter_fstools import open_workspace
from jupyter_fstools.testing.gate_contract import GateContract

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("store", ("memory", "sqlite", "postgresql"))
@pytest.mark.parametrize("backend", ("file", "memory", "s3", "az", "gs"))
class TestGate(GateContract):
    @pytest.fixture
    def open_files(self, backend, store, request, tmp_path):
        folder = tmp_path / "root"
        folder.mkdir()
        where = {"file": f"file://{folder}", "memory": "memory://"}.get(backend)
        kept = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/store.sqlite"}.get(store)
        where = where or request.getfixturevalue(backend)
        kept = kept or request.getfixturevalue("take_database")()
        return lambda **settings: open_workspace(where, store=kept, durable=False, **settings)
