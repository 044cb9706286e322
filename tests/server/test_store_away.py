"""A server that starts while its database is away, as after a power failure of both."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from jupyter_fstools.config import ENVIRONMENT
from jupyter_fstools.server import SETTING
from tests import postgresql


@pytest.fixture
def database():
    """A database that is not started yet; stopped after the test."""
    with postgresql.folder() as place:
        database = postgresql.Postgresql(place)
        yield database
        database.stop("immediate")


@pytest.fixture
def settings(database):
    return {"store": database.address, "approval": "always"}


async def test_a_server_that_starts_before_its_database_opens_the_tools_once_it_is_there(
    jp_serverapp, jp_ws_fetch, ask, call, database
):
    assert json.loads(os.environ[ENVIRONMENT])["approval"] == "always"
    refused = [await ask("GET", "/tools"), await call("write_file", path="a.txt", content="one\n")]
    refused.append(await ask("GET", "/changes", headers={"Authorization": "Bearer fst_any"}))
    assert [(one.status, one.error["code"]) for one in refused] == [(500, "io")] * 3
    assert "calls work again once it is back" in refused[0].error["hint"]
    for headers in ({}, {"Authorization": "token wrong"}):
        assert (await ask("GET", "/tools", headers=headers)).status == 403
    (await jp_ws_fetch("api", "events", "subscribe")).close()
    assert SETTING not in jp_serverapp.web_app.settings
    database.start()
    together = [call("write_file", path=f"{name}.txt", content="one\n") for name in "abc"]
    assert [one.json["data"]["status"] for one in await asyncio.gather(*together)] == ["proposed"] * 3
