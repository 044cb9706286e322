from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.notebook import NotebookDocument, cell_view, output_at
from jupyter_fstools.documents.notebook.outputs import outputs_of
from jupyter_fstools.errors import Invalid, OutOfRange

from . import samples
from .samples import PICTURE, code, document, markdown, notebook

PLOTLY = "application/vnd.plotly.v1+json"


def _outputs(*outputs: dict[str, Any]) -> list:
    data = samples.jupyterlab(notebook(code(outputs=list(outputs))))
    return [output.summary() for output in outputs_of(document(data).cells[0])]


def _stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


class CountingContent(BytesContent):
    """Notes the largest piece ever asked for."""

    largest = 0

    def read(self, start: int, length: int) -> bytes:
        self.largest = max(self.largest, length)
        return super().read(start, length)


def test_a_cell_shows_what_a_reader_needs_and_no_metadata() -> None:
    attached = {"i.png": {"image/png": "iVBORw0K"}}
    data = samples.jupyterlab(
        notebook(code("%%bash\nls", metadata={"tags": ["a", "b"], "x": 1}), markdown("m", attachments=attached),
                 code(), kernelspec={"name": "ir", "display_name": "R", "language": "R"})
    )  # fmt: skip
    views = [cell_view(document(data), cell) for cell in document(data).cells]
    first = views[0].model_dump()
    assert (first["cell_id"], first["index"], first["cell_type"], first["execution_count"]) == ("c0", 0, "code", 7)
    assert (first["language"], first["tags"], first["source"]) == ("bash", ["a", "b"], "%%bash\nls")
    assert [view.language for view in views] == ["bash", "markdown", "R"]
    assert views[1].attachments == {"i.png": {"image/png": 10}}


def test_a_missing_kernelspec_makes_the_language_unknown() -> None:
    assert document(samples.minified(notebook(code()))).language == "unknown"
    named = notebook(code(), language_info={"name": "julia"})
    assert document(samples.minified(named)).language == "julia"
    strange = samples.minified(notebook(code()) | {"metadata": 3})
    assert document(strange).language == "unknown"


def test_pictures_are_sizes_in_a_summary_and_base64_on_request() -> None:
    [summary] = _outputs(PICTURE)
    assert (summary.mime_types, summary.text) == (["image/png", "text/plain"], "<Figure>")
    assert summary.mime_sizes["image/png"] == len('"iVBORw0KGgo=\\n"') and "iVBO" not in summary.model_dump_json()
    output = output_at(document(samples.minified(notebook(code(outputs=[PICTURE])))).cells[0], 0)
    assert output.image_mimes == ["image/png"] and output.image("image/png") == "iVBORw0KGgo="


def test_a_large_output_is_never_decoded_for_a_summary() -> None:
    big = "A" * 3_000_000
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": big, "text/html": big}},
        {"output_type": "display_data", "metadata": {}, "data": {PLOTLY: {"d": [1] * 500_000}}},
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": big}},
        _stream(big),
    ]
    content = CountingContent(samples.jupyterlab(notebook(code(outputs=outputs))))
    found = [output.summary() for output in outputs_of(NotebookDocument(content).cells[0])]
    assert content.largest <= 1 << 20
    assert found[0].text == "" and found[1].mime_types == [PLOTLY]
    assert all(one.size_bytes > 1_400_000 and len(one.text) <= 2000 and one.truncated for one in found)


def test_errors_show_name_value_and_the_end_of_the_traceback_without_ansi() -> None:
    trace = ["\x1b[0;31m---\x1b[0m", *(f"frame {at}" for at in range(100)), "\x1b[31mValueError\x1b[39m: no"]
    [summary] = _outputs({"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": trace})
    lines = summary.text.split("\n")
    assert lines[0] == "ValueError: no" == lines[-1] and lines[-2] == "frame 99"
    assert "\x1b" not in summary.text and len(lines) == 31 and summary.truncated
    [bare] = _outputs({"output_type": "error", "ename": "E", "evalue": "v", "traceback": []})
    assert bare.text.strip() == "E: v"


def test_a_traceback_that_is_one_string_is_shown_as_well() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": "frame 1\n\x1b[31mframe 2"}
    output = output_at(document(samples.minified(notebook(code(outputs=[error])))).cells[0], 0)
    assert output.summary().text == output.page(0, 99).text == "E: v\nframe 1\nframe 2"


def test_progress_bars_are_in_their_last_state() -> None:
    bar = "".join(f"\r {at}%|{'#' * at}" for at in range(101))
    [summary] = _outputs(_stream(["start\n", bar + "\n", "\x1b[1mend\x1b[0m\r\n"]))
    assert summary.text == "start\n 100%|" + "#" * 100 + "\nend\n" and not summary.truncated


def test_an_endless_progress_bar_is_bounded_and_ends_in_its_last_state() -> None:
    states = [f"\r{at} of 99999 " + "#" * 20 for at in range(100_000)]
    for text in ("".join(states), ["begin\n", *states, "\n", "done"]):
        [summary] = _outputs(_stream(text))
        assert summary.truncated and len(summary.text) < 2000
        assert "99999 of 99999" in summary.text and "12345 of" not in summary.text


def test_an_endless_line_shows_its_beginning() -> None:
    for text in ("y" * 3_000_000, ["y" * 3_000_000, "!"]):
        [summary] = _outputs(_stream(text))
        assert summary.text.startswith("y" * 1000) and "[… 30000" in summary.text and summary.truncated
        assert len(summary.text) <= 2000


def test_long_text_is_cut_at_a_line_and_says_so() -> None:
    text = "".join(f"line {at}\n" for at in range(10_000))
    for output in (_stream(text), _stream(text.splitlines(True))):
        [summary] = _outputs(output)
        assert summary.truncated and summary.text.split("\n") == text.split("\n")[: summary.text.count("\n") + 1]


@pytest.mark.parametrize("filler", ["é", "😀", '\\"', "\t", "\x00", "a"])
def test_a_head_never_ends_inside_a_character(filler) -> None:
    for style in (samples.jupyterlab, samples.vscode):
        data = style(notebook(code(outputs=[_stream("x" + filler * 1_200_000)])))
        [summary] = [output.summary() for output in outputs_of(document(data).cells[0])]
        assert set(summary.text.split("\n")[0]) <= set("x" + filler)
        summary.text.encode()


def test_one_output_is_paged_by_characters_in_full() -> None:
    text = "é" * 2500 + "\x1b[0m"
    output = output_at(document(samples.minified(notebook(code(outputs=[_stream(text)])))).cells[0], 0)
    pages, at = [], 0
    while at is not None:
        page = output.page(at, 1000)
        pages.append(page.text)
        at = page.next_offset
    assert "".join(pages) == "é" * 2500 and page.total_characters == 2500
    with pytest.raises(OutOfRange, match="2500"):
        output.page(2501, 10)


def test_a_type_can_be_asked_for_and_pictures_are_no_text() -> None:
    data = {"application/json": {"a": 1.10}, "text/html": ["<b>\n", "</b>"], "image/png": "iVBO"}
    output = output_at(document(samples.minified(notebook(code(outputs=[PICTURE | {"data": data}])))).cells[0], 0)
    assert output.page(0, 99, "text/html").text == "<b>\n</b>"
    assert json.loads(output.page(0, 99, "application/json").text) == {"a": 1.1}
    for missing in ("image/png", "text/latex"):
        with pytest.raises(Invalid):
            output.page(0, 99, missing)


def test_an_output_that_is_not_there_names_the_total() -> None:
    with pytest.raises(OutOfRange, match=r"1 output\b"):
        output_at(document(samples.minified(notebook(code()))).cells[0], 1)
    for cell, hint in ((code(outputs=[]), "Run the cell"), (samples.markdown(), "Only code cells have outputs")):
        with pytest.raises(OutOfRange) as caught:
            output_at(document(samples.minified(notebook(cell))).cells[0], 0)
        assert hint in caught.value.hint
    assert list(outputs_of(document(samples.minified(notebook(markdown()))).cells[0])) == []


def test_outputs_of_nbformat_3_are_read() -> None:
    outputs = [{"output_type": "pyout", "prompt_number": 1, "text": ["1"], "png": "iVBO", "metadata": {}},
               {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["t"]},
               {"output_type": "stream", "stream": "stdout", "text": ["s"]}]  # fmt: skip
    cell = {"cell_type": "code", "language": "python", "input": ["1"], "prompt_number": 1, "outputs": outputs}
    value = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}]}
    found = [output.summary() for output in outputs_of(document(json.dumps(value).encode()).cells[0])]
    assert [one.text for one in found] == ["1", "E: v\nt", "s"]
    assert found[0].mime_types == ["text/plain", "image/png"]


def test_lines_of_outputs_without_line_breaks_are_lines_before_nbformat_4() -> None:
    outputs = [{"output_type": "pyout", "text": ["1", "2"]}, {"output_type": "stream", "text": ["s", "", "t"]},
               {"output_type": "stream", "text": [f"{at}" for at in range(400_000)]}]  # fmt: skip
    cell = {"cell_type": "code", "input": ["1"], "outputs": outputs}
    old = document(json.dumps({"nbformat": 2, "worksheets": [{"cells": [cell]}]}).encode()).cells[0]
    first, second, long = [output.summary().text for output in outputs_of(old)]
    assert (first, second) == ("1\n2", "s\n\nt")
    assert long.startswith("0\n1\n2\n") and long.endswith("\n399998\n399999")
    assert [output_at(old, index).page(0, 9).text for index in (0, 1)] == ["1\n2", "s\n\nt"]


def test_a_long_cell_is_paged_by_line() -> None:
    source = "".join(f"{at}\u2028\n" for at in range(100_000))
    found = document(samples.jupyterlab(notebook(code(source))))
    view = cell_view(found, found.cells[0], source_offset=50_000, source_limit=2)
    assert view.source == "49999\u2028\n50000\u2028\n"
    assert (view.start_line, view.next_source_offset, view.total_lines) == (50_000, 50_002, 100_000)
    with pytest.raises(OutOfRange, match="100000"):
        cell_view(found, found.cells[0], source_offset=100_001)


def test_strange_outputs_are_shown_as_far_as_they_go() -> None:
    found = _outputs({"output_type": "stream"}, {"data": 3}, {"output_type": 5, "data": {"text/plain": 7}})
    assert [one.output_type for one in found] == ["stream", "unknown", "unknown"]
    assert [one.text for one in found] == ["", "", ""]
