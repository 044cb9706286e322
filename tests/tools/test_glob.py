"""glob, as every surface calls it."""

import importlib
import os

import pytest

from jupyter_fstools.errors import FsToolsError


@pytest.fixture
def tree(call):
    for path in ("a.py", "b.md", "src/c.py", "src/deep/d.py", ".hidden/e.py", "build/f.py", "node_modules/g.py"):
        call.put(path, "x\n")
    call.put(".gitignore", "/build/\n")
    return call


def found(result):
    return sorted(file["path"] for file in result.data["files"])


def age(call, path, seconds):
    os.utime(call.root / path, (seconds, seconds))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["a.py", "src/c.py", "src/deep/d.py"]),
        ("/*.py", ["a.py"]),
        ("src/**/*.py", ["src/c.py", "src/deep/d.py"]),
        ("*.{py,md}", ["a.py", "b.md", "src/c.py", "src/deep/d.py"]),
        ("[!b].py", ["a.py", "src/c.py", "src/deep/d.py"]),
        ("[^b].py", ["a.py", "src/c.py", "src/deep/d.py"]),
        (".hidden/*.py", [".hidden/e.py"]),
        ("node_modules/*", ["node_modules/g.py"]),
        ("a.py/**", []),
    ],
)
def test_a_pattern_finds(tree, pattern, expected):
    result = tree("glob", pattern=pattern)
    assert found(result) == expected
    assert (result.data["total"], result.data["truncated"]) == (len(expected), False)


def test_what_was_left_out_is_said(tree):
    result = tree("glob", pattern="**")
    assert result.data["ignored"] == 1
    assert result.data["excluded"] == ["node_modules"]
    assert "[left out by .gitignore: 1 file or folder; include_ignored=true includes them]" in result.text
    assert "[folders not entered: node_modules]" in result.text
    everything = found(tree("glob", pattern="**", include_ignored="true", includeHidden=True))
    assert {"build/f.py", "node_modules/g.py", ".hidden/e.py"} <= set(everything)


def test_an_ignored_file_can_be_read_by_its_name(tree):
    assert tree("read_file", path="build/f.py").data["success"]


@pytest.mark.parametrize(("limit", "truncated", "following"), [(2, True, 2), (3, False, None), (4, False, None)])
def test_the_cap_is_exact(tree, limit, truncated, following):
    result = tree("glob", pattern="*.py", limit=limit)
    assert (result.data["total"], result.data["truncated"], result.data["next_offset"]) == (3, truncated, following)
    assert ("[3 files in all; go on with offset=2]" in result.text) is truncated


def test_pages_follow_each_other_newest_first_then_by_path(tree):
    age(tree, "a.py", 1_000_000)
    age(tree, "src/c.py", 2_000_000)
    age(tree, "src/deep/d.py", 1_000_000)
    pages = [tree("glob", pattern="*.py", limit=1, offset=offset).data["files"] for offset in range(4)]
    assert [file["path"] for page in pages for file in page] == ["src/c.py", "a.py", "src/deep/d.py"]
    assert pages[0] == [{"path": "src/c.py", "size_bytes": 2, "modified_at": "1970-01-24T03:33:20.000000Z"}]
    by_path = tree("glob", pattern="*.py", sort="path").text.split("\n")
    assert by_path[:3] == ["a.py", "src/c.py", "src/deep/d.py"]


def test_limit_0_is_no_limit_of_ones_own_and_the_settings_bound_it(make_call):
    call = make_call(list_entries=2, max_list_entries=3)
    for number in range(5):
        call.put(f"{number}.txt", "")
    assert [len(call("glob", pattern="*", limit=limit).data["files"]) for limit in (0, 1, 3, 100)] == [2, 1, 3, 3]


def test_nothing_found_is_no_refusal(tree):
    assert tree("glob", pattern="*.rs").text.startswith("No files match the pattern.")
    assert tree("glob", pattern="*.py", offset=9).text.startswith("No files from this offset on; the total is 3.")
    assert tree("glob", pattern="*.py", offset=9).data["total"] == 3


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("invalid", {"pattern": ""}),
        ("invalid", {"pattern": "[oops"}),
        ("invalid", {"pattern": "a\0b"}),
        ("invalid", {"pattern": "*", "limit": -1}),
        ("invalid", {"pattern": "*", "sort": "size"}),
        ("invalid", {"pattern": "*", "path": "a\0"}),
        ("outside_root", {"pattern": "../*"}),
        ("outside_root", {"pattern": "a/../../x"}),
        ("outside_root", {"pattern": "*", "path": ".."}),
        ("not_a_directory", {"pattern": "*", "path": "a.py"}),
        ("denied", {"pattern": "*", "path": ".ssh"}),
    ],
)
def test_what_is_refused(tree, code, arguments):
    tree.put(".ssh/key", "secret")
    tree.refused(code, "glob", **arguments)


def test_a_missing_folder_is_not_found_with_near_names(tree):
    assert tree.refused("not_found", "glob", pattern="*", path="scr").details["near"] == ["src"]


def test_an_absolute_pattern_works_inside_the_root_only(tree):
    assert found(tree("glob", pattern=f"{tree.root}/src/*.py")) == ["src/c.py"]
    outside = tree("glob", pattern=f"{tree.root.parent}/*")
    assert outside.data["files"] == []


def test_what_a_rule_denies_never_shows(make_call):
    call = make_call(deny_read=["secret*", ".ssh/"])
    for path in ("secret.txt", "a\nb/.ssh/key", "a/secrets/x.txt", "open.txt", ".ssh/key"):
        call.put(path, "x")
    result = call("glob", pattern="**", include_hidden=True)
    assert found(result) == ["open.txt"]
    assert result.data["total"] == 1


@pytest.mark.parametrize(
    ("pattern", "path", "hint"),
    [
        ("src", ".", "['src' is a folder: 'src/**' matches what is in it]"),
        ("/src/deep", ".", "['/src/deep' is a folder: '/src/deep/**' matches what is in it]"),
        ("deep", "src", "['deep' is a folder: 'deep/**' matches what is in it]"),
        ("!*.py", ".", "[a leading ! excludes nothing here; `grep` takes glob='!*.py']"),
        ("*.py,*.md", ".", "'*.{py,md}' for several]"),
        (r"src\*.py", ".", "folders are separated by /]"),
        ("a.py, /b.md", ".", "'{a.py,/b.md}' for several]"),
    ],
)
def test_a_pattern_that_nothing_fits_and_is_probably_a_mistake_gets_a_hint(tree, pattern, path, hint):
    result = tree("glob", pattern=pattern, path=path)
    assert (result.data["total"], hint in result.text) == (0, True), result.text
    if " is a folder: " in hint:
        assert tree("glob", pattern=hint.split("'")[3], path=path).data["total"]


@pytest.mark.parametrize(
    ("pattern", "path", "better"),
    [
        ("app/[id]/*.tsx", ".", "app/[[]id]/*.tsx"),
        ("app/[id]/**", ".", "app/[[]id]/**"),
        ("app/[id]", ".", "app/[[]id]/**"),
        ("/app/[id]/[[slug]]", ".", "/app/[[]id]/[[][[]slug]]/**"),
        ("[id]/[[slug]]/*", "app", "[[]id]/[[][[]slug]]/*"),
        ("{root}/app/[id]/[pt]*", ".", "{root}/app/[[]id]/[pt]*"),
        ("app/[id]/[[slug]]", ".", "app/[[]id]/[[][[]slug]]/**"),
    ],
)
def test_a_folder_with_brackets_in_its_name_is_told_of(tree, pattern, path, better):
    """Nothing matches, because brackets stand for one character; the pattern in the hint finds something."""
    tree.put("app/[id]/page.tsx", "x")
    tree.put("app/[id]/[[slug]]/x.js", "x")
    pattern, better = pattern.format(root=tree.root), better.format(root=tree.root)
    result = tree("glob", pattern=pattern, path=path)
    assert (result.data["total"], repr(better) in result.text) == (0, True), result.text
    assert tree("glob", pattern=better, path=path).data["total"]


@pytest.mark.parametrize(
    ("pattern", "path", "link"),
    [
        ("link/*.py", ".", "link"),
        ("/real/link/**", ".", "real/link"),
        ("link/**", "real", "link"),
        ("real/in/*.txt", ".", None),
        ("out/*.py", ".", None),
        ("file/*.py", ".", None),
    ],
)
def test_a_pattern_through_a_link_to_a_folder_is_told_where_it_leads(call, tmp_path, pattern, path, link):
    call.put("real/in/a.py", "x\n")
    for name, target in {"link": "real/in", "real/link": "in", "out": tmp_path, "file": "real/in/a.py"}.items():
        (call.root / name).symlink_to(target)
    told = f"[{link!r} is a link, which a pattern does not follow; path='real/in' searches there]"
    answers = call("glob", pattern=pattern, path=path).text, call("grep", pattern="x", glob=pattern, path=path).text
    for answer in answers:
        assert answer.split("\n")[1:] == ([told] if link else [])


@pytest.mark.parametrize("pattern", ["src/[id]/*", "app/[xy]/*", "[a.py]/*", ".ssh/[id]/*", "**/[id]/*.x"])
def test_brackets_that_are_in_no_folders_name_get_no_hint(tree, pattern):
    tree.put("app/[id]/page.tsx", "x")
    tree.put("[a.py]", "x")
    tree.put(".ssh/[id]/key", "secret")
    assert tree("glob", pattern=pattern).text.startswith("No files match the pattern.")
    assert "[[]" not in tree("glob", pattern=pattern).text


@pytest.mark.parametrize("pattern", ["nope", "*.rs", ".ssh", "a,", "{a,b}.rs", "[a,b]", "deep", "/"])
def test_what_is_simply_not_there_gets_no_hint(tree, pattern):
    """A denied name is not mentioned either."""
    tree.put(".ssh/key", "secret")
    assert " is a folder" not in (text := tree("glob", pattern=pattern).text) and "comma" not in text


def test_a_folder_in_the_root_is_named_by_its_absolute_path_too(tree):
    assert f"'{tree.root}/src' is a folder" in tree("glob", pattern=f"{tree.root}/src").text


HOSTILE = [
    "new\nline.txt",
    "-rf.txt",
    "sp ace.txt",
    "quo'te\".txt",
    "\U0001f600.txt",
    os.fsdecode(b"caf\xe9.txt"),
    "a\u2028b.txt",
    "a\x85b.txt",
    "\x9b31m.txt",
    "\u202egnp.txt",
]


def test_hostile_names_are_one_line_each_and_open_by_that_name(call):
    for name in HOSTILE:
        call.put(name, "text\n")
    result = call("glob", pattern="*.txt")
    assert found(result) == sorted(HOSTILE)
    assert len(result.text.splitlines()) == len(HOSTILE)
    result.text.encode()  # no lone surrogate
    listed = [row.partition("\t")[0] for row in call("list_files").text.splitlines()]
    found_by_grep = call("grep", pattern="text", output_mode="files").text.splitlines()
    assert sorted(result.text.splitlines()) == sorted(listed) == sorted(found_by_grep)
    for name in found(result):
        assert call("read_file", path=name).data["content"] == "text\n"


def test_links_out_of_the_root_are_not_followed(call):
    (call.root.parent / "outside").mkdir()
    (call.root.parent / "outside/o.py").write_text("")
    call.put("in/a.py", "")
    (call.root / "out").symlink_to("../outside")
    (call.root / "o.py").symlink_to("../outside/o.py")
    (call.root / "in/loop").symlink_to("..")
    assert found(call("glob", pattern="**/*.py")) == ["in/a.py"]


def test_it_leaves_no_receipt(tree):
    tree("glob", pattern="*.py")
    assert tree.refused("not_read", "edit_file", path="a.py", old_string="x", new_string="y")


def test_a_search_without_time_is_a_timeout_and_with_some_found_is_partial(make_call):
    call = make_call(search_seconds=-1.0)
    for number in range(3):
        call.put(f"{number}/a.py", "")
    call.refused("timeout", "glob", pattern="*.py")
    call.put("a.py", "")
    result = call("glob", pattern="*.py")
    assert (result.data["partial"], result.data["truncated"]) == ("timeout", True)
    assert "[partial:" in result.text


@pytest.mark.parametrize(("tool", "search"), [("glob", "find_files"), ("grep", "search_text")])
def test_what_was_found_before_the_time_was_over_is_not_said_to_be_all(tree, monkeypatch, tool, search):
    module = importlib.import_module(f"jupyter_fstools.tools.{tool}")
    whole = getattr(module, search)
    monkeypatch.setattr(module, search, lambda *a, **k: whole(*a, **k).model_copy(update={"partial": "timeout"}))
    text = tree(tool, pattern={"glob": "*.py", "grep": "x"}[tool], limit=1).text
    assert "so far; go on with offset=1]" in text and "[partial:" in text and "in all" not in text


def test_a_cancelled_call_ends(tree):
    import threading

    gone = threading.Event()
    gone.set()
    workspace = tree.workspace.for_reader(tree.workspace.reader, gone)
    from jupyter_fstools import call_tool

    assert call_tool(workspace, "glob", pattern="*.py").data["partial"] == "cancelled"


def test_two_names_for_one_argument_are_refused(tree):
    with pytest.raises(FsToolsError, match="given twice"):
        tree("glob", pattern="*", limit=1, head_limit=2)


@pytest.mark.parametrize("pattern", ["", "x" * 5000, "a\0", "[invalid", "{a", "{a,b}" * 40])
def test_a_refused_pattern_is_named_as_the_argument_that_gives_it(call, pattern):
    refusal = call.refused("invalid", "glob", pattern=pattern)
    assert refusal.message.startswith("pattern: ")
    assert refusal.details["field"] == "pattern"


def test_a_pattern_that_leads_out_names_the_argument_too(call):
    refusal = call.refused("outside_root", "glob", pattern="a/../../x")
    assert refusal.details["field"] == "pattern"


@pytest.mark.parametrize("tool", ["glob", "grep", "list_files"])
@pytest.mark.parametrize("path", ["missing", "..", ".ssh", "a.txt/b", "\0"])
def test_a_path_that_is_refused_is_named_as_the_argument_that_gives_it(call, tool, path):
    call.put("a.txt", "x\n")
    arguments = {"path": path} | ({} if tool == "list_files" else {"pattern": "x"})
    with pytest.raises(FsToolsError) as refused:
        call(tool, **arguments)
    assert refused.value.details["field"] == "path"
