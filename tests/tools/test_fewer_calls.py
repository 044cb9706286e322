"""Text shown by a search or a refusal need not be read again, except where something could be lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_fstools import FsToolsError, call_tool, open_workspace
from jupyter_fstools.errors import Ambiguous, NotRead, Stale
from jupyter_fstools.tools import ToolResult
from tests.documents.notebook.samples import STREAM, code, notebook

Call = Callable[..., ToolResult]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def call(root: Path) -> Call:
    files = open_workspace(root, session="me", durable=False)
    return lambda tool, **arguments: call_tool(files, tool, arguments)


def edit(path: str, old: str, new: str) -> dict[str, str]:
    return {"path": path, "old_string": old, "new_string": new}


def test_a_line_that_grep_showed_may_be_edited(root: Path, call: Call) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (root / name).write_text("import os\r\n\r\nold_name = 1\r\nrest = 2\r\n", newline="")
    found = call("grep", pattern="old_name")
    for path in {match["path"] for match in found.data["matches"]}:
        done = call("edit_file", **edit(path, "old_name", "new_name"))
        assert done.data["outside_shown_lines"] is False
    assert (root / "c.py").read_bytes() == b"import os\r\n\r\nnew_name = 1\r\nrest = 2\r\n"
    outside = call("edit_file", **edit("a.py", "rest = 2", "rest = 3"))
    assert outside.data["outside_shown_lines"] is True
    with pytest.raises(NotRead, match="only a part"):
        call("write_file", path="b.py", content="x\n")


def test_a_line_that_grep_cut_and_a_file_that_it_only_named_were_not_shown(root: Path, call: Call) -> None:
    (root / "long.txt").write_text("needle" + "x" * 5000 + "\n")
    (root / "a.txt").write_text("needle\n")
    call("grep", pattern="needle", output_mode="files")
    with pytest.raises(NotRead):
        call("edit_file", **edit("a.txt", "needle", "pin"))
    call("grep", pattern="needle")
    with pytest.raises(NotRead):
        call("edit_file", **edit("long.txt", "needle", "pin"))
    call("edit_file", **edit("a.txt", "needle", "pin"))


def test_the_lines_around_a_line_that_grep_cut_may_be_edited(root: Path, call: Call) -> None:
    (root / "a.txt").write_text("one\nneedle" + "x" * 5000 + "\nthree\nfour\n")
    call("grep", pattern="needle", before_lines=1, after_lines=1)
    for old, outside in (("one", False), ("three", False), ("four", True)):
        assert call("edit_file", **edit("a.txt", old, old.upper())).data["outside_shown_lines"] is outside


def test_what_did_not_fit_into_the_answer_of_a_search_was_not_shown(root: Path) -> None:
    """Neither the cut end of a line nor omitted lines around a match."""
    files = open_workspace(root, session="me", durable=False, max_output_bytes=200)
    (root / "long.txt").write_text("needle " + "x" * 300 + " end\n")
    found = call_tool(files, "grep", pattern="needle")
    assert found.data["matches"][0]["cut"] > 100 and "characters]" in found.text
    assert len(found.content[0]["text"].encode()) <= 200
    with pytest.raises(NotRead):
        call_tool(files, "write_file", path="long.txt", content="gone\n")
    (root / "around.txt").write_text("".join(f"line {number}\n" for number in range(100)))
    call_tool(files, "grep", pattern="line 50$", path="around.txt", before_lines=50, after_lines=50)
    assert call_tool(files, "edit_file", edit("around.txt", "line 48\n", "")).data["outside_shown_lines"] is False
    assert call_tool(files, "edit_file", edit("around.txt", "line 20\n", "")).data["outside_shown_lines"] is True


def test_a_search_says_of_which_files_the_lines_do_not_count_as_read(root: Path, call: Call) -> None:
    """Those beyond the first files and notebooks, and a large one that was named."""
    for number in range(102):
        (root / f"{number:03}.py").write_text("old_name\n")
    for number in range(21):
        save(root / f"{number:02}.ipynb", "old_cell")
    found = call("grep", pattern="old_name")
    assert "[do not count as read: the lines of 100.py and 1 other file; read before you edit]" in found.text
    call("edit_file", **edit("099.py", "old_name", "new_name"))
    with pytest.raises(NotRead):
        call("edit_file", **edit("100.py", "old_name", "new_name"))
    assert "[do not count as read: the lines of 20.ipynb; read" in call("grep", pattern="old_cell").text
    assert "count as read" not in call("grep", pattern="old_name", limit=100).text


def test_a_large_file_that_a_search_names_does_not_count_as_read(root: Path) -> None:
    files = open_workspace(root, session="me", durable=False, max_search_bytes=10)
    (root / "large.txt").write_text("a needle in a large file\n")
    assert "[do not count as read: the lines of large.txt; read" in call_tool(
        files, "grep", pattern="needle", path="large.txt"
    ).text  # fmt: skip


def test_a_search_keeps_the_encoding_that_the_read_before_it_named(root: Path, call: Call) -> None:
    (root / "towns.csv").write_bytes(b"name,town\nAda,London\n")
    call("read_file", path="towns.csv", encoding="cp1252")
    call("grep", pattern="Ada")
    call("edit_file", **edit("towns.csv", "London", "Zürich"))
    assert (root / "towns.csv").read_bytes() == "name,town\nAda,Zürich\n".encode("cp1252")


def test_what_changed_after_the_search_is_stale(root: Path, call: Call) -> None:
    (root / "a.txt").write_text("needle\nsecond\n")
    call("grep", pattern="needle")
    (root / "a.txt").write_text("needle\nanother\n")
    with pytest.raises(Stale):
        call("edit_file", **edit("a.txt", "needle", "pin"))
    assert (root / "a.txt").read_text() == "needle\nanother\n"


def test_a_refusal_that_shows_all_that_changed_opens_edits_but_no_overwriting(root: Path, call: Call) -> None:
    (root / "a.txt").write_text("one\ntwo\n")
    call("read_file", path="a.txt")
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    for _ in range(2):  # A call that overwrites is refused again when it is only repeated.
        with pytest.raises(Stale):
            call("write_file", path="a.txt", content="mine\n")
    with pytest.raises(Stale, match="stale") as refused:
        call("edit_file", **edit("a.txt", "one", "1"))
    assert "+three" in refused.value.details["diff"] and "repeat the call" in refused.value.hint
    assert call("edit_file", **edit("a.txt", "one", "1")).data["outside_shown_lines"] is False
    with pytest.raises(NotRead, match="only a part"):
        call("write_file", path="a.txt", content="mine\n")
    call("read_file", path="a.txt", limit=1)
    with pytest.raises(NotRead, match="only a part"):
        call("write_file", path="a.txt", content="mine\n")
    call("read_file", path="a.txt")
    call("write_file", path="a.txt", content="mine\n")


@pytest.mark.parametrize("window", [{"offset": 1, "limit": 1}, {}], ids=["a part", "a long diff"])
def test_a_refusal_that_cannot_show_all_says_to_read(root: Path, call: Call, window: dict[str, int]) -> None:
    (root / "a.txt").write_text("one\ntwo\n")
    call("read_file", path="a.txt", **window)
    (root / "a.txt").write_text("1\n" + "more of it\n" * 2000)
    for _ in range(2):
        with pytest.raises(Stale) as refused:
            call("edit_file", **edit("a.txt", "1\nmore", "one\nmore"))
        assert "read the file again" in refused.value.hint


def test_the_same_holds_inside_a_cell(root: Path, call: Call) -> None:
    book = root / "a.ipynb"

    def save(source: str) -> None:
        book.write_text(json.dumps(notebook(code(source, id="c0"))))

    save("x = 1\n")
    call("read_notebook", path="a.ipynb")
    save("x = 1\ny = 2\n")
    change = {"path": "a.ipynb", "cell_id": "c0", "edit_mode": "edit", "old_string": "x = 1", "new_string": "x = 3"}
    overwrite = {"path": "a.ipynb", "cell_id": "c0", "new_source": "mine"}
    for arguments in (overwrite, overwrite, change):
        with pytest.raises(Stale):
            call("edit_notebook", **arguments)
    with pytest.raises(NotRead, match="only a part"):
        call("edit_notebook", **overwrite)
    call("edit_notebook", **change)
    assert "".join(json.loads(book.read_text())["cells"][0]["source"]) == "x = 3\ny = 2\n"


def test_a_cell_is_inserted_beside_one_that_is_named_by_its_id(root: Path, call: Call) -> None:
    (root / "a.ipynb").write_text(json.dumps(notebook(code("def f(): return 1", id="c0"))))
    new = {"path": "a.ipynb", "edit_mode": "insert", "cell_type": "code", "new_source": "assert f() == 1"}
    for place in ({"after_index": 0}, {"at": "end"}, {"after": "nobody"}):
        with pytest.raises(FsToolsError):
            call("edit_notebook", **new, **place)
    assert call("edit_notebook", **new, after="c0").data["total_cells"] == 2
    with pytest.raises(NotRead):
        call("edit_notebook", path="a.ipynb", cell_id="c0", edit_mode="delete")


def test_of_several_places_those_near_to_what_was_shown_are_named_first(root: Path, call: Call) -> None:
    (root / "a.txt").write_text("".join("same\n" if number % 10 == 0 else f"{number}\n" for number in range(100)))
    call("read_file", path="a.txt", offset=60, limit=5)
    with pytest.raises(Ambiguous) as refused:
        call("edit_file", **edit("a.txt", "same", "other"))
    assert refused.value.details["lines"] == [61, 71, 51, 81, 41]


def save(book: Path, *sources: str) -> None:
    book.write_text(json.dumps(notebook(*(code(source, id=f"c{at}") for at, source in enumerate(sources)))))


def test_lines_of_cells_that_grep_showed_may_be_edited(root: Path, call: Call) -> None:
    for name in ("a.ipynb", "b.ipynb"):
        save(root / name, "import os", "old_name = 1\r\nrest = 2\nmore = 3\n")
    call("grep", pattern="old_name")
    swap = {"edit_mode": "edit", "cell_id": "c1", "old_string": "old_name", "new_string": "new_name"}
    done = call("edit_notebook", edits=[{"path": name} | swap for name in ("a.ipynb", "b.ipynb")])
    assert done.data["outside_shown_lines"] is False
    assert json.loads((root / "b.ipynb").read_text())["cells"][1]["source"].startswith("new_name = 1\r\n")
    with pytest.raises(NotRead, match="only a part of cell"):
        call("edit_notebook", path="a.ipynb", cell_id="c1", new_source="mine")
    with pytest.raises(NotRead, match="has not been shown"):
        call("edit_notebook", path="a.ipynb", cell_id="c0", new_source="mine")


def test_a_cell_that_grep_showed_whole_may_be_replaced(root: Path, call: Call) -> None:
    save(root / "a.ipynb", "def f():\n    return 1\n", "f()")
    call("grep", pattern="def f", after_lines=5)
    call("edit_notebook", path="a.ipynb", cell_id="c0", new_source="def f():\n    return 2\n")


def test_a_cell_that_changed_after_the_search_is_stale(root: Path, call: Call) -> None:
    save(root / "a.ipynb", "x = 1")
    call("grep", pattern="x")
    save(root / "a.ipynb", "x = 2")
    with pytest.raises(Stale):
        call("edit_notebook", path="a.ipynb", cell_id="c0", new_source="x = 3")


def test_a_hit_in_an_output_or_in_a_list_of_files_shows_no_cell(root: Path, call: Call) -> None:
    (root / "a.ipynb").write_text(json.dumps(notebook(code("print(f())", id="c0", outputs=[STREAM]))))
    assert call("grep", pattern="2", include_outputs=True).data["matches"]
    call("grep", pattern="print", output_mode="files")
    with pytest.raises(NotRead):
        call("edit_notebook", path="a.ipynb", cell_id="c0", new_source="x")
