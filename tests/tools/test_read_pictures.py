import base64
import io
import os
import sys
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from jupyter_fstools.documents.media import decoder as decoding
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool
from tests.documents.media.samples import DRAWING, locked_pdf, noise, pdf, picture, saved, text_page

posix = pytest.mark.skipif(os.name != "posix", reason="limits and signals are POSIX's")


def image_blocks(result):
    blocks = [block for block in result.content if block["type"] == "image"]
    opened = [Image.open(io.BytesIO(base64.b64decode(block["data"], validate=True))) for block in blocks]
    assert [one.get_format_mimetype() for one in opened] == [block["mimeType"] for block in blocks]
    return opened


@pytest.mark.parametrize(
    ("name", "form"), [("x.jpg", "PNG"), ("x.txt", "JPEG"), ("x", "WEBP"), ("x.ipynb", "GIF"), ("x.py", "BMP")]
)
def test_a_picture_is_shown_whatever_its_name(call, name, form):
    data = picture(form)
    call.put(name, data)
    result = call("read_file", path=name)
    (shown,) = image_blocks(result)
    assert shown.size == (60, 40) and "60×40 pixels" in result.text and name in result.text
    facts = {name: result.data[name] for name in ("kind", "mime_type", "file_size", "width", "height", "content")}
    assert facts == {
        "kind": "image",
        "mime_type": f"image/{form.lower()}",
        "file_size": len(data),
        "width": 60,
        "height": 40,
        "content": None,
    }


@pytest.mark.parametrize("name", ["a.ts", "a.mts", "a.png", "a.jpg", "a.pdf", "a.svg", "a.gif"])
def test_a_text_is_read_as_text_whatever_its_name(call, name):
    call.put(name, "<svg/>\n")
    assert call("read_file", path=name).data["content"] == "<svg/>\n"


def test_a_picture_that_models_take_is_shown_with_its_own_bytes(call):
    data = picture("PNG")
    call.put("a.png", data)
    assert base64.b64decode(call("read_file", path="a.png").content[1]["data"]) == data


def test_a_large_picture_is_scaled_to_the_settings(make_call):
    call = make_call(max_image_pixels=100, max_image_bytes=4000)
    call.put("a.png", noise("PNG", (400, 200)))
    result = call("read_file", path="a.png")
    (shown,) = image_blocks(result)
    assert max(shown.size) <= 100 and result.data["shown_bytes"] <= 4000
    assert (result.data["original_width"], result.data["original_height"]) == (400, 200)
    assert f"shown scaled to {shown.width}×{shown.height}" in result.text


def test_more_than_a_pipe_holds_reaches_a_process_that_is_slow_to_start(make_call, monkeypatch):
    monkeypatch.setattr(decoding, "_LOOKS_SECONDS", 0.001)
    call = make_call(max_image_pixels=100)
    call.put("a.png", noise("PNG", (400, 200)))
    assert call("read_file", path="a.png").data["original_width"] == 400


def test_no_picture_and_no_empty_file_is_taken_for_text_of_no_lines(call):
    call.put("a.png", b"")
    assert call("read_file", path="a.png").text.endswith("The file is empty.")


@pytest.mark.parametrize("keep", [8, 30, 70])
def test_a_broken_picture_is_refused_and_is_no_read(call, keep):
    call.put("a.png", picture("PNG")[:keep])
    refusal = call.refused("binary", "read_file", path="a.png")
    assert "a.png is a broken picture (PNG" in refusal.message
    call.refused("not_read", "edit_file", path="a.png", old_string="a", new_string="b")


def test_an_edit_of_a_picture_that_was_shown_is_refused_as_one(call):
    call.put("a.png", picture("PNG"))
    call("read_file", path="a.png")
    refusal = call.refused("binary", "edit_file", path="a.png", old_string="a", new_string="b")
    assert refusal.message == "a.png is a picture (image/png) (not modified)"


@pytest.mark.parametrize("side", [9_000, 10_000, 20_000])
def test_a_small_file_of_very_many_pixels_is_refused(call, side):
    """Below, above, and far above the bound at which Pillow itself warns."""
    call.put("a.png", saved(Image.new("1", (side, side)), "PNG"))
    assert "pixels" in call.refused("too_large", "read_file", path="a.png").message


def test_a_file_above_the_limit_is_not_opened(make_call):
    call = make_call(max_document_bytes=100)
    call.put("a.png", picture("PNG"))
    call.put("a.pdf", pdf(DRAWING))
    for path in ("a.png", "a.pdf"):
        refusal = call.refused("too_large", "read_file", path=path)
        assert refusal.details["limit"] == 100 < refusal.details["size"]


@pytest.mark.parametrize("path", ["a.png", "a.pdf"])
def test_what_was_shown_as_a_picture_is_not_overwritten(call, path):
    call.put("a.png", picture("PNG"))
    call.put("a.pdf", pdf(DRAWING).replace(b"%PDF-1.7\n", b"%PDF-1.7\n%\0\xff\n"))
    before = call.got(path)
    call("read_file", path=path)
    call.refused("not_read", "write_file", path=path, content="text")
    call.refused("binary", "edit_file", path=path, old_string="a", new_string="b")
    assert call.got(path) == before


def test_a_pdf_of_nothing_but_text_is_edited_only_where_its_text_was_shown(call):
    """Pictures of a PDF's pages do not show the file's own text."""
    data = pdf(text_page("Hello"))
    call.put("a.pdf", data)
    call("read_file", path="a.pdf")
    refusal = call.refused("binary", "edit_file", path="a.pdf", old_string="Hello", new_string="Adieu")
    assert "encoding" in refusal.hint and refusal.details["media_type"] == "application/pdf"
    call.refused("not_read", "write_file", path="a.pdf", content="text")
    assert call.got("a.pdf") == data
    call("read_file", path="a.pdf", encoding="utf-8")
    call("edit_file", path="a.pdf", old_string="Hello", new_string="Adieu")
    assert call("read_file", path="a.pdf").data["content"] == "Adieu"
    call("write_file", path="a.pdf", content="text")


def test_a_pdf_that_the_reader_wrote_as_text_can_be_edited(call):
    call("write_file", path="a.pdf", content=pdf(text_page("Hello")).decode())
    call("edit_file", path="a.pdf", old_string="Hello", new_string="Adieu")


def test_a_picture_is_shown_again_each_time(call):
    call.put("a.png", picture("PNG"))
    for _ in range(2):
        result = call("read_file", path="a.png")
        assert result.data["unchanged"] is False and image_blocks(result)


def test_a_pdf_is_the_text_of_its_pages_in_envelopes(call):
    call.put("a.pdf", pdf(text_page("Hello"), DRAWING, b""))
    result = call("read_file", path="a.pdf")
    assert result.content[0]["text"] == '<read_file path="a.pdf" page="1" totalPages="3">\nHello\n</read_file>'
    assert result.content[1]["text"].startswith('<read_file path="a.pdf" page="2" totalPages="3" shownAs="image">')
    assert [block["type"] for block in result.content] == ["text", "text", "image", "text"]
    assert [page["shown_as"] for page in result.data["pages"]] == ["text", "image", "blank"]
    assert result.data["kind"] == "pdf" and result.data["total_pages"] == 3
    assert max(image_blocks(result)[0].size) == result.data["pages"][1]["height"] == 1568


@pytest.mark.parametrize(
    ("pages", "shown", "following", "truncated"),
    [
        (None, (1, 20), "21-25", True),
        ("", (1, 20), "21-25", True),
        ("21-25", (21, 25), None, False),
        ("3", (3, 3), None, False),
        (3, (3, 3), None, False),
        (" 1 - 5 ", (1, 5), None, False),
        ("10-20", (10, 20), None, False),
        ("1-25", (1, 20), "21-25", True),
        ("2-24", (2, 21), "22-24", True),
        ("24-99", (24, 25), None, False),
    ],
)
def test_pages_of_a_long_pdf_are_read_by_their_numbers(call, pages, shown, following, truncated):
    call.put("a.pdf", pdf(*(text_page(f"page {number}") for number in range(1, 26))))
    result = call("read_file", path="a.pdf", pages=pages) if pages is not None else call("read_file", path="a.pdf")
    assert [page["page"] for page in result.data["pages"]] == list(range(shown[0], shown[1] + 1))
    assert (result.data["next_pages"], result.data["truncated"]) == (following, truncated)
    assert (f'pages="{following}"' in result.text) == bool(following)


@pytest.mark.parametrize("pages", ["0", "5-1", "a", "1,3", "1-", "-1", "1-2-3", "٣", "9" * 5000, True, 1.5, [1]])
def test_no_range_of_pages_is_refused_with_what_one_is(call, pages):
    call.put("a.pdf", pdf(DRAWING))
    refusal = call.refused("invalid", "read_file", path="a.pdf", pages=pages)
    assert "pages" in refusal.message and len(refusal.message) < 300


def test_a_page_past_the_end_is_refused_with_the_total(call):
    call.put("a.pdf", pdf(DRAWING))
    refusal = call.refused("out_of_range", "read_file", path="a.pdf", pages="2")
    assert "1 page" in refusal.message and refusal.details == {"total_pages": 1}


@pytest.mark.parametrize(("name", "data"), [("a.txt", b"text\n"), ("a.png", picture("PNG"))])
def test_pages_of_what_has_none_are_refused(call, name, data):
    call.put(name, data)
    assert "is not a PDF" in call.refused("invalid", "read_file", path=name, pages="1").message


def test_a_pdf_that_needs_a_password_and_one_without_pages_are_refused(call):
    call.put("locked.pdf", locked_pdf())
    call.put("none.pdf", pdf())
    assert "needs a password" in call.refused("binary", "read_file", path="locked.pdf").message
    assert "has no pages" in call.refused("binary", "read_file", path="none.pdf").message


def test_the_text_of_a_pdf_is_bounded(call):
    call.put("a.pdf", pdf(text_page("x" * 50), text_page("y")))
    result = call("read_file", path="a.pdf", max_output_bytes=20)
    assert result.data["content"] == "x" * 20 and result.data["truncated"] and "30 more characters" in result.text
    assert result.data["next_pages"] == "2"


def test_a_pdf_written_as_text_is_read_as_text_where_its_encoding_is_named(call):
    call.put("a.pdf", pdf(text_page("Hello")))
    assert call("read_file", path="a.pdf", encoding="utf-8").data["content"].startswith("%PDF-1.7\n")


def test_offset_and_limit_do_not_matter_to_pictures(call):
    call.put("a.png", picture("PNG"))
    assert image_blocks(call("read_file", path="a.png", offset=5, limit=1, line_numbers=False))


@pytest.mark.parametrize("field", ["offset", "column"])
def test_a_pdf_is_not_shown_from_a_line_on(call, field):
    """Its first pages again would be taken for the next ones."""
    call.put("a.pdf", pdf(text_page("one"), text_page("two")))
    refusal = call.refused("invalid", "read_file", path="a.pdf", **{field: 2})
    assert refusal.details["field"] == field and "`pages`" in refusal.hint
    assert call("read_file", path="a.pdf", **{field: 1}, limit=2000).data["total_pages"] == 2


def test_without_pillow_a_picture_that_models_take_is_shown_all_the_same(call, monkeypatch):
    call.put("a.png", data := picture("PNG"))
    monkeypatch.setattr(decoding, "_START", f"import sys; sys.modules['PIL'] = None; {decoding._START}")
    assert base64.b64decode(call("read_file", path="a.png").content[1]["data"]) == data


@pytest.mark.parametrize(("name", "data"), [("a.bmp", picture("BMP")), ("a.pdf", pdf(DRAWING))])
def test_without_the_libraries_the_refusal_says_what_to_install(call, monkeypatch, name, data):
    call.put(name, data)
    monkeypatch.setattr(decoding, "_START", f"import sys; sys.modules['PIL'] = None; {decoding._START}")
    assert "pip install jupyter-fstools[documents]" in call.refused("binary", "read_file", path=name).hint


def test_decoding_ends_with_its_time_and_with_who_waits_for_it(make_call, monkeypatch):
    call = make_call(document_seconds=0.3)
    call.put("a.png", picture("PNG"))
    monkeypatch.setattr(decoding, "_START", "import time; time.sleep(60)")
    assert "0.3 seconds" in call.refused("timeout", "read_file", path="a.png").message
    gone = threading.Event()
    gone.set()
    abandoned = make_call().workspace.for_reader(Reader("ada", "x"), gone)
    with pytest.raises(FsToolsError, match="timeout"):
        call_tool(abandoned, "read_file", path="a.png")


@posix
def test_a_decoder_that_crashes_is_a_broken_file(call, monkeypatch):
    call.put("a.png", picture("PNG"))
    monkeypatch.setattr(decoding, "_START", "import os; os.abort()")
    assert "SIGABRT" in call.refused("binary", "read_file", path="a.png").message


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_a_picture_that_takes_too_much_memory_is_refused(make_call, monkeypatch):
    call = make_call(document_seconds=120)
    call.put("a.png", saved(Image.new("RGB", (6000, 6000)), "PNG"))
    monkeypatch.setattr(decoding, "MOST_MEMORY_BYTES", 200 << 20)
    assert "memory" in call.refused("too_large", "read_file", path="a.png").message


def test_a_process_that_does_not_start_is_no_broken_file(call, monkeypatch):
    call.put("a.png", picture("PNG"))
    monkeypatch.setattr(decoding, "_START", "import no_such_module")
    assert "no_such_module" in call.refused("io", "read_file", path="a.png").message
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "no process" in call.refused("io", "read_file", path="a.png").message


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([picture("PNG"), picture("TIFF"), pdf(text_page("x"), DRAWING)]), st.data())
def test_what_is_damaged_is_shown_or_refused(call, sound, data):
    bad = bytearray(sound)
    for at in data.draw(st.lists(st.integers(16, len(bad) - 1), max_size=6)):
        bad[at] = data.draw(st.integers(0, 255))
    call.put("a", bytes(bad))
    try:
        assert call("read_file", path="a").data["success"]
    except FsToolsError as refusal:
        assert refusal.code in ("binary", "too_large")
