"""A real JupyterLab in folders of its own, and its page as a person sees it."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Error, expect

from tests.kernel.real_kernel import private_environment
from tests.legs import NEWEST, python_of
from tests.processes import RunningServer

PANEL_TAB = '.lm-TabBar-tab[data-id="jupyter-fstools-activity"]'
CARD = ".jp-fstools-Card"
AXE = Path(__file__).parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
# No news, and no check for extensions to build, which starts a program for each page.
PAGE_CONFIG = {"buildCheck": False, "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
# JupyterLab 4.2 measures the toolbar of a cell that is gone meanwhile, asks a kernel that is ended, and puts the
# keyboard into a notebook that was closed.
EXPECTED_UNCAUGHT = re.compile(
    "at .*_cellToolbarOverlapsContents|Canceled future for (debug|kernel_info)_request|"
    r"null \(reading 'footer'\)"
)
# Refusals are expected; the debugger asks a restarting kernel in vain, and a kernel that ends closes the channels of
# widgets that the page has forgotten. JupyterLab measures the toolbar of a document that is closed meanwhile.
EXPECTED_ERRORS = re.compile(
    "Failed to load resource: the server responded with a status of 4|"
    "Could not restore the debugger state: Canceled future|"
    "Comm not found for comm id|"
    "Error while computing the ReactiveToolbar TypeError: Cannot read properties of null"
)
NOTE_DIALOGS = """() => {
  window.dialogs = [];
  const note = () => document.querySelectorAll(".jp-Dialog:not([data-noted])").forEach(dialog => {
    dialog.dataset.noted = "yes";
    window.dialogs.push(dialog.textContent);
    // Shown when a room takes more than 5 seconds to load, as on a busy machine.
    [...dialog.querySelectorAll("button")].find(button => button.textContent === "Continue waiting")?.click();
  });
  addEventListener("DOMContentLoaded", () =>
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true }));
}"""
OPEN = """async path => {
  const widget = await jupyterapp.commands.execute("docmanager:open", { path });
  await widget.context.ready;
}"""
CLEAR = """async () => {
  const { commands, shell } = jupyterapp;
  const opened = () => [...shell.widgets("main")].filter(widget => !widget.node.querySelector(".jp-Launcher"));
  for (const widget of opened()) {
    if (widget.context) {
      await widget.context.sessionContext.shutdown();
      widget.context.model.dirty = false;
    }
    widget.close();
  }
  while (opened().length) {
    await new Promise(requestAnimationFrame);
  }
  const panel = document.querySelector(".jp-fstools-Panel");
  panel?.querySelector('[data-action="clear-filter"]:not([hidden])')?.click();
  panel?.querySelector(".jp-WindowedPanel-outer")?.scrollTo(0, 0);
  panel?.querySelectorAll('[data-action="fold"][aria-expanded="true"]').forEach(fold => fold.click());
  document.activeElement?.blur();
  shell.collapseRight();
  await commands.execute("apputils:dismiss-notification");
  window.dialogs = [];
}"""
THREE_FRAMES = """async () => {
    for (let frame = 0; frame < 3; frame++) {
        await new Promise(requestAnimationFrame);
    }
}"""


class Lab(RunningServer):
    """JupyterLab with the extension; changes to files below a folder `waits` wait for a person.

    The leg selects the JupyterLab version, and whether people edit together in it.
    """

    def __init__(self, home: Path, *options: str, leg: str = NEWEST) -> None:
        self.leg = leg
        self.root = home / "root"
        self.root.mkdir()
        self.environment = private_environment(home)
        for name in ("SETTINGS", "WORKSPACES"):
            self.environment[f"JUPYTERLAB_{name}_DIR"] = str(home / name.lower())
        page = Path(self.environment["JUPYTER_CONFIG_DIR"], "labconfig", "page_config.json")
        page.parent.mkdir()
        page.write_text(json.dumps(PAGE_CONFIG))
        given = (
            *("--FsToolsConfig.approval=waits/", "--FsToolsConfig.durable=False"),
            *("--LabApp.expose_app_in_browser=True", *options),
        )
        super().__init__(self.root, *given, environment=self.environment, python=python_of(leg), interface=True)
        self.wait()

    def stop(self, seconds: float = 10) -> None:
        """End it, by a kill if needed: a Jupyter server that ends while a page requests contents hangs.

        Its event loop stops, so nothing ends anyio's worker threads (jupyterlab/jupyterlab#10442).
        """
        with suppress(subprocess.TimeoutExpired):
            super().stop(seconds)

    def wait_until_remembered(self, page, *values):
        """Wait until JupyterLab has saved the workspace that a reloaded page restores."""
        folder = Path(self.environment["JUPYTERLAB_WORKSPACES_DIR"])
        for _ in range(1500):
            saved = [file.read_text().replace(" ", "") for file in folder.glob("*.jupyterlab-workspace")]
            if any(all(value in text for value in values) for text in saved):
                return
            page.wait_for_timeout(20)
        raise AssertionError(f"JupyterLab saved {saved}")

    def decide(self, change, decision):
        return self.call("POST", f"/changes/{change['id']}/{decision}")

    def proposed(self):
        return self.call("GET", "/changes?status=proposed")[1]["changes"]


class Folder:
    """A folder of the lab's root, and an assistant's session of the same name that works in it."""

    def __init__(self, lab, name):
        self.lab = lab
        self.name = name
        self.session = name.rpartition("/")[2]
        (lab.root / name).mkdir()

    def path(self, file):
        return f"{self.name}/{file}"

    def write(self, file, text):
        """Write a file as a person does, beside the tools."""
        place = self.lab.root / self.name / file
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8")
        return self.path(file)

    def text(self, file):
        return (self.lab.root / self.name / file).read_text("utf-8")

    def call(self, tool, file, *, session=None, **arguments):
        """Make one call of the assistant; gives the status and the answer."""
        return self.lab.call("POST", f"/tools/{tool}", {"path": self.path(file), **arguments}, session or self.session)

    def change(self, file, old, new, *, session=None):
        """The assistant reads a file and edits it."""
        self.call("read_file", file, session=session)
        status, answer = self.call("edit_file", file, old_string=old, new_string=new, session=session)
        assert status in (200, 202), answer
        return answer["change"]


class LabPage:
    """JupyterLab in a window of its own."""

    def __init__(self, page, lab, pictures, *, path="", prepare=lambda page: None):
        self.page = page
        prepare(page)
        self.complaints = []
        self.pictures = pictures
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", self._note_uncaught)
        page.on("console", self._note)
        page.on("websocket", self._hear)
        page.add_init_script(f"({NOTE_DIALOGS})()")
        self._told, self._known = [], {}
        origin = lab.url.removesuffix("/api/fstools")
        where = f"/tree/{quote(path)}" if path else ""
        page.goto(f"{origin}/lab/workspaces/{pictures.name}{where}?token={lab.token}&reset")
        page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=120_000)
        page.wait_for_selector(PANEL_TAB, timeout=120_000)
        # The first document or launcher takes the keyboard focus when it appears.
        page.wait_for_selector(".jp-LauncherCard, .jp-Document")

    def _note_uncaught(self, error):
        if not EXPECTED_UNCAUGHT.search(error.stack):
            self.complaints.append(f"uncaught: {error.stack}")

    def _note(self, said):
        if said.type == "error" and not EXPECTED_ERRORS.match(said.text):
            self.complaints.append(f"console: {said.text}")

    def _hear(self, socket):
        """Note what the page tells of its documents, as soon as the server knows."""
        if not socket.url.partition("?")[0].endswith("/api/fstools/documents"):
            return

        def tell(message):
            if message.startswith('{"browser"'):
                self._told = json.loads(message)["documents"]

        def know(message):
            if message.startswith('{"known"'):
                self._known = {one["path"]: one for one in self._told}

        socket.on("framesent", tell)
        socket.on("framereceived", know)
        socket.on("close", lambda _: self.forget())

    def wait_until_known(self, path, saved=True):
        """Wait until the server knows that a document is open, and saved or not; `saved` None: no longer open."""
        for _ in range(1500):
            found = self._known.get(path)
            if (found and found["saved"]) is saved:
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"the server knows {self._known}")

    def forget(self):
        """Forget the documents told so far: the server that heard of them is gone."""
        self._known = {}

    @property
    def dialogs(self):
        """The dialogs shown so far, except the question for a kernel, and that about a room which loads slowly."""
        shown = self.page.evaluate("() => window.dialogs")
        return [text for text in shown if "No Kernel" not in text and "Continue waiting" not in text]

    def show(self, path):
        """Open a file as its double click in the file browser does."""
        self.page.evaluate(OPEN, path)

    def open(self, path):
        """Open a file, and wait until the server knows that it is open."""
        self.show(path)
        self.wait_until_known(path)

    def go_to(self, folder):
        """Show a folder in the file browser."""
        self.page.evaluate('path => jupyterapp.commands.execute("filebrowser:go-to-path", { path })', folder)

    def close_all(self):
        """Close all documents, saved or not."""
        self.page.evaluate(CLEAR)

    def is_cleared(self):
        """Reset the window: nothing is open, asked, reported, selected or waiting; returns whether that worked."""
        try:
            self.page.unroute_all()
            self.page.mouse.move(0, 0)
            for _ in range(self.page.locator(".jp-Dialog, .lm-Menu").count()):
                self.page.keyboard.press("Escape")
            self.page.evaluate(CLEAR)
            self.page.wait_for_selector(f"{PANEL_TAB}:not([data-jp-fstools-waiting])")
            expect(self.page.locator(".jp-Dialog, .Toastify__toast")).to_have_count(0)
        except (AssertionError, Error):
            return False
        self.complaints.clear()
        return True

    def reload(self):
        """Load the page again, and wait until JupyterLab has opened the documents of before and that of the address."""
        self.page.reload()
        self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")
        self.page.wait_for_selector(".jp-FileBrowser:not(.jp-mod-restoring)", state="attached")

    def choose_theme(self, theme):
        """Choose a theme as its entry in the menu does."""
        self.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
        # A second change of theme within 200 ms would remove the splash twice, and report an error.
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    @property
    def panel(self):
        return self.page.locator(".jp-fstools-Panel")

    @property
    def cards(self):
        return self.panel.locator(CARD)

    @property
    def waiting(self):
        """The line that says how many changes wait."""
        return self.panel.locator(".jp-fstools-Panel-waiting")

    def open_panel(self):
        if not self.panel.is_visible():
            self.page.click(PANEL_TAB)
        expect(self.panel).to_be_visible()
        return self

    def list_only(self, folder):
        """List the entries of one folder: recent ones of other tests may push them out of sight."""
        with self.page.expect_response(lambda answer: "match=" in answer.url):
            self.panel.locator('[data-filter="path"]').fill(folder.session)
        self.page.evaluate(THREE_FRAMES)

    def card(self, path, kind="change"):
        """The newest card of a file."""
        title = self.page.get_by_title(path, exact=True)
        return self.panel.locator(f'{CARD}[data-kind="{kind}"]').filter(has=title).first

    def card_of(self, change):
        """The card of one change, where a newer one of the same file may still arrive."""
        return self.panel.locator(f'{CARD}[data-change-id="{change["id"]}"]')

    def turn(self, session):
        """The newest summary of a session's turn."""
        return self.panel.locator(".jp-fstools-Turn", has_text=session).first

    def run(self, command):
        """Run a command from JupyterLab's palette."""
        self.page.keyboard.press("Control+Shift+KeyC")
        self.page.locator(".lm-CommandPalette-input").fill(command)
        # Enter runs the marked command, and the mark follows the typed text with a delay.
        expect(self.page.locator(".lm-CommandPalette-item.lm-mod-active", has_text=command)).to_be_visible()
        self.page.keyboard.press("Enter")

    def in_menu_of(self, file, item):
        """Choose an item of a file's context menu in the file browser."""
        self.page.locator(".jp-DirListing-item", has_text=file).click(button="right")
        self.page.locator(".lm-Menu-item", has_text=item).click()

    def photograph(self, name):
        """Keep a picture of the page for a person to look at."""
        self.page.screenshot(path=self.pictures / f"{name}.png")

    @contextmanager
    def complaining(self):
        """Expect errors on the browser's console in this block."""
        before = list(self.complaints)
        yield
        self.complaints = before


def act(card, action):
    """Press one of a card's buttons."""
    card.locator(f'[data-action="{action}"]').click()


def unfold(card):
    """Show a card's diff."""
    act(card, "fold")
    diff = card.locator(".jp-fstools-DiffView").first
    expect(diff).to_be_visible()
    return diff


def axe_finds(page, *parts):
    """Violations that axe-core finds in parts of a page: the rules and the elements."""
    page.add_script_tag(path=AXE)
    found = page.evaluate("parts => axe.run({include: parts.map(part => [part])})", list(parts))
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]
