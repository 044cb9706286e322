"""Results as HTML and as plain text: nothing of a file becomes markup or a terminal's command."""

from __future__ import annotations

import json
import re
import time
from html import unescape
from html.parser import HTMLParser

import nbformat
import pytest

from jupyter_fstools.kernel.result import MOST_ROWS

HOSTILE = '<script>alert("1")</script>&amp;</td><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.attributes, self.words = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.words.append(data)


def parsed(result):
    tags = Tags()
    tags.feed(result._repr_mimebundle_()["text/html"])
    return tags


def plain(result):
    return result._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("name", ["a.py", "a.html", "a.txt", "a.unknown"])
def test_a_hostile_content_is_only_text(fs, root, name):
    (root / name).write_text(f"{HOSTILE}\nx = '{HOSTILE}'\n")
    tags = parsed(fs(f"read {name}"))
    assert tags.found <= {"div", "style", "table", "tbody", "tr", "td", "pre", "span"}
    assert tags.attributes <= {"class", "colspan"}
    assert HOSTILE in "".join(tags.words)


def test_hostile_names_are_only_text(fs, root):
    name = "<script>alert(1)<b>.txt"
    (root / name).write_text("x\n")
    fs(f"read '{name}'")
    fs(f"edit '{name}' --old x --new '{HOSTILE}'")
    for result in (fs("ls"), fs("changes"), fs("undo"), fs(f"read '{name}'")):
        assert parsed(result).found <= {"div", "style", "table", "tbody", "tr", "td", "pre", "span"}


def test_control_characters_and_marks_that_reorder_text_are_spelled_out(fs, root):
    (root / "a.txt").write_text("red \x1b[31m \u202e back \x07\n")
    result = fs("read a.txt")
    for shown in result._repr_mimebundle_().values():
        assert not re.search("[\x1b\x07\u202e]", shown)
        assert r"\x1b[31m" in shown
    assert "\x1b" in result.data["content"]


def test_a_name_that_is_no_utf8_can_be_sent_to_the_browser(fs, root):
    try:
        open(bytes(root) + b"/bad\xff.txt", "w").close()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    for shown in fs("ls")._repr_mimebundle_().values():
        shown.encode("utf-8")


def test_spaces_survive_what_others_make_of_the_page(fs, root):
    """nbconvert rewrites HTML and joins spaces between tags; where styles are removed, only <pre> keeps them."""
    nbconvert = pytest.importorskip("nbconvert")
    (root / "a.py").write_text("def f():\n    return  1\n")
    results = [fs("read a.py"), fs("grep return"), fs("edit a.py --old 1 --new 2")]
    notebook = nbformat.v4.new_notebook()
    for result in results:
        shown = nbformat.v4.new_output("display_data", data=result._repr_mimebundle_())
        notebook.cells.append(nbformat.v4.new_code_cell(outputs=[shown]))
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    rows = re.findall(r"<td><pre>(.*?)</pre></td>", page)
    assert [len(row) - len(row.lstrip()) for row in rows if "return" in row] == [4, 4, 4, 4]
    assert sum("return</span>  <span" in row for row in rows) == 1


def test_source_has_line_numbers_and_colours(fs, root):
    (root / "a.py").write_text('x = 1\ndef f():\n    """Two\n    lines."""\n')
    result = fs("read a.py --offset 2")
    html = result._repr_mimebundle_()["text/html"]
    assert re.findall(r'fs-number">(\d+)', html) == ["2", "3", "4"]
    assert '<span class="fs-k">def</span>' in html
    assert plain(result).split("\n")[0] == "2  def f():"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", "a = 1\rb = 2\nc = 3\n"),
        ("a.py", "\ufeff\ufeffa = 1\n"),
        ("a.sh-session", "$ ls\na\n# b"),
        ("a.robot", "*** Settings ***\n\\\n\n= a =\n/* c\n"),
    ],
)
def test_coloured_lines_are_those_of_the_plain_text(fs, root, name, content):
    """Some lexers end lines at other characters, drop a last line or add one."""
    (root / name).write_bytes(content.encode())
    result = fs(f"read {name} --no-numbers")
    cells = re.findall(r"<td><pre>(.*?)</pre></td>", result._repr_mimebundle_()["text/html"])
    assert [unescape(re.sub("<[^>]*>", "", cell)) for cell in cells] == plain(result).split("\n")


def test_a_lexer_that_takes_too_long_is_given_up(fs, root, monkeypatch):
    monkeypatch.setattr("jupyter_fstools.kernel.cells._MOST_SECONDS", 0.2)
    (root / "a.java").write_text(("a " * 490 + "\n") * 60)
    result, begun = fs("read a.java"), time.monotonic()
    shown = result._repr_mimebundle_()["text/html"]
    assert time.monotonic() - begun < 5
    assert "<span" not in shown and shown.count("<pre>") == 60


def test_without_numbers_there_are_none(fs, root):
    (root / "a.txt").write_text("x\n")
    result = fs("read a.txt --no-numbers")
    assert 'class="fs-number"' not in result._repr_mimebundle_()["text/html"]
    assert plain(result) == "x"


def test_a_diff_shows_the_numbers_of_both_sides(fs, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    fs("read a.txt")
    result = fs("edit a.txt --old two --new 2")
    html = result._repr_mimebundle_()["text/html"]
    assert '<tr class="fs-remove"><td class="fs-number">2</td><td class="fs-number"></td>' in html
    assert '<tr class="fs-add"><td class="fs-number"></td><td class="fs-number">2</td>' in html
    assert plain(result).split("\n") == ["Edited a.txt (1 place).", "@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]


def test_the_diff_of_several_files_names_each_of_them(fs, root):
    names = ("a.txt", "b\x1b.txt")
    for name in names:
        (root / name).write_text("x\n")
        fs(f"read {name}")
    body = json.dumps([{"path": name, "old_string": "x", "new_string": "y"} for name in names])
    done = fs("edit a.txt", body)
    shown = fs(f"diff {done.change.id}")
    lines = ["a.txt: edit", "@@ -1,1 +1,1 @@", "-x", "+y", r"b\x1b.txt: edit", "@@ -1,1 +1,1 @@", "-x", "+y"]
    assert plain(done).split("\n")[1:] == plain(shown).split("\n")[1:] == shown.text.split("\n")[1:] == lines
    assert [word for word in parsed(shown).words if word.endswith("edit")] == ["a.txt: edit", r"b\x1b.txt: edit"]


def test_what_is_displayed_is_bounded_and_what_is_answered_is_not(fs, root):
    (root / "long.txt").write_text("x" * 1500 + "\n" + "line\n" * 1900)
    result = fs("read long.txt")
    for shown in result._repr_mimebundle_().values():
        assert len(re.findall("line", shown)) <= MOST_ROWS + 2
        assert "more lines" in shown
        assert "x" * 1001 not in shown
    assert result.data["content"].count("line\n") == 1900


def test_a_large_diff_is_bounded_too(fs, root):
    result = fs("write long.txt", "".join(f"line {n}\n" for n in range(2000)))
    for shown in result._repr_mimebundle_().values():
        assert len(re.findall("line ", shown)) <= MOST_ROWS
        assert "more lines" in shown


def test_empty_files_and_folders_say_so(fs, root):
    (root / "empty").mkdir()
    (root / "nothing.txt").write_text("")
    assert "empty" in plain(fs("ls empty"))
    assert "The file is empty." in "".join(parsed(fs("read nothing.txt")).words)
    assert "empty" in "".join(parsed(fs("ls empty")).words)


def test_a_result_in_a_list_is_short(fs, root):
    (root / "a.txt").write_text("x\n")
    assert repr([fs("read a.txt"), fs("session")]) == "[<read_file a.txt>, <session>]"


def test_a_file_named_like_a_tool_keeps_its_name(fs, root):
    (root / "glob").write_text("x\n")
    assert plain(fs("ls")).splitlines() == ["glob\t2"]


def test_a_note_speaks_of_options(fs, root):
    (root / "a.txt").write_text("x\n" * 3000)
    result = fs("read a.txt")
    assert "--offset 2001" in plain(result)
    assert "offset=2001" in result.text


def test_a_line_that_is_run_again_shows_the_lines_again_and_leaves_the_receipt(fs, root):
    (root / "a.txt").write_text("x\n")
    first = fs("read a.txt")
    assert plain(fs("read a.txt")) == plain(first)
    assert fs("edit a.txt --old x --new y").change.status == "applied"


@pytest.mark.parametrize("line", ["changes", "glob '*.txt'", "ls"])
def test_of_a_list_only_the_paths_are_wrapped(fs, root, line):
    (root / ("long" * 40 + ".txt")).write_text("x\n")
    fs(f"read {'long' * 40}.txt")
    fs(f"edit {'long' * 40}.txt --old x --new y")
    html = fs(line)._repr_mimebundle_()["text/html"]
    assert ".fs-list td:not(.fs-wrapped){white-space:nowrap" in html
    assert [row.count("long") > 1 for row in re.findall('<td class="fs-wrapped">(.*?)</td>', html)] == [True]
