"""`%fs` in a real kernel, as a notebook sees it."""

from __future__ import annotations

import subprocess
import sys

import pytest

NUMBERED = "".join(f"line {n}\n" for n in range(1, 6))


@pytest.fixture
def folder(kernel, request):
    """A folder of the test's own below the kernel's root."""
    path = kernel.folder / request.node.name.replace("[", "_").replace("]", "")
    path.mkdir()
    return path


def test_the_magic_is_there_by_itself(kernel):
    assert "%fs read" in kernel.run("%fs").text


def test_a_line_as_last_expression_shows_once_and_an_assigned_one_not_at_all(kernel, folder):
    (folder / "a.txt").write_text(NUMBERED)
    shown = kernel.run(f"%fs read {folder.name}/a.txt")
    assert len(shown.results) == 1
    assert set(shown.results[0]) == {"text/plain", "text/html"}
    quiet = kernel.run(f"r = %fs read {folder.name}/a.txt\nprint(r.data['total_lines'], r.change)")
    assert (quiet.results, quiet.streams) == ([], "5 None\n")


def test_braces_and_dollars_are_literal(kernel, folder):
    (folder / "a.py").write_text("f'{x}' + $y\n")
    shown = kernel.run(
        f"x = 1; y = 2\n%fs read {folder.name}/a.py\n%fs edit {folder.name}/a.py --old '{{x}}' --new '$y'"
    )
    assert shown.status == "ok", shown.message
    assert (folder / "a.py").read_text() == "f'$y' + $y\n"


def test_a_cell_is_written_as_it_stands(kernel, folder):
    body = '>>> print("{x}")\n\n    indented\t\n<b>é</b>\n'
    assert kernel.run(f"%%fs write {folder.name}/a.txt\n{body}").status == "ok"
    assert (folder / "a.txt").read_text() == body


REFUSED = {
    "read nothing.txt": ("not_found", "Hint: "),
    "read ../other": ("outside_root", ""),
    "read {f}/.ssh/id": ("denied", "deny_read"),
    "edit {f}/.bashrc --old a --new b": ("denied", "deny_write"),
    "read {f}": ("is_directory", "%fs ls"),
    "ls {f}/a.txt": ("not_a_directory", "%fs read"),
    "read {f}/big.txt": ("too_large", "--offset 1 and --limit 200"),
    "read {f}/binary": ("binary", "Hint: "),
    "read {f}/latin.txt": ("encoding", "latin-1"),
    "read {f}/a.txt --offset 99": ("out_of_range", "Hint: "),
    "read {f}/a.txt --limit many": ("invalid", "Hint: "),
    "edit {f}/unread.txt --old a --new b": ("not_read", "%fs read"),
    "edit {f}/a.txt --old nowhere --new b": ("no_match", "Hint: "),
    "edit {f}/a.txt --old line --new b": ("ambiguous", "Hint: "),
    "edit {f}/a.txt --old line --new line": ("no_op", "Hint: "),
    "edit {f}/a.ipynb --old a --new b": ("notebook", "Hint: "),
    "undo c000000000000": ("not_found", "Hint: "),
    "nope": ("invalid", "%fs alone"),
}


@pytest.mark.parametrize(("line", "expected"), REFUSED.items(), ids=[f"case{n}" for n in range(len(REFUSED))])
def test_a_refusal_is_one_short_message_without_a_traceback(kernel, folder, line, expected):
    (folder / "a.txt").write_text(NUMBERED)
    (folder / "unread.txt").write_text("a\n")
    (folder / "a.ipynb").write_text("{}")
    (folder / "big.txt").write_text("x\n" * 200_000)
    (folder / "binary").write_bytes(b"\x7fELF\0\0\0")
    (folder / "latin.txt").write_bytes("\u00e9t\u00e9\n".encode("latin-1") * 3)
    (folder / ".ssh").mkdir()
    kernel.run(f"r = %fs read {folder.name}/a.txt")
    shown = kernel.run("%fs " + line.format(f=folder.name) + "\nprint('not reached')")
    assert (shown.status, shown.streams, shown.results) == ("error", "", [])
    assert shown.message.startswith(f"{expected[0]}: "), shown.message
    assert expected[1] in shown.message
    assert "Traceback" not in shown.message
    assert "File " not in shown.message.replace("File unchanged", "")
    assert len(shown.error["traceback"]) < 12


def test_an_existing_file_is_not_created_again(kernel, folder):
    (folder / "a.txt").write_text("x\n")
    shown = kernel.run(f"%%fs write {folder.name}/a.txt --create-only\ny\n")
    assert shown.message.startswith("conflict: ")
    assert "not modified" in shown.message


def test_a_file_changed_in_between_is_refused_with_what_changed(kernel, folder):
    (folder / "a.txt").write_text(NUMBERED)
    kernel.run(f"r = %fs read {folder.name}/a.txt")
    (folder / "a.txt").write_text(NUMBERED.replace("line 3", "line three"))
    shown = kernel.run(f"%fs edit {folder.name}/a.txt --old 'line 1' --new one")
    assert shown.error["ename"] == "Stale"
    assert "-line 3" in shown.error["traceback"]
    assert "+line three" in shown.error["traceback"]
    assert (folder / "a.txt").read_text().startswith("line 1\n")


def test_a_refusal_is_an_exception_that_code_can_catch(kernel):
    shown = kernel.run(
        "from jupyter_fstools import FsToolsError\n"
        "try:\n    get_ipython().run_line_magic('fs', 'read nothing.txt')\n"
        "except FsToolsError as refusal:\n    print(refusal.code)"
    )
    assert shown.streams == "not_found\n"


def test_what_a_cell_read_another_process_may_edit_and_back(kernel, folder):
    (folder / "a.txt").write_text(NUMBERED)
    kernel.run(f"r = %fs read {folder.name}/a.txt")
    code = (
        "from jupyter_fstools import call_tool, open_workspace\n"
        f"ws = open_workspace({str(kernel.folder)!r})\n"
        f"call_tool(ws, 'edit_file', path='{folder.name}/a.txt', old_string='line 2', new_string='two')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=kernel.environment)
    shown = kernel.run(f"%fs edit {folder.name}/a.txt --old 'line 3' --new three")
    assert shown.status == "ok", shown.message
    assert (folder / "a.txt").read_text() == "line 1\ntwo\nthree\nline 4\nline 5\n"


def test_an_unexpected_exception_shows_as_always(kernel, folder):
    shown = kernel.run(
        "import jupyter_fstools.kernel.files as files, unittest.mock\n"
        "with unittest.mock.patch.object(files, 'call_tool', side_effect=ZeroDivisionError('oops')):\n"
        "    get_ipython().run_line_magic('fs', 'ls')"
    )
    assert shown.error["ename"] == "ZeroDivisionError"
    assert len(shown.error["traceback"]) > 2


@pytest.fixture(scope="module")
def completed(kernel):
    """A folder with names of every sort, as it stands behind `%fs`."""
    folder = kernel.folder / "completed"
    (folder / "with spaces").mkdir(parents=True)
    (folder / ".ssh").mkdir()
    for path in ("a.txt", "b.txt", ".hidden", "with spaces/c d.txt", ".ssh/id"):
        (folder / path).write_text("")
    (folder / "out").symlink_to("/")
    return folder.name


@pytest.mark.parametrize(
    ("line", "matches"),
    [
        ("%fs re", ["read"]),
        (
            "%fs ",
            [
                *("read", "ls", "glob", "grep", "edit", "undo", "changes", "diff", "session", "status"),
                *("cells", "cell", "sh"),
            ],
        ),
        ("%%fs ", ["write", "edit", "cell", "sh"]),
        ("x = %fs sta", ["status"]),
        ("%fs read --no", ["--no-numbers"]),
        ("%fs edit a --if-stale ", ["refuse", "match"]),
        ("%fs changes --status pro", ["proposed"]),
        ("%fs changes --session ", [""]),
        ("%fs edit a --old ", [""]),
        ("%fs edit a --old x", ["x"]),
        ("%fs read completed/", ["'completed/with spaces/", "completed/a.txt", "completed/b.txt"]),
        ("%fs read completed/b", ["completed/b.txt"]),
        ("%%fs edit completed/b", ["completed/b.txt"]),
        ("%fs undo completed/b", ["completed/b.txt"]),
        ("%fs read completed/.", ["completed/.hidden"]),
        ("%fs read 'completed/with spaces/c", ["'completed/with spaces/c d.txt'"]),
        ("%fs read comp", ["completed/"]),
    ],
)
def test_what_may_stand_at_the_cursor(kernel, completed, line, matches):
    reply = kernel.completions(line)
    assert sorted(reply["matches"]) == sorted(matches)
    assert line[: reply["cursor_start"]].endswith(" ")
    assert reply["cursor_end"] == len(line)


@pytest.mark.parametrize("path", ["../", "nowhere/", "completed/.ssh/", "completed/out/", "/etc/pass"])
def test_nothing_is_offered_where_nobody_may_look(kernel, completed, path):
    assert kernel.completions(f"%fs read {path}")["matches"] == [path]


def test_changes_are_offered_where_one_is_wanted(kernel, folder):
    kernel.run(f"%%fs write {folder.name}/a.txt\nx\n")
    change = kernel.run("r = %fs changes --limit 1\nprint(r.data['changes'][0]['id'])").streams.strip()
    assert kernel.completions(f"%fs diff {change[:3]}")["matches"][0].startswith(change[:3])
    assert change in kernel.completions("%fs diff ")["matches"]


def test_other_lines_are_completed_as_ever(kernel):
    kernel.run("import os\n%config Completer.use_jedi = False")
    assert any("path" in match for match in kernel.completions("os.pa")["matches"])
