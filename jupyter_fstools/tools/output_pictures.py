"""Extracts pictures from a notebook's outputs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

from ..documents.media.decoder import Patience, SentImage, decoded_images
from ..documents.media.image import Room, ShownImage
from ..documents.media.media_types import HEAD_BYTES, PDF, media_type
from ..documents.notebook import Output
from ..errors import Binary, FsToolsError, TooLarge
from ..gate.workspace import Workspace
from ..limits import Limits
from .read_picture import image_block
from .tool import Block, text_block

_MOST_IMAGES = 20
_MOST_ROOMS = 4  # As many times the room of one picture have all pictures of an answer together.


def picture_blocks(
    workspace: Workspace, path: str, outputs: Sequence[Output], mime_type: str | None = None
) -> Iterator[Block]:
    """The picture of each output, decoded to its last byte and no larger than the settings allow.

    Args:
        workspace: for which reader.
        path: of the notebook.
        outputs: those that hold a picture.
        mime_type: which of an output's pictures; None: the first.
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
    """What to decode, or why it is no picture; no more of them than one process is given."""
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
        raise Binary(f"{name} is no base64") from None
    found = media_type(data[:HEAD_BYTES])
    if found is None or found == PDF:
        raise Binary(f"{name} says it is {mime}, and is not")
    return SentImage(data, found, name)


def _decoded(workspace: Workspace, path: str, sent: Sequence[SentImage]) -> Sequence[ShownImage | FsToolsError]:
    if not sent:
        return []
    limits = workspace.limits
    room = Room(limits.max_image_pixels, limits.max_image_bytes)
    try:
        return decoded_images(sent, path, room, Patience(limits.document_seconds, workspace.cancelled))
    except FsToolsError as refusal:
        return [refusal] * len(sent)


def _block(sent: SentImage, shown: ShownImage | FsToolsError) -> tuple[Block, int]:
    if isinstance(shown, FsToolsError):
        return _not_shown(shown), 0
    data = sent.data if shown.data is None else shown.data
    return image_block(data, shown.mime_type), len(data)


def _not_shown(refusal: FsToolsError) -> Block:
    return text_block(f"[a picture is not shown: {refusal.message}]")
