"""Access of a caller: deny rules for every tool, on every spelling, and read-only mode."""

from __future__ import annotations

import json
import os
import sys
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from jupyter_fstools.errors import Denied, FsToolsError, Invalid, NotFound
from jupyter_fstools.gate.policy import Policy, checked_path
from jupyter_fstools.gate.startup_files import DENY_READ, DENY_WRITE
from jupyter_fstools.gate.tokens import Grant
from jupyter_fstools.tools import available_tools

HIDDEN_FROM_ALL = [
    ".ssh/id_rsa",
    "deep/in/.ssh/config",
    ".gnupg/secring.gpg",
    "jpserver-1234.json",
    "run/jpserver-1234.json",
]
READABLE = [
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".ipynb_checkpoints/a-checkpoint.py",
    ".ipython/profile_default/startup/00.py",
    "home/.ipython/profile_x/startup/deep/00.py",
    ".jupyter/jupyter_server_config.py",
    "jupyter_notebook_config.json",
    "share/jupyter/kernels/evil/kernel.json",
    "kernels/evil/kernel.json",
    ".bashrc",
    "home/.profile",
    ".zshrc",
]
ORDINARY = [".env", ".config/x", "a/.hidden", "gitignore", ".gitignore", "kernel.json", "ssh/a", "a.ssh/b", "..foo"]


def write_calls(path):
    return [
        ("write_file", {"path": path, "content": "x"}),
        ("edit_file", {"path": path, "old_string": "x", "new_string": "y"}),
    ]


def every_call(path):
    reads = [("read_file", {"path": path}), ("list_files", {"path": path}), ("undo", {"path": path})]
    return [*reads, *write_calls(path)]


@pytest.mark.parametrize("path", HIDDEN_FROM_ALL)
def test_what_is_denied_by_default_is_denied_to_every_tool(call, path):
    """Whether it is there or not, with the same words."""
    said = [call.refused("denied", name, **arguments).as_dict() for name, arguments in every_call(path)]
    call.put(path, "secret")
    assert said == [call.refused("denied", name, **arguments).as_dict() for name, arguments in every_call(path)]
    below = f"{path}/below"
    for name, arguments in every_call(below):
        call.refused("denied", name, **arguments)
    listed = call("list_files", recursive=True)
    assert not any(path.startswith(entry["path"] + "/x") or entry["path"] == path for entry in listed.data["entries"])
    assert "secret" not in str(listed) and call.got(path) == b"secret"


@pytest.mark.parametrize("path", READABLE)
def test_what_would_run_code_is_read_but_not_written(call, path):
    """Also where nothing is there yet."""
    for name, arguments in write_calls(path):
        call.refused("denied", name, **arguments)
    assert not (call.root / path).exists()
    call.put(path, "x")
    call("read_file", path=path)
    for name, arguments in write_calls(path):
        call.refused("denied", name, **arguments)
    assert call.got(path) == b"x"


@pytest.mark.parametrize("path", ORDINARY)
def test_other_hidden_files_are_files_like_any_other(call, path):
    """Spec 2."""
    call("write_file", path=path, content="x")
    call("edit_file", path=path, old_string="x", new_string="y")
    assert call.got(path) == b"y"


def test_a_rule_holds_for_the_spelling_and_for_what_it_leads_to(call):
    """A link to a denied file, and a denied name that links to another file."""
    call.put(".ssh/id_rsa", "secret")
    call.put("plain.txt", "x")
    (call.root / "harmless").symlink_to(".ssh/id_rsa")
    (call.root / "folder").symlink_to(".ssh")
    (call.root / ".gnupg").symlink_to(".")
    for path in ("harmless", "folder/id_rsa", "folder/new", "folder", ".gnupg/plain.txt", f"{call.root}/harmless"):
        for name, arguments in every_call(path):
            call.refused("denied", name, **arguments)
    assert sorted(os.listdir(call.root / ".ssh")) == ["id_rsa"]
    assert [entry["path"] for entry in call("list_files").data["entries"]] == ["plain.txt"]


def test_a_link_into_git_is_read_but_not_written(call):
    call.put(".git/config", "x")
    (call.root / "config").symlink_to(".git/config")
    call("read_file", path="config")
    call.refused("denied", "edit_file", path="config", old_string="x", new_string="y")
    (call.root / "hooks").symlink_to(".git/hooks")
    call.refused("denied", "write_file", path="hooks/pre-commit", content="x")
    assert not (call.root / ".git" / "hooks").exists()


@pytest.mark.parametrize("path", [".SSH/id", ".Git/config", "JPServer-1.JSON", "Jupyter_X_Config.py", ".BASHRC"])
def test_case_is_no_way_around_a_rule(call, path):
    """On any disk; where case matters this denies a little more."""
    call.refused("denied", "write_file", path=path, content="x")
    assert os.listdir(call.root) == []


@pytest.mark.parametrize("rule", ["Café.txt", "Ϊ́.txt", "ǅ.txt", "straße/"])
def test_composed_and_decomposed_names_are_one_name(make_call, rule):
    """The same holds for upper and lower case."""
    call = make_call(deny_read=[rule], deny_write=[])
    name = rule.rstrip("/")
    for form in ("NFC", "NFD"):
        for spelled in (name, name.upper(), name.lower(), name.casefold()):
            call.refused("denied", "read_file", path=unicodedata.normalize(form, spelled))


@pytest.mark.parametrize("path", [".g\u200cit/config", "\ufeff.git/config", ".\u200dssh/id", ".bash\u2060\u206frc"])
def test_characters_that_some_disks_ignore_are_no_way_around_a_rule(path):
    """HFS+ compares names without them."""
    policy = Policy()
    ignored = "\u2060" not in path
    with pytest.raises(Denied) if ignored else pytest.raises(AssertionError):
        policy.require_write(path, path, "")
        raise AssertionError


@pytest.mark.parametrize("path", ["key.pem", "notes.txt", "own/settings.py"])
def test_a_denied_write_names_both_lists_of_rules_and_what_none_opens(make_call, tmp_path, path):
    """The rule may be in either list, and no list opens a protected file."""
    own = tmp_path.resolve() / "root" / "own" / "settings.py"
    call = make_call(deny_read=["*.pem"], deny_write=["*.txt"], kept_keys=[str(own)])
    hint = call.refused("denied", "write_file", path=path, content="x").hint
    assert "deny_write and deny_read" in hint and "settings files are never written" in hint


def test_escaped_bytes_of_a_character_are_no_way_around_a_rule(make_call):
    """Nor are they a second file, with a lock and receipts of its own."""
    call = make_call(deny_read=["schlüssel*"], deny_write=["übung/"], approval=["größe.txt"])
    for name in ("schlüssel.txt", "übung/a.txt", "größe.txt"):
        call.put(name, "old\n")
    escaped = {name: name.encode().decode("ascii", "surrogateescape") for name in ("schlüssel.txt", "übung/a.txt")}
    call.refused("denied", "read_file", path=escaped["schlüssel.txt"])
    call.refused("denied", "grep", pattern="old", path=escaped["schlüssel.txt"])
    assert call("read_file", path=escaped["übung/a.txt"]).data["path"] == "übung/a.txt"
    call.refused("denied", "write_file", path=escaped["übung/a.txt"], content="new\n")
    call("read_file", path="größe.txt")
    changed = call("write_file", path="gr\udcc3\udcb6\udcc3\udc9fe.txt", content="new\n").change
    assert (changed.path, changed.status) == ("größe.txt", "proposed")


def test_rules_hold_for_names_as_a_c_locale_lists_them():
    """There every byte that is not ASCII is escaped."""
    policy = Policy(deny_read=["übung/"])
    assert not policy.may_read("\udcc3\udcbcbung/a.txt")
    assert not policy.all_allowed("", ["\udcc3\udcbcbung"], "")


def test_braces_in_rules_mean_each_of_their_choices(make_call):
    """Also nested."""
    call = make_call(deny_read=["*.{key,pem,{p12,pfx}}", "/only/{here,there}/"], deny_write=[])
    for path in ("a.key", "d/b.PEM", "c.p12", "c.pfx", "only/here/a", "only/there"):
        call.refused("denied", "read_file", path=path)
    for path in ("a.keys", "deeper/only/here/a", "only/heres"):
        call("write_file", path=path, content="x")
    for rule in ("{a,b}" * 12, "{a,b", "a}b", "{" * 500 + "a" + "}" * 500):
        with pytest.raises(Invalid):
            Policy(deny_read=[rule])


def test_a_later_rule_can_take_a_file_out_again(make_call):
    """The last matching rule decides, as in a .gitignore."""
    call = make_call(deny_read=["*.secret", "!public.secret"], deny_write=[])
    call.refused("denied", "read_file", path="a.secret")
    call("write_file", path="public.secret", content="x")


@pytest.mark.parametrize("rule", ["!", "[z-a]", "src/[a-\\d]"])
def test_a_broken_rule_is_refused_when_it_is_set(rule):
    with pytest.raises(Invalid, match="not a valid pattern"):
        Policy(deny_read=[rule])


@pytest.mark.parametrize("rule", ["a[", "[!]", "[a/b]"])
def test_a_rule_that_would_hold_for_no_path_is_refused(rule):
    """Whoever sets it believes that it protects something."""
    with pytest.raises(Invalid, match="holds for no path") as refused:
        Policy(deny_read=["*.py", rule])
    assert "escape it" in refused.value.hint
    assert not Policy(deny_read=["", " ", "\u200c", "# a comment", "a\\["]).may_read("a[")


@pytest.mark.parametrize("rule", ["./private/", "../private", "a//b", "/", "!./a", "{src,./private}", "a/./b"])
def test_a_rule_that_is_spelled_as_no_path_is_refused(rule):
    with pytest.raises(Invalid, match="holds for no path") as refused:
        Policy(deny_read=["*.py", rule])
    assert "private/ instead of ./private/" in refused.value.hint


def test_a_sign_of_comments_in_braces_denies_a_name():
    policy = Policy(deny_read=["{#*#,*~}", "#*.txt"])
    assert not policy.may_read("#a.py#") and not policy.may_read("a.py~") and policy.may_read("#a.txt")


def test_suggestions_never_name_what_is_denied(make_call):
    """No files, folders or targets of links."""
    call = make_call(deny_read=[*DENY_READ, "secret*"], deny_write=DENY_WRITE)
    for path in ("secrets.txt", "secretz.txt", "secreta/x", "secreb.txt"):
        call.put(path, "x")
    (call.root / "secreg.txt").symlink_to("secrets.txt")
    refusal = call.refused("not_found", "read_file", path="secre.txt")
    assert refusal.details["near"] == ["secreb.txt"]
    call.put(".ssh/id_rsa", "x")
    assert call.refused("not_found", "read_file", path=".ss").details["near"] == []
    assert call.refused("not_found", "read_file", path="ssh/id_rsb").details["near"] == []


def test_the_runtime_folder_is_denied_wherever_it_is_in_the_root(make_call):
    """It holds tokens; the rule is by file key, which covers links, too."""
    call = make_call()
    folder = call.put("share/runtime/kernel-1.json", "token").parent
    call = make_call(denied_keys=[os.path.realpath(folder)])
    (call.root / "link").symlink_to("share/runtime")
    for path in ("share/runtime/kernel-1.json", "share/runtime", "share/runtime/new", "link", "link/kernel-1.json"):
        for name, arguments in every_call(path):
            call.refused("denied", name, **arguments)
    assert [entry["path"] for entry in call("list_files", recursive=True).data["entries"]] == ["share"]
    call("write_file", path="share/runtime2", content="x")


def test_behind_a_deny_rule_nothing_shows(call):
    """Not whether a name there is a file, a link, a loop, or nothing."""
    call.put(".ssh/file", "x")
    call.put(".ssh/folder/file", "x")
    (call.root / ".ssh" / "out").symlink_to("/etc/passwd")
    (call.root / ".ssh" / "loop").symlink_to("loop")
    (call.root / "docs").mkdir()
    (call.root / "docs" / "by").symlink_to("../.ssh")
    for folder in (".ssh", "docs/by", str(call.root / "docs" / "by")):
        read, listed = set(), set()
        for name in ("file", "nothing", "file/x", "nothing/x", "out", "loop", "out/x", "loop/x"):
            refusal = call.refused("denied", "read_file", path=f"{folder}/{name}")
            read.add((refusal.message.replace(name, "…"), refusal.hint, str(refusal.details)))
        for name in ("folder", "file", "nothing", "out", "loop"):
            refusal = call.refused("denied", "list_files", path=f"{folder}/{name}/../../docs")
            listed.add((refusal.message.replace(name, "…"), refusal.hint, str(refusal.details)))
        assert len(read) == len(listed) == 1
    (call.root / "docs" / "file").symlink_to("../.ssh/file")
    assert ".ssh" not in call.refused("denied", "read_file", path="docs/file/x").message


def test_in_read_only_mode_the_tools_that_write_are_not_there(make_call):
    call = make_call(read_only=True)
    call.put("a.txt", "x")
    call("read_file", path="a.txt")
    assert set(available_tools(call.workspace)) & {"write_file", "edit_file", "undo"} == set()
    for name, arguments in (*write_calls("a.txt"), ("undo", {"path": "a.txt"})):
        with pytest.raises(FsToolsError) as refused:
            call(name, **arguments)
        assert refused.value.code == "disabled" and "not modified" in refused.value.message
    with pytest.raises(Denied, match="read-only"), call.workspace.draft("a.txt"):
        pass
    assert call.got("a.txt") == b"x"


@pytest.mark.parametrize(
    ("path", "problem"),
    [("", "empty"), (" \t", "empty"), ("a\0b", "NUL"), ("a" * 5000, "5000 bytes"), ("\ud800", "surrogate")],
)
def test_what_no_file_can_be_called_is_invalid(call, path, problem):
    for name, arguments in every_call(path):
        assert problem in call.refused("invalid", name, **arguments).message
    assert os.listdir(call.root) == []


def test_a_byte_that_is_no_utf_8_is_part_of_a_name():
    assert checked_path("caf\udce9") == "caf\udce9"


@pytest.mark.parametrize("rule", ["a" + "\u0301\u0316" * 100_000, "[a]" * 100_000, "a" * 4097])
def test_a_rule_longer_than_any_path_is_refused_at_once(rule):
    begun = time.process_time()
    with pytest.raises(Invalid, match=f"has {len(rule)} characters, more than 4096"):
        Policy(deny_read=[rule])
    with pytest.raises(Invalid, match="more than 4096"):
        Grant("read", [rule])
    assert time.process_time() - begun < 1


PARTS = st.sampled_from([".ssh", ".SSH", "a", ".git", "jpserver-1.json", "deep", ".bashrc", "b.txt"])


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_no_way_to_a_denied_name_is_open(parts):
    """Whatever stands before it or after it."""
    policy, path = Policy(), "/".join(parts)
    folded = [part.casefold() for part in parts]
    assert policy.may_read(path) == (not {".ssh", "jpserver-1.json"} & set(folded))
    writable = not {".ssh", "jpserver-1.json", ".git", ".bashrc"} & set(folded)
    try:
        policy.require_write("elsewhere", path, "")
        assert writable
    except Denied:
        assert not writable


RULES = st.lists(
    st.sampled_from(
        ["a", "a/", "/a", "a/b", "**/b/", "*.x", "a*", "!a", "!a.x", "b/**", "[ab].x", "a?", "/b/*/a", "\\!a"]
    ),
    max_size=4,
)
NAMES = st.lists(st.sampled_from(["a", "b", "A", "a.x", "b.X", "ab", "!a", "a\n", "\na", "c", ".", "aa.x"]), max_size=4)


@settings(max_examples=300)
@given(RULES, NAMES.map("/".join))
def test_the_verdict_is_that_of_a_gitignore(rules, path):
    """However it is computed; a folder's rule holds for the folder itself and for a file of its name."""
    plain = GitIgnoreSpec.from_lines([rule.casefold() for rule in rules])
    name = path.casefold().replace("\n", "_")
    denied = plain.match_file(name) or plain.match_file(f"{name}/")
    assert Policy(deny_read=rules).may_read(path) == (not denied)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS finds a name in either form")
@pytest.mark.parametrize(("asked", "there"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_that_only_looks_like_that_of_a_missing_file_is_spelled_out(call, asked, there):
    folder, name = unicodedata.normalize(there, "Prüfung"), unicodedata.normalize(there, "größe.txt")
    other, wanted = unicodedata.normalize(asked, folder), unicodedata.normalize(asked, name)
    call.put(f"{folder}/{name}", "x")
    for path, near in ((f"{folder}/{wanted}", f"{folder}/{name}"), (f"{other}/{wanted}", folder)):
        hint = call.refused("not_found", "read_file", path=path).hint
        assert f" Its name has other code points: {json.dumps(near)} in JSON." in hint
    assert "code points" not in call.refused("not_found", "read_file", path=f"{folder}/grösse.txt").hint


def test_a_missing_file_names_up_to_three_that_are_like_it(call):
    """From the same folder, and from the nearest there is where a folder is missing."""
    for name in ("data_1.csv", "data_2.csv", "data_3.csv", "data_4.csv", "other"):
        call.put(f"inputs/{name}", "x")
    with pytest.raises(NotFound) as refused:
        call("read_file", path="inputs/data.csv")
    assert len(refused.value.details["near"]) == 3
    assert call.refused("not_found", "read_file", path="input/data.csv").details["near"] == ["inputs"]
