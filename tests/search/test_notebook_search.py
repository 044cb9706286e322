"""Searching notebooks: hits name the cell and the line in it."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.notebooks import BrokenNotebook, cell_texts
from jupyter_fstools.search.python.matcher import Matcher, TooSlow
from jupyter_fstools.search.query import TextQuery

from .conftest import Search, Write, places

NO_ID = "auto-09881f6ed933"
"""The id that the reader of notebooks gives to a cell without one whose source is `needle`."""
PICTURE = "iVBORneedleAAAA" * 100
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "a needle é\n", "end"]},
        {
            "cell_type": "code",
            "id": "code-1",
            "metadata": {"note": "needle"},
            "execution_count": 1,
            "source": "x = 1\nneedle = 2\nneedle + 1",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "needle out\n"]},
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": PICTURE, "text/plain": "<needle>"},
                },
                {"output_type": "error", "ename": "E", "evalue": "needle", "traceback": ["needle line"]},
            ],
        },
        {"cell_type": "raw", "metadata": {}, "source": "needle"},
    ],
    "metadata": {"needle": "needle"},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(autouse=True)
def notebook(write: Write) -> None:
    write("a.ipynb", json.dumps(NOTEBOOK))


def cells(found: object) -> list[tuple[str | None, int | None, int | None, int]]:
    return [(match.cell_id, match.cell_index, match.output_index, match.line) for match in found.matches]


def test_a_hit_names_the_cell_and_the_line_in_it(search: Search) -> None:
    """Outputs, pictures and metadata are left out."""
    found = search("needle", before_lines=1)
    assert cells(found) == [("intro", 0, None, 2), ("code-1", 1, None, 2), ("code-1", 1, None, 3), (NO_ID, 2, None, 1)]
    first = found.matches[0]
    assert (first.path, first.column, first.text, first.before) == ("a.ipynb", 3, "a needle é", ["# Title"])
    assert found.total == 4


def test_text_outputs_are_searched_when_asked(search: Search) -> None:
    """Never base64."""
    found = search("needle", include_outputs=True)
    outputs = [place for place in cells(found) if place[2] is not None]
    assert outputs == [("code-1", 1, 0, 2), ("code-1", 1, 1, 1), ("code-1", 1, 2, 1), ("code-1", 1, 2, 2)]


def test_outputs_are_searched_as_they_are_read(search: Search, write: Write) -> None:
    """The text is that of a terminal: without colours, and with the last state of a progress bar alone."""
    stream = {"output_type": "stream", "name": "stdout", "text": "\x1b[32mPASSED\x1b[0m all\n 10%\r 100% done\n"}
    error = {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["\x1b[31mE\x1b[0m: in it"]}
    cell = {
        "cell_type": "code",
        "id": "c",
        "metadata": {},
        "execution_count": 1,
        "source": "",
        "outputs": [stream, error, error | {"traceback": "no list\nbut text"}],
    }
    write("a.ipynb", json.dumps({**NOTEBOOK, "cells": [cell]}))
    hits = (("^PASSED all$", 0, 1), ("^ 100% done", 0, 2), ("^E: in it", 1, 2), ("^but text", 2, 3))
    for pattern, output, line in hits:
        assert cells(search(pattern, include_outputs=True)) == [("c", 0, output, line)]
    assert search("10%|x1b", include_outputs=True).total == 0


def test_a_folder_of_slow_notebooks_hides_no_other_hit(
    write: Write, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may take half as long as the one before it."""
    monkeypatch.setattr("jupyter_fstools.search.python.matcher.SECONDS_PER_TEXT", 0.2)
    cell = {"cell_type": "raw", "id": "a", "metadata": {}, "source": "a" * 40 + "!"}
    for number in range(40):
        write(f"{number}.ipynb", json.dumps({**NOTEBOOK, "cells": [cell]}))
    write("a.ipynb", json.dumps({**NOTEBOOK, "cells": []}))
    write("t.txt", "a" * 40 + "!\naaa\n")
    found = search_text(LocalDisk(root), TextQuery(pattern="(a+)+$"), seconds=15)
    assert (places(found), found.skipped, found.partial) == ([("t.txt", 2)], {"slow": 40}, None)


@pytest.mark.parametrize("suffix", ["ipynb", "txt"])
def test_what_was_found_before_slow_files_is_shown(
    write: Write, root: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Its lines are found once more for the page, when no time would be left for them."""
    monkeypatch.setattr("jupyter_fstools.search.python.matcher.SECONDS_PER_TEXT", 1)
    monkeypatch.setattr("jupyter_fstools.search.python.matcher.LEAST_SECONDS", 0.6)
    for name, source in (("a", "aaa"), ("b", "a" * 40 + "!")):
        cell = {"cell_type": "raw", "id": "a", "metadata": {}, "source": source}
        write(f"{name}.{suffix}", json.dumps({**NOTEBOOK, "cells": [cell]}) if suffix == "ipynb" else source)
    query = TextQuery(pattern="(a+)+$", glob=f"*.{suffix}", exact_total=False)  # in the order of names
    found = search_text(LocalDisk(root), query, engine="python")
    assert (places(found), found.total, found.skipped) == ([(f"a.{suffix}", 1)], 1, {"slow": 1})


@pytest.mark.parametrize("suffix", ["ipynb", "txt"])
def test_a_file_whose_lines_cannot_be_found_again_in_time_is_said(
    write: Write, root: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    cell = {"cell_type": "raw", "id": "a", "metadata": {}, "source": "aaa"}
    write(f"a.{suffix}", json.dumps({**NOTEBOOK, "cells": [cell]}) if suffix == "ipynb" else "aaa")
    find = Matcher.find

    def only_count(self: Matcher, text: str, most: int, **options: bool) -> object:
        if most:
            raise TooSlow
        return find(self, text, most, **options)

    monkeypatch.setattr(Matcher, "find", only_count)
    found = search_text(LocalDisk(root), TextQuery(pattern="(a+)+$"), engine="python")
    assert (found.matches, found.total, found.skipped) == ([], 1, {"slow": 1})


def test_pages_go_through_cells(search: Search) -> None:
    pages = [search("needle", limit=1, offset=offset) for offset in range(5)]
    assert [cells(page) for page in pages] == [[place] for place in cells(search("needle"))] + [[]]
    assert [page.truncated for page in pages] == [True, True, True, False, False]


def test_the_other_modes_count_lines_of_cells(search: Search, write: Write) -> None:
    write("b.txt", "needle\n")
    counted = search("needle", output_mode="count")
    assert [(file.path, file.count) for file in counted.files] == [("a.ipynb", 4), ("b.txt", 1)]


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": 1}', "<<<<<<< HEAD\nneedle\n", "[" * 100_000])
def test_a_broken_notebook_is_counted(search: Search, write: Write, broken: str) -> None:
    """Never searched as if it were text."""
    write("broken.ipynb", broken)
    found = search("needle", glob="broken.ipynb")
    assert (found.total, found.skipped) == (0, {"notebook": 1})


def test_a_notebook_with_an_integer_of_thousands_of_digits_is_searched(search: Search, write: Write) -> None:
    """Python does not convert it, and read_notebook shows such a notebook as well."""
    write("long.ipynb", json.dumps(NOTEBOOK | {"metadata": {"seed": 1.5}}).replace("1.5", "7" * 5000))
    found = search("needle", glob="long.ipynb")
    assert (found.total, found.skipped) == (4, {})


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_a_notebook_in_another_encoding_is_broken(search: Search, write: Write, encoding: str) -> None:
    """As for its reader; a byte order mark makes it none either."""
    write("other.ipynb", json.dumps(NOTEBOOK, ensure_ascii=False).encode(encoding))
    for path, fields in ((".", {}), (".", {"glob": "*.ipynb"}), ("other.ipynb", {})):
        found = search("needle", path, output_mode="count", **fields)
        others = [(file.path, file.count) for file in found.files if file.path != "a.ipynb"]
        assert (others, found.skipped) == ([], {"notebook": 1})


def test_of_a_long_notebook_one_cell_is_parsed_at_a_time() -> None:
    """Parsed as a whole, it took many times its size, and meanwhile the server answered nobody."""
    cells = [{"id": f"c{n}", "source": f"<{n}>", "metadata": {"odd": [[]] * 20_000}} for n in range(60)]
    raw = json.dumps({"metadata": {}, "cells": cells, "nbformat": 4}).encode()
    tracemalloc.start()
    texts = cell_texts(raw, outputs=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(text.cell_id, text.text) for text in texts] == [(f"c{n}", f"<{n}>") for n in range(60)]
    assert peak < 2 * len(raw)


@pytest.mark.parametrize(
    "broken", [b'{"cells": [1,], ', b'{"cells": [1]} ', b"[", b'{"cells": [1] "a": 1, ', b'{1: "cells", ']
)
def test_a_long_notebook_is_broken_as_a_short_one_is(broken: bytes) -> None:
    for length in (1, 1 << 20):
        with pytest.raises(BrokenNotebook):
            cell_texts(broken + b'"end": "' + b"x" * length + b'"}', outputs=True)


def test_old_notebooks_are_searched_as_they_are_read() -> None:
    """nbformat 2 has lists of lines without line breaks, nbformat 1 other names for a source."""
    cell = {"cell_type": "code", "input": ["a", "b"], "outputs": [{"output_type": "stream", "text": ["c", "d"]}]}
    two = {"worksheets": [{"cells": [cell]}]}
    one = {"cells": [{"cell_type": "code", "code": "a"}, {"cell_type": "text", "text": "b"}]}
    assert [text.text for text in cell_texts(json.dumps(two).encode(), outputs=True)] == ["a\nb", "c\nd"]
    assert [text.text for text in cell_texts(json.dumps(one).encode(), outputs=True)] == ["a", "b"]


def test_odd_cells_are_passed_over() -> None:
    """Cells without a source, entries that are no cells, worksheets of old notebooks."""
    odd = {"cells": [{}, 7, {"source": [1, "a"], "id": 3, "outputs": [None, {"data": 1}]}]}
    texts = cell_texts(json.dumps(odd).encode(), outputs=False)
    assert [(text.cell_index, text.cell_id, text.text) for text in texts] == [(0, None, ""), (2, None, "a")]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "b"}]}]}
    assert cell_texts(json.dumps(old).encode(), outputs=True)[0].text == "b"
