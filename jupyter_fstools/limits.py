"""Limits how much one call may read, show and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def setting(default: Any, help: str, least: float = 1) -> Any:
    """A dataclass's field that an administrator can set, not below `least` if it is a number."""
    return field(default=default, metadata={"help": help, "least": least})


@dataclass(frozen=True)
class Limits:
    """The limits of the tools; every one is a setting."""

    read_seconds: float = setting(20.0, "Seconds that reading one file takes at most.", 0.1)
    full_read_bytes: int = setting(256 << 10, "A file above this is read by windows only.")
    read_lines: int = setting(2000, "Lines shown where the caller names no limit.")
    max_output_bytes: int = setting(256 << 10, "Bytes of text that one call shows at most.")
    mcp_output_bytes: int = setting(
        28 << 10,
        "Bytes of text that one MCP answer shows at most to clients that cut longer ones (cutting_clients).",
        1024,
    )
    max_line_length: int = setting(2000, "Characters shown of one line.")
    max_edit_bytes: int = setting(1 << 30, "A file above this is neither edited nor made.")
    max_write_bytes: int = setting(64 << 20, "Bytes of content that one call writes at most.")
    list_entries: int = setting(1000, "Entries listed where the caller names no limit.")
    max_list_entries: int = setting(10_000, "Entries that one call lists at most.")
    grep_matches: int = setting(250, "Lines found that are shown where the caller names no limit.")
    max_search_bytes: int = setting(32 << 20, "A larger file is searched only if the caller names it.")
    search_seconds: float = setting(20.0, "Seconds a search or a listing takes at most; what it found is shown.", 0.1)
    max_image_pixels: int = setting(1568, "Pixels on the longer side of a picture that is shown at most.")
    max_image_bytes: int = setting(3 << 20, "Bytes of a picture that is shown at most.", 1024)
    max_document_bytes: int = setting(64 << 20, "A picture or PDF above this is not opened.")
    document_seconds: float = setting(20.0, "Seconds that decoding a picture or the pages of a PDF takes at most.", 0.1)
    lock_seconds: float = setting(30.0, "Seconds that a call waits for a file which another call holds.", 0)
    execute_seconds: float = setting(120.0, "Seconds that a command may run where the caller names no time.", 0.1)
    max_execute_seconds: float = setting(600.0, "Seconds that a command may run at most.", 0.1)
    execute_output_bytes: int = setting(
        64 << 10, "Bytes of what a command prints that are shown at most, half of them from the beginning.", 1024
    )
    execute_approval_seconds: float = setting(
        120.0, "Seconds that a command waits for a person's approval at most.", 0.1
    )


@dataclass(frozen=True)
class StoreLimits:
    """How much a store keeps; every one is a setting. A reader is a user's session."""

    max_receipts: int = setting(1000, "Receipts kept per session; the least recently used go first.")
    # Readers choose the names of their sessions.
    max_all_receipts: int = setting(100_000, "Receipts kept in all; the least recently used go first.")
    journal_max_changes: int = setting(10_000, "Changes kept in the journal, those that wait aside.")
    journal_max_bytes: int = setting(256 << 20, "Bytes kept in the journal to undo changes.")
    journal_max_days: float = setting(30, "Days that a change is kept.", 0)
    max_proposals: int = setting(1000, "Changes that may wait for a person's decision, in all.")
    max_proposal_bytes: int = setting(128 << 20, "Bytes of the changes that wait, in all.")
    session_proposals: int = setting(200, "Changes of one session that may wait for a person's decision.")
    session_proposal_bytes: int = setting(64 << 20, "Bytes of the changes of one session that wait.")
