"""A stand-in for Google's Cloud Storage: the requests of its XML API that a backend makes, by their documentation.

No emulator on npm, PyPI or in Debian has that API with its preconditions, on which the backend depends.
PyPI's gcp-storage-emulator (looked at: 2026.7.19) takes every PUT, whatever its x-goog-if-generation-match, and lists
nothing over this API; fake-gcs-server, a program in Go, knows preconditions in the JSON API alone.
https://cloud.google.com/storage/docs/xml-api/overview and …/docs/xml-api/reference-headers
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

META = "x-goog-meta-"


class Stored(NamedTuple):
    data: bytes
    generation: int
    kept: dict[str, str]

    @property
    def tag(self) -> str:
        return f'"{hashlib.md5(self.data, usedforsecurity=False).hexdigest()}"'


class Bucket:
    """Objects by key; `handle` answers one request with a status, headers and a body."""

    def __init__(self) -> None:
        self._objects: dict[str, Stored] = {}
        self._generations = itertools.count(1_700_000_000_000_000)
        self._turn = threading.Lock()

    def handle(self, method: str, target: str, headers, body: bytes) -> tuple[int, dict[str, str], bytes]:
        address = urlsplit(target)
        _, _, key = unquote(address.path).lstrip("/").partition("/")
        with self._turn:
            if method == "GET" and not key:
                return 200, {}, self._listed(parse_qs(address.query))
            if method == "PUT":
                return self._put(key, headers, body)
            there = self._objects.get(key)
            if there is None:
                return 404, {}, b""
            if method == "DELETE":
                del self._objects[key]
                return 204, {}, b""
            return _read(there, headers)

    def _put(self, key, headers, body):
        there = self._objects.get(key)
        wanted = headers.get("x-goog-if-generation-match")
        if wanted is not None and int(wanted) != (there.generation if there else 0):
            return 412, {}, b""
        kept = {name: one for name, one in headers.items() if name.lower().startswith((META, "content-type"))}
        made = self._objects[key] = Stored(body, next(self._generations), kept)
        return 200, _named(made), b""

    def _listed(self, query) -> bytes:
        prefix, most = query.get("prefix", [""])[0], 100  # Small pages, so that a listing has several.
        after = query.get("continuation-token", query.get("start-after", [""]))[0]
        delimiter = query.get("delimiter", [""])[0]
        rows: dict[str, str] = {}
        token = ""
        for key in sorted(key for key in self._objects if key.startswith(prefix)):
            folder, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            row = prefix + folder + found if found else key
            if row <= after or row in rows:
                continue
            if len(rows) == most:
                token = f"<NextContinuationToken>{escape(list(rows)[-1])}</NextContinuationToken>"
                break
            rows[row] = _row(row, None if found else self._objects[key])
        more = f"<IsTruncated>{'true' if token else 'false'}</IsTruncated>{token}"
        return f"<ListBucketResult>{more}{''.join(rows.values())}</ListBucketResult>".encode()


def _row(key: str, there: Stored | None) -> str:
    if there is None:
        return f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>"
    return (
        f"<Contents><Key>{escape(key)}</Key><Generation>{there.generation}</Generation>"
        f"<LastModified>2025-11-01T10:00:00.000Z</LastModified><ETag>{escape(there.tag)}</ETag>"
        f"<Size>{len(there.data)}</Size></Contents>"
    )


def _named(there: Stored) -> dict[str, str]:
    moment = formatdate(1_761_991_200, usegmt=True)
    return {"ETag": there.tag, "x-goog-generation": str(there.generation), "Last-Modified": moment, **there.kept}


def _read(there: Stored, headers) -> tuple[int, dict[str, str], bytes]:
    if headers.get("If-Match", there.tag) != there.tag:
        return 412, {}, b""
    if "Range" not in headers:
        return 200, _named(there), there.data
    start, end = (int(one) for one in headers["Range"].removeprefix("bytes=").split("-"))
    part = there.data[start : end + 1]
    return 206, {**_named(there), "Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(there.data)}"}, part


@contextmanager
def running(folder: Path):
    """The stand-in on a free port; gives the environment that leads to it. A bucket of any name is there."""
    bucket = Bucket()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, data = bucket.handle(self.command, self.path, self.headers, body)
            self.send_response_only(status)
            for name, one in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, one)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_HEAD = do_DELETE = handle_any

        def log_message(self, *words):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    account = {"client_email": "", "private_key": "", "private_key_id": "", "disable_oauth": True}
    credentials = folder / "google.json"
    credentials.write_text(json.dumps({**account, "gcs_base_url": f"http://127.0.0.1:{server.server_port}"}))
    try:
        yield {"GOOGLE_SERVICE_ACCOUNT": str(credentials), "GOOGLE_ALLOW_HTTP": "true"}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
