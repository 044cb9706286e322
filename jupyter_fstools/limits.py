"""Limits how much one call may read, show and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def setting(default: Any, help: str, least: float = 1) -> Any:
    """A dataclass field that an administrator can set; a number must be at least `least`."""
    return field(default=default, metadata={"help": help, "least": least})


@dataclass(frozen=True)
class Limits:
    """The limits of the tools; every one is a setting."""

    read_seconds: float = setting(20.0, "Maximum seconds for reading one file.", 0.1)
    full_read_bytes: int = setting(256 << 10, "Largest file that is read without offset and limit, in bytes.")
    read_lines: int = setting(2000, "Lines shown when the call gives no limit.")
    max_output_bytes: int = setting(256 << 10, "Maximum bytes of text that one call shows.")
    mcp_output_bytes: int = setting(
        28 << 10,
        "Maximum bytes of text in one MCP answer to a client that cuts longer ones (cutting_clients).",
        1024,
    )
    max_line_length: int = setting(
        2000, "Characters of one line that are shown when the call gives no max_line_length; the rest is cut."
    )
    max_edit_bytes: int = setting(1 << 30, "Largest file that is edited or that an edit makes, in bytes.")
    max_write_bytes: int = setting(64 << 20, "Maximum bytes of content that one call writes.")
    list_entries: int = setting(1000, "Entries listed when the call gives no limit.")
    max_list_entries: int = setting(10_000, "Maximum entries, files or matching lines that one call lists.")
    grep_matches: int = setting(250, "Matching lines shown when the call gives no limit.")
    max_search_bytes: int = setting(
        32 << 20, "Largest file that a search of a folder reads, in bytes; a file named in the call is always searched."
    )
    search_seconds: float = setting(
        20.0, "Maximum seconds for a search or a listing; what was found by then is shown.", 0.1
    )
    max_image_pixels: int = setting(
        1568, "Longest side of a picture that is shown, in pixels; larger ones are scaled down."
    )
    max_image_bytes: int = setting(
        3 << 20, "Largest picture that is shown, in bytes; larger ones are compressed or scaled down.", 1024
    )
    max_document_bytes: int = setting(64 << 20, "Largest picture or PDF that is opened, in bytes.")
    document_seconds: float = setting(20.0, "Maximum seconds for decoding a picture or the pages of a PDF.", 0.1)
    lock_seconds: float = setting(30.0, "Seconds that a call waits for a file that another call has locked.", 0)
    execute_seconds: float = setting(120.0, "Seconds that a command may run when the call gives no timeout.", 0.1)
    max_execute_seconds: float = setting(600.0, "Longest timeout that a call may set for a command, in seconds.", 0.1)
    execute_output_bytes: int = setting(
        64 << 10,
        "Maximum bytes of a command's output that are shown: half from its beginning, half from its end.",
        1024,
    )
    execute_approval_seconds: float = setting(
        120.0, "Maximum seconds that a command waits for a person's approval.", 0.1
    )


@dataclass(frozen=True)
class StoreLimits:
    """How much a store keeps; every one is a setting. A reader is a user's session."""

    max_receipts: int = setting(1000, "Receipts kept per session; the least recently used are dropped first.")
    # The bound per session is not enough, as readers choose the names of their sessions.
    max_all_receipts: int = setting(100_000, "Receipts kept in all; the least recently used are dropped first.")
    journal_max_changes: int = setting(10_000, "Changes kept in the journal, not counting those that wait.")
    journal_max_bytes: int = setting(256 << 20, "Maximum bytes of the journal: diffs, and what undoing needs.")
    journal_max_days: float = setting(30, "Days that a change is kept once it is made or decided.", 0)
    max_proposals: int = setting(1000, "Changes that may wait for a person's decision, in all.")
    max_proposal_bytes: int = setting(128 << 20, "Maximum bytes of all changes that wait.")
    session_proposals: int = setting(200, "Changes of one session that may wait for a person's decision.")
    session_proposal_bytes: int = setting(64 << 20, "Maximum bytes of the changes of one session that wait.")
