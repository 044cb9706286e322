"""Records refused calls without naming what is denied."""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Mapping
from typing import Any

from ..errors import Denied, FsToolsError, OutsideRoot
from ..gate.policy import checked_path
from ..gate.workspace import Workspace
from ..stores.records import Refusal
from .arguments import OTHER_NAMES

_SECRETIVE = (Denied.code, OutsideRoot.code)
_UNTOLD = "what was asked for is not told here"
"""ExpectedContent instead of a message that could name what nobody here may know of."""

_MOST_CHARACTERS = 500
_LONGEST_NAME = 80

_log = logging.getLogger("jupyter_fstools")


def remember(workspace: Workspace, tool: str, arguments: Mapping[str, Any], refusal: FsToolsError) -> None:
    """Keep a refusal in the store; never raises, for the caller is owed the refusal whatever the store does.

    Args:
        workspace: whose call it was.
        tool: the tool's name, as it was called.
        arguments: what it was given.
        refusal: what it raised.
    """
    try:
        named = _named(arguments)
        path = _below_root(workspace, named) if named is not None and refusal.code not in _SECRETIVE else None
        secret = refusal.code in _SECRETIVE or (named is not None and path is None)
        told = Refusal(
            key=workspace.key_of(path or ""),
            path=path or None,
            user=workspace.reader.user,
            session=workspace.reader.session,
            tool=tool[:_LONGEST_NAME],
            code=refusal.code,
            message=_UNTOLD if secret else _told(workspace, refusal.message),
            hint="" if secret else _told(workspace, refusal.hint),
            at=time.time(),
        )
        workspace.store.add_refusal(told)
    except Exception as problem:  # Whatever a broken disk makes the store raise.
        _log.debug("A refusal of %s was not remembered: %s", tool[:_LONGEST_NAME], problem)


def _named(arguments: Mapping[str, Any]) -> str | None:
    """The path among the arguments, if it could be one."""
    named = [value for name, value in arguments.items() if OTHER_NAMES.get(name, name) == "path"]
    try:
        return checked_path(named[0]) if named and isinstance(named[0], str) else None
    except FsToolsError:
        return None


def _below_root(workspace: Workspace, given: str) -> str | None:
    """The path from the root (of the root itself ""), if it may be told; without a look at the disk."""
    path = posixpath.normpath(workspace.path_of(given) or given)
    if path in (".", workspace.key_of("")):
        return ""
    if path == ".." or path.startswith(("/", "../")):
        return None
    return path if workspace.policy.may_read(path, workspace.key_of(path)) else None


def _told(workspace: Workspace, message: str) -> str:
    # The root's own place on the disk is nobody's business, as in changes.
    message = message.replace(workspace.key_of("").rstrip("/") + "/", "")
    return message if len(message) <= _MOST_CHARACTERS else f"{message[: _MOST_CHARACTERS - 1]}…"
