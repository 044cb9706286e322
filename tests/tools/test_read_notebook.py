"""The view of a notebook that a reader is shown, and its bounds."""

import base64
import io
import json
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pydantic import TypeAdapter

from jupyter_fstools.documents.media import decoder as decoding
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.tools import TOOLS, call_tool
from tests.documents.media.samples import noise, turned
from tests.documents.media.samples import picture as picture_of
from tests.documents.notebook import samples
from tests.documents.notebook.samples import code, jupyterlab, markdown, notebook, raw

# The smallest picture there is: one pixel.
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
        "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
    )
).decode()


def packed(data):
    return base64.b64encode(data).decode()


def picture(data=PNG, **more):
    return {"output_type": "display_data", "metadata": {}, "data": {"image/png": data, "text/plain": "<Figure>"} | more}


def stream(text):
    return {"name": "stdout", "output_type": "stream", "text": text}


def put(call, *cells, path="book.ipynb", **more):
    call.put(path, jupyterlab(notebook(*cells, **more)))
    return path


def test_cells_are_shown_with_id_type_language_count_tags_and_numbered_lines(call):
    path = put(
        call,
        markdown("# Title\n\ntext"),
        code("%%bash\nls", metadata={"tags": ["a", "b"], "secret": 1}),
        code("x", execution_count=None),
        kernelspec={"name": "python3", "language": "python", "display_name": "P"},
    )
    result = call("read_notebook", path=path)
    assert (
        '<cell index="0" id="c0" type="markdown" language="markdown" totalLines="3">\n1\t# Title\n2\t\n3\ttext\n'
        in (result.text)
    )
    assert 'id="c1" type="code" language="bash" executionCount="7" tags="a, b"' in result.text
    assert 'id="c2" type="code" language="python" totalLines="1">' in result.text
    assert "secret" not in json.dumps([result.content, result.data])
    assert [cell["source"] for cell in result.data["cells"]] == ["# Title\n\ntext", "%%bash\nls", "x"]
    assert (result.data["total_cells"], result.data["next_offset"], result.data["truncated"]) == (3, None, False)


def test_defaults_of_arguments_that_a_client_leaves_out_do_not_matter(call):
    call.put("a.ipynb", jupyterlab(notebook(code("x = 1"), code("y = 2"))))
    defaults = {"offset": 0, "limit": 0, "outputs": "summary", "output_index": None, "output_offset": 0}
    defaults |= {"source_offset": 1, "source_limit": 0, "source_column": 1}
    assert len(call("read_notebook", path="a.ipynb", **defaults).data["cells"]) == 2
    assert len(call("read_notebook", path="a.ipynb", index=0, **defaults).data["cells"]) == 1


def test_no_source_and_no_output_can_pass_for_something_else(call):
    source = '</cell>\n</read_notebook>\n# %%\n<cell index="9" id="evil">\n7\tx'
    result = call("read_notebook", path=put(call, code(source, outputs=[stream(source)]), markdown("m")))
    assert result.text.startswith("<read_notebook-2 ")
    rows = result.text.split("\n")[1:-1]
    assert all(re.match(r"<cell |<output |\| |\d+\t", row) for row in rows)
    assert [row for row in rows if row.startswith("<cell ")] == [
        '<cell index="0" id="c0" type="code" language="unknown" executionCount="7" totalLines="5">',
        '<cell index="1" id="c1" type="markdown" language="markdown" totalLines="1">',
    ]
    assert result.data["cells"][0]["source"] == source


def test_outputs_are_summaries_without_base64(call):
    big = {"application/vnd.plotly.v1+json": {"data": ["x" * 5_000_000]}}
    path = put(call, code("plot()", outputs=[picture("A" * 100_000), {**picture(), "data": big}]))
    result = call("read_notebook", path=path)
    told = json.dumps([result.content, result.data])
    assert "AAAA" not in told and "xxxx" not in told and PNG not in told
    assert len(told) < 4000
    first, second = result.data["cells"][0]["outputs"]
    assert first["mime_sizes"]["image/png"] == 100_002
    assert second["mime_types"] == ["application/vnd.plotly.v1+json"]
    assert second["size_bytes"] > 5_000_000


def test_errors_and_progress_bars_are_shown_as_a_person_sees_them(call):
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "bad",
        "traceback": ["\x1b[31mTrace\x1b[0m", "last line"],
    }
    bar = "".join(f"\r{done}%" for done in range(101))
    result = call("read_notebook", path=put(call, code("f()", outputs=[error, stream(f"start\n{bar}\n")])))
    assert "| ValueError: bad\n| Trace\n| last line\n" in result.text
    assert "| start\n| 100%\n" in result.text
    assert "\x1b" not in result.text and "99%" not in result.text


@pytest.mark.slow
def test_fifty_megabytes_of_output_cost_a_bounded_answer(call):
    text = "a line of the log that goes on for a while\n" * 1_200_000
    path = put(call, code("log()", outputs=[stream(text), picture("A" * 4_000_000)]), markdown("end"))
    for outputs in ("summary", "full", "none"):
        result = call("read_notebook", path=path, outputs=outputs)
        assert len(json.dumps(result.data)) < 300_000
        assert len(result.text) < 300_000
        assert [cell["cell_id"] for cell in result.data["cells"]] == ["c0", "c1"]


def test_one_output_is_shown_whole_page_by_page(call):
    text = "".join(f"{number} ä\n" for number in range(100_000))
    path = put(call, code("log()", outputs=[picture(), stream(text)]))
    parts, offset = [], 0
    while offset is not None:
        result = call("read_notebook", path=path, cell_id="c0", output_index=1, output_offset=offset)
        (output,) = result.data["cells"][0]["outputs"]
        assert len(result.text.encode()) < 300_000
        parts.append(output["text"])
        offset = output["next_output_offset"]
    assert "".join(parts) == text and len(parts) > 1
    assert call.refused("out_of_range", "read_notebook", path=path, index=0, output_index=2).details["total"] == 2


def test_pictures_are_blocks_of_their_own_when_asked_for(call):
    path = put(call, code("plot()", outputs=[stream("a"), picture(), picture()]))
    assert [block["type"] for block in call("read_notebook", path=path).content] == ["text"]
    full = call("read_notebook", path=path, outputs="full")
    assert full.content[1:] == [{"type": "image", "data": PNG, "mimeType": "image/png"}] * 2
    one = call("read_notebook", path=path, cell_id="c0", output_index=1)
    assert one.content[1:] == [{"type": "image", "data": PNG, "mimeType": "image/png"}]
    assert PNG not in one.text and PNG not in json.dumps(full.data)


def test_a_picture_of_a_large_notebook_is_its_own_when_another_file_is_opened_next(call):
    """The file is closed by then, and another one has its descriptor."""
    path = put(call, code("plot()", outputs=[picture(), stream("a line of the log\n" * 300_000)]))
    another = call.put("another.txt", bytes(len(call.got(path))))
    full = call("read_notebook", path=path, outputs="full")
    with another.open("rb"), another.open("rb"):
        assert full.content[1] == {"type": "image", "data": PNG, "mimeType": "image/png"}


def test_a_broken_picture_is_said_and_not_sent(call):
    broken = [b"no picture", base64.b64decode(PNG)[:-1], noise("JPEG", (40, 30))[:-500]]
    outputs = [picture("!!!"), *(picture(packed(data)) for data in broken), picture()]
    path = put(call, code("plot()", outputs=outputs))
    content = call("read_notebook", path=path, outputs="full").content
    assert [block["type"] for block in content] == ["text"] * 5 + ["image"]
    for block, why in zip(content[1:5], ["not base64", "labelled image/png", "end is missing", "(JPEG"], strict=True):
        assert why in block["text"]
    one = call("read_notebook", path=path, cell_id="c0", output_index=2).content
    assert "output 2 of the cell at index 0 of book.ipynb is a broken picture" in one[1]["text"] and len(one) == 2


def test_pictures_are_scaled_as_those_of_files_are(make_call):
    call = make_call(max_image_pixels=100, max_image_bytes=20_000, document_seconds=120)
    large = [noise("PNG", (300, 200)), picture_of("TIFF", (20, 10)), turned(6)]
    path = put(call, code("plot()", outputs=[picture(packed(data)) for data in large]))
    full = call("read_notebook", path=path, outputs="full").content
    images = [Image.open(io.BytesIO(base64.b64decode(block["data"]))) for block in full[1:]]
    assert [image.size for image in images] == [(100, 67), (20, 10), (40, 60)]
    assert [image.get_format_mimetype() for image in images] == [block["mimeType"] for block in full[1:]]
    one = call("read_notebook", path=path, cell_id="c0", output_index=0).content
    assert one[1] == full[1]


def test_of_many_pictures_as_many_are_shown_as_there_is_room_for(make_call):
    call = make_call(max_image_bytes=len(noise()), document_seconds=120)
    path = put(call, code("plot()", outputs=[picture(packed(noise()))] * 7))
    content = call("read_notebook", path=path, outputs="full").content
    assert [block["type"] for block in content] == ["text", *["image"] * 4, "text"]
    assert "3 more pictures" in content[-1]["text"]
    tiny = put(call, code("plot()", outputs=[picture()] * 25), path="many.ipynb")
    assert "5 more pictures" in call("read_notebook", path=tiny, outputs="full").content[-1]["text"]


def test_a_picture_above_the_limit_is_not_decoded(make_call):
    call = make_call(max_document_bytes=1000)
    path = put(call, code("plot()", outputs=[picture(packed(noise())), picture()]))
    content = call("read_notebook", path=path, outputs="full").content
    assert "the limit is 1000 bytes" in content[1]["text"] and content[2]["type"] == "image"


def test_pictures_whose_decoder_crashes_are_said(call, monkeypatch):
    path = put(call, code("plot()", outputs=[picture()] * 2))
    monkeypatch.setattr(decoding, "_START", "import os; os._exit(3)")
    content = call("read_notebook", path=path, outputs="full").content
    assert ["not shown" in block["text"] for block in content] == [False, True, True]


def test_other_representations_of_an_output_can_be_asked_for(call):
    path = put(call, code("show()", outputs=[picture(**{"text/html": "<b>hi</b>"})]))
    shown = call("read_notebook", path=path, cell_id="c0", output_index=0, mime_type="text/html")
    assert "| <b>hi</b>\n" in shown.text and len(shown.content) == 1
    shown = call("read_notebook", path=path, cell_id="c0", output_index=0, mime_type="image/png")
    assert shown.content[1]["data"] == PNG
    for missing in ("text/latex", "image/jpeg"):
        call.refused("invalid", "read_notebook", path=path, cell_id="c0", output_index=0, mime_type=missing)


def test_a_long_notebook_comes_in_pages_of_whole_cells(make_call):
    call = make_call(max_output_bytes=20_000)
    path = put(call, *(code(f"x = {number}\n" * 5, outputs=[]) for number in range(2000)))
    seen, offset, pages = [], 0, 0
    while offset is not None:
        result = call("read_notebook", path=path, offset=offset)
        assert len(result.text.encode()) < 20_500
        seen += [cell["source"] for cell in result.data["cells"]]
        offset, pages = result.data["next_offset"], pages + 1
    assert seen == [f"x = {number}\n" * 5 for number in range(2000)]
    assert pages > 5
    call.refused("out_of_range", "read_notebook", path=path, offset=2000)


def test_a_long_cell_comes_in_pages_of_lines(call):
    lines = [f"line {number}\n" for number in range(100_000)]
    path = put(call, code("".join(lines)), markdown("after"))
    first = call("read_notebook", path=path).data
    assert first["next_offset"] == 1 and first["truncated"]
    seen, offset = [], 1
    while offset is not None:
        (cell,) = call("read_notebook", path=path, cell_id="c0", source_offset=offset, outputs="none").data["cells"]
        seen.append(cell["source"])
        offset = cell["next_source_offset"]
    assert "".join(seen) == "".join(lines) and len(seen) > 1
    window = call("read_notebook", path=path, cell_id="c0", source_offset=5, source_limit=2)
    assert "5\tline 4\n6\tline 5\n[... 99994 more lines" in window.text


def test_a_long_line_is_cut_and_can_be_read_alone(call):
    path = put(call, code("short\n" + "x" * 50_000 + "\nend", outputs=[]), markdown("after"))
    shown = call("read_notebook", path=path)
    advice = "source_offset=2, source_limit=1, source_column=2001"
    assert f"48000 more characters: read with {advice}]" in shown.text
    assert [cell["cell_id"] for cell in shown.data["cells"]] == ["c0", "c1"]
    (cut,) = shown.data["cells"][0]["cut_lines"]
    assert cut == {"line": 2, "column": 1, "shown": 2000, "omitted": 48_000}
    assert shown.data["cells"][0]["source"] == "short\n" + "x" * 2000 + "\nend"
    alone = call("read_notebook", path=path, cell_id="c0", source_offset=2, source_limit=1)
    assert "\n2\t" + "x" * 50_000 + "\n" in alone.text


def pieces(call, path, line, **more):
    """The pieces in which one line is shown, to its end."""
    column = 1
    while column is not None:
        more |= {"source_offset": line, "source_limit": 1, "source_column": column, "outputs": "none"}
        (cell,) = call("read_notebook", path=path, cell_id="c0", **more).data["cells"]
        yield cell["source"]
        (cut,) = cell["cut_lines"] or [None]
        column = cut and cut["column"] + cut["shown"]


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["x", "ä", "😀", "\r"])
def test_a_line_longer_than_an_answer_is_read_to_its_end_and_then_replaced(call, letter):
    long = letter * 3_000_000 + "!"
    path = put(call, code(f"first\n{long}\nlast"))
    call("read_notebook", path=path)
    call.refused("not_read", "edit_notebook", path=path, cell_id="c0", new_source="x")
    seen = list(pieces(call, path, 2))
    assert "".join(seen) == long + "\n" and max(map(len, seen)) < 270_000
    call("edit_notebook", path=path, cell_id="c0", edit_mode="edit", old_string="!", new_string="?")
    call("edit_notebook", path=path, cell_id="c0", new_source="x")


def test_a_line_of_which_a_piece_was_left_out_is_not_known(call):
    path = put(call, code("x" * 10_000))
    for column in (1, 4001, 6001, 8001):
        call("read_notebook", path=path, cell_id="c0", source_column=column)
    call.refused("not_read", "edit_notebook", path=path, cell_id="c0", edit_mode="delete")
    for column in (2001, 4001, 6001, 8001):
        call("read_notebook", path=path, cell_id="c0", source_column=column)
    call("edit_notebook", path=path, cell_id="c0", edit_mode="delete")


@pytest.mark.parametrize(("line", "column"), [(1, 4), (2, 2), (3, 1), (1, 10**12)])
def test_a_column_past_the_end_of_a_line_is_refused(call, line, column):
    path = put(call, code("abc\n\n"))
    where = {"cell_id": "c0", "source_offset": line, "source_column": column}
    call.refused("out_of_range", "read_notebook", path=path, **where)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=st.text("ab\r\nä😀\u2028", min_size=1, max_size=60), most=st.integers(1, 120))
def test_every_source_is_read_to_its_end_in_pages_of_any_size(call, source, most):
    path = put(call, code(source, outputs=[]))
    line, column, seen = 1, 1, ""
    while line is not None:
        asked = {"cell_id": "c0", "source_offset": line, "source_column": column, "max_output_bytes": most}
        (cell,) = call("read_notebook", path=path, **asked).data["cells"]
        seen += cell["source"]
        line, column = cell["next_source_offset"], 1
        last = cell["start_line"] + len(cell["source"].split("\n")) - 1
        if cell["cut_lines"] and cell["cut_lines"][-1]["line"] == last:
            line, column = last, cell["cut_lines"][-1]["column"] + cell["cut_lines"][-1]["shown"]
    assert seen == source
    call("edit_notebook", path=path, cell_id="c0", new_source=source + "c")


@pytest.mark.parametrize("most", [1, 50, 200, 1000])
def test_the_smallest_page_still_goes_forward(call, most):
    path = put(call, code("äöü" * 1000 + "\nlast", outputs=[stream("o" * 500)] * 5), markdown("m" * 300))
    offset = 0
    for _ in range(3):
        result = call("read_notebook", path=path, offset=offset, max_output_bytes=most)
        assert len(result.text) < most + 600
        offset = result.data["next_offset"]
        if offset is None:
            break
    assert offset is None


def test_attachments_are_named_and_left_out(call):
    path = put(call, markdown("![](attachment:i.png)", attachments={"i.png": {"image/png": PNG}}))
    result = call("read_notebook", path=path)
    assert f'attachment="i.png (image/png {len(PNG) + 2} bytes)"' in result.text
    assert PNG not in json.dumps([result.content, result.data])


LONG = "n" * 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        code(metadata={"tags": [LONG] * 3}),
        code(metadata={"tags": [str(number) for number in range(100_000)]}),
        markdown(attachments={LONG: {LONG: ""}}),
        markdown(attachments={f"{number}.png": {"image/png": ""} for number in range(100_000)}),
        code(outputs=[{**picture(), "data": {LONG: ""}}]),
        code(outputs=[{**picture(), "data": {f"a/{number}": "" for number in range(100_000)}}]),
        code(outputs=[{"output_type": LONG}, {"output_type": "error", "ename": LONG, "evalue": "", "traceback": []}]),
    ],
    ids=["tag", "tags", "attachment", "attachments", "mime", "mimes", "types"],
)
def test_names_out_of_a_file_do_not_make_an_answer_long(call, cell):
    """Not in the cells, not in one output, and not in a refusal."""
    path = put(call, cell)
    one = {"index": 0, "output_index": 0}
    for more in ({}, {"outputs": "full"}, one, one | {"mime_type": "x/y"}):
        try:
            result = call("read_notebook", path=path, **more)
            told = json.dumps([result.content, result.data])
        except FsToolsError as refusal:
            told = json.dumps(refusal.as_dict())
        assert len(told) < 80_000


def test_the_first_of_very_many_names_are_shown_and_the_others_counted(call):
    tags = [str(number) for number in range(60)]
    data = {f"a/{number:02}": "" for number in range(60)}
    files = {f"{number:02}.png": {"image/png": ""} for number in range(60)}
    path = put(call, code(metadata={"tags": tags}, outputs=[{**picture(), "data": data}]), markdown(attachments=files))
    first, second = call("read_notebook", path=path).data["cells"]
    assert first["tags"] == [*tags[:50], "… and 10 more"]
    assert first["outputs"][0]["mime_types"][49:] == ["a/49", "… and 10 more"]
    assert first["outputs"][0]["mime_sizes"]["… and 10 more"] == 20
    assert list(second["attachments"])[49:] == ["49.png", "… and 10 more"]


def test_ids_that_repeat_or_look_like_indexes(call):
    path = put(call, code("a", id="1"), code("b", id="x"), code("c", id="x"))
    (cell,) = call("read_notebook", path=path, cell_id="1").data["cells"]
    assert cell["source"] == "a"
    assert call.refused("ambiguous", "read_notebook", path=path, cell_id="x").details["indexes"] == [1, 2]
    (cell,) = call("read_notebook", path=path, index=2).data["cells"]
    assert (cell["source"], cell["id_state"]) == ("c", "duplicate")


def test_a_notebook_without_a_version_is_of_an_unknown_one(call):
    call.put("book.ipynb", '{"cells": [], "metadata": {}}')
    result = call("read_notebook", path="book.ipynb")
    assert 'nbformat="unknown (read-only)"' in result.text
    assert TypeAdapter(TOOLS["read_notebook"].answer()).validate_python(result.data).nbformat == [None, None]


def test_an_unknown_id_is_refused_with_the_cells_there_are(call):
    path = put(call, code("first line\nsecond", id="abcdef12"), markdown("m"))
    refusal = call.refused("not_found", "read_notebook", path=path, cell_id="nope")
    assert "0: abcdef12  first line" in refusal.hint
    assert call("read_notebook", path=path, cell_id="#abcdef1").data["cells"][0]["cell_id"] == "abcdef12"


def test_cells_without_ids_are_shown_with_the_same_ids_at_every_read(call):
    path = put(call, code("a"), code("b"), minor=4)
    before = call.got(path)
    ids = [cell["cell_id"] for cell in call("read_notebook", path=path).data["cells"]]
    assert ids == [cell["cell_id"] for cell in call("read_notebook", path=path).data["cells"]]
    assert len(set(ids)) == 2 and call.got(path) == before


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", (1, 1)),
        (b'{"cells": [\n  {"cell_type" "code"}]}', (2, 16)),
        (b'{\n<<<<<<< HEAD\n "cells": []\n}', (2, 1)),
        (b'\xef\xbb\xbf{"cells": []}', (1, 1)),
    ],
)
def test_what_is_no_notebook_is_refused_with_line_and_column(call, data, place):
    call.put("broken.ipynb", data)
    os.utime(call.root / "broken.ipynb", (1, 1))
    for tool in ("read_notebook", "read_file"):
        refusal = call.refused("notebook", tool, path="broken.ipynb")
        assert (refusal.details["line"], refusal.details["column"]) == place
    assert call.got("broken.ipynb") == data


def test_old_and_odd_notebooks_are_readable(call):
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "code",
           "input": "x", "outputs": []}]}]}  # fmt: skip
    call.put("old.ipynb", json.dumps(old))
    assert "1\tx\n" in call("read_notebook", path="old.ipynb").text
    odd = notebook(code("a"), {"cell_type": "code", "id": "bare"}, {"cell_type": "strange", "source": "s", "id": "s"})
    call.put("odd.ipynb", json.dumps(odd))
    assert [cell["source"] for cell in call("read_notebook", path="odd.ipynb").data["cells"]] == ["a", "", "s"]


def test_only_notebooks_are_read_as_such_whatever_the_case_of_their_names(call):
    call.put("a.py", "x")
    call.refused("notebook", "read_notebook", path="a.py")
    call.refused("not_found", "read_notebook", path="nowhere.ipynb")
    assert call("read_notebook", path=put(call, code("x"), path="BOOK.IPYNB")).data["total_cells"] == 1


def test_read_file_shows_a_notebook_as_read_notebook_does(call):
    path = put(call, markdown("a"), code("b"), raw("c"))
    by_file, by_cells = call("read_file", path=path), call("read_notebook", path=path)
    assert by_file.content == by_cells.content
    assert by_file.data == by_cells.data and by_file.data["kind"] == "notebook"
    window = call("read_file", path=path, offset=2, limit=1)
    assert [cell["cell_id"] for cell in window.data["cells"]] == ["c1"]
    assert window.data["next_offset"] == 3 and window.text.endswith("Go on with offset=3.")
    assert call("read_notebook", path=path, offset=1, limit=1).text.endswith("Go on with offset=2.")
    call.refused("invalid", "read_file", path=path, pages="1")
    call.put("link.txt", "")
    os.remove(call.root / "link.txt")
    os.symlink(path, call.root / "link.txt")
    assert call("read_file", path="link.txt").data["kind"] == "notebook"


@pytest.mark.parametrize(
    "arguments",
    [
        {"output_index": 0},
        {"source_offset": 2},
        {"source_column": 2},
        {"cell_id": "c0", "source_column": 0},
        {"cell_id": "c0", "offset": 1},
        {"output_offset": 3},
        {"outputs": "all"},
        {"index": -1},
        {"cell_id": 3},
        {"cellid": "c0"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(call, arguments):
    call.refused("invalid", "read_notebook", path=put(call, code("x")), **arguments)


def test_names_that_models_use_are_taken(call):
    call("read_notebook", notebook_path=put(call, code("x")), cellId="c0", outputIndex="0")


def test_a_lone_surrogate_in_a_source_can_be_read_and_its_neighbours_edited(call):
    call.put("book.ipynb", json.dumps(notebook(code("x = '\ud800'"), code("y"))))
    assert call("read_notebook", path="book.ipynb").data["cells"][0]["source"] == "x = '\ud800'"
    call("edit_notebook", path="book.ipynb", cell_id="c1", new_source="z")
    assert b"\\ud800" in call.got("book.ipynb")
    call.refused("encoding", "edit_notebook", path="book.ipynb", cell_id="c1", new_source="\ud800")


def test_a_notebook_that_is_being_saved_is_waited_for(call, monkeypatch):
    path = put(call, code("x"))
    whole = call.got(path)
    call.put(path, whole[:50])
    monkeypatch.setattr("jupyter_fstools.tools.read_notebook.time.sleep", lambda _: call.put(path, whole))
    assert call("read_notebook", path=path).data["total_cells"] == 1


def test_an_empty_notebook_is_shown_as_one(call):
    call.put("book.ipynb", json.dumps(notebook()))
    result = call_tool(call.workspace, "read_notebook", path="book.ipynb")
    assert result.text == '<read_notebook path="book.ipynb" totalCells="0" language="unknown">\n</read_notebook>'
    assert result.data["cells"] == [] and result.data["next_offset"] is None


def test_every_style_of_file_is_read_alike(call):
    answers = []
    for style in samples.STYLES:
        call.put("book.ipynb", style(notebook(markdown("a\nb"), code("x"))))
        answers.append([cell["source"] for cell in call("read_notebook", path="book.ipynb").data["cells"]])
    assert answers == [["a\nb", "x"]] * len(samples.STYLES)


def test_a_cell_with_metadata_beyond_all_depth_does_not_hide_the_others(call):
    text = json.dumps(notebook(code("a", metadata={"x": "deep"}), code("b")))
    call.put("a.ipynb", text.replace('"deep"', "[" * 200_000 + "]" * 200_000))
    assert [one["source"] for one in call("read_notebook", path="a.ipynb").data["cells"]] == ["a", "b"]
    call("edit_notebook", path="a.ipynb", cell_id="c1", new_source="q")


def test_grep_names_cells_of_equal_sources_as_they_are_read(call):
    path = put(call, code("dup"), markdown("dup"), code(""), code("dup"), code("dup"), minor=4)
    shown = {cell["index"]: cell["cell_id"] for cell in call("read_notebook", path=path).data["cells"]}
    found = call("grep", pattern="dup").data["matches"]
    assert {row["cell_index"]: row["cell_id"] for row in found} == {at: shown[at] for at in (0, 1, 3, 4)}
    assert len(set(shown.values())) == 5
