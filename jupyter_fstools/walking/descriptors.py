"""Reports when no more files can be opened."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from ..errors import FsToolsError, InputOutput


class NoDescriptors(Exception):
    """Nothing more can be opened, by this process or on this machine: a search would miss all that is left.

    No `FsToolsError` and no `OSError`: a search goes on after those.
    """


def check_descriptors(error: BaseException | None) -> None:
    """Tell a lack of descriptors from anything else.

    Raises:
        NoDescriptors
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        raise NoDescriptors from error


@contextlib.contextmanager
def told_apart() -> Iterator[None]:
    """The same for what a backend refuses inside."""
    try:
        yield
    except (OSError, FsToolsError) as error:
        check_descriptors(error if isinstance(error, OSError) else error.__cause__)
        raise


def too_many_open() -> InputOutput:
    """The refusal of a search that ended so."""
    return InputOutput("nothing more can be opened: too many files are open", hint="Try again later.")
