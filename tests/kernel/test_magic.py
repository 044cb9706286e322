"""`%fs` in a shell of this process: every subcommand works, and its messages use the words of the magic."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools import FsToolsError, call_tool, open_workspace
from jupyter_fstools.errors import Denied, Disabled, Invalid, NoMatch, NotFound, NotRead, Stale
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.kernel.wording import refusal_lines

SOURCE = "def f(x):\n    return x\n"


@pytest.fixture
def file(root):
    path = root / "a.py"
    path.write_text(SOURCE)
    return path


def test_a_file_is_read_and_then_edited(fs, file):
    shown = fs("read a.py")
    assert shown.data["content"] == SOURCE
    assert 'totalLines="2"' in shown.text
    done = fs("edit a.py --old 'return x' --new 'return {x}'")
    assert done.change.diff.added == 1
    assert file.read_text() == "def f(x):\n    return {x}\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            r"read a\ b.txt",
            "Quote arguments that hold spaces, such as 'a b.txt'. %fs read -h shows what it takes.",
        ),
        ("glob", "%fs glob -h shows what it takes."),
        ("grep -z x", "Quote arguments that hold spaces, such as 'a b.txt'. %fs grep -h shows what it takes."),
        ("grep ''", "It takes a regular expression, or text with -F."),
        ("edit a.py --old r --new s", "or use --all."),
        ("ls nope", "List the root, with %fs ls. Or find it by name with %fs glob."),
        (
            "ls grep/nope",
            "List 'grep', the nearest folder that exists, with %fs ls. Or find it by name with %fs glob.",
        ),
        ("diff nope", "List the changes (%fs changes) to see their ids."),
        ("undo", "List the changes (%fs changes) to see what there was."),
        ("undo nope", "Name a change of this session (%fs changes lists them)."),
        ("write a.py --create-only", "Leave out --create-only to overwrite it once it is read."),
    ],
)
def test_a_hint_names_what_can_be_typed(fs, file, line, told):
    (file.parent / "grep").mkdir()
    fs("read a.py")
    with pytest.raises(FsToolsError) as refused:
        fs(line, "x\n" if line.startswith("write") else None)
    assert refused.value._render_traceback_()[1].removeprefix("Hint: ").endswith(told)


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("read a.py --offset -1", "--offset: takes 0 or more, got -1", None),
        ("grep x -A y", "-A: takes a whole number, got 'y'", None),
        ("grep x --type old_string", "--type: there is no type 'old_string'", None),
        ("cell a.ipynb c --output x", "--output: takes a whole number, got 'x' (not modified)", None),
        ("edit a.py --old '' --new x", "--old is empty (not modified)", None),
        ("edit a.py --old x --new x", "--old and --new are the same (not modified)", "Change --new, or leave"),
    ],
)
def test_a_message_names_arguments_as_they_are_typed(fs, file, line, said, hint):
    fs("read a.py")
    with pytest.raises(FsToolsError) as refused:
        fs(line)
    message, step, *_ = refused.value._render_traceback_()
    assert message == f"{refused.value.code}: {said}"
    assert step.startswith(f"Hint: {hint or ''}")


def test_text_of_a_file_in_a_hint_is_as_the_file_has_it(fs, file):
    file.write_text('read(limit=5, encoding="latin-1")  # see `offset`\n')
    fs("read a.py")
    with pytest.raises(NoMatch) as refused:
        fs("edit a.py --old 'read(limit=5,  encoding' --new x")
    assert refused.value._render_traceback_()[-1] == f"1\t{file.read_text()}".rstrip()
    quoting = NoMatch("no", hint="'# ... limit=5 ...' in old_string stands for lines left out: quote them too.")
    assert refusal_lines(quoting, {"old_string": "--old"})[1].startswith("Hint: '# ... limit=5 ...' in --old stands")


def test_names_of_arguments_in_a_hint_are_no_subcommands(fs, file):
    fs("read a.py")
    with pytest.raises(Invalid) as refused:
        fs("edit a.py", '[{"glob": "x"}]')
    assert "takes old_string, new_string, and optionally path, replace_all." in refused.value._render_traceback_()[1]
    listing = Invalid("glob: is required", hint="It takes pattern, and optionally path, glob.", fields=["glob"])
    assert refusal_lines(listing, {})[1] == "Hint: It takes pattern, and optionally path, glob."


def test_all_on_the_line_holds_for_every_block(fs, file):
    block = "<<<<<<< old\nx\n=======\ny\n>>>>>>> new\n"
    file.write_text("x\nx\nx\n")
    fs("read a.py")
    with pytest.raises(FsToolsError) as refused:
        fs("edit a.py", block)
    assert refused.value._render_traceback_()[1].endswith("or use --all.")
    fs("edit a.py --all", block)
    assert file.read_text() == "y\ny\ny\n"


def test_a_block_replaces_a_last_line_without_a_newline_and_json_is_taken_exactly(fs, file):
    file.write_text("a\nb")
    fs("read a.py")
    blocks = "<<<<<<< old\na\n=======\nA\n>>>>>>> new\n<<<<<<< old\nb\n=======\nB\n>>>>>>> new\n"
    fs("edit a.py", blocks)
    assert file.read_bytes() == b"A\nB"
    with pytest.raises(NoMatch):
        fs("edit a.py", '[{"old_string": "B\\n", "new_string": "C\\n"}]')
    assert file.read_bytes() == b"A\nB"


@pytest.mark.parametrize(
    "line", ["edit a.py --old x", "edit a.py 'x", "undo", "write", "edit a.py --none", "cell a", "edit\ta.py"]
)
def test_a_line_that_fits_no_subcommand_that_writes_modifies_nothing_and_says_so(fs, file, line):
    with pytest.raises(FsToolsError, match="not modified"):
        fs(line)
    assert file.read_text() == SOURCE


@pytest.mark.parametrize(("line", "body"), [("write a.py", "x"), ("edit a.py --old a --new b", None), ("undo", None)])
def test_a_write_below_a_root_that_was_removed_modifies_nothing_and_says_so(fs, root, line, body):
    root.rmdir()
    with pytest.raises(NotFound, match=r"root does not exist: .* \(not modified\)"):
        fs(line, body)


def test_it_loads_in_a_folder_that_was_removed_and_works_in_the_next_one(make_shell, root, monkeypatch):
    gone = root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    shell = make_shell()
    with pytest.raises(NotFound, match="working directory no longer exists"):
        shell.run_line_magic("fs", "ls")
    monkeypatch.chdir(root)
    (root / "a.txt").touch()
    assert shell.run_line_magic("fs", "ls").data["total"] == 1


def test_options_reach_the_tool(fs, root):
    (root / "long.txt").write_text("".join(f"{n}\n" for n in range(1, 10)))
    shown = fs("read long.txt --offset 3 --limit 2 --no-numbers")
    assert (shown.data["content"], shown.data["start_line"]) == ("3\n4\n", 3)


def test_a_file_in_another_encoding_is_read_when_it_is_named(fs, root):
    (root / "old.txt").write_bytes("café\n".encode("latin-1"))
    assert fs("read old.txt --encoding latin-1").data["content"] == "café\n"


def test_a_folder_is_listed(fs, file, root):
    (root / "sub").mkdir()
    (root / "sub/b c.py").write_text("")
    assert [entry["path"] for entry in fs("ls").data["entries"]] == ["sub", "a.py"]
    assert fs("ls -r").data["total"] == 3
    assert fs("ls sub").data["entries"][0]["name"] == "b c.py"


def test_a_cell_becomes_a_file(fs, root):
    assert fs("write 'new file.txt'", "one\n\n  two\n").data["created"]
    assert (root / "new file.txt").read_text() == "one\n\n  two\n"


def test_several_blocks_edit_a_file_at_once(fs, file):
    fs("read a.py")
    fs(
        "edit a.py",
        "<<<<<<< old\ndef f(x):\n=======\ndef g(x):\n>>>>>>> new\n\n"
        "<<<<<<< old\n    return x\n=======\n    y = x\n    return y\n>>>>>>> new\n",
    )
    assert file.read_text() == "def g(x):\n    y = x\n    return y\n"


def test_json_in_a_cell_edits_a_file(fs, file):
    fs("read a.py")
    fs("edit a.py", '[{"old_string": "x", "new_string": "z", "replace_all": true}]\n')
    assert file.read_text() == "def f(z):\n    return z\n"


def test_edits_in_line_and_cell_at_once_are_refused(fs, file):
    fs("read a.py")
    with pytest.raises(Invalid):
        fs("edit a.py --old x --new y", '{"old_string": "x", "new_string": "y"}')
    with pytest.raises(Invalid, match="--new is missing"):
        fs("edit a.py --old x")


def test_undo_takes_the_newest_change_of_the_session_or_the_one_named(fs, file, root):
    fs("read a.py")
    first = fs("edit a.py --old f( --new g(").change.id
    fs("write b.txt", "b\n")
    assert fs("undo").data["undoes"] != first
    assert not (root / "b.txt").exists()
    fs("undo")
    assert file.read_text() == SOURCE
    again = fs("edit a.py --old f( --new h(").change.id
    assert fs(f"undo {again}").data["undoes"] == again
    fs("edit a.py --old f( --new i(")
    fs("undo a.py")
    assert file.read_text() == SOURCE


def test_undo_passes_over_what_a_person_took_back_in_part(fs, root):
    lines = [f"{number}\n" for number in range(30)]
    fs("write a.txt", "".join(lines))
    fs("write a.txt", "".join(["first\n", *lines[1:-1], "last\n"]))
    written = fs("write b.txt", "b\n").change
    journal = Journal(open_workspace(root))
    journal.undo(journal.newest_to_undo("a.txt", own=False), by_person=True, hunks=[0])
    assert fs("undo").data["undoes"] == written.id
    assert (root / "a.txt").read_text() == "".join([*lines[:-1], "last\n"])


def test_undo_without_a_change_says_so(fs):
    with pytest.raises(NotFound, match="no change to undo"):
        fs("undo")


def test_an_undo_of_what_only_waits_says_so(make_shell, root):
    shell = make_shell(approval="always")
    made = shell.run_cell_magic("fs", "write a.txt", "x\n")
    with pytest.raises(NotFound, match=f"change {made.change.id} still waits for approval") as refused:
        shell.run_line_magic("fs", "undo a.txt")
    assert f"reject change {made.change.id}" in refused.value.hint
    assert "not modified" in refused.value.message


def test_a_list_of_changes_that_is_cut_says_so(fs, root):
    for number in range(3):
        fs(f"write {number}.txt", "x\n")
    listed = fs("changes --limit 2")
    assert listed.text.endswith("\n[3 changes in all; --limit 3 lists them]") and listed.data["total"] == 3
    assert "3 changes in all" in listed._repr_mimebundle_()["text/html"]
    assert "in all" not in fs("changes --limit 3").text


def test_changes_are_listed_and_shown(fs, file):
    fs("read a.py")
    change = fs("edit a.py --old f( --new g(").change
    fs("write b.txt", "b\n")
    listed = fs("changes").data["changes"]
    assert [one["path"] for one in listed] == ["b.txt", "a.py"]
    assert len(fs("changes a.py --status applied --session default --limit 5").data["changes"]) == 1
    assert fs("changes --session other").text == "There are no changes."
    assert fs(f"diff {change.id}").change == change


def test_a_session_has_receipts_of_its_own(fs, file):
    fs("read a.py")
    assert fs("session").data["session"] == "default"
    assert fs("session other").data["session"] == "other"
    with pytest.raises(NotRead):
        fs("edit a.py --old f( --new g(")
    fs("session default")
    fs("edit a.py --old f( --new g(")
    with pytest.raises(Invalid):
        fs("session 'no such name'")
    assert fs("session").data["session"] == "default"


def test_status_tells_where_and_what(fs, root):
    told = fs("status").data
    assert told["root"] == os.path.realpath(root)
    assert (told["session"], told["approval"], told["read_only"], told["server"]) == ("default", "never", False, None)
    assert "edit_file" in told["tools"]


def test_status_tells_that_memory_stands_in_for_the_store(make_shell, tmp_path):
    def store(where):
        shell = make_shell(store=where)
        told = shell.run_line_magic("fs", "status").data["store"]
        shell.extension_manager.unload_extension("jupyter_fstools")
        return told

    (tmp_path / "file").touch()
    unusable = f"sqlite:{tmp_path}/file/gate.db"
    assert store(unusable) == f"{unusable} (in memory: its file cannot be used)"
    assert store(f"sqlite:{tmp_path}/gate.db") == f"sqlite:{tmp_path}/gate.db"
    assert store("memory:") == "memory:"


def test_status_tells_whose_settings_these_are(fs, monkeypatch):
    assert "settings: this kernel's own\n" in fs("status").text
    monkeypatch.setenv("JUPYTER_FSTOOLS_SETTINGS", '{"root": ""}')
    assert "settings: handed over by the server" in fs("status").text


def test_a_running_server_is_found_and_its_token_not_shown(fs, root, private_jupyter):
    runtime = private_jupyter / "jupyter_runtime_dir"
    (runtime / f"jpserver-{os.getpid()}.json").write_text(
        f'{{"url": "http://localhost:1/", "root_dir": "{root}", "pid": {os.getpid()}, "token": "s3cret"}}'
    )
    (runtime / "jpserver-1.json").write_text("{broken")
    status = fs("status")
    assert status.data["server"] == {"url": "http://localhost:1/", "root": os.path.realpath(root)}
    assert "approval too, hold for calls to it only" in status.data["settings"]
    assert "s3cret" not in f"{status.text}{status.data}"


def test_a_server_that_ended_is_no_server(fs, root, private_jupyter):
    runtime = private_jupyter / "jupyter_runtime_dir"
    (runtime / "jpserver-9.json").write_text(f'{{"url": "u", "root_dir": "{root}", "pid": 999999999}}')
    assert fs("status").data["server"] is None


def test_a_path_from_the_working_directory_is_spelled_from_the_root(fs, root, monkeypatch):
    (root / "sub").mkdir()
    (root / "sub/b c.py").write_text("")
    monkeypatch.chdir(root / "sub")
    with pytest.raises(NotFound) as refused:
        fs("read 'b c.py'")
    assert "'sub/b c.py'" in refused.value.hint
    with pytest.raises(NotFound) as refused:
        fs("read nothing.py")
    assert "working directory" not in refused.value.hint


def test_without_a_working_directory_a_missing_file_is_a_refusal_as_ever(fs, root, monkeypatch):
    (root / "sub").mkdir()
    monkeypatch.chdir(root / "sub")
    fs("status")
    (root / "sub").rmdir()
    with pytest.raises(NotFound, match="does not exist"):
        fs("read nothing.py")


def test_a_denied_file_is_not_told_of_from_the_working_directory(fs, root, monkeypatch):
    (root / "sub/.ssh").mkdir(parents=True)
    (root / "sub/.ssh/id").write_text("")
    monkeypatch.chdir(root / "sub/.ssh")
    with pytest.raises(NotFound) as refused:
        fs("read id")
    assert ".ssh" not in refused.value.hint


def test_settings_are_those_of_the_kernel(make_shell, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shell = make_shell(root="../elsewhere", read_only=True)
    assert shell.run_line_magic("fs", "status").data["root"] == os.path.realpath(tmp_path / "elsewhere")
    with pytest.raises(Disabled):
        shell.run_cell_magic("fs", "write a.txt", "x\n")


def test_a_setting_without_sense_is_a_clear_message(make_shell):
    with pytest.raises(Invalid, match="approval"):
        make_shell(approval="sometimes").run_line_magic("fs", "status")


def test_the_next_cell_shows_what_a_person_decided(make_shell, root):
    shell = make_shell(approval="always")
    made = shell.run_cell_magic("fs", "write a.txt", "x\n")
    (root / "b.txt").write_text("b\n")
    Journal(open_workspace(root)).reject(made.change.id, reason="<b>no</b>")
    result = shell.run_line_magic("fs", "read b.txt")
    shown = result._repr_mimebundle_()
    assert 'The person says: "<b>no</b>"' in shown["text/plain"] and "&lt;b&gt;no" in shown["text/html"]
    assert "<b>no" not in shown["text/html"] and "rejected" in result.text
    again = shell.run_cell_magic("fs", "write a.txt", "x\n")
    Journal(open_workspace(root)).reject(again.change.id, reason="still no")
    with pytest.raises(NotFound) as refused:
        shell.run_line_magic("fs", "read a.txt")
    assert "still no" in "\n".join(refused.value._render_traceback_())


def test_a_decision_is_shown_once_below_a_listing(make_shell, root):
    (root / "a.txt").write_text("one\n")
    shell = make_shell(approval="always")
    shell.run_line_magic("fs", "read a.txt")
    waiting = shell.run_line_magic("fs", "edit a.txt --old one --new two")
    with open_workspace(root, approval="always") as person:
        Journal(person).reject(waiting.change.id, reason="not now")
    shown = shell.run_line_magic("fs", "ls")._repr_mimebundle_()
    assert [shown[kind].count("not now") for kind in ("text/plain", "text/html")] == [1, 1]


def test_a_decision_is_told_where_a_block_is_taken_without_its_last_newline(make_shell, root):
    """The first call, which took the block exactly, was told it and refused."""
    shell = make_shell(approval="always")
    made = shell.run_cell_magic("fs", "write a.txt", "x\n")
    (root / "b.txt").write_text("a\nb")
    shell.run_line_magic("fs", "read b.txt")
    Journal(open_workspace(root)).reject(made.change.id, reason="not so")
    block = "<<<<<<< old\n{}\n=======\nnew\n>>>>>>> new\n"
    result = shell.run_cell_magic("fs", "edit b.txt", block.format("b"))
    assert 'The person says: "not so"' in result.text and "not so" in result._repr_mimebundle_()["text/plain"]
    Journal(open_workspace(root)).reject(result.change.id, reason="nor so")
    with pytest.raises(NoMatch) as refused:
        shell.run_cell_magic("fs", "edit b.txt", block.format("b") + block.format("what is not there"))
    assert "nor so" in "\n".join(refused.value._render_traceback_())


def test_a_change_that_waits_for_approval_says_so(make_shell, root):
    made = make_shell(approval="always").run_cell_magic("fs", "write a.txt", "x\n")
    assert made.change.status == "proposed"
    assert "waits" in made.text
    assert not (root / "a.txt").exists()


def test_what_was_read_in_a_cell_may_be_edited_from_python(fs, file, root):
    fs("read a.py")
    with open_workspace(root) as elsewhere:
        call_tool(elsewhere, "edit_file", path="a.py", old_string="f(x)", new_string="g(x)")
    fs("edit a.py --old 'return x' --new 'return 1'")
    assert file.read_text() == "def g(x):\n    return 1\n"


def test_a_stale_edit_may_go_on_where_it_still_matches(fs, file):
    fs("read a.py")
    file.write_text(f"# new\n{SOURCE}")
    with pytest.raises(Stale) as refused:
        fs("edit a.py --old f( --new g(")
    shown = "\n".join(refused.value._render_traceback_())
    assert "+# new" in shown
    assert "then repeat the call" in shown
    fs("edit a.py --old f( --new g( --if-stale match")
    assert file.read_text() == f"# new\n{SOURCE.replace('f(', 'g(')}"


@pytest.mark.parametrize("above", ["", "\n", "  \n\t\n", "%%capture\n", "%%time\n", "\n%%time\n%%capture\n"])
def test_prompts_in_a_cell_stay_what_they_are(make_shell, root, above):
    body = ">>> f(1)\n1\n>>> f(2)\n"
    make_shell().run_cell(f"{above}%%fs write doc.txt\n{body}", silent=False)
    assert (root / "doc.txt").read_text() == body


def test_a_cell_that_has_ended_is_not_confused_with_the_next_one(make_shell, root):
    shell = make_shell()
    shell.run_cell("%%capture\n%%fs write a.txt\n>>> x\n")
    shell.run_cell("%fs undo")
    shell.run_cell("%%fs write a.txt\nx\n")
    assert (root / "a.txt").read_text() == "x\n"


def test_a_question_mark_at_the_end_is_text_between_quotes(make_shell, root):
    (root / "part1").touch()
    shell = make_shell()
    shell.run_cell("found = %fs glob 'part?'")
    assert [one["path"] for one in shell.user_ns["found"].data["files"]] == ["part1"]


def test_the_body_of_another_call_is_not_confused_with_the_cell(make_shell, root):
    shell = make_shell()
    shell.run_cell("%%fs write a.txt\nfirst\n")
    shell.run_line_magic("fs", "read a.txt")
    shell.run_cell_magic("fs", "write a.txt", "second\n")
    assert (root / "a.txt").read_text() == "second\n"


def test_a_forked_child_opens_what_it_needs_itself(fs, file):
    fs("read a.py")
    child = os.fork()
    if child == 0:
        try:
            fs("edit a.py --old f( --new g(")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert fs("read a.py").data["content"] == SOURCE.replace("f(", "g(")


def test_unloading_takes_everything_away(make_shell):
    shell = make_shell()
    matchers = len(shell.Completer.custom_matchers)
    shell.extension_manager.unload_extension("jupyter_fstools")
    assert shell.find_line_magic("fs") is None
    assert shell.find_cell_magic("fs") is None
    assert len(shell.Completer.custom_matchers) == matchers - 1
    shell.extension_manager.load_extension("jupyter_fstools")
    shell.extension_manager.reload_extension("jupyter_fstools")
    assert shell.find_line_magic("fs") is not None


def test_a_refusal_is_an_exception_in_python(fs):
    with pytest.raises(FsToolsError) as refused:
        fs("read ../outside")
    assert refused.value.code == "outside_root"


@pytest.mark.parametrize("path", [".ipython/profile_default/startup/00.ipy", ".bashrc", ".config/git/config", "x.pth"])
def test_a_kernel_s_magic_does_not_write_what_starts_code(fs, root, path):
    with pytest.raises(Denied):
        fs(f"write {path}", "x\n")
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("x\n")
    fs(f"read {path}")
    with pytest.raises(Denied):
        fs(f"edit {path} --old x --new evil")
    assert (root / path).read_text() == "x\n"


def test_a_kernel_s_magic_asks_before_it_changes_an_assistant_s_settings(fs, root):
    assert fs("write .mcp.json", "{}\n").change.status == "proposed"
    assert not (root / ".mcp.json").exists()
