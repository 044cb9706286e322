"""The tools never write the files that the server's settings come from, and the server tells where they lie."""

from __future__ import annotations

import pytest
from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import DeferredConfigString

from jupyter_fstools.config import FsToolsConfig
from tests.processes import RunningServer

pytestmark = pytest.mark.slow
SETTINGS = "c.FsToolsConfig.approval = 'never'\nc.FsToolsConfig.default_deny_write = []\n"


@pytest.fixture
def server(tmp_path):
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "harmless.py").symlink_to("settings.py")
    running = RunningServer(tmp_path, f"--config={tmp_path}/settings.py")
    running.wait()
    yield running
    running.stop()


def test_no_tool_writes_the_file_that_the_settings_come_from_whatever_they_say(server, tmp_path):
    for path in ("settings.py", "harmless.py"):
        server.call("POST", "/tools/read_file", {"path": path})
        status, refused = server.call("POST", "/tools/write_file", {"path": path, "content": "evil"})
        assert (status, refused["error"]["code"]) == (403, "denied")
    assert server.call("POST", "/tools/write_file", {"path": "other.py", "content": "x"})[0] == 200
    assert (tmp_path / "settings.py").read_text() == SETTINGS
    said = server.output()
    assert f"Settings of jupyter_fstools can come from {tmp_path}/settings.py" in said


@pytest.mark.parametrize(
    ("option", "approval"), [("always", "always"), ("*.py", ["*.py"]), ('["*.py", "/a/"]', ["*.py", "/a/"])]
)
@pytest.mark.filterwarnings("ignore:.*for containers is deprecated")  # traitlets' older form of a list.
def test_an_option_gives_approval_a_word_a_rule_or_a_list(option, approval):
    given = Config({"FsToolsConfig": {"approval": DeferredConfigString(option)}})
    assert FsToolsConfig(config=given).approval == approval


@pytest.mark.parametrize("option", ["sometimes", "Always", '["always", "*.py"]'])
@pytest.mark.filterwarnings("ignore:.*for containers is deprecated")  # As above.
def test_a_misspelt_or_added_word_for_approval_is_refused_not_taken_as_a_rule(option):
    with pytest.raises(TraitError, match="approval"):
        FsToolsConfig(config=Config({"FsToolsConfig": {"approval": DeferredConfigString(option)}}))


@pytest.mark.parametrize(
    ("option", "rules"), [("*.py", ["*.py"]), ("[ab].py", ["[ab].py"]), ("['*.py', '/a/']", ["*.py", "/a/"])]
)
@pytest.mark.filterwarnings("ignore:.*for containers is deprecated")  # As above.
def test_an_option_gives_a_deny_rule_or_a_list_of_them(option, rules):
    given = Config({"FsToolsConfig": {"deny_read": DeferredConfigString(option)}})
    assert FsToolsConfig(config=given).deny_read == rules
