"""The part of a workspace that a token opens: excluded files stay closed, and so do files that no rule names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.errors import Denied, Invalid
from jupyter_fstools.gate.tokens import Grant
from jupyter_fstools.tools import call_tool

TREE = (
    "a.py",
    "docs",
    "docs/a.md",
    "docs/private",
    "docs/private/b.md",
    "docs/private/deep/c.py",
    "private/d.py",
    "src",
)


def opened(*paths):
    grant = Grant("write", paths)
    return {path for path in TREE if grant.covers(path)}


@pytest.mark.parametrize(
    "opens", [["docs/"], ["docs"], ["/docs/**", "docs"], ["{docs,x}/"], ["DOCS/"], ["**/docs/**", "docs"]]
)
@pytest.mark.parametrize(
    "closes", ["!docs/private/", "!docs/private", "!**/private/", "!Docs/PRIVATE/", "\u200c!private/"]
)
def test_nothing_below_an_excluded_folder_is_opened(opens, closes):
    assert opened(*opens, closes) == {"docs", "docs/a.md"}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["*", "!private/"], {"a.py", "docs", "docs/a.md", "src"}),
        (["*.py", "!private/"], {"a.py"}),
        (["docs/", "!private/", "docs/private/deep/"], {"docs", "docs/a.md", "docs/private/deep/c.py"}),
        (["docs/", "!*.md"], {"docs", "docs/private", "docs/private/deep/c.py"}),
        (["docs/", "!!private"], {path for path in TREE if path.startswith("docs")}),
        (["!private/"], set()),
        (["\\!a.py"], set()),
    ],
)
def test_the_last_rule_that_holds_for_a_path_or_a_folder_above_it_counts(paths, expected):
    assert opened(*paths) == expected


@pytest.mark.parametrize(
    "path", ["..", "../", "/..", "docs/..", "docs/../src/", "./docs", "docs//a.md", "/", ".", " docs/", "# all"]
)
def test_what_is_spelled_in_another_way_opens_nothing(path):
    assert not opened(path)


@pytest.mark.parametrize("rule", ["!#*#", "!{#*,x}", "!\\#*"])
def test_an_exclusion_of_names_that_begin_as_comments_do_holds(rule):
    """Emacs saves what is not saved yet in `#name#`."""
    grant = Grant("read", ["*", rule])
    assert not grant.covers("#a.py#") and not grant.covers("docs/#a.py#") and grant.covers("a.py")


def test_a_sign_of_comments_in_braces_is_part_of_a_name():
    grant = Grant("read", ["{#*#,*.md}"])
    assert grant.covers("#a.py#") and grant.covers("docs/a.md") and not grant.covers("a.py")


@pytest.mark.parametrize("path", ["{,}", "# all", " "])
def test_rules_that_name_nothing_open_nothing(path):
    assert not opened(path) and not Grant("read", [path]).all_paths


@pytest.mark.parametrize("rule", ["/[^a]ocs/*.md", "/\\docs/*.md", "/{d,x}ocs/*.md", "/d**/*.md"])
def test_the_folders_on_the_way_are_found_as_the_files_are(rule):
    grant = Grant("read", [rule])
    assert grant.covers("docs/a.md") and grant.leads_on("docs") and grant.leads_on("")
    assert not grant.leads_on("src")


def test_an_excluded_folder_is_gone_through_only_for_what_a_later_rule_opens():
    assert not Grant("read", ["*.txt", "!private/"]).leads_on("docs/private")
    assert not Grant("read", ["*.txt", "!private/"]).leads_on("docs/private/deep")
    assert Grant("read", ["*.txt", "!private/", "/docs/private/deep/"]).leads_on("docs/private")
    assert Grant("read", ["!private/", "*.txt"]).leads_on("docs/private")


def test_no_paths_are_everything():
    assert opened() == {*TREE} and Grant("write").all_paths


@pytest.mark.parametrize("path", ["!", "{", "docs/{a", "docs\\/*.md", "[z-a]", "docs["])
def test_what_is_no_rule_is_refused(path):
    with pytest.raises(Invalid):
        Grant("write", [path])


def test_beyond_what_is_opened_nothing_shows_by_way_of_links(call):
    """Not whether a name there is a file, a folder, a link or nothing."""
    for path in ("docs/a.md", "src/file", "src/folder/file"):
        call.put(path, "x")
    (call.root / "src" / "out").symlink_to("/etc")
    for name in ("file", "folder", "nothing", "out"):
        (call.root / "docs" / f"to-{name}").symlink_to(f"../src/{name}")
    (call.root / "docs" / "by").symlink_to("../src")
    workspace = call.workspace.for_reader(call.workspace.reader, grant=Grant("write", ["/docs/"]))
    assert call_tool(workspace, "read_file", path="docs/a.md").data["content"] == "x"
    for tool, more in (
        ("read_file", {}),
        ("list_files", {}),
        ("grep", {"pattern": "x"}),
        ("write_file", {"content": "y"}),
    ):
        for path in (
            *("to-{}", "to-{}/x", "to-{}/x/y", "by/{}", "by/{}/x", "by/{}/x/y"),
            *("to-{}/../../docs/a.md", "by/{}/../../docs/a.md", "../src/{}/../../docs/a.md", "../src/{}/.."),
        ):
            said = set()
            for name in ("file", "folder", "nothing", "out"):
                with pytest.raises(Denied) as refused:
                    call_tool(workspace, tool, path=f"docs/{path.format(name)}", **more)
                said.add((refused.value.message.replace(name, "…"), refused.value.hint, str(refused.value.details)))
            assert len(said) == 1, (tool, path, said)


PARTS = st.sampled_from(["a", "b", "*", "**", "a*", "?", "[ab]", "[^a]", "{a,b}", "\\!b", "ä", "a\u0308", "a\u202e"])
RULES = st.tuples(st.booleans(), st.booleans(), st.lists(PARTS, min_size=1, max_size=3), st.booleans()).map(
    lambda rule: ("/" if rule[1] else "") + "/".join(rule[2]) + ("/" if rule[3] else "")
)


@given(
    st.lists(RULES, min_size=1, max_size=4),
    RULES,
    st.lists(st.sampled_from(["a", "b", "!b", "ä"]), min_size=1, max_size=4),
)
def test_a_folder_that_leads_to_something_open_can_be_gone_through_and_an_exclusion_closes(paths, excluded, names):
    path = "/".join(names)
    grant = Grant("write", paths)
    if grant.covers(path):
        assert all(grant.leads_on("/".join(names[:depth])) for depth in range(len(names)))
    closed = Grant("write", [*paths, f"!{excluded}"])
    assert closed.covers(path) == (grant.covers(path) and not Grant("write", [excluded]).covers(path))
