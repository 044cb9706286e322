"""Tools called in a folder whose files pages in this process have open."""

from __future__ import annotations

import pytest

from jupyter_fstools.open_documents.browser import Pages
from tests.open_documents.pages import calls_in


@pytest.fixture
def pages():
    return Pages()


@pytest.fixture
def call(tmp_path, pages):
    with calls_in(tmp_path, pages) as call:
        yield call
