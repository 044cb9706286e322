"""Extracts text, or a picture, from the pages of a PDF."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...errors import Binary, OutOfRange
from .image import MISSING, Room, encoded

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PAGES = 20
"""Pages that one call shows at most."""

_POINTS_PER_INCH = 72
_MOST_DOTS_PER_INCH = 300
_MOST_PICTURES = 4  # All pages of a call together may take this many times the room of one picture.
_NEEDS_PASSWORD = (4, 5)  # FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY
# PDFium uses some of them as marks: 2 for a hyphen at the end of a line, another one for "no character".
_UNSHOWN = {**dict.fromkeys([*range(9), *range(11, 32), 127, 0xFFFE, 0xFFFF]), 2: "-"}


class PageRange(NamedTuple):
    """Pages from `first` (1-based) to `last`; None: as many as one call shows."""

    first: int
    last: int | None


class PageRoom(NamedTuple):
    """How much one call shows: bytes of text, the room of each picture, and seconds after which no page is begun."""

    text: int
    picture: Room
    seconds: float


class ShownPage(NamedTuple):
    """One page.

    Attributes:
        page: its number, 1-based.
        shown_as: `blank` has neither text nor picture; `broken` cannot be read.
        text: its text; lines end with a newline.
        omitted: characters of the text left out at its end.
        picture: of a page without text.
        mime_type: of the picture.
        width: pixels of the picture.
        height: pixels of the picture.
    """

    page: int
    shown_as: Literal["text", "image", "blank", "broken"]
    text: str = ""
    omitted: int = 0
    picture: bytes | None = None
    mime_type: str | None = None
    width: int | None = None
    height: int | None = None


class ShownPages(NamedTuple):
    """The pages shown, in order without a gap, and how many there are in all."""

    total: int
    pages: list[ShownPage]


def shown_pages(data: bytes, path: str, wanted: PageRange, room: PageRoom) -> ShownPages:
    """As many of the wanted pages as there is room for, one at least.

    Args:
        data: the whole file.
        path: for refusals.
        wanted: the pages to show.
        room: limits of what is shown.

    Raises:
        Binary: broken, needs a password, or the libraries are missing; OutOfRange: there is no such page.
    """
    document = _opened(data, path)
    try:
        total = len(document)
        if wanted.first > total:
            raise OutOfRange(
                f"page {wanted.first} is past the end: {path} has {total} page{'' if total == 1 else 's'}",
                hint=f"Ask for pages from 1 to {total}.",
                total_pages=total,
            )
        pages = _some(document, path, range(wanted.first, _last(wanted, total) + 1), room)
    finally:
        document.close()
    if all(page.shown_as == "broken" for page in pages):
        raise _broken(path, "none of its pages can be read")
    return ShownPages(total, pages)


def _last(wanted: PageRange, total: int) -> int:
    last = wanted.first + MOST_PAGES - 1
    return min(last, total, last if wanted.last is None else wanted.last)


def _opened(data: bytes, path: str) -> Any:
    try:
        import PIL.Image  # noqa: F401  # Needed later to draw pages: its absence must be reported before the first one.
        import pypdfium2  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        raise Binary(f"{path} is a PDF, and the PDF reader is not installed here", hint=MISSING) from None
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in _NEEDS_PASSWORD:
            raise Binary(
                f"{path} is a PDF that is encrypted and needs a password",
                hint="Ask for a copy without a password.",
                encrypted=True,
            ) from None
        raise _broken(path, "it is damaged or cut off, or has no pages") from None
    document.init_forms()
    return document


def _broken(path: str, why: str) -> Binary:
    return Binary(f"{path} is a broken PDF: {why}", hint="Save it again with the program that made it.")


def _some(document: Any, path: str, numbers: range, room: PageRoom) -> list[ShownPage]:
    pages: list[ShownPage] = []
    until = time.monotonic() + room.seconds
    text_left, pictures_left = room.text, room.picture.bytes * _MOST_PICTURES
    for number in numbers:
        page = _page(document, path, number, room)
        text_left -= len(page.text.encode())
        pictures_left -= len(page.picture or b"")
        if pages and (text_left < 0 or pictures_left < 0):
            break
        pages.append(page)
        if page.omitted or time.monotonic() > until:
            break
    return pages


def _page(document: Any, path: str, number: int, room: PageRoom) -> ShownPage:
    import pypdfium2

    try:
        page = document[number - 1]
        text, omitted = _text(page, room.text)
        # Any character that is neither white space nor the replacement character is readable text.
        if any(character not in "\N{REPLACEMENT CHARACTER}" and not character.isspace() for character in text):
            return ShownPage(number, "text", text, omitted)
        image = _drawn(page, room.picture.side)
    except pypdfium2.PdfiumError:
        return ShownPage(number, "broken")
    if _is_blank(image):
        return ShownPage(number, "blank")
    picture, mime_type, image = encoded(image, room.picture.bytes, path, lossless=False)
    return ShownPage(number, "image", "", 0, picture, mime_type, image.width, image.height)


def _text(page: Any, most_bytes: int) -> tuple[str, int]:
    """The page's text, and how many characters of it were left out."""
    textpage = page.get_textpage()
    count = textpage.count_chars()
    text: str = textpage.get_text_range(0, min(count, most_bytes)) if count > 0 else ""
    textpage.close()
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNSHOWN)
    shown = text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
    return shown, max(count - most_bytes, 0) + len(text) - len(shown)


def _is_blank(image: Image) -> bool:
    return image.getcolors(1) is not None


def _drawn(page: Any, side: int) -> Image:
    longer = max(page.get_size())
    scale = min(side / max(longer, 1), _MOST_DOTS_PER_INCH / _POINTS_PER_INCH)
    bitmap = page.render(scale=scale)
    drawn: Image = bitmap.to_pil().convert("RGB")
    bitmap.close()
    drawn.thumbnail((side, side))
    return drawn
