"""Scales and converts a picture to what models accept."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Binary, TooLarge
from .media_bytes import is_whole, picture_header

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Most pixels of a picture that is decoded: a small file can hold enough of them to fill the memory."""
MISSING = "Install the packages that convert pictures and read PDFs: pip install jupyter-fstools[documents]"

# The media types that models accept, and the modes that every program draws alike.
_TAKEN = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PLAIN_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA")
_ORIENTATION = 0x0112
_QUALITIES = (85, 60)


class Room(NamedTuple):
    """How large a picture may be: pixels on its longer side, and bytes."""

    side: int
    bytes: int


class ShownImage(NamedTuple):
    """A picture to show.

    Attributes:
        data: the bytes to show; None: the file's own.
        mime_type: of these bytes.
        width: pixels of these bytes.
        height: pixels of these bytes.
        original_width: pixels of the file, upright.
        original_height: pixels of the file, upright.
        frames: how many pictures the file holds; the first is shown.
    """

    data: bytes | None
    mime_type: str
    width: int
    height: int
    original_width: int
    original_height: int
    frames: int


def shown_image(data: bytes, media_type: str, path: str, room: Room) -> ShownImage:
    """A picture file's first picture, its own bytes wherever nothing has to change.

    Without Pillow it is not decoded: a complete file of a type that models accept is shown as it is, if it is small
    enough.

    Args:
        data: the whole file.
        media_type: as its first bytes tell.
        path: for refusals.
        room: how large the picture may be.

    Raises:
        Binary: broken, cut off, or Pillow is needed and missing; TooLarge: more than `MOST_PIXELS`, or no room for a
            single pixel.
    """
    try:
        import PIL.Image
    except ImportError:
        return _passed(data, media_type, path, room)
    try:
        return _shown(data, media_type, path, room)
    except (TooLarge, MemoryError):
        raise
    except (PIL.Image.DecompressionBombError, PIL.Image.DecompressionBombWarning):
        raise _too_many_pixels(path, None) from None
    except PIL.UnidentifiedImageError:  # Its message names only an object in memory.
        raise broken_picture(path, media_type, "") from None
    except Exception as error:  # Pillow's decoders raise exceptions of any type for a broken file.
        raise broken_picture(path, media_type, str(error)) from None


def encoded(image: Image, room_bytes: int, path: str, *, lossless: bool) -> tuple[bytes, str, Image]:
    """A picture's bytes, their media type, and the picture itself, made smaller until the bytes fit.

    Args:
        image: in mode L, RGB or RGBA.
        room_bytes: how many bytes there may be.
        path: for refusals.
        lossless: PNG, if that fits; else JPEG.

    Raises:
        TooLarge: not even one pixel fits.
    """
    while True:
        if lossless and len(data := _saved(image, "PNG")) <= room_bytes:
            return data, "image/png", image
        opaque = _on_white(image)
        for quality in _QUALITIES:
            if len(data := _saved(opaque, "JPEG", quality=quality)) <= room_bytes:
                return data, "image/jpeg", opaque
        if max(image.size) == 1:
            raise TooLarge(
                f"{path} cannot be scaled down to {room_bytes} bytes",
                hint="An administrator can raise max_image_bytes.",
                limit=room_bytes,
            )
        image = image.resize((max(image.width * 3 // 4, 1), max(image.height * 3 // 4, 1)))


def broken_picture(path: str, media_type: str, why: str) -> Binary:
    """The refusal of a picture that cannot be decoded."""
    kind = media_type.partition("/")[2].upper()
    return Binary(
        f"{path} is a broken picture ({kind}, by its first bytes): {why.strip()[:200] or 'it cannot be decoded'}",
        hint="It is damaged, cut off, or still being written: read it again later, or create it again.",
        media_type=media_type,
    )


def _shown(data: bytes, media_type: str, path: str, room: Room) -> ShownImage:
    image, frames = _opened(data, media_type, path)
    width, height = image.size
    mode = image.mode
    if max(width, height) > room.side and mode in ("L", "RGB", "CMYK"):
        image.draft(None, (room.side, room.side))  # The decoder then scales a JPEG to a half, a quarter or an eighth.
    image.load()
    if not is_whole(data, media_type):
        raise ValueError("its end is missing")
    turned = _orientation(image)
    if turned > 4:
        width, height = height, width
    fits = max(width, height) <= room.side and len(data) <= room.bytes
    if fits and media_type in _TAKEN and mode in _PLAIN_MODES and frames == 1 and turned == 1:
        return ShownImage(None, media_type, width, height, width, height, frames)
    image = _plain(image)
    image.thumbnail((room.side, room.side))
    if turned != 1:
        from PIL import ImageOps

        ImageOps.exif_transpose(image, in_place=True)
    image.info.clear()
    shown, shown_type, image = encoded(image, room.bytes, path, lossless=media_type != "image/jpeg")
    return ShownImage(shown, shown_type, image.width, image.height, width, height, frames)


def _passed(data: bytes, media_type: str, path: str, room: Room) -> ShownImage:
    """The facts that a file's own bytes give without decoding."""
    kind = media_type.partition("/")[2].upper()
    if media_type not in _TAKEN:
        raise Binary(
            f"{path} is a picture ({kind}); converting it needs Pillow, which is not installed here", hint=MISSING
        )
    if not is_whole(data, media_type) or (header := picture_header(data, media_type)) is None:
        raise broken_picture(path, media_type, "its end or its size is missing")
    width, height, frames = header
    if max(width, height) > room.side or len(data) > room.bytes:
        raise Binary(
            f"{path} is a picture of {width}×{height} pixels and {len(data)} bytes; above {room.side} pixels "
            f"a side or {room.bytes} bytes it must be scaled down with Pillow, which is not installed here",
            hint=MISSING,
        )
    return ShownImage(None, media_type, width, height, width, height, frames)


def _opened(data: bytes, media_type: str, path: str) -> tuple[Image, int]:
    """The picture, not decoded yet, and how many the file holds."""
    from PIL import Image as pillow

    formats = [media_type.partition("/")[2].upper()]
    image: Image = pillow.open(io.BytesIO(data), formats=formats)
    pixels = image.width * image.height
    if pixels > MOST_PIXELS:
        raise _too_many_pixels(path, pixels)
    if pixels == 0:
        raise ValueError("it has no pixels")
    if media_type == "image/png":
        # Decoding ends with the last pixel; only this checks the checksums and that the end of the file is there.
        with pillow.open(io.BytesIO(data), formats=formats) as checked:
            checked.verify()
    # Further frames of a JPEG are previews of the picture itself.
    frames = 1 if media_type == "image/jpeg" else getattr(image, "n_frames", 1)
    image.seek(0)
    return image, frames


def _orientation(image: Image) -> int:
    try:
        turned = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # A camera's Exif data may be broken in any way, while the picture is not.
        return 1
    return turned if turned in range(2, 9) else 1


def _plain(image: Image) -> Image:
    """The picture in mode L, RGB or RGBA."""
    if image.mode.startswith(("I", "F")):
        return _in_8_bits(image)
    if image.has_transparency_data:
        return image.convert("RGBA")
    if image.mode in ("L", "RGB"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _in_8_bits(image: Image) -> Image:
    """A picture of deeper greys in 8 bits: 16-bit values by their full range, others by their darkest and lightest."""
    deep = image.mode.startswith("I;16")
    wide = image.convert("F")
    low, high = (0.0, 65535.0) if deep else wide.getextrema()
    if not (isinstance(low, float) and isinstance(high, float) and low < high < float("inf") and low > -high * 1e30):
        low, high = 0.0, 255.0
    scale = 255 / (high - low)
    grey = wide.point(lambda value: value * scale + -low * scale).convert("L")
    if exif := image.info.get("exif"):
        grey.info["exif"] = exif
    return grey


def _on_white(image: Image) -> Image:
    if image.mode != "RGBA":
        return image
    from PIL import Image as pillow

    ground = pillow.new("RGBA", image.size, "white")
    return pillow.alpha_composite(ground, image).convert("RGB")


def _saved(image: Image, form: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def _too_many_pixels(path: str, pixels: int | None) -> TooLarge:
    return TooLarge(
        f"{path} is a picture of {pixels or 'far too many'} pixels; at most {MOST_PIXELS} are decoded",
        hint="Make it smaller with an image program first.",
        pixels=pixels,
        limit=MOST_PIXELS,
    )
