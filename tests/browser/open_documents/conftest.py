"""One window for the tests of a module, in which each of them opens its documents."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Error

from tests.browser.conftest import PATIENCE, PICTURES
from tests.browser.lab import LabPage
from tests.browser.open_documents.documents import Notebook, notebook_text


@pytest.fixture(scope="module")
def desks(browser):
    """By leg, each opened for the first test that asks for it."""
    opened = {}
    yield opened
    for window in opened.values():
        window.page.context.close()


@pytest.fixture
def desk(desks, browser, lab, leg, request):
    """JupyterLab with no document open; at the end nothing may have complained, nor asked its person anything."""
    window = desks.get(leg)
    with suppress(Error):
        if window is not None:
            window.close_all()
    if window is None or window.page.is_closed() or window.dialogs:
        pictures = PICTURES / f"{request.module.__name__.rpartition('.')[2]}_{leg}"
        pictures.mkdir(parents=True, exist_ok=True)
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(PATIENCE)
        window = desks[leg] = LabPage(context.new_page(), lab, pictures)
    window.complaints.clear()
    yield window
    window.photograph(request.node.name)
    assert window.complaints == [], f"{window.complaints}\n{lab.output()[-8000:]}"
    assert window.dialogs == []


@pytest.fixture
def open_notebook(desk, folder):
    """Opens a notebook that the assistant has read."""

    def opened(*sources, folder=folder, **members):
        desk.open(folder.write("n.ipynb", notebook_text(*sources, **members)))
        folder.call("read_notebook", "n.ipynb")
        return Notebook(desk)

    return opened
