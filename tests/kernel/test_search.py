"""`%fs glob` and `%fs grep`: what they show, and how they end."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools.errors import Invalid, NotADirectory
from jupyter_fstools.kernel.magic import Magic
from tests.kernel.real_kernel import RealKernel
from tests.slow_ripgrep import SlowRipgrep, something_to_search


@pytest.fixture
def files(root):
    (root / "a.py").write_text("def needle(x):\n    return '<needle>'\n\n\n\nneedle(1)\n")
    (root / "undo").write_text("needle\n")
    return root


def test_an_option_may_stand_before_the_folder(fs, files):
    (files / "sub").mkdir()
    (files / "sub/c.py").write_text("Needle\n")
    assert [match["path"] for match in fs("grep needle -i sub").data["matches"]] == ["sub/c.py"]
    assert [file["path"] for file in fs("glob '*.py' --limit 2 sub").data["files"]] == ["sub/c.py"]


@pytest.mark.parametrize("options", ["", "-F ", "-i "])
@pytest.mark.parametrize("word", ["-h", "--help"])
def test_behind_two_dashes_nothing_asks_for_help(fs, files, options, word):
    (files / word).write_text(f"give {word}\n")
    assert [match["path"] for match in fs(f"grep {options}-- {word}").data["matches"]] == [word]
    assert [match["line"] for match in fs(f"grep {options}-- {word} {word}").data["matches"]] == [1]
    assert [file["path"] for file in fs(f"glob -- {word}").data["files"]] == [word]
    assert fs(f"read -- {word}").data["content"] == f"give {word}\n"
    with pytest.raises(NotADirectory):
        fs(f"ls -- {word}")
    assert str(fs(f"grep {options}needle {word}")).startswith("%fs grep")


def test_a_hint_speaks_of_options_not_of_another_subcommand(fs, files):
    with pytest.raises(Invalid) as refused:
        fs("grep x --type nope")
    assert refused.value._render_traceback_()[1] == "Hint: Name files by their ending instead: --glob '*.ext'."
    assert "%fs grep takes --glob '!*.py'" in fs("glob '!*.py'")._repr_mimebundle_()["text/plain"]
    (files / "glob").mkdir()
    assert "'glob' is a folder: 'glob/**' matches" in fs("glob glob")._repr_mimebundle_()["text/plain"]


def test_hits_are_grouped_and_marked(fs, files):
    result = fs("grep needle -A 1 --limit 2")
    html = result.rendered().html
    assert html.count('class="fs-heading"') == 1
    assert "def <mark>needle</mark>(x):" in html
    assert "&#x27;&lt;<mark>needle</mark>&gt;&#x27;" in html
    assert str(result).startswith("a.py\n1\tdef needle(x):\n2\t    return")
    assert "go on with --offset 2" in html
    ended = fs("grep needle --limit 1 --no-total")
    assert ended.data["total"] is None
    assert "there are more matching lines" in ended.rendered().html


@pytest.mark.parametrize(
    ("asked", "marked"),
    [
        ("'b.'", "a <mark>b1</mark> &lt;<mark>b2</mark> b"),
        ("-i 'B'", "a <mark>b</mark>1 &lt;<mark>b</mark>2 <mark>b</mark>"),
        ("-F 'b'", "a <mark>b</mark>1 &lt;<mark>b</mark>2 <mark>b</mark>"),
        ("'^a'", "<mark>a</mark> b1 &lt;b2 b"),
    ],
)
def test_every_match_of_a_line_is_marked(fs, root, asked, marked):
    (root / "many.txt").write_text("a b1 <b2 b\n")
    assert f"<pre>{marked}</pre>" in fs(f"grep {asked} many.txt").rendered().html


def test_further_matches_are_marked_only_where_that_is_quick(fs, root):
    """This pattern took a tenth of a second in each line."""
    (root / "long.txt").write_text("ab ab\n" + ("ab " + "a" * 600 + "\n") * 240)
    html = fs("grep 'a*a{1,1000}b' long.txt").rendered().html
    assert "<mark>ab</mark> <mark>ab</mark>" in html
    assert html.count("<mark>") == 2 + 240


def test_a_name_in_the_hits_stays_what_it_is(fs, files):
    shown = fs("grep needle undo")._repr_mimebundle_()
    assert shown["text/plain"].startswith("undo\n1\tneedle")
    assert ">undo<" in shown["text/html"]


def test_hits_over_lines_are_marked_on_each(fs, files):
    html = fs("grep 'x.:[\\s\\S]*?return' -U").rendered().html
    assert "(<mark>x):</mark>" in html
    assert "<mark>    return</mark> &#x27;" in html


def test_counts_and_files_are_lists(fs, files):
    assert fs("grep needle -c")._repr_mimebundle_()["text/plain"] == "a.py\t3\nundo\t1"
    assert "a.py" in fs("grep needle -l --type py").rendered().html
    assert fs("grep nothing-like-it").rendered().html.endswith('<div class="fs-note">Nothing matches.</div></div>')


def test_files_are_a_table(fs, files):
    (files / "<b>.py").write_text("")
    (files / ".gitignore").write_text("undo\n")
    result = fs("glob * --sort path")
    html = result.rendered().html
    assert "&lt;b&gt;.py" in html
    assert "6" in html
    assert "--no-ignore includes them" in html
    assert [file["path"] for file in result.data["files"]] == ["<b>.py", "a.py"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [("%fs grep x su", "sub/"), ("%fs grep --ty", "--type"), ("%fs glob * --sort m", "modified")],
)
def test_options_and_paths_complete(make_shell, files, line, expected):
    (files / "sub").mkdir()
    offered = Magic(make_shell(), str(files)).complete(line)
    assert expected in [one.text for one in offered["completions"]]


def test_a_path_is_completed_in_a_folder_of_very_many_files(make_shell, root, monkeypatch):
    monkeypatch.setattr("jupyter_fstools.kernel.files.MOST_ENTRIES", 1)
    for name in ("a1", "a2", "b1", "b2"):
        (root / name).touch()
    magic = Magic(make_shell(), str(root))
    assert [one.text for one in magic.complete("%fs read b")["completions"]] == ["b1", "b2"]
    assert len(magic.complete("%fs read ")["completions"]) == 1


def test_an_interrupt_ends_the_search_and_its_program(tmp_path, monkeypatch):
    slow = SlowRipgrep(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{slow.folder}{os.pathsep}{os.environ['PATH']}")
    something_to_search(tmp_path / "root")
    (tmp_path / "home").mkdir()
    kernel = RealKernel(tmp_path / "root", tmp_path / "home")
    try:
        asked = kernel.client.execute("%fs grep nowhere")
        slow.wait()
        kernel._manager.interrupt_kernel()
        reply = kernel.client.get_shell_msg(timeout=60)
        while reply["parent_header"].get("msg_id") != asked:
            reply = kernel.client.get_shell_msg(timeout=60)
        assert reply["content"].get("ename") == "KeyboardInterrupt", reply["content"]
        slow.wait_for_end()
    finally:
        kernel.stop()
