"""The environment that a command runs in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from jupyter_fstools.errors import Invalid
from jupyter_fstools.execution.run import check_environment, check_text, environment

PLAIN_LOCALE = """
import sys
from jupyter_fstools import call_tool, open_workspace
workspace = open_workspace(sys.argv[1], store="memory:", enable_execute=True, execute_approval=False)
asked = {"command": "echo \\u00fc $WORD > \\u65e5.txt; cat \\u65e5.txt", "env": {"WORD": "\\u00df"}}
ran = call_tool(workspace, "execute", asked).data
assert ran["output"] == "\\u00fc \\u00df\\n", ascii(ran)
"""
SECRETS = (
    "JUPYTER_TOKEN",
    "JUPYTER_TOKEN_FILE",
    "JUPYTERHUB_API_TOKEN",
    "JPY_API_TOKEN",
    "CONFIGPROXY_AUTH_TOKEN",
    "JUPYTER_GATEWAY_AUTH_TOKEN",
    "JUPYTER_GATEWAY_HTTP_PWD",
    "KG_AUTH_TOKEN",
    "PGPASSWORD",
)


@pytest.mark.parametrize("name", SECRETS)
def test_what_opens_the_server_is_kept_back(monkeypatch, name):
    monkeypatch.setenv(name, "the-token")
    assert "the-token" not in environment("/", {}).values()


def test_the_rest_is_handed_on_and_the_callers_own_wins(monkeypatch):
    monkeypatch.setenv("CONDA_PREFIX", "/conda")
    monkeypatch.setenv("EDITOR", "vi")
    given = environment("/folder", {"EDITOR": "ed", "PAGER": "less", "FORCE_COLOR": "1"})
    assert (given["CONDA_PREFIX"], given["EDITOR"], given["PAGER"], given["FORCE_COLOR"]) == (
        "/conda",
        "ed",
        "less",
        "1",
    )
    assert given["PWD"] == "/folder"


def test_colours_that_a_kernel_forces_are_not(monkeypatch):
    for name in ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")
    given = environment("/", {})
    assert given["NO_COLOR"] == "1"
    assert not {"FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"} & set(given)


@pytest.mark.parametrize("added", [{"": "x"}, {"A B": "x"}, {"A=B": "x"}, {"1A": "x"}, {"A\n": "x"}, {"A": "x\0y"}])
def test_what_no_environment_can_hold_is_refused(added):
    with pytest.raises(Invalid) as caught:
        check_environment(added)
    assert caught.value.details["field"] == "env"


def test_a_lone_surrogate_that_stands_for_no_byte_is_refused():
    check_text("command", "echo \udcff")
    with pytest.raises(Invalid, match="lone surrogate"):
        check_text("command", "echo \ud800")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locale")
def test_a_command_is_utf_8_in_a_locale_without_its_characters(tmp_path):
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", PLAIN_LOCALE, tmp_path], check=True, env=os.environ | plain)
    assert (tmp_path / "日.txt").read_text("utf-8") == "ü ß\n"
