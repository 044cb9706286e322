"""Takes every step that the gate's rules require, in straight-line code: the least cost of any Python implementation.

The rule that requires a step is quoted beside it. Features that the benchmarks' files lack (links, CRLF, other
encodings) are looked for and refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import sqlite3
import stat
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import orjson

Gate = tuple[int, str, str, sqlite3.Connection, threading.Lock]
"""The root's descriptor, its real path, the folder of the locks, the store, and the lock that serialises its use."""
Found = tuple[int, bytes, bytes, dict[str, Any], dict[str, Any], str]
"""Offset, removed and inserted bytes; the diff, the text shown from now on, and the snippet."""

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE receipts (
    reader TEXT, key TEXT, version TEXT, sha TEXT, shown BLOB, used INTEGER, PRIMARY KEY (reader, key)
) WITHOUT ROWID;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY, revision INTEGER, key TEXT, reader TEXT, at REAL, status TEXT, body BLOB, undo BLOB
);
CREATE INDEX followed ON changes (revision);
CREATE INDEX unfinished ON changes (key) WHERE status = 'pending';
CREATE TABLE open_documents (key TEXT, page TEXT, saved INTEGER, PRIMARY KEY (key, page)) WITHOUT ROWID;
"""
_RECEIPT = """
SELECT version, sha, shown, EXISTS (SELECT 1 FROM changes WHERE key = receipts.key AND status = 'pending'),
EXISTS (SELECT 1 FROM open_documents WHERE key = receipts.key) FROM receipts
WHERE reader = ? AND key = ?
"""
_PENDING = """
INSERT INTO changes SELECT NULL, NULL, ?, ?, ?, 'pending', ?, ?
WHERE NOT EXISTS (SELECT 1 FROM open_documents WHERE key = ? AND NOT saved)
"""
_APPLIED = """
UPDATE changes SET status = 'applied', revision = (SELECT coalesce(max(revision), 0) + 1 FROM changes)
WHERE number = ? AND status = 'pending'
"""
_PUT = "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?)"
_READER = "user session"
_DENIED = re.compile(r"(^|/)(\.ssh|\.gnupg|\.git|\.ipynb_checkpoints|\.ipython)(/|$)|(^|/)(jpserver-.*\.json|\.\w+rc)$")
_PLACEHOLDER = re.compile(r"^\W*\.\.\. ?(rest of|existing|remaining|unchanged)\b", re.MULTILINE | re.IGNORECASE)
_CONTEXT = 64


@contextmanager
def opened(root: Path) -> Iterator[Gate]:
    """A gate over a folder, with a store and locks of its own beside it, removed at the end."""
    beside = root.parent / "floor"
    beside.mkdir()
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    store = sqlite3.connect(beside / "store", isolation_level=None, check_same_thread=False)
    try:
        with closing(store):
            store.executescript(_SCHEMA)
            yield folder, os.path.realpath(root), str(beside), store, threading.Lock()
    finally:
        os.close(folder)
        for path in beside.iterdir():
            path.unlink()
        beside.rmdir()


def note(gate: Gate, name: str, shown: dict[str, Any]) -> None:
    """Leave a receipt for what was shown of a file."""
    root, real, _, store, turn = gate
    status = os.stat(name, dir_fd=root)
    sha = hashlib.sha256(Path(real, name).read_bytes()).hexdigest()
    with turn:
        store.execute(_PUT, (_READER, f"{real}/{name}", _version(status), sha, orjson.dumps(shown), time.time_ns()))


def read(gate: Gate, arguments: dict[str, Any], *, only_data: bool) -> dict[str, Any]:
    """Show a whole text file, and leave a receipt."""
    root, real, _, store, turn = gate
    key, name = _checked(real, arguments, {"path", "force", "limit", "line_numbers"})
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=root)
    try:
        status = _regular(file)
        with turn:
            row = store.execute(_RECEIPT, (_READER, key)).fetchone()
        data = _whole(file, status)
    finally:
        os.close(file)
    text = data.decode()
    total = text.count("\n") + (not text.endswith("\n"))
    # "Proof that a reader was shown a file: canonical path, fingerprint, stat, the line ranges shown, when."
    if row is None or row[0] != _version(status):
        note(gate, name, {str(number): line for number, line in enumerate(text.split("\n"), 1)})
    about = {"success": True, "path": name, "kind": "text", "content": text, "file_size": len(data), "eol": "lf"}
    lines = {"total_lines": total, "lines_read": total, "start_line": 1, "end_line": total, "next_offset": None}
    answer = {"tool": "read_file", "data": {**about, **lines, "truncated": False}, "change": None}
    if only_data:
        return answer
    # "If the body contains the closing tag, the tag gets a suffix"; "the shown text has no \r".
    if "</read_file>" in text or "\r" in text:
        raise ValueError("not in this benchmark")
    told = f'<read_file path="{name}" totalLines="{total}">\n{text}</read_file>'
    return {**answer, "content": [{"type": "text", "text": told}]}


def edited(
    gate: Gate, found: Callable[[bytes, dict[str, Any], dict[str, Any]], Found], durable: bool, **arguments: Any
) -> dict[str, Any]:
    """Replace one exact string; `found` says where it is, in a text (`in_text`) or in a cell (`in_cell`)."""
    root, real, locks, store, turn = gate
    key, name = _checked(real, arguments, {"path", "old_string", "new_string", "cell_id", "edit_mode"})
    # "From draft to commit one lock per canonical path, across threads and processes; the lock table is bounded."
    lock = os.open(f"{locks}/{zlib.crc32(key.encode()) % 512}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    file = -1
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=root)
        status = _regular(file)
        data = _whole(file, status)
        # "A draft is refused not_read without a receipt, stale when the fingerprint differs"; stat is the fast path.
        with turn:
            version, sha, shown, unfinished, is_open = store.execute(_RECEIPT, (_READER, key)).fetchone()
        if unfinished or is_open or (version != _version(status) and hashlib.sha256(data).hexdigest() != sha):
            raise ValueError("to be settled, open, or stale")
        at, removed, inserted, diff, shown, snippet = found(data, arguments, orjson.loads(shown))
        after = b"".join((data[:at], inserted, data[at + len(removed) :]))
        now = hashlib.sha256(after).hexdigest()
        # "One's changes are taken back, in a document that went on living too": the place's context, and whether it is
        # unique.
        place = after[max(0, at - _CONTEXT) : at + len(inserted) + _CONTEXT]
        undo = b"%d %d %d\n%b%b" % (at, len(removed), after.count(place) == 1, removed, place)
        # "Before a file is replaced the store holds a pending change with what it takes to finish or take it back."
        change = {"path": name, "tool": "edit", "before": [sha, len(data)], "after": [now, len(after)], "diff": diff}
        with turn:
            begun = store.execute(_PENDING, (key, _READER, time.time(), orjson.dumps(change), undo, key))
        if begun.rowcount != 1:
            raise ValueError("unsaved")
        number = begun.lastrowid
        landed = _replaced(root, name, file, status, after, durable)
        # "An edit keeps what was shown and adds the lines it wrote"; the journal says that the change is applied.
        with turn, store:
            store.execute("BEGIN IMMEDIATE")
            store.execute(_APPLIED, (number,))
            store.execute(_PUT, (_READER, key, _version(landed), now, orjson.dumps(shown), time.time_ns()))
    finally:
        if file >= 0:
            os.close(file)
        os.close(lock)
    # "content is what a model is shown, data the same as structure, change (with its FileDiff) for people and panels."
    text = f"Edited {name}: 1 replacement.\n{snippet}"
    answer = {"replacements": [1], "snippet": snippet, "outside_shown_lines": []}
    return {"content": [{"type": "text", "text": text}], "data": answer, "change": {**change, "id": number}}


def in_text(data: bytes, arguments: dict[str, Any], shown: dict[str, Any]) -> Found:
    """An exact string of a text file, its lines before and after, and what was shown from now on."""
    old, new = arguments["old_string"].encode(), arguments["new_string"].encode()
    # "binary, encoding: names the byte offset"; "arguments with LF or CRLF match either".
    data.decode()
    if b"\0" in data or b"\r" in data or b"\r" in old or b"\r" in new:
        raise ValueError("not in this benchmark")
    at = _once(data, old, new)
    # "hunks: [{old_start, old_count, new_start, new_count, rows: [{kind, old, new, text}]}]", from the known position.
    first, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at + len(old))
    number, start = data.count(b"\n", 0, first) + 1, first
    for _ in range(3):
        start = data.rfind(b"\n", 0, max(0, start - 1)) + 1
    lines = data[start:first].decode().split("\n")[:-1], data[first:end].decode().split("\n")
    below = data[end + 1 : end + 1000].decode("utf-8", "replace").split("\n")[:3]
    added = (data[first:at] + new + data[at + len(old) : end]).decode().split("\n")
    diff = _diff(number - len(lines[0]), lines[0], lines[1], added, below if below != [""] else [])
    shift = len(added) - len(lines[1])
    if shift:
        last = number + len(lines[1])
        shown = {str(int(at) + (shift if int(at) >= last else 0)): text for at, text in shown.items()}
    shown.update({str(number + at): text for at, text in enumerate(added)})
    return at, old, new, diff, shown, "\n".join([f"{row['new']}\t{row['text']}" for row in diff["rows"] if row["new"]])


def in_cell(data: bytes, arguments: dict[str, Any], shown: dict[str, Any]) -> Found:
    """An exact string of a cell, in a notebook as Jupyter writes it: two spaces begin a cell, and no string can."""
    wanted = arguments["cell_id"]
    # "Cells are named by cell_id; duplicates are ambiguous"; nothing else in the file is parsed.
    marker = b'"id": ' + orjson.dumps(wanted)
    at = data.find(marker)
    start, end = data.rfind(b"\n  {", 0, at) + 1, data.find(b"\n  }", at) + 4
    cell = orjson.loads(data[start:end])
    if at < 0 or cell["id"] != wanted or data.find(marker, at + 1) >= 0:
        raise ValueError("no such cell, or not the only one")
    source, old, new = "".join(cell["source"]), arguments["old_string"], arguments["new_string"]
    at = _once(source.encode(), old.encode(), new.encode())
    after = source.replace(old, new)
    # "A changed code cell loses its outputs and execution count"; "the result is validated before it is written".
    cell |= {"source": after.splitlines(keepends=True), "outputs": [], "execution_count": None}
    if cell.keys() != {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}:
        raise ValueError("no code cell")
    inserted = "  " + json.dumps(cell, indent=1, ensure_ascii=False).replace("\n", "\n  ")
    # "Diff of a change: per cell (id, index, action, line hunks)."
    number = source.count("\n", 0, at)
    lines, now = source.split("\n"), after.split("\n")
    last, more = number + old.count("\n") + 1, len(now) - len(lines)
    above, below = lines[max(0, number - 3) : number], lines[last : last + 3]
    diff = _diff(number - len(above) + 1, above, lines[number:last], now[number : last + more], below)
    index = data.count(b"\n  {", 0, start)
    # "Receipts hold a fingerprint per cell"; a bounded copy of the text shown.
    shown[wanted] = [hashlib.sha256(after.encode()).hexdigest(), after]
    return start, data[start:end], inserted.encode(), {"cell": wanted, "index": index, **diff}, shown, after


def _checked(real: str, arguments: dict[str, Any], known: set[str]) -> tuple[str, str]:
    """The canonical path, and the name in the root: the benchmarks' files need no folder opened on the way."""
    # "Unknown arguments are invalid"; "deny rules hold for every tool"; "containment by real path components".
    name = arguments["path"]
    if arguments.keys() - known or _DENIED.search(name) or "/" in name or name in ("", ".", ".."):
        raise ValueError("refused")
    return f"{real}/{name}", name


def _regular(file: int) -> os.stat_result:
    """The status of what was opened without following a link, and without waiting."""
    # "Device files, FIFOs and sockets are refused without blocking."
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("no file")
    return status


def _whole(file: int, status: os.stat_result) -> bytes:
    data = os.read(file, status.st_size + 1)
    if len(data) != status.st_size:
        raise ValueError("it changes while it is read")
    return data


def _version(status: os.stat_result) -> str:
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def _once(data: bytes, old: bytes, new: bytes) -> int:
    # "Exact, literal, unique; overlapping matches count"; "placeholders that were not in the old file are refused".
    at = data.find(old)
    if at < 0 or data.find(old, at + 1) >= 0 or old == new or _PLACEHOLDER.search(new.decode()):
        raise ValueError("not there, or not alone, or nothing to do")
    return at


def _diff(first: int, above: list[str], removed: list[str], added: list[str], below: list[str]) -> dict[str, Any]:
    old, rows = first + len(above), list[dict[str, Any]]()
    rows += [{"kind": "context", "old": first + at, "new": first + at, "text": text} for at, text in enumerate(above)]
    rows += [{"kind": "remove", "old": old + at, "new": 0, "text": text} for at, text in enumerate(removed)]
    rows += [{"kind": "add", "old": 0, "new": old + at, "text": text} for at, text in enumerate(added)]
    under, now = old + len(removed), old + len(added)
    rows += [{"kind": "context", "old": under + at, "new": now + at, "text": text} for at, text in enumerate(below)]
    counts = {"added": len(added), "removed": len(removed), "old_count": under + len(below) - first}
    return {"old_start": first, **counts, "new_count": now + len(below) - first, "rows": rows}


def _replaced(root: int, name: str, file: int, old: os.stat_result, after: bytes, durable: bool) -> os.stat_result:
    # "Temp file in the same directory, fsync, mode/owner/xattrs copied, replace the target, fsync the directory."
    # "A read-only file is refused by its mode bits."
    if not old.st_mode & 0o222:
        raise ValueError("read-only")
    hidden = f".~{secrets.token_hex(8)}"
    made = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=root)
    try:
        status = os.fstat(made)
        if (status.st_uid, status.st_gid) != (old.st_uid, old.st_gid) or os.listxattr(file) or old.st_nlink > 1:
            raise ValueError("not in this benchmark")
        os.fchmod(made, stat.S_IMODE(old.st_mode))
        os.write(made, after)
        if durable:
            os.fsync(made)
        # "Just before replacing, the file is checked again; if an outsider was faster: conflict, nothing written."
        if _version(os.stat(name, dir_fd=root, follow_symlinks=False)) != _version(old):
            raise ValueError("conflict")
        os.rename(hidden, name, src_dir_fd=root, dst_dir_fd=root)
    except BaseException:
        os.unlink(hidden, dir_fd=root)
        os.close(made)
        raise
    landed = os.fstat(made)
    if durable:
        os.fsync(root)
    os.close(made)
    return landed
