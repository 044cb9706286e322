"""A parser answers or refuses any input; inputs that failed once are among the examples."""

from __future__ import annotations

import json
import re

from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.notebook import NotebookDocument
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.globs.patterns import compile_glob
from jupyter_fstools.kernel.edit_blocks import edits_of
from jupyter_fstools.search.regex.dialect import compile_expression
from jupyter_fstools.server.mcp.json_rpc import Fault
from jupyter_fstools.server.mcp.messages import read_messages

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = ("id", "cell_type", "source", "outputs", "metadata", "attachments", "execution_count")
CELL = st.fixed_dictionaries(
    {}, optional={name: JSON | st.sampled_from(["code", "markdown", "x", "a\n", ["a\n", "b"], []]) for name in NAMES}
)
NOTEBOOK = st.fixed_dictionaries(
    {"cells": st.lists(CELL, max_size=3) | JSON},
    optional={"nbformat": JSON | st.just(4), "nbformat_minor": JSON | st.sampled_from([2, 5]), "metadata": JSON},
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": JSON | st.just("2.0"),
        "id": JSON | st.just(1),
        "method": JSON | st.sampled_from(["tools/call", "tools/list", "initialize", "ping", "notifications/cancelled"]),
        "params": JSON | st.fixed_dictionaries({"name": JSON, "arguments": JSON}),
    },
)
GLOB = st.text(st.sampled_from("ab.*?[]{},!^/\\-\0é\udc80"), max_size=14)
PATTERN = st.text(st.sampled_from("ab1(){}[]|*+?^$.\\dwsbpPux<>=!:,-&~#i é\udc80\n"), max_size=16)
BLOCKS = st.lists(st.sampled_from(["<<<<<<< old", "=======", ">>>>>>> new", "a", "", "<<<<<<<", "[", "{"]), max_size=9)


def mutated(whole: bytes, at: int, piece: bytes) -> bytes:
    """Bytes with a few of them replaced."""
    at %= len(whole) + 1
    return whole[:at] + piece + whole[at + len(piece) :]


@given(NOTEBOOK, st.none() | st.tuples(st.integers(0, 2000), st.binary(max_size=3)))
@example({"cells": [{"cell_type": "code", "source": "\ud800"}]}, None)
@example({"cells": []}, (0, b"\xef\xbb\xbf"))
def test_a_notebook_is_read_or_refused(notebook, change):
    data = json.dumps(notebook).encode()
    data = data if change is None else mutated(data, *change)
    try:
        document = NotebookDocument(BytesContent(data))
        assert all(isinstance(cell.source, str) and cell.cell_id for cell in document.cells)
    except FsToolsError as refusal:
        assert refusal.message


@given(GLOB, st.text(st.sampled_from("ab.-é\udc80"), min_size=1, max_size=6))
@example("[]-a]", "a")
@example("{a,{b,}", "b")
def test_a_glob_is_compiled_or_refused(glob, name):
    try:
        pattern = compile_glob(glob)
    except FsToolsError as refusal:
        assert refusal.code in ("invalid", "outside_root"), refusal
    else:
        assert set(pattern.matching("", [name])) <= {name}


@given(PATTERN, st.booleans(), st.booleans())
@example("[[:a:]]", False, False)
@example("(?i-", True, False)
@example("a{1,99999999999}", False, False)
def test_a_pattern_is_compiled_or_refused(pattern, folded, over_lines):
    try:
        expression = compile_expression(pattern, case_insensitive=folded, multiline=over_lines)
    except FsToolsError as refusal:
        assert refusal.code == "invalid" and refusal.message
    else:
        re.compile(expression.plain)


@given(BLOCKS, st.sampled_from(["\n", "\r\n"]), st.booleans())
@example(["<<<<<<< old", "=======", ">>>>>>> new"], "\n", False)
@example(["[", "["], "\n", True)
def test_edit_blocks_are_read_or_refused(lines, end, ended):
    try:
        edits = edits_of(end.join(lines) + end * ended)
    except FsToolsError as refusal:
        assert refusal.code == "invalid" and refusal.hint
    else:
        assert isinstance(edits, list)


@given(
    MESSAGE | st.lists(MESSAGE, max_size=3) | JSON, st.none() | st.tuples(st.integers(0, 200), st.binary(max_size=2))
)
@example([], None)
@example({"jsonrpc": "2.0", "id": 1e400, "method": "ping"}, None)
@example({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}, None)
def test_a_message_is_read_or_answered_by_an_error(message, change):
    body = json.dumps(message).encode()
    body = body if change is None else mutated(body, *change)
    try:
        posted = read_messages(body, {}, 1 << 20)
    except Fault as fault:
        assert json.loads(fault.as_message())["error"]["code"] < 0
    except FsToolsError as refusal:
        assert refusal.message
    else:
        assert isinstance(posted.requests, list)
