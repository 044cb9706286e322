"""Makes receipts and changes to test a store with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..diffs.file_diff import DiffHunk, DiffRow, FileDiff
from ..limits import StoreLimits
from ..stores.protocol import Store
from ..stores.records import Change, ChangedFile, FileState, Reader, Receipt, Refusal, Token

ANN = Reader("ann", "default")
NO_UTF8 = "/root/na\udcefve.txt"

MakeStore = Callable[[StoreLimits], Store]


def receipt_of(key: str = "/root/a.txt", reader: Reader = ANN, **fields: Any) -> Receipt:
    """A receipt with every field set; `fields` override them."""
    given: dict[str, Any] = {
        "version": "1:2:3",
        "text_sha": "t" * 64,
        "exact_sha": "e" * 64,
        "lines": [(1, 20), (40, 41)],
        "views": ["1+20"],
        "cells": {"c1": "f1"},
        "read_at": time.time(),
    }
    return Receipt(user=reader.user, session=reader.session, key=key, **(given | fields))


def change_of(name: str, key: str = "/root/a.txt", reader: Reader = ANN, **fields: Any) -> Change:
    """A change with a diff of one line; `fields` override it."""
    given: dict[str, Any] = {
        "path": key.rpartition("/")[2],
        "tool": "edit_file",
        "created_at": time.time(),
        "status": "applied",
        "before": None,
        "after": FileState(text_sha="t", exact_sha="e", size=3),
        "diff": diff_of_rows(1),
    }
    return Change(id=name, user=reader.user, session=reader.session, key=key, **(given | fields))


def diff_of_rows(characters: int) -> FileDiff:
    """A diff of one line with this number of characters, not all of them ASCII."""
    rows = [DiffRow(kind="add", old=0, new=1, text="é".ljust(characters, "x"))]
    hunk = DiffHunk(old_start=1, old_count=0, new_start=1, new_count=1, rows=rows)
    return FileDiff(path="a.txt", op="edit", added=1, hunks=[hunk])


def two_files(*keys: str) -> list[ChangedFile]:
    """The files of a change of two files."""
    changes = [change_of("", key) for key in keys or ("/root/a.txt", "/root/b.txt")]
    return [file for change in changes for file in change.all_files]


def refusal_of(message: str, key: str = "/root/a.txt", reader: Reader = ANN, **fields: Any) -> Refusal:
    """A refusal; `fields` override it."""
    given: dict[str, Any] = {
        "path": key.rpartition("/")[2],
        "tool": "edit_file",
        "code": "not_read",
        "at": time.time(),
    }
    return Refusal(user=reader.user, session=reader.session, key=key, message=message, **(given | fields))


def token_of(id: str, user: str = "ann", created_at: float = 1.0, **fields: Any) -> Token:
    """A token with every field set."""
    given: dict[str, Any] = {"account": "a", "tools": ["grep"], "paths": ["docs/"], "expires_at": 9.0, **fields}
    return Token(id=id, user=user, name=f"n {id}", session="s", created_at=created_at, **given)


def names(changes: list[Change]) -> list[str]:
    """The changes' ids."""
    return [change.id for change in changes]


class StoreFixtures:
    """The fixtures that the tests of a store need."""

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Makes a new, empty store with the given limits at each call."""
        raise NotImplementedError("give the fixture `make_store`")

    @pytest.fixture
    def store(self, make_store: MakeStore) -> Iterator[Store]:
        """An empty store with the default limits, closed after the test."""
        with make_store(StoreLimits()) as store:
            yield store
