"""`%fs cells` and `%fs cell`: what is shown of cells, and how a line or a cell changes them."""

import json

import pytest

from jupyter_fstools import FsToolsError
from tests.documents.notebook.samples import PICTURE, code, jupyterlab, markdown, notebook


@pytest.fixture
def book(root):
    path = root / "book.ipynb"
    path.write_bytes(jupyterlab(notebook(markdown("# A <b>"), code("x = 1\ny = 1"), code("plot()", outputs=[PICTURE]))))
    return path


def sources(book):
    return ["".join(cell["source"]) for cell in json.loads(book.read_bytes())["cells"]]


def shown(result):
    return result._repr_mimebundle_()


def refused(code, fs, *call):
    with pytest.raises(FsToolsError) as caught:
        fs(*call)
    assert caught.value.code == code
    return caught.value


def test_a_page_of_cells_says_how_to_go_on_in_options(fs, book):
    said = "Cell 0 of 3 is shown (counted from 0). Go on with --offset"
    assert shown(fs("cells book.ipynb --limit 1"))["text/plain"].endswith(f"{said} 1.")
    assert shown(fs("read book.ipynb --limit 1"))["text/plain"].endswith(f"{said} 2.")


def test_where_an_id_is_not_unique_the_hint_names_the_option(fs, book):
    book.write_bytes(jupyterlab(notebook(code("a", id="same"), code("b", id="same"))))
    fs("cells book.ipynb")
    for line, option in (
        ("cell book.ipynb same", "--index"),
        ("cell book.ipynb same --old a --new b", "--index"),
        ("cell book.ipynb --mode move --index 0 --after same", "--after-index"),
    ):
        hint = refused("ambiguous", fs, line)._render_traceback_()[1]
        assert hint == f"Hint: Name the cell by {option} instead."


def test_cells_are_shown_with_their_numbers_and_outputs(fs, book):
    bundle = shown(fs("cells book.ipynb"))
    assert bundle["text/plain"].split("\n")[:6] == [
        "cell 0 c0 (markdown)",
        "1  # A <b>",
        "cell 1 c1 (code, unknown) [7]",
        "1  x = 1",
        "2  y = 1",
        "output 0: stream",
    ]
    assert "# A &lt;b&gt;" in bundle["text/html"] and "<b>" not in bundle["text/html"]
    assert "base64" not in bundle["text/html"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "cell book.ipynb --mode insert",
            'Give --type ("code", "markdown" or "raw"). Give --after or --before (the id of a cell), --at ("start" or '
            '"end"), --after-index or --before-index.',
        ),
        (
            "cell book.ipynb --mode insert --type code --at end --after c0",
            'Give --after or --before (the id of a cell), --at ("start" or "end"), --after-index or --before-index.',
        ),
        ("cell book.ipynb --index 1 --mode insert --type code", "Give --after-index, --before-index or --at."),
    ],
)
def test_a_hint_about_a_new_cell_names_options(fs, book, line, told):
    assert refused("invalid", fs, line, "x\n")._render_traceback_()[1] == f"Hint: {told}"


def test_an_edit_in_a_line_is_told_the_options_it_lacks(fs, book):
    said, hint = refused("invalid", fs, "cell book.ipynb c1 --mode edit")._render_traceback_()
    assert (said, hint) == ("invalid: edit needs --old and --new (not modified)", "Hint: Give --old and --new.")


def test_pictures_are_shown_when_asked_for(fs, book):
    told = json.loads(book.read_bytes())
    one_pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
    told["cells"][2]["outputs"][0]["data"]["image/png"] = one_pixel
    book.write_bytes(jupyterlab(told))
    for line in ("cells book.ipynb --outputs full", "cell book.ipynb c2 --output 0"):
        assert f"data:image/png;base64,{one_pixel}" in shown(fs(line))["text/html"]


def test_a_long_line_is_cut_and_its_rest_is_shown_from_a_column(fs, book):
    book.write_bytes(jupyterlab(notebook(code("x" * 2000 + "rest\nend", outputs=[]))))
    plain = shown(fs("cell book.ipynb c0"))["text/plain"]
    assert "[... 4 more characters of line 1: --offset 1 --limit 1 --column 2001]" in plain and "end" in plain
    assert "1  rest\n" in shown(fs("cell book.ipynb c0 --offset 1 --limit 1 --column 2001"))["text/plain"]


def test_the_rest_of_a_cell_replaces_a_cell_or_is_a_new_one(fs, book):
    refused("not_read", fs, "cell book.ipynb c1", "z\n")
    fs("cell book.ipynb c1")
    result = fs("cell book.ipynb c1", "z = 1\nz\n")
    assert "cell 1 c1 (code): edit" in shown(result)["text/plain"] and "+z = 1" in shown(result)["text/plain"]
    assert "cell 1 c1 (code): edit" in shown(result)["text/html"]
    fs("cell book.ipynb --mode insert --after c1 --type markdown", "new\n")
    fs("cell book.ipynb --at start --type code", "first\n")
    assert sources(book) == ["first", "# A <b>", "z = 1\nz", "new", "plot()"]


def test_a_line_changes_a_cell_without_a_new_source(fs, book):
    fs("cells book.ipynb")
    fs("cell book.ipynb c1 --old 'x = 1' --new 'x = 2'")
    fs("cell book.ipynb c0 --mode move --after c1")
    fs("cell book.ipynb c0 --mode convert --type raw")
    fs("cell book.ipynb c2 --mode clear_outputs")
    assert json.loads(book.read_bytes())["cells"][2]["outputs"] == []
    fs("cell book.ipynb --index 2 --mode delete")
    assert sources(book) == ["x = 2\ny = 1", "# A <b>"]
    fs("undo book.ipynb")
    assert sources(book)[2] == "plot()"


def test_blocks_edit_a_part_of_a_cell(fs, book):
    fs("cells book.ipynb")
    fs("cell book.ipynb c1 --mode edit", "<<<<<<< old\nx = 1\n=======\nx = 3\n>>>>>>> new\n")
    assert sources(book)[1] == "x = 3\ny = 1"


def test_a_block_replaces_the_last_line_of_a_cell_which_has_no_newline(fs, book):
    fs("cells book.ipynb")
    block = "<<<<<<< old\n{}\n=======\n{}\n>>>>>>> new\n"
    fs("cell book.ipynb c1 --mode edit", block.format("x = 1", "x = 3") + block.format("y = 1", "y = 2\nz = 3"))
    fs("cell book.ipynb c2 --mode edit", block.format("plot()", "show()"))
    assert sources(book)[1:] == ["x = 3\ny = 2\nz = 3", "show()"]
    refused("no_match", fs, "cell book.ipynb c2 --mode edit", block.format("show()\n", "plot()"))
    assert sources(book)[2] == "show()"


@pytest.mark.parametrize(
    "call",
    [
        ("cell book.ipynb",),
        ("cell book.ipynb c1 --mode replace",),
        ("cell book.ipynb c1 --mode delete", "text\n"),
        ("cell book.ipynb c1 --old a --new b", "text\n"),
        ("cell book.ipynb c1 --outputs none", "text\n"),
        ("cell book.ipynb c1 --mode append",),
        ("cells book.ipynb --outputs all",),
        ("cell book.ipynb c1 --mode edit", "[1]\n"),
    ],
)
def test_lines_that_do_not_fit_are_refused(fs, book, call):
    refused("invalid", fs, *call)


def test_a_refusal_speaks_of_the_magic_and_shows_what_changed(fs, book):
    fs("cells book.ipynb")
    book.write_bytes(book.read_bytes().replace(b"x = 1", b"x = 5"))
    lines = refused("stale", fs, "cell book.ipynb c1", "z\n")._render_traceback_()
    assert "+x = 5" in lines and "%fs cells" in lines[1]


def test_the_list_of_changes_and_one_of_them(fs, book):
    fs("cells book.ipynb")
    change = fs("cell book.ipynb c1", "z\n").change
    assert "cell 1 c1 (code): edit" in fs(f"diff {change.id}").text
    assert "cell 1 c1 (code): edit" in shown(fs(f"diff {change.id}"))["text/plain"]
