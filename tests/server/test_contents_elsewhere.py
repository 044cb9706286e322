"""A server whose contents are not a folder on this machine: `root_dir` means nothing there."""

from __future__ import annotations

import logging

import pytest
from jupyter_server.services.contents.manager import AsyncContentsManager

from jupyter_fstools.server import SETTING
from jupyter_fstools.server.extension import load


class ContentsElsewhere(AsyncContentsManager):
    """An empty contents manager; it only matters that it is not a folder."""

    async def get(self, path, content=True, type=None, format=None):
        return {"type": "directory", "path": path, "content": []}

    async def dir_exists(self, path):
        return True

    async def file_exists(self, path):
        return False

    async def is_hidden(self, path):
        return False

    async def save(self, model, path):
        raise NotImplementedError

    async def delete_file(self, path):
        raise NotImplementedError

    async def rename_file(self, old_path, new_path):
        raise NotImplementedError


@pytest.fixture
def jp_server_config(jp_server_config):
    jp_server_config["ServerApp"]["contents_manager_class"] = ContentsElsewhere
    return jp_server_config


async def test_the_tools_serve_no_other_folder_instead(jp_serverapp, caplog):
    with caplog.at_level(logging.CRITICAL):
        assert load(jp_serverapp) is None
    assert "ContentsElsewhere" in caplog.text
    assert "c.FsToolsConfig.root" in caplog.text
    assert SETTING not in jp_serverapp.web_app.settings


@pytest.mark.parametrize("settings", [{"root": "memory:"}], indirect=True)
async def test_a_root_of_their_own_makes_them_work(ask, call):
    assert (await call("write_file", path="a.txt", content="one\n")).status == 200
    assert (await call("grep", pattern="one")).json["data"]["matches"]
    said = (await ask("GET", "/")).json
    assert said["contents_path"] is None
