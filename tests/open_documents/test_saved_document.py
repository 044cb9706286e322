"""A saved document follows its file."""

from __future__ import annotations

from concurrent.futures import Future

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.content.fingerprint import Fingerprint
from jupyter_fstools.content.splices import Splice
from jupyter_fstools.open_documents.page import PageDocument
from jupyter_fstools.open_documents.protocol import Rewrite
from jupyter_fstools.open_documents.saved_document import SavedDocument

KNOWN = "0" * 64


class Page:
    """Does what it is asked for."""

    name = "browser-0001"

    def __init__(self):
        self.heard = []

    def ask(self, message):
        self.heard.append(message)
        answer = Future()
        answer.set_result({"done": True})
        return answer

    def tell(self, message):
        self.heard.append(message)


def rewrite(before, known):
    def begin(old, new):
        pass

    return Rewrite(before, [Splice(4, b"1", b"2")], known, hash_before=False, begin=begin, outline=None)


def test_a_content_whose_fingerprint_is_known_is_not_hashed_again():
    backend, page = InMemory({"/a.py": b"x = 1\n"}), Page()
    stat = backend.stat("/a.py")
    shown = PageDocument(page, 0, stat.key, "text", saved=True, hash=KNOWN, counter=0)
    holder = SavedDocument(backend, stat, [shown], seconds=1)
    with holder.content() as before:
        applied = holder.apply(rewrite(before, Fingerprint(KNOWN, KNOWN)))
    assert applied.before is None
    assert next(one for one in page.heard if one["do"] == "patch")["hash"] == KNOWN
