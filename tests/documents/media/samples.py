"""Pictures made by Pillow and PDFs written out by hand, for tests."""

from __future__ import annotations

import io
from functools import cache

from PIL import Image


def picture(form="PNG", size=(60, 40), mode="RGB", **options):
    """A picture that is red on its left and blue on its right."""
    image = Image.new("RGB", size, "blue")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    return saved(image.convert(mode), form, **options)


def saved(image, form, **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@cache
def noise(form="PNG", size=(60, 40), mode="RGB", **options):
    """A picture that hardly shrinks when it is packed."""
    import random

    channels = len(Image.new(mode, (1, 1)).getbands())
    data = random.Random(0).randbytes(size[0] * size[1] * channels)
    return saved(Image.frombytes(mode, size, data), form, **options)


def turned(orientation, form="JPEG", **more):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return picture(form, exif=exif, **more)


def text_page(text):
    """The drawing of a page with lines of text."""
    shown = " T* ".join(f"({line}) Tj" for line in text.split("\n"))
    return f"BT /F1 12 Tf 14 TL 72 700 Td {shown} ET".encode()


DRAWING = b"0 0 1 rg 100 100 200 300 re f"


def pdf(*pages, box=(612, 792), trailer=b"", more=()):
    """A PDF of pages, each given by its drawing; `more` objects follow, the first is number 4 + 2 * pages."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for drawing in pages:
        kids.append(b"%d 0 R" % (len(objects) + 1))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (*box, len(objects) + 2)
        )
        objects.append(b"<</Length %d>>stream\n%b\nendstream" % (len(drawing), drawing))
    objects[1] = b"<</Type/Pages/Kids[%b]/Count %d>>" % (b" ".join(kids), len(pages))
    return written([*objects, *more], trailer)


def written(objects, trailer=b""):
    data, offsets = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(data))
    return data + head + table + end


def locked_pdf():
    """A PDF that no known password opens: its checksums fit none."""
    rules = b"<</Filter/Standard/V 1/R 2/Length 40/P -4/O<%b>/U<%b>>>" % (b"ab" * 32, b"cd" * 32)
    identity = b"/Encrypt 6 0 R/ID[<%b><%b>]" % (b"00" * 16, b"00" * 16)
    return pdf(text_page("secret"), trailer=identity, more=[rules])
