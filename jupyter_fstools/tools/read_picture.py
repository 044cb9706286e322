"""Parses `pages`; shows pictures and PDF pages, of files and outputs."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from ..backends.protocol import OpenFile
from ..documents.media.decoder import SentImage, decoded_image, decoded_images, decoded_pages
from ..documents.media.image import Room, ShownImage
from ..documents.media.media_bytes import HEAD_BYTES, PDF, media_type
from ..documents.media.pdf import MOST_PAGES, PageRange, PageRoom, ShownPage, ShownPages
from ..documents.notebook import Output
from ..documents.text.shown_lines import Shown, envelope
from ..errors import Binary, Conflict, FsToolsError, TooLarge
from ..gate.workspace import Workspace
from ..limits import Limits
from ..walking.stopping import Stop
from .arguments import Text
from .tool import Block, ToolResult, text_block

_RANGE = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?")


def _page_range(spelled: str) -> PageRange:
    match = _RANGE.fullmatch(spelled)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(f"takes a page or a range of pages, such as '3', '1-5' or '10-20', got {spelled[:50]!a}")
    return PageRange(first, last)


def _checked(spelled: str | None) -> str | None:
    if spelled is None or not spelled.strip():
        return None
    _page_range(spelled)
    return spelled


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else value


Pages = Annotated[
    Text | None,
    Field(description=f"Pages of a PDF: '3', '1-5' or '10-20', at most {MOST_PAGES} a call (default: the first ones)."),
    BeforeValidator(_as_text),
    AfterValidator(_checked),
]
"""The argument that names pages; None where none are named."""


def show_picture(
    workspace: Workspace, opened: OpenFile, media_type: str, pages: str | None, most_text: int | None
) -> ToolResult:
    """Show a picture or PDF that is held open, and leave a receipt that permits no overwriting.

    Args:
        workspace: for which reader.
        opened: the file.
        media_type: the file's.
        pages: the pages of a PDF to show.
        most_text: bytes of a PDF's text, if fewer than the settings allow.

    Raises:
        TooLarge, Binary, OutOfRange, TimedOut, InputOutput, Conflict: it changed meanwhile
    """
    limits = workspace.limits
    path, size = opened.stat.path, opened.size
    if size > limits.max_document_bytes:
        raise TooLarge(
            f"{path} has {size} bytes; the limit for a {_kind(media_type)} is {limits.max_document_bytes} bytes",
            hint="Make it smaller; an administrator can raise max_document_bytes.",
            size=size,
            limit=limits.max_document_bytes,
        )
    data = opened.read(0, size)
    room = Room(limits.max_image_pixels, limits.max_image_bytes)
    seconds, ended = limits.document_seconds, Stop(limits.document_seconds, workspace.cancelled).now
    if media_type == PDF:
        text = min(most_text or limits.max_output_bytes, limits.max_output_bytes)
        # No page is begun after half of the time, so that even a slow last page ends before the time is up.
        page_room = PageRoom(text, room, seconds / 2)
        wanted = _page_range(pages) if pages else PageRange(1, None)
        result = _pdf_result(path, size, wanted, decoded_pages(data, path, wanted, page_room, seconds, ended))
    else:
        image = decoded_image(data, media_type, path, room, seconds, ended)
        result = _image_result(path, media_type, data, image)
    _leave_receipt(workspace, opened)
    return result


def _kind(media_type: str) -> str:
    return "PDF" if media_type == PDF else "picture"


def _leave_receipt(workspace: Workspace, opened: OpenFile) -> None:
    fingerprint = workspace.versions.fingerprint(opened)
    if not opened.unchanged():
        raise Conflict(f"{opened.stat.path} changed while it was read", hint="Read it again in a moment.")
    # No line of the file was shown.
    nothing = Shown(first=1, last=0, text="", total_lines=None)
    earlier = workspace.tracker.lookup(opened.stat.key)
    workspace.tracker.record_read(opened.stat, fingerprint, nothing, earlier, view="picture", keeps_encoding=True)


def _image_result(path: str, media_type: str, data: bytes, image: ShownImage) -> ToolResult:
    shown = data if image.data is None else image.data
    said = f"{path} is a picture: {media_type}, {_size(image.original_width, image.original_height)}, {len(data)} bytes"
    said += f"; the first of {image.frames} in the file" if image.frames > 1 else ""
    if (image.width, image.height) != (image.original_width, image.original_height):
        said += f"; shown scaled to {_size(image.width, image.height)}"
    facts = {
        "success": True,
        "path": path,
        "kind": "image",
        "content": None,
        "file_size": len(data),
        "mime_type": media_type,
        "shown_mime_type": image.mime_type,
        "shown_bytes": len(shown),
        "width": image.width,
        "height": image.height,
        "original_width": image.original_width,
        "original_height": image.original_height,
        "frames": image.frames,
        "truncated": False,
        "unchanged": False,
    }
    return ToolResult("read_file", lambda: [text_block(f"{said}."), image_block(shown, image.mime_type)], facts)


def _pdf_result(path: str, size: int, wanted: PageRange, shown: ShownPages) -> ToolResult:
    end = shown.pages[-1].page
    asked = shown.total if wanted.last is None else min(wanted.last, shown.total)
    following = _spelled(end + 1, min(end + MOST_PAGES, asked)) if end < asked else None
    truncated = end < asked or any(page.omitted for page in shown.pages)

    def content() -> list[Block]:
        blocks = [block for page in shown.pages for block in _page_blocks(path, page, shown.total)]
        if following:
            pages = f"Page {end}" if end == wanted.first else f"Pages {wanted.first}-{end}"
            said = f"{pages} of {shown.total} {'is' if end == wanted.first else 'are'} shown."
            blocks.append(text_block(f'{said} Go on with pages="{following}".'))
        return blocks

    facts = {
        "success": True,
        "path": path,
        "kind": "pdf",
        "content": "\n".join(page.text for page in shown.pages),
        "file_size": size,
        "mime_type": PDF,
        "total_pages": shown.total,
        "pages": [_page_facts(page) for page in shown.pages],
        "next_pages": following,
        "truncated": truncated,
        "unchanged": False,
    }
    return ToolResult(tool="read_file", content=content, data=facts)


def _spelled(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _page_blocks(path: str, page: ShownPage, total: int) -> list[Block]:
    attributes: list[tuple[str, object]] = [("path", path), ("page", page.page), ("totalPages", total)]
    if page.shown_as != "text":
        attributes.append(("shownAs", page.shown_as))
    body = page.text + "\n" if page.text else ""
    blocks = [text_block(envelope("read_file", attributes, body))]
    if page.omitted:
        blocks.append(text_block(f"[... {page.omitted} more characters of page {page.page} are left out]"))
    if page.picture is not None:
        blocks.append(image_block(page.picture, str(page.mime_type)))
    return blocks


def _page_facts(page: ShownPage) -> dict[str, Any]:
    facts: dict[str, Any] = {"page": page.page, "shown_as": page.shown_as, "text": page.text}
    facts["omitted_characters"] = page.omitted
    if page.picture is not None:
        facts |= {"mime_type": page.mime_type, "width": page.width, "height": page.height}
    return facts


def _size(width: int, height: int) -> str:
    return f"{width}×{height} pixels"


def image_block(data: bytes, mime_type: str) -> Block:
    """A picture as an MCP content block."""
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


_MOST_IMAGES = 20
_MOST_ROOMS = 4  # All pictures of an answer together may take this many times the room of one.


def picture_blocks(
    workspace: Workspace, path: str, outputs: Sequence[Output], mime_type: str | None = None
) -> Iterator[Block]:
    """The picture of each output, decoded to its last byte and no larger than the settings allow.

    Args:
        workspace: for which reader.
        path: of the notebook.
        outputs: the outputs that hold a picture.
        mime_type: selects one of an output's pictures; None: the first.
    """
    limits = workspace.limits
    found = _sent(limits, path, outputs, mime_type)
    shown = iter(_decoded(workspace, path, [one for one in found if isinstance(one, SentImage)]))
    told, left = 0, _MOST_ROOMS * limits.max_image_bytes
    for one in found:
        if isinstance(one, FsToolsError):
            block, size = _not_shown(one), 0
        else:
            block, size = _block(one, next(shown))
        if told and size > left:
            break
        yield block
        told, left = told + 1, left - size
    if told < len(outputs):
        yield text_block(f"[... {len(outputs) - told} more pictures: ask for them one by one with output_index]")


def _sent(
    limits: Limits, path: str, outputs: Sequence[Output], mime_type: str | None
) -> list[SentImage | FsToolsError]:
    """The pictures to decode, or the refusal in the place of one; no more than one process may be given."""
    found: list[SentImage | FsToolsError] = []
    left = limits.max_document_bytes
    for output in outputs[:_MOST_IMAGES]:
        name = f"output {output.index} of the cell at index {output.cell_index} of {path}"
        try:
            one = _picture(limits, name, output, mime_type)
        except FsToolsError as refusal:
            found.append(refusal)
            continue
        left -= len(one.data)
        if found and left < 0:
            break
        found.append(one)
    return found


def _picture(limits: Limits, name: str, output: Output, mime_type: str | None) -> SentImage:
    mime = mime_type or output.image_mimes[0]
    size = output.mimes[mime].end - output.mimes[mime].start
    if size // 4 * 3 > limits.max_document_bytes:
        raise TooLarge(f"{name} has {size} bytes of base64; the limit is {limits.max_document_bytes} bytes")
    try:
        data = base64.b64decode(output.image(mime), validate=True)
    except ValueError:
        raise Binary(f"{name} is not base64") from None
    found = media_type(data[:HEAD_BYTES])
    if found is None or found == PDF:
        raise Binary(f"{name} is labelled {mime}, but is something else")
    return SentImage(data, found, name)


def _decoded(workspace: Workspace, path: str, sent: Sequence[SentImage]) -> Sequence[ShownImage | FsToolsError]:
    if not sent:
        return []
    limits = workspace.limits
    room = Room(limits.max_image_pixels, limits.max_image_bytes)
    try:
        ended = Stop(limits.document_seconds, workspace.cancelled).now
        return decoded_images(sent, path, room, limits.document_seconds, ended)
    except FsToolsError as refusal:
        return [refusal] * len(sent)


def _block(sent: SentImage, shown: ShownImage | FsToolsError) -> tuple[Block, int]:
    if isinstance(shown, FsToolsError):
        return _not_shown(shown), 0
    data = sent.data if shown.data is None else shown.data
    return image_block(data, shown.mime_type), len(data)


def _not_shown(refusal: FsToolsError) -> Block:
    return text_block(f"[a picture is not shown: {refusal.message}]")
