"""Pages as the server sees them: they report their open documents, and answer as a test tells them."""

from __future__ import annotations

import hashlib
import json
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress

import websocket

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.open_documents.browser import BrowserDocuments
from jupyter_fstools.open_documents.page import PageDocument, PageGone
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from tests.conftest import Caller

NAME = "browser-0001"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def document(path, number=0, *, kind="text", saved=True, hash=None, counter=0):
    return {"document": number, "path": path, "kind": kind, "saved": saved, "hash": hash, "counter": counter}


class PageHere:
    """A page in this process; a request without an answer is left unanswered, the answer None is a lost connection."""

    def __init__(self, name=NAME, **answers):
        self.name, self.answers = name, answers
        self.heard = []
        self.is_closed = False

    def ask(self, message):
        self.heard.append(message)
        asked, answer = Future(), self.answers.get(message["do"], ...)
        answer = answer(message) if callable(answer) else answer
        if answer is None:
            asked.set_exception(PageGone())
        elif answer is not ...:
            asked.set_result(answer)
        return asked

    def tell(self, message):
        self.heard.append(message)

    def close(self):
        self.is_closed = True

    def document(self, file, number=0, *, kind="text", saved=True, hash=None, counter=0):
        """The page's report of a file that it has open; `hash` is by default that of the file as it is."""
        shown = hash or sha(file.read_bytes())
        return PageDocument(self, number, str(file.resolve()), kind, saved, shown, counter)

    def asked(self, do):
        return [one for one in self.heard if one["do"] == do]


class Typed(PageHere):
    """A page that shows a text with unsaved changes, and saves what it shows."""

    def __init__(self, file, text, **answers):
        self.file, self.text, self.counter = file, text, 0
        super().__init__(**{"content": self.content, "patch": self.patch, "save": self.save, **answers})

    def type(self, text):
        """Have the person change the text."""
        self.text, self.counter = text, self.counter + 1

    def content(self, _):
        return {"done": True, "content": self.text, "counter": self.counter}

    def patch(self, message):
        for at, removed, inserted, *_ in reversed(message["change"]["spans"]):
            self.text = self.text[:at] + inserted + self.text[at + len(removed) :]
        self.counter += 1
        return {"done": True}

    def save(self, _):
        self.file.write_text(self.text, "utf-8", newline="")
        return {"done": True, "hash": sha(self.text.encode())}


@contextmanager
def calls_in(folder, pages, **policy):
    """Calls the tools in a new folder below this one, by this policy; `pages` may have its files open."""
    root = folder / "root"
    root.mkdir()
    backend, store = LocalDisk(root, durable=False), InMemoryStore()
    documents = [BrowserDocuments(pages, backend, store, seconds=0.2)]
    locks = FileLocks(folder / "locks")
    with Workspace(backend, store, locks, Policy(**policy), Reader("ada", "default"), documents=documents) as workspace:
        yield Caller(workspace, root)


class Page:
    """A page; `answers` gives the answer for each kind of request: a dict, or a function of the request.

    A request without an answer is left unanswered. A page that does not listen reads nothing, not even the end of its
    connection.
    """

    def __init__(self, server, *, name=NAME, token=None, answers=None, listens=True):
        address = server.url.replace("http", "ws", 1) + "/documents"
        header = [f"Authorization: token {token or server.token}"]
        self.socket = websocket.create_connection(address, timeout=20, header=header)
        self.name, self.answers = name, answers or {}
        self.heard = []
        self._news = threading.Condition()
        self._replies = []
        if listens:
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
        reply = self.send(self.told(*documents))
        assert "known" in reply, reply
        return reply

    def told(self, *documents):
        return json.dumps({"browser": self.name, "documents": documents})

    def send(self, text):
        with self._news:
            before = len(self._replies)
            self.socket.send(text)
            assert self._news.wait_for(lambda: len(self._replies) > before, 180)
            return self._replies[before]

    def wait_for(self, do, **facts):
        """The first request of a kind with these facts."""

        def found():
            return next((one for one in self.heard if one.items() >= {"do": do, **facts}.items()), None)

        with self._news:
            assert self._news.wait_for(found, 20)
            return found()

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
