"""Detects a text file's encoding, and encodes text in it."""

from __future__ import annotations

import codecs
import difflib
import re
from dataclasses import dataclass
from functools import cached_property

from ...content.source import Content
from ...errors import Binary, EncodingRefused, FsToolsError, Invalid

_BOMS = (  # UTF-32 before UTF-16: its little-endian BOM begins with UTF-16's.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BOM_OF = {name: bom for bom, name in _BOMS}
"""The byte order mark of each codec that has one."""
_WIDE = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
# Names that ask for a BOM in a new file: (codec, BOM).
_WITH_BOM = {
    "utf-8-sig": ("utf-8", codecs.BOM_UTF8),
    "utf-16": ("utf-16-le", codecs.BOM_UTF16_LE),
    "utf-32": ("utf-32-le", codecs.BOM_UTF32_LE),
}
# Codecs without shift states: bytes can be inserted between two characters without changing the rest.
_STATELESS = re.compile(
    r"utf-8|utf-(16|32)-[bl]e|ascii|iso8859-\d+|latin.*|cp\d+|windows-\d+|koi8-[rtu]|mac-.*|gbk|gb2312|gb18030"
    r"|big5(hkscs)?|shift_jis(x0213|_2004)?|euc_(jp|kr|jisx0213|jis_2004)|johab|hp-roman8|tis-620|kz1048|ptcp154"
)
# PEP 263: in a Python file one of the first two lines may name the encoding.
_COOKIE = re.compile(rb"\A(?:[ \t\f]*#.*?\n|[ \t\f]*\r?\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Emacs appends the line ending to the name; Python ignores it.
_EDITOR_SUFFIX = re.compile(r"-(unix|dos|mac)\Z", re.IGNORECASE)
_XML = re.compile(rb"""\A<\?xml[^>]{0,200}?encoding\s*=\s*["']([-\w.]+)["']""")
# html.spec.whatwg.org "prescan a byte stream" (1,024 bytes; UTF-16 stands for UTF-8); drafts.csswg.org/css-syntax.
_META = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*(?!utf-?16)([-\w.:]+)""", re.IGNORECASE)
_PRESCANNED_BYTES = 1024
_CHARSET = re.compile(rb'\A@charset "(?!utf-?16)([-\w.]+)";', re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n?|\n")
_COMMENT_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_LONG_HEAD_BYTES = 1 << 20
_PYTHON_SUFFIXES = (".py", ".pyw", ".pyi")
HEAD_BYTES = 8192
"""Bytes at a file's beginning that are searched for its encoding, and for a NUL, which makes the file binary."""


@dataclass(frozen=True)
class TextEncoding:
    """How a file's text is written: a Python codec, and the byte order mark before it (b"" if none)."""

    codec: str
    bom: bytes = b""

    @cached_property
    def is_utf8(self) -> bool:
        """Whether the text's bytes are UTF-8 already."""
        return self.codec in ("utf-8", "ascii")

    @cached_property
    def unit(self) -> int:
        """Bytes of one code unit: 2 for UTF-16, 4 for UTF-32, else 1."""
        return _WIDE.get(self.codec, 1)

    @cached_property
    def newline(self) -> bytes:
        r"""The bytes of a `\n`."""
        return "\n".encode(self.codec)

    @cached_property
    def counts_newline_bytes(self) -> bool:
        r"""Whether each byte 0x0A is a `\n`."""
        return self.unit == 1 and self.newline == b"\n"

    def newlines_in(self, data: bytes) -> int:
        r"""The number of `\n` in the text of these bytes, of which some may not decode."""
        return data.count(b"\n") if self.counts_newline_bytes else data.decode(self.codec, "replace").count("\n")

    def encode(self, text: str) -> bytes:
        """The text's bytes, without a BOM.

        Raises:
            EncodingRefused: a lone surrogate, or a character the encoding lacks; names it.
        """
        try:
            data = text.encode(self.codec)
            # Some codecs replace a character that they lack by another one: a yen sign by a backslash.
            if self.unit > 1 or self.is_utf8 or data.decode(self.codec, "replace") == text:
                return data
            at = next((at for at, character in enumerate(text) if not _is_written(character, self.codec)), 0)
            raise UnicodeEncodeError(self.codec, text, at, at + 1, "is written as another character")
        except UnicodeEncodeError as error:
            raise _unencodable(error, self.codec) from None


UTF_8 = TextEncoding("utf-8")


def known_encoding(name: str) -> TextEncoding:
    """The encoding a caller names; `utf-8-sig`, `utf-16` and `utf-32` bring a BOM.

    Raises:
        Invalid: no such encoding, or one in which the same bytes mean different characters from place to place.
    """
    try:
        codec = codecs.lookup(name.strip()).name
    except (LookupError, ValueError, UnicodeError):
        asked = name.strip().lower().replace("_", "-")
        near = difflib.get_close_matches(asked, ["utf-8", "utf-16", "latin-1", "cp1252", "shift_jis", "gb18030"], 1)
        raise Invalid(
            f"encoding: unknown encoding {name[:50]!a}",
            hint=f"Use {near[0] if near else 'a Python codec name, such as utf-8'}.",
            field="encoding",
        ) from None
    if codec in _WITH_BOM:
        return TextEncoding(*_WITH_BOM[codec])
    if not _STATELESS.fullmatch(codec):
        raise Invalid(
            f"encoding: {codec} is not supported, also not for reading: a part of a text in it does not stand alone",
            hint="Use an encoding without shift states, such as utf-8, latin-1 or shift_jis; convert a file first.",
            field="encoding",
        )
    return TextEncoding(codec)


def encoding_of(content: Content, path: str, named: str | None) -> TextEncoding:
    """The encoding of a file: what the caller named, else its BOM, else what it declares, else UTF-8.

    Encodings are never guessed: a wrong guess would be written back.

    Raises:
        Invalid: the caller named no known encoding.
        EncodingRefused: the file declares an unknown one.
        Binary: a NUL in the first 8 KiB of a file without a wide encoding.
    """
    head = content.read(0, HEAD_BYTES)
    marked = next((TextEncoding(codec, bom) for bom, codec in _BOMS if head.startswith(bom)), None)
    if named:
        asked = known_encoding(named)
        encoding = TextEncoding(asked.codec)
        # A name that brings a byte order mark, such as `utf-16`, stands for either byte order.
        if marked and (asked.codec == marked.codec or (asked.bom and asked.codec[:6] == marked.codec[:6])):
            encoding = marked
    else:
        encoding = marked or _declared(head, path)
    if encoding.unit == 1 and b"\0" in head:
        refusal = binary_refusal(head.index(b"\0"), head)
        if marked and marked.unit > 1:
            refusal.hint = f"Its byte order mark says {marked.codec}: leave encoding out."
        raise refusal
    return encoding


def encoding_by_itself(content: Content, path: str, named: str) -> TextEncoding | None:
    """The encoding that a file shows by a byte order mark, or as UTF-8, if it is not the named one.

    In a single-byte encoding nearly all bytes can be decoded: no error tells that a program has saved the file in UTF-8
    since it was read in that encoding.
    """
    try:
        found, asked = encoding_of(content, path, None), encoding_of(content, path, named)
    except FsToolsError:
        return None
    if found.bom or asked.is_utf8 or not found.is_utf8:
        return found if found.bom and found.codec != asked.codec else None
    decoder, is_plain = codecs.getincrementaldecoder("utf-8")(), asked.counts_newline_bytes
    try:
        for chunk in content.chunks():
            is_plain = decoder.decode(chunk).isascii() and is_plain
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return None if is_plain else found


def binary_refusal(offset: int, head: bytes = b"") -> Binary:
    """The refusal of a file with a NUL at a byte offset; `head` is its beginning, where the NUL is there."""
    codec = next((codec for codec in ("utf-16-le", "utf-16-be") if _looks_like(head, codec)), None)
    hint = "It is not text: convert it, or use a program that knows its format."
    if codec is not None:
        hint = f'It looks like UTF-16 without a byte order mark: read it with `encoding="{codec}"`.'
    return Binary(f"binary content (a NUL byte at offset {offset})", hint=hint, offset=offset)


def _looks_like(head: bytes, wide: str) -> bool:
    """Whether bytes are a text in UTF-16 of which most is ASCII; programs and archives have as many zeros."""
    zeros = head[1::2] if wide == "utf-16-le" else head[::2]
    if len(head) < 4 or zeros.count(0) * 4 <= len(head):
        return False
    try:
        return "\0" not in codecs.getincrementaldecoder(wide)("strict").decode(head)
    except UnicodeDecodeError:
        return False


def _declared(head: bytes, path: str) -> TextEncoding:
    match = (_COOKIE if path.lower().endswith(_PYTHON_SUFFIXES) else _XML).match(head)
    if not match:
        return UTF_8
    name = match[1].decode("ascii", "replace")
    try:
        declared = known_encoding(_EDITOR_SUFFIX.sub("", name))
    except Invalid:
        declared = None
    # In a file that is really in EBCDIC the declaration itself would have other bytes.
    if declared is None or (declared.unit == 1 and match[1].decode(declared.codec, "replace") != name):
        raise EncodingRefused(
            f"the file declares {'an unknown' if declared is None else 'another'} encoding, {name!r}, at byte "
            f"{match.start(1)}{'' if declared is None else ', and is not written in it'}",
            hint='Name the right one: `encoding="utf-8"`, or "latin-1", which decodes any byte.',
            offset=match.start(1),
        )
    # A declaration of UTF-16 or UTF-32 that is readable as ASCII is wrong; the file is read as UTF-8.
    return UTF_8 if declared.unit > 1 else TextEncoding(declared.codec)


def declared_otherwise(content: Content) -> str | None:
    """The codec that a text in UTF-8 declares at its beginning, if it is another one; for any file name.

    Python and others read a script in the encoding that it declares, as browsers do a page or style sheet: lines that
    look harmless in UTF-8 may be code in that encoding.
    """
    head = content.read(0, HEAD_BYTES)
    if head.count(b"\n") < 2:
        head = content.read(0, _LONG_HEAD_BYTES)
    lines = _LINE_END.split(head.removeprefix(codecs.BOM_UTF8), maxsplit=2)[:2]
    page = head[:_PRESCANNED_BYTES] if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<") else b""
    for match in (*map(_COMMENT_COOKIE.match, lines), _XML.match(head), _META.search(page), _CHARSET.match(head)):
        if match:
            try:
                codec = codecs.lookup(_EDITOR_SUFFIX.sub("", match[1].decode("ascii", "replace"))).name
            except (LookupError, ValueError):
                continue
            if codec not in ("utf-8", "utf-8-sig", "ascii"):
                return codec
    return None


def _is_written(character: str, codec: str) -> bool:
    return character.encode(codec).decode(codec, "replace") == character


def _unencodable(error: UnicodeEncodeError, codec: str) -> EncodingRefused:
    character = error.object[error.start]
    point = f"U+{ord(character):04X}"
    if "\ud800" <= character <= "\udfff":
        return EncodingRefused(
            f"{point} at character {error.start} is a lone surrogate, which no text file can hold",
            hint="Send the whole character (both halves of the pair), or leave it out.",
            character=point,
        )
    return EncodingRefused(
        f"{character!r} ({point}) at character {error.start} does not exist in {codec}",
        hint=f"Use characters that {codec} has; only a new file can be written in another `encoding`.",
        character=point,
    )
