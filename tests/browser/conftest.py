"""A JupyterLab and its page for all tests of this folder; pictures of what they saw are kept in `screenshots`."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from tests.browser.chromium import MISSING, OPTIONS, find_chromium
from tests.browser.lab import Folder, Lab, LabPage
from tests.legs import NEWEST

PICTURES = Path(__file__).parent / "screenshots"
PATIENCE = 30_000

expect.set_options(timeout=PATIENCE)
_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Remember a failure, so that pictures are made of where it ended."""
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture
def jp_asyncio_loop():
    """No loop of pytest-jupyter's, which no test here needs: Playwright runs its own in the same thread."""


@pytest.fixture
def jp_server_cleanup():
    """Nothing to clean up: the servers are processes of their own."""


@pytest.fixture(scope="session")
def chromium():
    """The path of a Chromium: CHROMIUM, or the first that is found."""
    path = find_chromium()
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    return path


@pytest.fixture(scope="package")
def browser(chromium):
    # Not for the whole session: Playwright's event loop would disturb other tests' loops.
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def leg(request):
    """The JupyterLab environment, and how people edit in it: `parametrize("leg", [...], indirect=True)`.

    By this scope pytest runs all tests of one leg together: not each worker needs each leg's server and window.
    """
    return getattr(request, "param", NEWEST)


@pytest.fixture(scope="package")
def shared_labs(tmp_path_factory):
    """The labs by leg, each started for the first test that asks for it."""
    running = {}
    yield running
    for lab in running.values():
        lab.stop()


@pytest.fixture
def lab(shared_labs, leg, tmp_path_factory):
    """The lab that the tests share; no change waits in it before or after a test."""
    if leg not in shared_labs:
        shared_labs[leg] = Lab(tmp_path_factory.mktemp("lab"), "--FsToolsConfig.enable_execute=True", leg=leg)
    yield shared_labs[leg]
    shared_labs[leg].call("POST", "/changes/reject", {"path": "."})


@pytest.fixture
def own_lab(tmp_path, leg):
    """A lab for one test; name it before `open_lab`, so that the windows are closed first."""
    running = Lab(tmp_path, leg=leg)
    yield running
    running.stop()


@pytest.fixture
def name(request):
    """The test's name, as it can be part of a path."""
    return "".join(sign if sign.isalnum() else "_" for sign in request.node.name.removeprefix("test_"))


@pytest.fixture
def folder(lab, name):
    return Folder(lab, name)


@pytest.fixture
def waits(lab, name):
    """As `folder`, but a change in it waits for a person."""
    (lab.root / "waits").mkdir(exist_ok=True)
    return Folder(lab, f"waits/{name}")


@pytest.fixture
def new_window(browser, lab, name):
    """Opens JupyterLab in a new window with a profile of its own, which the caller closes."""
    pictures = PICTURES / name
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)

    def open_window(lab=lab, *, width=1400, zoom=1, **options):
        size = {"width": width // zoom, "height": 900 // zoom}
        context = browser.new_context(viewport=size, device_scale_factor=zoom)
        context.set_default_timeout(PATIENCE)
        return LabPage(context.new_page(), lab, pictures, **options)

    return open_window


@pytest.fixture
def complaints_of(request):
    """Lists the errors of windows; where there are any, or the test failed, it takes pictures of the windows."""

    def complaints_of(windows):
        complaints = [complaint for window in windows for complaint in window.complaints]
        if complaints or request.node.stash.get(_FAILED, False):
            for number, window in enumerate(windows, 1):
                window.photograph(f"at_the_end_{number}")
        return complaints

    return complaints_of


@pytest.fixture
def open_lab(new_window, complaints_of):
    """Opens JupyterLab in a new window; at the end the pages must not have reported errors."""
    opened = []

    def open_window(*given, **options):
        opened.append(new_window(*given, **options))
        return opened[-1]

    yield open_window
    complaints = complaints_of(opened)
    for window in opened:
        window.page.context.close()
    assert complaints == []


@pytest.fixture(scope="package")
def shared_windows(browser, shared_labs):
    """The windows by leg and name, each opened for the first test that asks for it."""
    opened = {}
    yield opened
    for window in opened.values():
        window.page.context.close()


@pytest.fixture
def share_window(shared_windows, new_window, complaints_of, lab, leg, name):
    """Gives a shared window with JupyterLab in the state of a fresh page; its page must not report errors.

    Each name is a browser of its own, whose window is opened with these options. A test that changes settings read at
    page load, or that breaks its page, uses `open_lab` instead.
    """
    used = []

    def share(which, **options):
        window = shared_windows.get((leg, which))
        if window is None or not window.is_cleared():
            if window:
                window.page.context.close()
            window = shared_windows[leg, which] = new_window(**options)
        window.pictures = PICTURES / name
        used.append(window)
        return window

    yield share
    complaints = complaints_of(used)
    for window in used:
        with suppress(Error):
            window.close_all()  # Closed at once: a blinking caret in an unused window takes a twentieth of a core.
    assert complaints == [], f"{complaints}\n{lab.output()[-8000:]}"


@pytest.fixture
def desk(share_window):
    """A person's window."""
    return share_window("first")


@pytest.fixture
def second_desk(share_window, desk):
    """The window of a second browser."""
    return share_window("second")


@pytest.fixture
def narrow(desk):
    """The person's window when it is half as wide."""
    size = desk.page.viewport_size
    desk.page.set_viewport_size({**size, "width": size["width"] // 2})
    yield desk
    desk.page.set_viewport_size(size)


@pytest.fixture
def choose_theme(desk):
    """Chooses a theme in the person's window, for one test."""
    yield desk.choose_theme
    desk.choose_theme("JupyterLab Light")


@pytest.fixture
def window(desk):
    """The same with the panel open."""
    return desk.open_panel()


@pytest.fixture
def settings(lab):
    """Sets a person's settings for windows opened from now on."""
    written = []

    def write(plugin, **chosen):
        name, _, part = plugin.partition(":")
        file = Path(lab.environment["JUPYTERLAB_SETTINGS_DIR"], name, f"{part}.jupyterlab-settings")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(chosen))
        written.append(file)

    yield write
    for file in written:
        file.unlink()


@pytest.fixture
def measured(name):
    """Tells a person how long something took; no test fails for it."""

    def tell(what, seconds):
        line = f"{what}: {seconds:.2f} s"
        print(line)
        with (PICTURES / name / "measured.txt").open("a") as file:
            file.write(line + "\n")

    return tell
