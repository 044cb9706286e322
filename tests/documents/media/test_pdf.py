import io
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from jupyter_fstools.documents.media.image import Room
from jupyter_fstools.documents.media.pdf import PageRange, PageRoom, shown_pages
from jupyter_fstools.errors import Binary, FsToolsError, OutOfRange
from tests.documents.media.samples import DRAWING, locked_pdf, pdf, text_page

ROOM = PageRoom(100_000, Room(400, 1 << 20), 60)


def shown(data, first=1, last=None, room=ROOM):
    return shown_pages(data, "a.pdf", PageRange(first, last), room)


def numbered(count):
    return pdf(*(text_page(f"this is page {number}") for number in range(1, count + 1)))


def test_a_page_is_its_text():
    (page,) = shown(pdf(text_page("Hello\nWorld"))).pages
    assert page[:4] == (1, "text", "Hello\nWorld", 0) and page.picture is None


def test_a_page_without_text_is_a_picture():
    page = shown(pdf(DRAWING)).pages[0]
    assert page.shown_as == "image" and page.text == "" and page.height == 400
    drawn = Image.open(io.BytesIO(page.picture))
    assert drawn.size == (page.width, page.height) and drawn.get_format_mimetype() == page.mime_type
    assert drawn.getpixel((80, 300)) == pytest.approx((0, 0, 255), abs=9)


def test_a_page_with_nothing_on_it_is_blank():
    assert [page.shown_as for page in shown(pdf(b"", text_page("  "), DRAWING)).pages] == ["blank", "blank", "image"]


@pytest.mark.parametrize(
    ("first", "last", "pages"), [(1, None, (1, 20)), (3, 3, (3, 3)), (24, 99, (24, 25)), (2, 9**9, (2, 21))]
)
def test_twenty_pages_are_shown_at_most(first, last, pages):
    found = shown(numbered(25), first, last)
    assert found.total == 25 and [page.page for page in found.pages] == list(range(pages[0], pages[1] + 1))
    assert all(page.text == f"this is page {page.page}" for page in found.pages)


@pytest.mark.parametrize("first", [4, 9**9])
def test_a_page_past_the_end_is_refused_with_the_total(first):
    with pytest.raises(OutOfRange, match="has 3 pages") as caught:
        shown(numbered(3), first)
    assert caught.value.details == {"total_pages": 3}


def test_pages_end_where_there_is_no_room_for_more_text():
    found = shown(numbered(25), room=ROOM._replace(text=69))
    assert [page.page for page in found.pages] == [1, 2, 3, 4]


def test_a_page_with_too_much_text_says_how_much_is_left_out():
    (page,) = shown(pdf(text_page("x" * 50), DRAWING), room=ROOM._replace(text=20)).pages
    assert page.text == "x" * 20 and page.omitted == 30


def test_pages_end_where_there_is_no_room_for_more_pictures():
    found = shown(pdf(*[DRAWING] * 20), room=ROOM._replace(picture=Room(400, 3000)))
    assert 1 <= len(found.pages) < 20
    assert all(len(page.picture) <= 3000 for page in found.pages)


def test_no_page_is_begun_after_the_time():
    assert len(shown(numbered(5), room=ROOM._replace(seconds=-1)).pages) == 1


@pytest.mark.parametrize("box", [(1, 14_400), (14_400, 1), (3, 3), (14_400, 14_400), (0, 0), (99_999_999, 5)])
def test_a_page_of_any_size_fits(box):
    page = shown(pdf(b"0 0 1 rg 0 0 1 1 re f", box=box)).pages[0]
    assert page.picture is None or max(page.width, page.height) <= 400


def test_a_pdf_that_needs_a_password_says_so():
    with pytest.raises(Binary, match="needs a password"):
        shown(locked_pdf())


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n%%EOF", b"%PDF-1.7\n" + b"\0" * 5000, numbered(3)[:400]])
def test_a_broken_pdf_is_refused(data):
    with pytest.raises(Binary, match="PDF"):
        shown(data)


def test_a_pdf_in_which_no_page_can_be_read_is_broken():
    with pytest.raises(Binary, match="none of its pages"):
        shown(numbered(1).replace(b"/Type/Page/", b"/Type/Nope/").replace(b"Kids[4 0 R]", b"Kids[9 0 R]"))


@pytest.mark.parametrize("shift", [b"", b"\n" * 7])
def test_a_pdf_whose_table_is_wrong_is_still_read(shift):
    data = numbered(2).replace(b"%PDF-1.7\n", b"%PDF-1.7\n" + shift)
    assert shown(data).pages[1].text == "this is page 2"


@given(st.data())
def test_a_damaged_pdf_is_shown_or_refused(data):
    bad = bytearray(SOUND[: data.draw(st.integers(0, len(SOUND)))])
    for at in data.draw(st.lists(st.integers(0, max(len(bad) - 1, 0)), max_size=8)) if bad else ():
        bad[at] = data.draw(st.integers(0, 255))
    try:
        found = shown(bytes(bad), room=ROOM._replace(picture=Room(50, 1 << 20)))
    except FsToolsError as refusal:
        assert refusal.code == "binary"
    else:
        assert 1 <= len(found.pages) <= found.total
        "".join(page.text for page in found.pages).encode()


def test_the_libraries_are_silent(capfd):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        shown(pdf(text_page("x"), DRAWING))
    assert not said and capfd.readouterr() == ("", "")


SOUND = pdf(text_page("Hello\nWorld"), DRAWING, b"")
