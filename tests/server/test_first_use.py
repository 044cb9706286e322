"""A server imports and opens the code that serves the tools on first use, not at its start."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from jupyter_fstools.server import ROOM_EVENTS, SETTING

ROOM_SCHEMA = {
    "$id": ROOM_EVENTS,
    "version": "1",
    "title": "What happens to rooms",
    "type": "object",
    "properties": {"action": {"type": "string"}},
}

START = """
import sys
from jupyter_server.serverapp import ServerApp
app = ServerApp.instance()
app.jpserver_extensions = {"jupyter_fstools": True}
given = ["--no-browser", "--port=0", "--allow-root", f"--ServerApp.root_dir={sys.argv[1]}", *sys.argv[2:]]
app.initialize(given, find_extensions=False)
asked = "jupyter_fstools.config", "jupyter_fstools.gate.workspace", "pydantic"
print(*(name for name in asked if name in sys.modules))
"""


FIRST_REQUEST = """
import sys, threading, urllib.request
from jupyter_server.serverapp import ServerApp
app = ServerApp.instance()
app.jpserver_extensions = {"jupyter_fstools": True}
given = ["--no-browser", "--port=0", "--allow-root", "--IdentityProvider.token=t"]
app.initialize([*given, f"--ServerApp.root_dir={sys.argv[1]}"], find_extensions=False)
imported = {True: [], False: []}

class Watch:
    def find_spec(self, name, path=None, target=None):
        imported[threading.current_thread() is threading.main_thread()].append(name)

def ask():
    request = urllib.request.Request(f"{app.connection_url}api/fstools/tools", headers={"Authorization": "token t"})
    try:
        print(urllib.request.urlopen(request, timeout=60).status, len(imported[False]) > 100, imported[True])
    finally:
        app.io_loop.add_callback(app.stop)

sys.meta_path.insert(0, Watch())
app.io_loop.add_callback(threading.Thread(target=ask).start)  # Before the loop runs the port may still be closed.
app.start()
"""


@pytest.mark.slow
def test_the_first_request_imports_nothing_on_the_event_loop(tmp_path, private_jupyter):
    """The loop answers others meanwhile: a second of imports would delay every kernel's messages."""
    said = subprocess.run([sys.executable, "-c", FIRST_REQUEST, tmp_path], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "200 True []"


@pytest.mark.parametrize("body", [b"{}", b'{"path": "a.txt"}' + b" " * 3_000_000])
async def test_the_first_request_is_answered_with_its_body(jp_serverapp, ask, jp_root_dir, body):
    (jp_root_dir / "a.txt").write_text("one\n")
    together = [ask("POST", "/tools/read_file", body) for _ in range(3)]
    answers = await asyncio.gather(*together)
    assert [one.status for one in answers] == [400 if body == b"{}" else 200] * 3


@pytest.mark.slow
def test_a_start_imports_the_settings_alone(tmp_path, private_jupyter):
    said = subprocess.run([sys.executable, "-c", START, tmp_path], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "jupyter_fstools.config"


@pytest.mark.slow
def test_a_start_says_at_once_that_settings_lie_among_the_files_of_the_tools(tmp_path, private_jupyter):
    (tmp_path / "settings.py").write_text("c.FsToolsConfig.read_only = False\n")
    command = [sys.executable, "-c", START, tmp_path, f"--config={tmp_path}/settings.py"]
    started = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"Settings of jupyter_fstools can come from {tmp_path}/settings.py" in started.stderr


async def test_the_first_request_to_the_tools_opens_them_and_no_other_does(jp_serverapp, jp_fetch, ask):
    await jp_fetch("api", "status")
    assert SETTING not in jp_serverapp.web_app.settings
    assert (await ask("GET", "/tools")).status == 200
    assert SETTING in jp_serverapp.web_app.settings


async def test_who_listens_to_events_opens_them(jp_serverapp, jp_ws_fetch):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    assert SETTING in jp_serverapp.web_app.settings
    bus.close()


async def test_a_room_opens_them_for_kernels_must_learn_of_it(jp_serverapp):
    jp_serverapp.event_logger.register_event_schema(ROOM_SCHEMA)
    jp_serverapp.event_logger.emit(schema_id=ROOM_EVENTS, data={"action": "initialize"})
    await jp_serverapp.event_logger.gather_listeners()
    assert SETTING in jp_serverapp.web_app.settings
