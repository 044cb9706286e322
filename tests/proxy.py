"""Proxies an HTTP server, and changes its requests and answers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Proxied(BaseHTTPRequestHandler):
    """One request to the server behind."""

    protocol_version = "HTTP/1.1"
    host = ""

    def answered(self, headers=None):
        """The server's status, headers and body, asked with these headers instead of the client's own."""
        connection = HTTPConnection(self.host, timeout=60)
        connection.request(self.command, self.path, self.body, dict(self.headers) if headers is None else headers)
        response = connection.getresponse()
        try:
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def reply(self, status, headers, data):
        """Answer the client; the length is that of the data, unless no data is to be sent."""
        self.send_response_only(status)
        left_out = ["transfer-encoding", "connection"] + ([] if self.command == "HEAD" else ["content-length"])
        for name, one in headers.items():
            if name.lower() not in left_out:
                self.send_header(name, one)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *words):
        """Say nothing."""


@contextmanager
def serving(handler):
    """The address of a server on a port of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def before(upstream, answer):
    """The address of a proxy before a server, which calls `answer(request)` for each request."""

    class Handler(Proxied):
        host = urlsplit(upstream).netloc

        def handle_any(self):
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer(self)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_any

    return serving(Handler)
