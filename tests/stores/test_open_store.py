"""The store that a setting names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_fstools.entry_points import open_backend, open_store, store_class
from jupyter_fstools.errors import Invalid, NotADirectory, NotFound
from jupyter_fstools.limits import StoreLimits
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import ANN, receipt_of


def test_a_path_names_a_file(tmp_path):
    store = open_store(f"sqlite:{tmp_path}/s.sqlite")
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "s.sqlite"
    assert not store.path.exists()


def test_no_path_is_jupyters_data_folder(private_jupyter):
    store = open_store("sqlite:")
    store.put_receipt(receipt_of())
    assert Path(private_jupyter, "jupyter_data_dir", "fstools", "store.sqlite").exists()


def test_memory_takes_the_limits():
    store = open_store("memory:", StoreLimits(max_receipts=1))
    for key in "ab":
        store.put_receipt(receipt_of(key))
    assert isinstance(store, InMemoryStore)
    assert store.was_dropped(ANN, "a")


@pytest.mark.parametrize("where", ["", "sqlite", "redis:", "/a/path", "sqlite:relative.db", "memory:x"])
def test_what_names_no_store_is_refused_with_what_does(where):
    with pytest.raises(Invalid) as refused:
        open_store(where)
    assert "sqlite:" in refused.value.hint or "memory:" in refused.value.hint


def test_opening_imports_neither_sqlite_nor_jupyter_for_a_store_in_memory():
    code = (
        "import sys; from jupyter_fstools.entry_points import open_store; open_store('memory:')\n"
        "print({'sqlite3', 'jupyter_core', 'pytest', 'filelock'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_without_a_database_or_an_object_store_nothing_of_them_is_imported(tmp_path):
    """The default, from the first read to the undo, loads no driver and no client of theirs."""
    code = (
        "import sys; from jupyter_fstools import call_tool, open_workspace\n"
        f"files = open_workspace({str(tmp_path)!r})\n"
        "done = call_tool(files, 'write_file', path='a.txt', content='x')\n"
        "call_tool(files, 'undo', change_id=done.change.id); files.close()\n"
        "names = {name.removeprefix('jupyter_fstools.') for name in sys.modules}\n"
        "print(sorted(name for name in names if name.startswith(('psycopg', 'obstore', 'stores.postgresql', "
        "'backends.object', 'backends.version_files', 'client', 'websocket'))))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_default_looks_for_no_entry_points(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert store_class("sqlite:").__name__ == "SqliteStore"
    assert type(open_backend(tmp_path)).__name__ == "LocalDisk"


def test_a_root_may_begin_with_the_sign_of_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    assert open_backend("~/project").root_key == open_backend(tmp_path / "project").root_key


@pytest.mark.parametrize(("refusal", "name"), [(NotFound, "nowhere"), (NotADirectory, "a.txt")])
def test_a_root_that_is_no_folder_is_named_in_the_refusal(tmp_path, monkeypatch, refusal, name):
    """A relative one is named whole, as it is sought in the working directory."""
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(refusal, match=f": {re.escape(str(tmp_path / name))}\n"):
        open_backend(name)
