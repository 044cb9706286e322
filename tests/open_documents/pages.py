"""Pages as the server sees them: sockets that say what they have open, and answer as they are told to."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress

import websocket

NAME = "browser-0001"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def document(path, number=0, *, kind="text", saved=True, hash=None, counter=0):
    return {"document": number, "path": path, "kind": kind, "saved": saved, "hash": hash, "counter": counter}


class Page:
    """A page; `answers` gives for each thing that is asked what to answer: a dict, or a function of the request.

    What has no answer is left unanswered.
    """

    def __init__(self, server, *, name=NAME, token=None, answers=None):
        address = server.url.replace("http", "ws", 1) + "/documents"
        header = [f"Authorization: token {token or server.token}"]
        self.socket = websocket.create_connection(address, timeout=20, header=header)
        self.name, self.answers = name, answers or {}
        self.heard = []
        self._news = threading.Condition()
        self._replies = []
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, status=1001):
        with suppress(Exception):
            self.socket.close(status=status)

    def drop(self):
        """Lose the connection."""
        self.socket.sock.shutdown(2)

    def say(self, *documents):
        """Say what is open; the server's reply."""
        reply = self.send(json.dumps({"browser": self.name, "documents": documents}))
        assert "known" in reply, reply
        return reply

    def send(self, text):
        with self._news:
            before = len(self._replies)
            self.socket.send(text)
            assert self._news.wait_for(lambda: len(self._replies) > before, 60)
            return self._replies[before]

    def wait_for(self, do):
        """The first request of a kind."""
        with self._news:
            assert self._news.wait_for(lambda: any(one["do"] == do for one in self.heard), 20)
            return next(one for one in self.heard if one["do"] == do)

    def _listen(self):
        with suppress(Exception):
            while message := self.socket.recv():
                self._take(json.loads(message))

    def _take(self, told):
        if "do" not in told:
            with self._news:
                self._replies.append(told)
                self._news.notify_all()
            return
        with self._news:
            self.heard.append(told)
            self._news.notify_all()
        answer = self.answers.get(told["do"])
        answer = answer(told) if callable(answer) else answer
        if answer is not None and "ask" in told:
            self.socket.send(json.dumps({"answer": told["ask"], **answer}))
