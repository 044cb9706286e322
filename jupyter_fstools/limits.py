"""Limits how much one call may read, show and write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of the tools, by name; every one is a setting.

    Attributes:
        read_seconds: how long reading one file takes at most.
        full_read_bytes: a file above this is read by windows only.
        read_lines: lines shown where the caller names no limit.
        max_output_bytes: text shown by one call.
        max_line_length: characters shown of one line.
        max_edit_bytes: a file above this is not edited.
        max_write_bytes: content one call may write.
        list_entries: entries listed where the caller names no limit.
        max_list_entries: entries one call may list.
        grep_matches: lines (or files) one text search shows where the caller names no limit.
        max_search_bytes: a larger file is searched only if it is named.
        search_seconds: how long one search or recursive listing takes at most; what was found by then is shown.
        max_image_pixels: pixels on the longer side of a picture that is shown.
        max_image_bytes: bytes of a picture that is shown.
        max_document_bytes: a larger picture or PDF is not opened.
        document_seconds: how long decoding a picture or the pages of a PDF takes at most.
        lock_seconds: how long a call waits for a file that another call holds.
        execute_seconds: how long a command may run where the caller names no time.
        max_execute_seconds: the longest time a caller may name.
        execute_output_bytes: bytes kept of what a command prints, half of them from the beginning.
        execute_approval_seconds: how long a command waits for a person.
    """

    read_seconds: float = 20.0
    full_read_bytes: int = 256 << 10
    read_lines: int = 2000
    max_output_bytes: int = 256 << 10
    max_line_length: int = 2000
    max_edit_bytes: int = 1 << 30
    max_write_bytes: int = 64 << 20
    list_entries: int = 1000
    max_list_entries: int = 10_000
    grep_matches: int = 250
    max_search_bytes: int = 32 << 20
    search_seconds: float = 20.0
    max_image_pixels: int = 1568
    max_image_bytes: int = 3 << 20
    max_document_bytes: int = 64 << 20
    document_seconds: float = 20.0
    lock_seconds: float = 30.0
    execute_seconds: float = 120.0
    max_execute_seconds: float = 600.0
    execute_output_bytes: int = 64 << 10
    execute_approval_seconds: float = 120.0


@dataclass(frozen=True)
class StoreLimits:
    """How much a store keeps.

    Attributes:
        max_receipts: receipts per reader; the least recently used go first.
        max_all_receipts: receipts of all readers, likewise: readers choose the names of their sessions.
        journal_max_changes: changes in all but proposed ones; the oldest go first.
        journal_max_bytes: bytes of kept splices in all, those of proposed changes aside.
        journal_max_days: age in days.
        max_proposals: proposed changes in all.
        max_proposal_bytes: bytes of their splices in all.
        session_proposals: proposed changes of one reader.
        session_proposal_bytes: bytes of their splices.
    """

    max_receipts: int = 1000
    max_all_receipts: int = 100_000
    journal_max_changes: int = 10_000
    journal_max_bytes: int = 256 << 20
    journal_max_days: float = 30
    max_proposals: int = 1000
    max_proposal_bytes: int = 128 << 20
    session_proposals: int = 200
    session_proposal_bytes: int = 64 << 20
