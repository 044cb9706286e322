"""The panel works in every JupyterLab that the package is tested with."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import unfold
from tests.legs import LEGS


@pytest.mark.parametrize("leg", LEGS, indirect=True)
def test_a_change_appears_in_the_panel_of_every_jupyterlab(window, folder):
    folder.write("a.py", "x = 1\n")
    change = folder.change("a.py", "x = 1", "x = 2")
    expect(unfold(window.card(change["path"]))).to_contain_text("x = 2")
