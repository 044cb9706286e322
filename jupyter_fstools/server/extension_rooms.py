"""Hides how the rooms of the two collaboration extensions differ."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

_PAUSE_SECONDS = 0.02


def document_of(room: Any) -> Any:
    """The document that its people share."""
    return room._jupyter_ydoc if hasattr(room, "_jupyter_ydoc") else room._document


def is_loaded(room: Any) -> bool:
    """Whether a room has loaded its file, and is not loading it again."""
    if hasattr(room, "file_api"):
        return bool(room.file_api.content_loaded and not room.file_api.reloading_content)
    return bool(room.ready and not room._update_lock.locked())


def has_seen(room: Any, modified: datetime) -> bool:
    """Whether a room's last load or save was of the file with this modification time."""
    if hasattr(room, "file_api"):
        return bool(room.file_api._last_modified == modified)
    return not room._file._lock.locked() and bool(room._file.last_modified == modified)


def save_at_once(room: Any) -> bool:
    """Save a room that would not save by itself, as it is empty or without autosave; False if it saves by itself."""
    if not hasattr(room, "_save_to_disc"):
        return False  # A room of jupyter-server-documents always saves.
    # The room has the same rule: one page with autosave is enough.
    told = [
        state.get("autosave", True) for state in room.awareness.states.values() if state and isinstance(state, dict)
    ]
    if room.clients and (any(told) or not told) and room._save_delay is not None:
        return False
    room._save_to_disc()
    return True


async def saved(room: Any) -> None:
    """Wait until a room has saved its pending changes, without waiting for a pause in the typing."""
    if hasattr(room, "file_api"):
        while room.file_api.has_unsaved_changes or room.file_api._content_lock.locked():
            await asyncio.sleep(_PAUSE_SECONDS)
    elif room._saving_document is not None and not room._saving_document.done():
        saving = room._save_to_disc()
        if saving is not None:
            await asyncio.wait([saving])


def is_empty(room: Any) -> bool:
    """Whether nobody is in a room."""
    return bool(room.empty) if hasattr(room, "empty") else not room.clients


def last_path(room: Any) -> str | None:
    """The last known path of a room's file; file ids may be inodes, and a replacement has another inode."""
    path: str | None = room.file_api._last_path if hasattr(room, "file_api") else room._file._current_path
    return path


def rooms_of(app: Any) -> dict[str, Any]:
    """An extension's rooms by name, as the extension itself keeps them; none where it failed to load."""
    if getattr(app, "yroom_manager", None) is not None:
        return {room.room_id: room for room in app.yroom_manager.list_document_rooms() if not room.stopped}
    server = getattr(app, "ywebsocket_server", None)
    return dict(server.rooms) if server is not None else {}
