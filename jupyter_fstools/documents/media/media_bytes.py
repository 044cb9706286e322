"""Recognises pictures and PDFs by their bytes, and checks pictures."""

from __future__ import annotations

import codecs
import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

HEAD_BYTES = 64
"""Bytes at a file's beginning that are enough to find its media type."""
PDF = "application/pdf"

_MARKS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"RIFF.{4}WEBPVP8", re.DOTALL), "image/webp"),
    (re.compile(rb"II\*\0|MM\0\*|II\+\0|MM\0\+"), "image/tiff"),
    # "BM" begins words too, so the header's length must be a valid one; its upper bytes are NULs.
    (re.compile(rb"BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0", re.DOTALL), "image/bmp"),
    (re.compile(rb"%PDF-\d\.\d"), PDF),
)
_GIF = re.compile(rb"GIF8[79]a")
_TEXT = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f]+")


def media_type(head: bytes) -> str | None:
    """The media type of a picture or PDF that begins with these bytes (up to `HEAD_BYTES`); None: neither."""
    for mark, name in _MARKS:
        if mark.match(head):
            return name
    if _GIF.match(head) and not _goes_on_as_text(head[6:HEAD_BYTES]):
        return "image/gif"
    return None


def _goes_on_as_text(rest: bytes) -> bool:
    # A text may begin with the letters of a GIF's signature, but the header after it has control bytes.
    try:
        return bool(_TEXT.fullmatch(codecs.getincrementaldecoder("utf-8")().decode(rest)))
    except UnicodeDecodeError:
        return False


# A JPEG marker, without stuffed bytes, restart markers and fill bytes.
_JPEG_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
_JPEG_START, _JPEG_END, _JPEG_TEMPORARY = 0xD8, 0xD9, 0x01
_GIF_EXTENSION, _GIF_IMAGE, _GIF_END = b"!,;"
_BMP_RLE = (1, 2)
_TIFF_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
_TIFF_INTEGERS = {3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
_TIFF_FOLDERS = (330, 34665, 34853)  # SubIFDs, Exif, GPS
_TIFF_PIECES = ((273, 279), (324, 325))  # offsets and lengths of strips, of tiles
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOF0 to SOF15; the others are tables.


def is_whole(data: bytes, media_type: str) -> bool:
    """Whether the picture ends within the file; decoders accept a cut file and fill in the rest.

    Args:
        data: the whole file.
        media_type: of a picture, as its first bytes tell.
    """
    try:
        return _ENDS[media_type](data) <= len(data)
    except (struct.error, IndexError):
        return False


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The kind of each chunk of a PNG, and the start and end of its data, which four bytes of checksum follow.

    Raises:
        struct.error: a chunk is cut off.
    """
    at, kind = 8, b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind, at + 8, at + 8 + length
        at += 12 + length


def _png_end(data: bytes) -> int:
    return max(end for _, _, end in _png_chunks(data)) + 4


def jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Each marker of a JPEG, and the offset of its segment's data.

    Raises:
        struct.error: a segment is cut off.
    """
    at = 2
    while found := _JPEG_MARKER.search(data, at):
        at, marker = found.end(), found[1][0]
        yield marker, at
        if marker not in (_JPEG_START, _JPEG_TEMPORARY, _JPEG_END):
            at += struct.unpack_from(">H", data, at)[0]


def _jpeg_end(data: bytes) -> int:
    return next((at for marker, at in jpeg_segments(data) if marker == _JPEG_END), len(data) + 1)


def gif_images(data: bytes) -> Iterator[int]:
    """The end of each picture of a GIF.

    Raises:
        IndexError: the file ends before its end mark.
    """
    at = 13 + _color_table(data[10])
    while (block := data[at]) != _GIF_END:
        at += 1
        if block == _GIF_IMAGE:
            at = _after_blocks(data, at + 10 + _color_table(data[at + 8]))
            yield at
        elif block == _GIF_EXTENSION:
            at = _after_blocks(data, at + 1)


def _gif_end(data: bytes) -> int:
    return max(gif_images(data), default=0) + 1


def _color_table(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, at: int) -> int:
    while length := data[at]:
        at += 1 + length
    return at + 1


def _webp_end(data: bytes) -> int:
    length: int = struct.unpack_from("<I", data, 4)[0]
    return 8 + length + length % 2


def _bmp_end(data: bytes) -> int:
    start, header = struct.unpack_from("<II", data, 10)
    if header == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
        return int(start + _bmp_rows(width, height, bits))
    width, height, _, bits, compression, length = struct.unpack_from("<iiHHII", data, 18)
    return int(start + (length if compression in _BMP_RLE else _bmp_rows(width, abs(height), bits)))


def _bmp_rows(width: int, height: int, bits: int) -> int:
    return (width * bits + 31) // 32 * 4 * height


def _tiff_end(data: bytes) -> int:
    return max(_tiff_extents(data), default=len(data) + 1)


class _TiffForm(NamedTuple):
    """The number formats of a TIFF file: byte order, and the sizes of those that are larger in BigTIFF."""

    order: str
    entries: str
    entry: struct.Struct
    offset: str
    inline: int


def _tiff_extents(data: bytes) -> Iterator[int]:
    """The end of each folder (IFD), and of each part of the file that it refers to."""
    order = "<" if data[:2] == b"II" else ">"
    if data[2:4] in (b"+\0", b"\0+"):
        form, at = _TiffForm(order, order + "Q", struct.Struct(order + "HHQ8s"), order + "Q", 8), 8
    else:
        form, at = _TiffForm(order, order + "H", struct.Struct(order + "HHI4s"), order + "I", 4), 4
    waiting, seen = [*struct.unpack_from(form.offset, data, at)], {0}
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            (count,) = struct.unpack_from(form.entries, data, at)
            start = at + struct.calcsize(form.entries)
            end = start + count * form.entry.size
            numbers: dict[int, tuple[int, ...]] = {}
            yield from _tiff_values(data, form, start, end, numbers)
            yield end + form.inline
            waiting += struct.unpack_from(form.offset, data, end)
            waiting += [place for tag in _TIFF_FOLDERS for place in numbers.get(tag, ())]


def _tiff_values(
    data: bytes, form: _TiffForm, start: int, end: int, numbers: dict[int, tuple[int, ...]]
) -> Iterator[int]:
    """The ends of the values that a folder's entries refer to; the integers among them go into `numbers`, by tag."""
    if end > len(data):
        raise IndexError
    for tag, kind, length, raw in form.entry.iter_unpack(data[start:end]):
        size = _TIFF_SIZES.get(kind, 1) * length
        (offset,) = struct.unpack(form.offset, raw)
        if size > form.inline:
            yield offset + size
        if kind in _TIFF_INTEGERS:
            value = raw if size <= form.inline else data[offset : offset + size]
            numbers[tag] = struct.unpack_from(f"{form.order}{length}{_TIFF_INTEGERS[kind]}", value)
    for offsets, lengths in _TIFF_PIECES:
        yield from map(sum, zip(numbers.get(offsets, ()), numbers.get(lengths, ()), strict=False))


_ENDS = {
    "image/png": _png_end,
    "image/jpeg": _jpeg_end,
    "image/gif": _gif_end,
    "image/webp": _webp_end,
    "image/bmp": _bmp_end,
    "image/tiff": _tiff_end,
}


class PictureHeader(NamedTuple):
    """Width and height as stored, in pixels, and the number of pictures in the file."""

    width: int
    height: int
    frames: int


def picture_header(data: bytes, media_type: str) -> PictureHeader | None:
    """The header of a whole PNG, JPEG, GIF or WebP file; None where it is broken.

    Args:
        data: the whole file.
        media_type: one of these four.
    """
    try:
        header = _HEADERS[media_type](data)
    except (struct.error, IndexError):
        return None
    return header if header is not None and header.width and header.height else None


def _png(data: bytes) -> PictureHeader | None:
    frames = 1
    for kind, start, end in _png_chunks(data):
        (checksum,) = struct.unpack_from(">I", data, end)
        if zlib.crc32(memoryview(data)[start - 4 : end]) != checksum:
            return None
        if kind == b"acTL":
            (frames,) = struct.unpack_from(">I", data, start)
    width, height = struct.unpack_from(">II", data, 16)
    return PictureHeader(width, height, frames)


def _jpeg(data: bytes) -> PictureHeader | None:
    for marker, at in jpeg_segments(data):
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 3)
            return PictureHeader(width, height, 1)
    return None


def _gif(data: bytes) -> PictureHeader | None:
    width, height = struct.unpack_from("<HH", data, 6)
    frames = sum(1 for _ in gif_images(data))
    return PictureHeader(width, height, frames) if frames else None


def _webp(data: bytes) -> PictureHeader | None:
    form = data[12:16]
    if form == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
        frames = sum(kind == b"ANMF" for kind in _chunks(data))
        return PictureHeader(width, height, max(frames, 1))
    if form == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return PictureHeader((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, 1)
    width, height = struct.unpack_from("<HH", data, 26)
    return PictureHeader(width & 0x3FFF, height & 0x3FFF, 1)


def _chunks(data: bytes) -> Iterator[bytes]:
    at = 12
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        yield kind
        at += 8 + length + length % 2


_HEADERS = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
