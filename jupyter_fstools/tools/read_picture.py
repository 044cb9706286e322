"""Shows a picture, or the pages of a PDF."""

from __future__ import annotations

import base64
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from ..backends.protocol import OpenFile
from ..documents.media.decoder import Patience, decoded_image, decoded_pages
from ..documents.media.image import Room, ShownImage
from ..documents.media.media_types import PDF
from ..documents.media.pdf import MOST_PAGES, PageRange, PageRoom, ShownPage, ShownPages
from ..documents.text.shown_lines import envelope
from ..errors import Conflict, TooLarge
from ..gate.read_tracker import Shown
from ..gate.workspace import Workspace
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
    """Show a picture or PDF that is held open, and leave a receipt that opens no overwriting.

    Args:
        workspace: for which reader.
        opened: the file.
        media_type: what it is.
        pages: which pages of a PDF.
        most_text: bytes of a PDF's text, if fewer than the settings allow.

    Raises:
        TooLarge, Binary, OutOfRange, TimedOut, InputOutput, Conflict: it changed meanwhile
    """
    limits = workspace.limits
    path, size = opened.stat.path, opened.size
    if size > limits.max_document_bytes:
        raise TooLarge(
            f"{path} has {size} bytes; above {limits.max_document_bytes} no {_kind(media_type)} is opened",
            hint="Have it made smaller, or raise max_document_bytes.",
            size=size,
            limit=limits.max_document_bytes,
        )
    data = opened.read(0, size)
    room = Room(limits.max_image_pixels, limits.max_image_bytes)
    patience = Patience(limits.document_seconds, workspace.cancelled)
    if media_type == PDF:
        text = min(most_text or limits.max_output_bytes, limits.max_output_bytes)
        # Half of the time for the pages: the one that takes longest is then through before the time is up.
        page_room = PageRoom(text, room, limits.document_seconds / 2)
        wanted = _page_range(pages) if pages else PageRange(1, None)
        result = _pdf_result(path, size, wanted, decoded_pages(data, path, wanted, page_room, patience))
    else:
        image = decoded_image(data, media_type, path, room, patience)
        result = _image_result(path, media_type, data, image)
    _leave_receipt(workspace, opened)
    return result


def _kind(media_type: str) -> str:
    return "PDF" if media_type == PDF else "picture"


def _leave_receipt(workspace: Workspace, opened: OpenFile) -> None:
    fingerprint = workspace.fingerprint(opened)
    if not opened.unchanged():
        raise Conflict(f"{opened.stat.path} changed while it was read", hint="Read it again in a moment.")
    # Of its lines none was shown.
    nothing = Shown(first=1, last=0, text="", total_lines=None)
    workspace.tracker.record_read(opened.stat, fingerprint, nothing, view="picture", encoding=None)


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
    content = [block for page in shown.pages for block in _page_blocks(path, page, shown.total)]
    if following:
        said = (
            f"Page {end} of {shown.total} is"
            if end == wanted.first
            else f"Pages {wanted.first}-{end} of {shown.total} are"
        )
        content.append(text_block(f'{said} shown. Go on with pages="{following}".'))
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
