"""Every word of the panel, the bar and the comparison is the translator's."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import act, unfold
from tests.browser.test_review_in_place import BEFORE, notebook, rewrite, upper

SOURCES = Path(__file__).parents[2] / "labextension" / "src"
TEXT = r"'((?:[^'\\]|\\.)*)'"
CALLS = re.compile(rf"__\(\s*{TEXT}|_n\(\s*{TEXT},\s*{TEXT}")
LOCALE = "xx-LS"
# Text that is not the extension's own words: files, sessions, code, messages of the server, and times.
DATA = """.jp-fstools-Card-name, .jp-fstools-Card-folder, .jp-fstools-Card-counts, .jp-fstools-Card-refusal,
    .jp-fstools-Card-hint, .jp-fstools-Turn-session, .jp-fstools-Review-session, .jp-fstools-Review-lines,
    .jp-fstools-Diff-code, .jp-fstools-CellDiff-id, .jp-fstools-CellDiff-type, .jp-fstools-ChangeComparison-path,
    .jp-fstools-Decisions li > span:not(.jp-fstools-Card-verb), .jp-fstools-Outcome, .jp-fstools-Decisions-command,
    .jp-fstools-NotebookComparison-columns, .cm-content, .cm-gutters, time,
    [data-filter=session] option:not([value='']), .jp-Toolbar-responsive-opener"""
JUPYTERLABS = "main area toolbar", "main area content"
A_TOOL = re.compile("jp-fstools-Card-detail: [a-z_]+")
UNTRANSLATED = """([parts, data]) => {
    const found = [];
    const look = (node, text, where) => {
        if (/\\p{L}/u.test(text) && !text.includes('⟦')) {
            found.push(`${where}: ${text}`);
        }
    };
    const said = ['aria-label', 'title', 'placeholder', 'alt'];
    for (const part of document.querySelectorAll(parts)) {
        for (const node of [part, ...part.querySelectorAll('*')]) {
            // A title repeats what is cut off: a path, a session.
            const isData = node.closest(data) || node.matches('.jp-fstools-Card-title');
            said.forEach(name => {
                if (!isData && node.hasAttribute(name)) {
                    look(node, node.getAttribute(name), name);
                }
            });
            [...node.childNodes].filter(child => child.nodeType === Node.TEXT_NODE && !isData).forEach(child =>
                look(node, child.data, node.className));
        }
    }
    return [...new Set(found)];
}"""


def pseudo(text):
    return f"⟦{text}⟧"


def catalogue():
    """A language pack in which every text of the source stands in brackets."""
    told = {"": {"domain": "jupyter_fstools", "language": LOCALE, "plural_forms": "nplurals=2; plural=(n != 1);"}}
    for source in SOURCES.rglob("*.ts"):
        for text, one, many in CALLS.findall(source.read_text("utf-8")):
            single, plural = (part.replace("\\'", "'") for part in (text or one, many))
            told[single] = [pseudo(single), *([pseudo(plural)] if plural else [])]
    return told


@pytest.fixture
def translated(open_lab, settings):
    """Opens JupyterLab in another language."""
    settings("@jupyterlab/translation-extension:plugin", locale=LOCALE)
    pack = {"data": {"jupyter_fstools": catalogue()}, "message": ""}

    def prepare(page):
        page.route(f"**/api/translations/{LOCALE}*", lambda route: route.fulfill(json=pack))

    return lambda **options: open_lab(prepare=prepare, **options)


def require_translated(window, *parts):
    found = window.page.evaluate(UNTRANSLATED, [", ".join(parts), DATA])
    assert [one for one in found if not one.endswith(JUPYTERLABS) and not A_TOOL.fullmatch(one)] == []


REVIEW = ".jp-fstools-ReviewBar", ".jp-fstools-Review-other", ".jp-fstools-Review-box"


def test_the_panel_says_everything_in_the_persons_language(translated, waits, folder):
    for file in ("a.py", "b.py", "stale.py"):
        waits.write(file, "x = 1\n")
        waits.change(file, "x", "y")
    waits.write("stale.py", "z = 1\n")
    folder.write("made.py", "x = 1\n")
    folder.call("edit_file", "made.py", old_string="x", new_string="y")
    folder.change("made.py", "x", "y")
    undone = folder.change("made.py", "y", "z")
    folder.lab.decide(undone, "undo")
    window = translated().open_panel()
    window.list_only(folder)
    expect(window.waiting).to_contain_text("⟦")
    unfold(window.card(waits.path("a.py")))
    unfold(window.card(waits.path("stale.py")))
    act(window.turn(folder.session), "fold")
    expect(window.card(folder.path("made.py"), "refusal")).to_be_visible()
    window.photograph("panel")
    require_translated(window, ".jp-fstools-Panel")
    act(window.panel, "clear-filter")
    window.panel.locator(".jp-fstools-CardList .jp-WindowedPanel-outer").evaluate("list => list.scrollTo(0, 0)")
    for command in ("echo hello", "exit 3"):
        with ThreadPoolExecutor() as pool:
            body = {"command": command}
            pool.submit(folder.lab.call, "POST", "/tools/execute", body, folder.session)
            approve = window.panel.locator('.jp-fstools-Card[data-status="proposed"] .jp-mod-command')
            expect(approve).to_be_visible()
            require_translated(window, ".jp-fstools-Panel")
            [waiting] = [one for one in folder.lab.proposed() if one["diff"]["op"] == "execute"]
            folder.lab.decide(waiting, "approve")
        expect(window.card_of(waiting)).to_have_attribute("data-status", "applied")
        expect(window.card_of(waiting).locator(".jp-fstools-Outcome, .jp-fstools-Diff-note").first).to_contain_text("⟦")
    window.photograph("commands")
    require_translated(window, ".jp-fstools-Panel")
    act(window.waiting, "reject-all")
    expect(window.page.locator(".jp-Dialog-header")).to_contain_text("⟦")
    require_translated(window, ".jp-Dialog-header", ".jp-Dialog-body")
    window.page.keyboard.press("Escape")


def test_a_text_and_its_comparison_are_in_the_persons_language(translated, waits, folder):
    for place in (waits, folder):
        place.write("a.py", BEFORE)
        rewrite(place, upper(3, 30))
        window = translated(path=place.path("a.py"))
        expect(window.page.locator(".jp-FileEditor .jp-fstools-Review-controls").first).to_contain_text("⟦")
        window.photograph(f"review_{place.name[:5]}")
        require_translated(window, *REVIEW)
    window.page.evaluate("() => jupyterapp.commands.execute('jupyter-fstools:compare')")
    shown = window.page.locator(".jp-fstools-ChangeComparison:visible")
    expect(shown.locator(".cm-collapsedLines").first).to_contain_text("⟦")
    window.photograph("comparison")
    require_translated(window, ".jp-fstools-ChangeComparison")


def test_cells_and_their_comparison_are_in_the_persons_language(translated, waits):
    waits.write("n.ipynb", notebook(("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3"), ("four", "w = 4")))
    waits.call("read_notebook", "n.ipynb")
    edits = [
        {"cell_id": "one", "new_source": "x = 'one'"},
        {"edit_mode": "insert", "after": "one", "cell_type": "code", "new_source": "print(x)"},
        {"edit_mode": "delete", "cell_id": "two"},
        {"edit_mode": "convert", "cell_id": "three", "cell_type": "markdown"},
        {"edit_mode": "move", "cell_id": "four", "at": "start"},
    ]
    status, answer = waits.call("edit_notebook", "n.ipynb", edits=edits)
    assert status == 202, answer
    window = translated(path=waits.path("n.ipynb"))
    expect(window.page.locator(".jp-fstools-Review-ghost")).to_contain_text("⟦")
    window.photograph("cells")
    require_translated(window, *REVIEW)
    window.page.evaluate("() => jupyterapp.commands.execute('jupyter-fstools:compare')")
    expect(window.page.locator(".jp-fstools-NotebookComparison-cell").first).to_contain_text("⟦")
    window.photograph("comparison")
    require_translated(window, ".jp-fstools-ChangeComparison")
