import io
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from jupyter_fstools.documents.media.image import MOST_PIXELS, Room, shown_image
from jupyter_fstools.documents.media.media_bytes import HEAD_BYTES, PDF, is_whole, media_type, picture_header
from jupyter_fstools.errors import Binary, FsToolsError, TooLarge
from tests.documents.media.samples import noise, picture, saved, turned

ROOM = Room(1568, 3 << 20)
FORMS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")


def shown(data, room=ROOM):
    return shown_image(data, media_type(data[:HEAD_BYTES]), "a", room)


def pixels(image, data=b""):
    opened = Image.open(io.BytesIO(image.data or data))
    assert opened.size == (image.width, image.height) and opened.get_format_mimetype() == image.mime_type
    return opened.convert("RGB")


@pytest.mark.parametrize("form", FORMS)
def test_first_bytes_tell_what_a_picture_is(form):
    assert media_type(picture(form)[:HEAD_BYTES]) == f"image/{form.lower()}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BMW is a maker of cars and of motorcycles\n",
        "GIF89a is the name of a format of 1989\n",
        "GIF87a ist älter, größer, schöner; über GIF87a schrieb man früher öfter\n",
        "RIFF and RAFF, WEBP",
        "II*",
        "PDF-1.7",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "\x89PNG\r\n\x1a\n",
    ],
)
def test_a_text_is_no_picture_whatever_it_begins_with(text):
    assert media_type(text.encode()[:HEAD_BYTES]) is None


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_no_text_without_control_characters_is_a_picture(text):
    for begin in ("", "BM", "GIF89a", "RIFF", "II*", "MM"):
        assert begin + text == "GIF89a" or media_type(f"{begin}{text}".encode()[:HEAD_BYTES]) is None


def test_a_pdf_is_known_by_its_first_bytes():
    assert media_type(b"%PDF-1.7\n%\xe2\xe3") == PDF


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_models_take_keeps_its_bytes(form):
    image = shown(picture(form))
    assert image.data is None and (image.width, image.height) == (60, 40) == image[4:6]


@pytest.mark.parametrize("form", ["BMP", "TIFF"])
def test_a_picture_that_models_do_not_take_becomes_a_png(form):
    image = shown(picture(form))
    assert image.mime_type == "image/png" and pixels(image).getpixel((1, 1)) == (255, 0, 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [(300, 200), (200, 300), (300, 1), (101, 100)])
def test_a_large_picture_is_scaled_to_the_longer_side(form, size):
    image = shown(picture(form, size), Room(100, 1 << 20))
    assert max(image.width, image.height) == 100 and image[4:6] == size
    assert image.width * size[1] == pytest.approx(image.height * size[0], abs=max(size))
    assert image.mime_type == ("image/jpeg" if form == "JPEG" else "image/png")
    pixels(image)


@given(st.sampled_from(FORMS), st.integers(1, 80), st.integers(1, 80), st.integers(1, 100), st.integers(700, 20_000))
def test_no_picture_exceeds_its_room(form, width, height, side, most):
    data = noise(form, (width, height))
    image = shown(data, Room(side, most))
    assert max(image.width, image.height) <= side and len(image.data or data) <= most
    pixels(image, data)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_a_picture_of_too_many_bytes_becomes_a_jpeg_and_smaller(mode):
    image = shown(noise("PNG", (400, 400), mode), Room(1568, 20_000))
    assert image.mime_type == "image/jpeg" and len(image.data) <= 20_000
    assert image.width < 400


def test_a_room_for_no_single_pixel_is_refused():
    with pytest.raises(TooLarge, match="scaled down to 10 bytes"):
        shown(picture(), Room(100, 10))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize(("orientation", "size"), [(2, (60, 40)), (3, (60, 40)), (6, (40, 60)), (8, (40, 60))])
def test_a_turned_picture_is_shown_upright(form, orientation, size):
    image = shown(turned(orientation, form))
    assert (image.width, image.height) == size == image[4:6]
    # The red half is on the left; turned by 90 degrees clockwise (6) it is above.
    corner = pixels(image).getpixel((0, 0))
    assert (corner[0] > corner[2]) == (orientation == 6)
    assert not Image.open(io.BytesIO(image.data)).getexif()


def test_a_turned_picture_is_scaled_too():
    image = shown(turned(6, size=(300, 200)), Room(30, 1 << 20))
    assert (image.width, image.height) == (20, 30) and image[4:6] == (200, 300)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_broken_notes_of_a_camera_do_not_matter():
    assert shown(picture("JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff")).data is None


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_a_moving_picture_the_first_frame_is_shown(form):
    frames = [Image.new("RGB", (20, 10), color) for color in ("red", "blue", "lime")]
    image = shown(saved(frames[0], form, save_all=True, append_images=frames[1:]))
    assert image.frames == 3 and image.mime_type == "image/png"
    assert pixels(image).getpixel((5, 5)) == pytest.approx((255, 0, 0), abs=3)


@pytest.mark.parametrize(
    ("form", "mode"),
    [("TIFF", "CMYK"), ("JPEG", "CMYK"), ("TIFF", "F"), ("TIFF", "I"), ("TIFF", "1"), ("TIFF", "LA"), ("TIFF", "P")],
)
def test_every_kind_of_pixel_can_be_shown(form, mode):
    image = shown(picture(form, mode=mode))
    halves = pixels(image).resize((2, 1), Image.Resampling.BOX)
    assert halves.getpixel((0, 0)) != halves.getpixel((1, 0))


def test_sixteen_bits_of_grey_are_scaled_not_cut():
    image = shown(saved(Image.new("I;16", (10, 10), 32768), "PNG"))
    assert pixels(image).getpixel((5, 5))[0] in (127, 128)


def test_greys_without_number_are_shown():
    grey = Image.new("F", (4, 4), float("nan"))
    assert shown(saved(grey, "TIFF")).mime_type == "image/png"


def test_transparency_is_kept_and_becomes_white_in_a_jpeg():
    clear = Image.new("RGBA", (300, 300), (255, 0, 0, 0))
    assert Image.open(io.BytesIO(shown(saved(clear, "PNG"), Room(100, 1 << 20)).data)).getpixel((0, 0))[3] == 0
    holes = noise("PNG", (300, 300), "RGBA")
    assert pixels(shown(holes, Room(300, 20_000))).getpixel((0, 0)) != (0, 0, 0)


@pytest.mark.parametrize("side", [8_001, 20_000])
def test_a_picture_of_too_many_pixels_is_not_decoded(side):
    data = saved(Image.new("1", (side, side)), "PNG")
    assert len(data) < 60_000 and side * side > MOST_PIXELS
    with pytest.raises(TooLarge, match="pixels; at most 64000000"):
        shown(data)


@pytest.mark.parametrize("form", FORMS)
def test_the_magic_alone_is_a_broken_picture(form):
    head = {"PNG": 8, "JPEG": 3, "GIF": 6, "WEBP": 15, "BMP": 18, "TIFF": 4}[form]
    with pytest.raises(Binary, match="a is a broken picture") as refused:
        shown(picture(form)[:head])
    assert "BytesIO" not in refused.value.message  # No names from inside.


KINDS = {
    "PNG": {}, "JPEG": {}, "GIF": {}, "WEBP": {}, "BMP": {}, "TIFF": {}, "PNG of few colors": {"mode": "P"},
    "JPEG in passes": {"progressive": True}, "JPEG of four colors": {"mode": "CMYK"},
    "JPEG with notes": {"comment": b"\xff\xd9"}, "GIF with notes": {"comment": "!;"},
    "WEBP without loss": {"lossless": True}, "BMP of bits": {"mode": "1"},
    "TIFF lzw": {"compression": "tiff_lzw"}, "TIFF deflate": {"compression": "tiff_adobe_deflate"},
    "TIFF of JPEG": {"compression": "jpeg"}, "BigTIFF": {"big_tiff": True},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(end=st.data())
def test_a_picture_cut_off_anywhere_is_broken(kind, end):
    form = kind.removeprefix("Big").partition(" ")[0]
    data = noise(form, (23, 9), **KINDS[kind])
    last = st.integers(1, min(24, len(data) - 20))
    length = end.draw(st.integers(20, len(data) - 1) | last.map(lambda missing: len(data) - missing))
    with pytest.raises(Binary, match="broken picture"):
        shown(data[:length])


@pytest.mark.parametrize("kind", KINDS)
def test_what_follows_the_end_of_a_picture_does_not_matter(kind):
    form = kind.removeprefix("Big").partition(" ")[0]
    data = noise(form, (23, 9), **KINDS[kind])
    assert shown(data + b"\0\xff\xd9;trailing")[4:6] == (23, 9)


def test_a_packed_bitmap_is_whole_with_its_last_run():
    colors = bytes(4) + b"\xff\xff\xff\0"
    pixels = b"\x04\1\0\0\x04\0\0\1"
    sizes = struct.pack("<IiiHHIIiiII", 40, 4, 2, 1, 8, 1, len(pixels), 0, 0, 2, 0)
    data = b"BM" + struct.pack("<IHHI", 62 + len(pixels), 0, 0, 62) + sizes + colors + pixels
    assert shown(data)[4:6] == (4, 2)
    for missing in range(1, len(pixels)):
        with pytest.raises(Binary, match="broken picture"):
            shown(data[:-missing])


@given(st.sampled_from(sorted({form.lower() for form in FORMS})), st.binary(max_size=200))
def test_the_end_of_any_bytes_can_be_asked_for(form, rest):
    heads = {"tiff": b"II*\0", "gif": b"GIF89a", "jpeg": b"\xff\xd8\xff"}
    assert is_whole(heads.get(form, b"") + rest, f"image/{form}") in (True, False)


@given(st.sampled_from(FORMS), st.data())
def test_a_damaged_picture_is_shown_or_refused(form, data):
    sound = noise(form, (24, 16))
    bad = bytearray(sound[: data.draw(st.integers(0, len(sound)))])
    for at in data.draw(st.lists(st.integers(0, max(len(bad) - 1, 0)), max_size=5)) if bad else ():
        bad[at] = data.draw(st.integers(0, 255))
    try:
        image = shown_image(bytes(bad), f"image/{form.lower()}", "a", Room(20, 5000))
    except FsToolsError as refusal:
        assert refusal.code in ("binary", "too_large")
    else:
        assert image.data is None or max(image.width, image.height) <= 20


TAKEN = ("PNG", "JPEG", "GIF", "WEBP")


@given(st.sampled_from(TAKEN), st.integers(1, 300), st.integers(1, 300), st.booleans(), st.booleans())
def test_a_header_tells_the_size_that_decoding_finds(form, width, height, alpha, lossless):
    options = {"lossless": True} if form == "WEBP" and lossless else {"progressive": True} if form == "JPEG" else {}
    data = picture(form, (width, height), "RGBA" if alpha and form in ("PNG", "WEBP") else "RGB", **options)
    assert picture_header(data, media_type(data[:HEAD_BYTES])) == (*Image.open(io.BytesIO(data)).size, 1)


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP"])
def test_a_header_counts_the_frames(form):
    frames = [Image.new("RGB", (20, 10), color) for color in ("red", "green", "blue")]
    data = saved(frames[0], form, save_all=True, append_images=frames[1:])
    assert picture_header(data, media_type(data[:HEAD_BYTES])) == (20, 10, 3)


@given(st.sampled_from(TAKEN), st.data())
def test_a_header_of_broken_bytes_is_refused_or_told_and_never_raises(form, drawn):
    data = bytearray(picture(form))
    for at in drawn.draw(st.lists(st.integers(12, len(data) - 1), max_size=5)):
        data[at] ^= 0xFF
    data = bytes(data[: drawn.draw(st.integers(16, len(data)))])
    name = f"image/{form.lower()}"
    assert not is_whole(data, name) or len(picture_header(data, name) or (1, 1, 1)) == 3


@pytest.fixture
def without_pillow(monkeypatch):
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("form", TAKEN)
def test_without_pillow_a_picture_that_models_take_passes_as_it_is(form, without_pillow):
    data = PICTURES[form]
    assert shown(data) == (None, f"image/{form.lower()}", 60, 40, 60, 40, 1)
    with pytest.raises(Binary, match="broken picture"):
        shown(data[:-3])


@pytest.mark.parametrize(
    ("form", "room"), [("BMP", ROOM), ("TIFF", ROOM), ("PNG", Room(50, 9999)), ("GIF", Room(99, 9))]
)
def test_without_pillow_a_picture_that_has_to_change_names_what_is_missing(form, room, without_pillow):
    with pytest.raises(Binary, match="Pillow, which is not installed here") as caught:
        shown(PICTURES[form], room)
    assert "pip install jupyter-fstools[documents]" in caught.value.hint


PICTURES = {form: picture(form) for form in FORMS}
