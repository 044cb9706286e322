"""Opens the store that a setting names."""

from __future__ import annotations

from typing import Any, cast

from ..entry_points import load_class, scheme_of
from ..errors import Invalid
from .protocol import Store, StoreLimits

GROUP = "jupyter_fstools.stores"
"""The entry point group: scheme -> class with `from_setting(where, limits)`."""

_DEFAULT = "sqlite"
_DEFAULTS = StoreLimits()


def open_store(where: str, limits: StoreLimits = _DEFAULTS) -> Store:
    """The store that a setting names; nothing is opened before its first call.

    Args:
        where: a scheme, ":", and what that scheme takes, such as "sqlite:/absolute/path".
        limits: how much it keeps.

    Raises:
        Invalid: there is no such scheme, a package is missing, or the scheme takes something else.
    """
    return cast("Store", store_class(where).from_setting(where, limits))


def store_class(where: str) -> Any:
    """The class of the store that a setting names.

    Raises:
        Invalid: there is no such scheme, or a package is missing.
    """
    scheme = scheme_of(where, bare=True)
    if scheme is None:
        raise Invalid(
            "store: takes a scheme, a colon and what belongs to it",
            hint="sqlite: is a file in Jupyter's data folder, sqlite:/absolute/path another one, memory: none.",
            field="store",
        )
    if scheme == _DEFAULT:
        # The metadata of what is installed takes longer to read than a file: the default does without.
        from .sqlite import SqliteStore

        return SqliteStore
    return load_class(GROUP, scheme, "store")
