"""An assistant is connected from JupyterLab: a public MCP client works with the configuration that the dialog shows."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import axe_finds
from tests.browser.test_keyboard_and_themes import CONTRAST, READABLE
from tests.legs import NEWEST

CLIENT = Path(__file__).parents[2] / ".venv" / "clients" / "new" / "bin" / "python"
READ = """
import asyncio, json, sys
from fastmcp import Client

async def main():
    async with Client(json.load(sys.stdin)) as client:
        print((await client.call_tool("read_file", {"path": sys.argv[1]})).content[0].text)

asyncio.run(main())
"""

requires_the_client = pytest.mark.skipif(not CLIENT.exists() and "CI" not in os.environ, reason="run `make clients`")


def read_by_a_client(configuration, path, environment):
    """Output of a fastmcp script that reads a file with the configuration as it was shown."""
    [entry] = configuration["mcpServers"].values()
    if "command" in entry:
        entry["env"] |= {name: value for name, value in environment.items() if name.startswith("JUPYTER_")}
    done = subprocess.run(
        [CLIENT, "-W", "ignore", "-c", READ, path],
        input=json.dumps(configuration),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


ROLES = {"Name of its token and session": "textbox", "Only these paths": "textbox"}


def field(dialog, label):
    return dialog.get_by_role(ROLES.get(label, "combobox"), name=label, exact=True)


@requires_the_client
def test_a_program_is_connected_and_its_first_call_is_told(desk, lab, folder):
    path = folder.write("a.txt", "hello\n")
    dialog = desk.page.get_by_role("dialog")
    for way in ("http", "stdio"):
        name = f"{folder.session}-{way}"
        desk.run("Connect an Assistant…")
        expect(field(dialog, "Program")).to_be_focused()
        expect(field(dialog, "Name of its token and session")).to_have_value("claude-code")
        field(dialog, "Program").select_option("generic")
        expect(field(dialog, "Name of its token and session")).to_have_value("generic")
        field(dialog, "Reaches the server by").select_option(way)
        field(dialog, "It may").select_option("read")
        field(dialog, "The token ends").select_option(label="after 1 day")
        field(dialog, "Only these paths").fill(f"/{folder.name}/")
        field(dialog, "Name of its token and session").fill("two words")
        desk.photograph(f"asked_{way}")
        assert axe_finds(desk.page, ".jp-fstools-Connect") == []
        dialog.get_by_role("button", name="Make its token").click()
        expect(dialog.get_by_role("alert")).to_contain_text("name: takes 1 to 128 letters")
        expect(field(dialog, "Only these paths")).to_have_value(f"/{folder.name}/")
        field(dialog, "Name of its token and session").fill(name)
        dialog.get_by_role("button", name="Make its token").click()
        expect(dialog.get_by_role("status")).to_have_text("Waiting for the first call of Another client…")
        configuration = json.loads(dialog.get_by_role("group", name="Configuration").inner_text())
        assert axe_finds(desk.page, ".jp-fstools-Connect") == []
        assert "hello" in read_by_a_client(configuration, path, lab.environment)
        expect(dialog.get_by_role("status")).to_have_text("Another client has called: it works.")
        desk.photograph(f"works_{way}")
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_have_count(0)
        [made] = [one for one in lab.call("GET", "/tokens")[1]["tokens"] if one["name"] == name]
        assert (made["tools"], made["paths"], made["session"]) == ("read", [f"/{folder.name}/"], name)
        assert made["expires_at"] - made["created_at"] == 86400


@pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)
def test_the_configuration_is_copied_with_one_press(window, folder):
    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.panel.get_by_role("button", name="Connect an assistant…").click()
    dialog = window.page.get_by_role("dialog")
    field(dialog, "Program").select_option("codex")
    field(dialog, "Name of its token and session").fill(folder.session)
    dialog.get_by_role("button", name="Make its token").click()
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    copied = window.page.evaluate("navigator.clipboard.readText()")
    assert copied == dialog.get_by_role("group", name="Configuration").text_content()
    assert copied.startswith(f'[mcp_servers."jupyter-{folder.session}"]')
    expect(dialog.get_by_role("link", name="How Codex documents it")).to_have_attribute("target", "_blank")


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Dark High Contrast"])
def test_the_dialog_can_be_read_in_a_dark_theme(desk, folder, choose_theme, theme):
    choose_theme(theme)
    dialog = desk.page.get_by_role("dialog")
    desk.run("Connect an Assistant…")
    field(dialog, "Name of its token and session").fill(folder.session)
    desk.photograph("asked")
    assert field(dialog, "Only these paths").evaluate(CONTRAST, "::placeholder") >= READABLE
    assert axe_finds(desk.page, ".jp-fstools-Connect") == []
    dialog.get_by_role("button", name="Make its token").click()
    expect(dialog.get_by_role("group", name="Configuration")).to_contain_text("mcpServers")
    desk.photograph("made")
    assert axe_finds(desk.page, ".jp-fstools-Connect") == []
