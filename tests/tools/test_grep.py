"""grep, as every surface calls it."""

import json
import os
import threading
import time

import pytest

from jupyter_fstools import call_tool
from jupyter_fstools.globs.file_types import EVERYDAY_NAMES, file_types
from jupyter_fstools.search.grep import _Search
from jupyter_fstools.search.page import Page
from jupyter_fstools.search.ripgrep.process import ripgrep_binary
from jupyter_fstools.walking.folders import DiskFolder


@pytest.fixture(params=["ripgrep", "python"])
def grep(request, call, monkeypatch):
    """Calls with each of the two engines, which must answer alike."""
    if request.param == "python":
        monkeypatch.setattr("jupyter_fstools.search.grep.ripgrep_binary", lambda: None)
    elif ripgrep_binary() is None:
        pytest.skip("there is no rg")
    return call


def places(result):
    return [(match["path"], match["line"]) for match in result.data["matches"]]


def test_hits_stand_below_their_file(grep):
    grep.put("b.py", "def one():\n    pass\n\n\n\ndef two():\n")
    grep.put("a.py", "def zero():\n")
    result = grep("grep", pattern="def \\w+", **{"-C": 1})
    assert result.text == ("a.py\n1\tdef zero():\n\nb.py\n1\tdef one():\n2-\t    pass\n--\n5-\t\n6\tdef two():")
    assert result.data["total"] == 3
    assert result.data["matches"][1] == {
        "path": "b.py",
        "line": 1,
        "column": 1,
        "length": 7,
        "text": "def one():",
        "before": [],
        "after": ["    pass"],
    }


def test_modes(grep):
    grep.put("a.txt", "x x\nx\n")
    grep.put("b.txt", "x\n")
    files = grep("grep", pattern="x", output_mode="files_with_matches")
    assert (files.data["files"], files.text) == ([{"path": "a.txt"}, {"path": "b.txt"}], "a.txt\nb.txt")
    counts = grep("grep", pattern="x", output_mode="count", limit=1)
    assert (counts.data["files"], counts.data["total"]) == ([{"path": "a.txt", "count": 2}], 2)
    assert counts.text == "a.txt\t2\n[2 files in all; go on with offset=1]"


@pytest.mark.parametrize(("limit", "truncated", "following"), [(3, True, 3), (4, False, None), (5, False, None)])
def test_the_cap_is_exact(grep, limit, truncated, following):
    grep.put("a.txt", "hit\n" * 4)
    result = grep("grep", pattern="hit", limit=limit)
    assert (result.data["total"], result.data["truncated"], result.data["next_offset"]) == (4, truncated, following)
    assert len(result.data["matches"]) == min(limit, 4)


def test_a_search_that_ends_at_the_limit_says_that_there_is_more(grep):
    """The page is the same; the total is told where it is known."""
    for number in range(400):
        grep.put(f"{number:03}.txt", "hit\nhit\n")
    whole = grep("grep", pattern="hit", limit=5)
    early = grep("grep", pattern="hit", limit=5, exact_total="false")
    assert early.data["matches"] == whole.data["matches"]
    assert (early.data["total"], early.data["truncated"], early.data["next_offset"]) == (None, True, 5)
    assert early.text.endswith("[there are more matching lines; go on with offset=5]")
    last = grep("grep", pattern="hit", offset=799, exact_total=False)
    assert (places(last), last.data["total"], last.data["truncated"]) == ([("399.txt", 2)], 800, False)


def test_pages_follow_each_other(grep):
    for name in ("b", "a", "c"):
        grep.put(f"{name}.txt", "hit\nno\nhit\n")
    pages = [places(grep("grep", pattern="hit", limit=2, offset=offset)) for offset in (0, 2, 4, 6)]
    assert [place for page in pages for place in page] == [(f"{name}.txt", line) for name in "abc" for line in (1, 3)]
    beyond = grep("grep", pattern="hit", offset=6)
    assert (beyond.data["total"], beyond.text) == (6, "Nothing from this offset on; the total is 6.")


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("invalid", {"pattern": ""}),
        ("invalid", {"pattern": "(unclosed"}),
        ("invalid", {"pattern": "x", "before_lines": -1}),
        ("invalid", {"pattern": "x", "file_type": "pyton"}),
        ("invalid", {"pattern": "x", "glob": "[oops"}),
        ("invalid", {"pattern": "x", "output_mode": "lines"}),
        ("invalid", {"pattern": "x", "-A": 1, "-C": 2}),
        ("not_found", {"pattern": "x", "path": "nowhere"}),
        ("outside_root", {"pattern": "x", "path": "../other"}),
        ("outside_root", {"pattern": "x", "glob": "../*"}),
        ("denied", {"pattern": "x", "path": ".ssh/key"}),
        ("denied", {"pattern": "x", "path": ".ssh"}),
    ],
)
def test_what_is_refused(grep, code, arguments):
    grep.put("a.py", "x")
    grep.put(".ssh/key", "x")
    grep.refused(code, "grep", **arguments)


def test_an_invalid_pattern_says_why_and_a_missing_path_what_is_near(grep):
    grep.put("source/a.py", "x")
    assert "pattern" in grep.refused("invalid", "grep", pattern="a(b").message
    assert grep.refused("invalid", "grep", pattern="a", glob="[").message.startswith("glob: '[' at position 0")
    assert grep.refused("not_found", "grep", pattern="x", path="sorce").details["near"] == ["source"]


@pytest.mark.parametrize(
    ("pattern", "noted"),
    [
        ("add(a, b)", True),
        ("a[0]", True),
        ("a + b", True),
        ("sub(a, b)", False),
        (r"add\(x", False),
        ("add.*(z)", False),
        ("none", False),
    ],
)
def test_code_that_matches_nothing_as_an_expression_but_is_there_is_noted(grep, pattern, noted):
    grep.put("a.py", "def add(a, b):\n    return a + b + a[0]\n")
    assert ("literal=true" in grep("grep", pattern=pattern).text) is noted
    assert "literal=true" not in grep("grep", pattern=pattern, glob="*.md").text


def test_a_kind_by_the_name_people_call_it_is_answered_with_ours(grep):
    for asked, near in (
        ("javascript", ["js"]),
        ("C++", ["cpp"]),
        ("javascrib", ["js", "java"]),
    ):
        assert grep.refused("invalid", "grep", pattern="x", file_type=asked).details["near"] == near
    assert "glob='*.ext'" in grep.refused("invalid", "grep", pattern="x", file_type="nope").hint


def test_every_kind_by_an_everyday_name_is_one_that_there_is():
    assert set(EVERYDAY_NAMES).isdisjoint(file_types())
    assert set(EVERYDAY_NAMES.values()) <= set(file_types())


def test_a_list_of_globs_that_nothing_fits_is_answered_with_braces(grep):
    grep.put("a.py", "x\n")
    result = grep("grep", pattern="x", glob="*.py,*.md")
    assert (result.data["total"], "'*.{py,md}' for several]" in result.text) == (0, True)
    assert grep("grep", pattern="x", glob="*.{py,md}").text == "a.py\n1\tx"
    assert grep("grep", pattern="y", glob="*.{py,md}").text == "Nothing matches."


def test_what_cannot_be_searched_at_all_is_refused_with_a_hint(grep):
    os.mkfifo(grep.root / "fifo")
    assert "folder" in grep.refused("denied", "grep", pattern="x", path="fifo").hint


@pytest.mark.parametrize("verb", ["enter", "names"])
def test_a_folder_that_the_system_keeps_closed_is_refused_with_a_hint(grep, monkeypatch, verb):
    """It cannot be opened, or not be listed."""
    grep.put("closed/a.py", "x\n")
    keeps = getattr(DiskFolder, verb)

    def keeping(folder, *names):
        if "closed" in (*names, folder.path):
            raise PermissionError(13, "Permission denied")
        return keeps(folder, *names)

    monkeypatch.setattr(DiskFolder, verb, keeping)
    for tool in ("grep", "glob"):
        assert "permission" in grep.refused("denied", tool, pattern="x", path="closed").hint


@pytest.mark.parametrize("text", ["def __init__(", "str | int", "[a-z]", "(.*)", "$19.99", "-e", "--files", "\\d"])
def test_literal_text_is_found_as_it_stands(grep, text):
    grep.put("a.txt", f"before\n{text}\n")
    assert places(grep("grep", pattern=text, literal=True)) == [("a.txt", 2)]


def test_files_can_be_chosen(grep):
    for path in ("a.py", "sub/b.py", "c.js", "gone/d.py", ".hidden/e.py"):
        grep.put(path, "hit\n")
    grep.put("f.py", b"hit\0")
    grep.put(".gitignore", "gone/\n")
    assert [path for path, _ in places(grep("grep", query="HIT", include="*.py", ignore_case=True))] == [
        "a.py",
        "sub/b.py",
    ]
    assert places(grep("grep", pattern="hit", type="js")) == [("c.js", 1)]
    everything = grep("grep", pattern="hit", include_hidden=True, include_ignored=True, **{"-F": True})
    assert {path for path, _ in places(everything)} >= {".hidden/e.py", "gone/d.py"}
    assert everything.data["skipped"] == {"binary": 1}
    assert "[not searched: 1 binary]" in everything.text


def test_one_file_is_searched_even_if_it_is_ignored_hidden_or_large(make_call):
    call = make_call(max_search_bytes=4)
    call.put("big.txt", "a hit\n")
    call.put(".gitignore", ".x\n")
    call.put(".x", "hit\n")
    assert call("grep", pattern="hit").data["skipped"] == {"large": 1}
    assert places(call("grep", pattern="hit", path="big.txt")) == [("big.txt", 1)]
    assert places(call("grep", pattern="hit", path=".x")) == [(".x", 1)]


@pytest.mark.parametrize("path", ["l.py", "./l.py", "real/../l.py", "{root}/l.py"])
def test_a_file_named_by_a_link_is_shown_under_the_links_name(grep, path):
    grep.put("real/b.py", "hit\n")
    (grep.root / "l.py").symlink_to("real/b.py")
    found = grep("grep", pattern="hit", path=path.format(root=grep.root))
    assert (found.data["path"], places(found), found.text) == ("l.py", [("l.py", 1)], "l.py\n1\thit")
    for mode in ("files", "count"):
        listed = grep("grep", pattern="hit", path=path.format(root=grep.root), output_mode=mode)
        assert [file["path"] for file in listed.data["files"]] == ["l.py"]


def test_a_link_is_searched_only_if_no_rule_is_about_where_it_is_or_leads(make_call):
    """The refusal does not tell where the link leads either."""
    call = make_call(deny_read=["/real/l.py", "/shut/"])
    call.put("real/b.py", "hit\n")
    call.put("shut/c.py", "hit\n")
    (call.root / "real/l.py").symlink_to("b.py")
    (call.root / "to_shut.py").symlink_to("shut/c.py")
    (call.root / "folder").symlink_to("real")
    for path in ("real/l.py", "to_shut.py", "folder/l.py"):
        refusal = call.refused("denied", "grep", pattern="hit", path=path)
        assert path in refusal.message
    assert "real" not in refusal.message


def test_a_hit_in_a_notebook_names_the_cell_and_the_line_in_it(grep):
    output = {"output_type": "stream", "name": "stdout", "text": ["needle out\n"]}
    cells = [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": "# title"},
        {"cell_type": "code", "id": "work", "metadata": {}, "source": ["a = 1\n", "needle = 2"], "outputs": [output]},
    ]
    grep.put("n.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    result = grep("grep", pattern="needle")
    assert result.text == "n.ipynb cell work (index 1)\n2\tneedle = 2"
    assert [(match["cell_id"], match["line"]) for match in result.data["matches"]] == [("work", 2)]
    with_outputs = grep("grep", pattern="needle", include_outputs=True)
    assert "n.ipynb cell work (index 1) output 0\n1\tneedle out" in with_outputs.text


def test_what_a_rule_denies_never_counts(make_call):
    call = make_call(deny_read=["*.secret", "/kept/"])
    for path in ("a.secret", "kept/b.txt", "c.txt", "d\ne/f.secret"):
        call.put(path, "hit\n")
    result = call("grep", pattern="hit", limit=1)
    assert (places(result), result.data["total"], result.data["truncated"]) == ([("c.txt", 1)], 1, False)


def test_a_long_line_is_cut_around_its_match(grep):
    grep.put("a.txt", "a" * 100_000 + "needle" + "b" * 100_000 + "\n")
    result = grep("grep", pattern="needle")
    match = result.data["matches"][0]
    assert match["column"] == 100_001
    start = match["column"] - match["text_column"]
    assert match["text"][start : start + 6] == "needle"
    assert f"1\t[... {match['text_column'] - 1} characters] a" in result.text
    assert result.text.endswith("characters]")


def test_more_than_one_call_shows_is_cut_and_can_be_gone_on_with(make_call):
    call = make_call(max_output_bytes=100)
    call.put("a.txt", "".join(f"hit {number:036}\n" for number in range(10)))
    result = call("grep", pattern="hit")
    assert (len(result.data["matches"]), result.data["total"], result.data["next_offset"]) == (2, 10, 2)
    assert places(call("grep", pattern="hit", offset=2))[0] == ("a.txt", 3)
    around = call("grep", pattern="0009$", before_lines=10**9, after_lines=10**9)
    assert len(around.data["matches"]) == 1
    assert (around.data["truncated"], around.data["next_offset"]) == (True, None)
    assert "left out: 8 before it; read the file with offset=1 to see them" in around.text
    assert "`before_lines` and `after_lines`" in around.text
    assert "left out" not in call("grep", pattern="0009$", before_lines=1).text
    assert sum(map(len, around.data["matches"][0]["before"])) <= 100


def test_lines_and_names_that_are_hostile(grep):
    grep.put("crlf.txt", "a needle\r\n")
    grep.put("bom.txt", b"\xef\xbb\xbfneedle\n")
    grep.put("latin.txt", b"needle \xe9\n")
    grep.put("new\nline.txt", "x\u2028y\nneedle\n")
    result = grep("grep", pattern="needle")
    assert places(result) == [("bom.txt", 1), ("crlf.txt", 1), ("latin.txt", 1), ("new\nline.txt", 2)]
    assert "'new\\nline.txt'\n2\tneedle" in result.text
    assert [match["text"] for match in result.data["matches"]][:3] == ["needle", "a needle", "needle \udce9"]


def test_a_carriage_return_within_a_line_is_shown_as_read_file_shows_it(grep):
    grep.put("mac.txt", "a\rneedle\rb")
    grep.put("crlf.txt", "x\r\nneedle\r\ny\rz\r\n")
    result = grep("grep", pattern="needle", after_lines=1)
    assert result.text == "crlf.txt\n2\tneedle\n3-\ty␍z\n\nmac.txt\n1\ta␍needle␍b"
    assert result.data["matches"][1]["text"] == "a\rneedle\rb"
    assert "\r" not in grep("grep", pattern="x\nneedle\ny", multiline=True).text
    grep("edit_file", path="mac.txt", old_string="a\rneedle", new_string="b")
    assert grep.got("mac.txt") == b"b\rb"


def test_a_match_over_lines_shows_all_of_them(grep):
    grep.put("a.txt", "0\nstart\nmiddle\nend\n")
    assert grep("grep", pattern="start[\\s\\S]*?end").data["total"] == 0
    result = grep("grep", pattern="start[\\s\\S]*?end", multiline=True)
    assert result.text == "a.txt\n2\tstart\n3\tmiddle\n4\tend"


def test_what_is_behind_a_match_over_many_lines_keeps_its_numbers(grep):
    """A long match is cut."""
    body = "".join(f"body {number:02}{'.' * 40}\n" for number in range(30))
    grep.put("a.txt", f"start\n{body}end\nafter\n")
    result = grep("grep", pattern="start[\\s\\S]*?end", multiline=True, after_lines=1)
    assert result.text.endswith(" characters]\n--\n33-\tafter")
    match = result.data["matches"][0]
    assert match["line"] + match["text"].count("\n") + match["cut_lines"] == 32


def test_a_file_that_is_only_named_is_not_read(grep):
    grep.put("a.txt", "hit\n")
    for mode in ("files", "count"):
        grep("grep", pattern="hit", path="a.txt", output_mode=mode)
    grep.refused("not_read", "edit_file", path="a.txt", old_string="hit", new_string="x")


def test_a_search_without_time_is_a_timeout_and_a_cancelled_one_says_so(make_call):
    call = make_call(search_seconds=-1.0)
    call.put("deep/a.txt", "hit\n")
    assert "seconds" in call.refused("timeout", "grep", pattern="hit").message
    gone = threading.Event()
    gone.set()
    workspace = make_call().workspace
    cancelled = call_tool(workspace.for_reader(workspace.reader, gone), "grep", pattern="hit")
    assert (cancelled.data["partial"], cancelled.data["truncated"]) == ("cancelled", True)
    assert cancelled.text.startswith("Nothing was found before the search ended.")
    assert "[partial: the search was cancelled" in cancelled.text


def test_a_page_that_was_cut_off_is_gone_on_with_where_it_ended(make_call, monkeypatch):
    gone = threading.Event()
    call = make_call()
    call.workspace.cancelled = gone.is_set
    call.put("a.txt", "hit\n")
    call.put("b.txt", "hit\n")
    read = Page._of_file

    def only_one(*given):
        found = read(*given)
        gone.set()
        return found

    monkeypatch.setattr(Page, "_of_file", only_one)
    result = call("grep", pattern="hit")
    assert (places(result), result.data["next_offset"], result.data["partial"]) == ([("a.txt", 1)], 1, "cancelled")


def test_a_page_of_which_nothing_could_be_read_in_time_is_a_timeout(make_call, monkeypatch):
    """It is never an empty page that says to go on where it began."""
    call = make_call(search_seconds=0.2)
    monkeypatch.setattr("jupyter_fstools.search.grep.GRACE_SECONDS", -1.0)
    monkeypatch.setattr(Page, "matches", lambda *_: time.sleep(0.3) or [])
    monkeypatch.setattr("jupyter_fstools.search.grep._Search._gather", slow(_Search._gather))
    call.put("a.txt", "hit\n")
    assert "could be read" in call.refused("timeout", "grep", pattern="hit").message
    assert call("grep", pattern="hit", output_mode="count").data["files"] == [{"path": "a.txt", "count": 1}]


def slow(work):
    def slowed(search, *given):
        work(search, *given)
        time.sleep(0.3)
        search._stop.now()

    return slowed
