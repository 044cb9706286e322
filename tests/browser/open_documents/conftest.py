"""Documents that the tests of this folder open in the shared window."""

from __future__ import annotations

import pytest

from tests.browser.open_documents.documents import Notebook, notebook_text


@pytest.fixture
def desk(desk):
    """The shared window; at the end it must not have asked its person anything."""
    yield desk
    assert desk.dialogs == []


@pytest.fixture
def open_notebook(desk, folder):
    """Opens a notebook that the assistant has read."""

    def opened(*sources, folder=folder, **members):
        desk.open(folder.write("n.ipynb", notebook_text(*sources, **members)))
        folder.call("read_notebook", "n.ipynb")
        return Notebook(desk)

    return opened
