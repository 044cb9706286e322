"""Which store a setting names: `sqlite:/a/path`, `sqlite:` (Jupyter's data folder) or `memory:`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from ..errors import Invalid
from .protocol import Store, StoreLimits

OPENERS = {
    "sqlite": "jupyter_fstools.stores.open_store:sqlite_store",
    "memory": "jupyter_fstools.stores.open_store:memory_store",
}
"""By scheme, `module:function`: what takes the rest of the setting and the limits, imported when it is asked for."""

_DEFAULTS = StoreLimits()


def open_store(where: str, limits: StoreLimits = _DEFAULTS) -> Store:
    """The store that a setting names; nothing is opened before its first call.

    Args:
        where: a scheme, ":", and what that scheme takes.
        limits: how much it keeps.

    Raises:
        Invalid: there is no such scheme, or the scheme takes something else.
    """
    scheme, colon, rest = where.partition(":")
    if not colon or scheme not in OPENERS:
        raise Invalid(f"store: {where!r} names no store", hint=f"Takes {_choices()}.", store=where)
    module, _, name = OPENERS[scheme].partition(":")
    opener = cast("Callable[[str, StoreLimits], Store]", getattr(import_module(module), name))
    return opener(rest, limits)


def _choices() -> str:
    return "sqlite:/absolute/path, sqlite: (a file in Jupyter's data folder) or memory:"


def sqlite_store(rest: str, limits: StoreLimits) -> Store:
    """The SQLite file of that absolute path; of Jupyter's data folder where none is given."""
    from .sqlite import SqliteStore

    if rest:
        path = Path(rest).expanduser()
        if not path.is_absolute():
            raise Invalid(f"store: {rest!r} is no absolute path", hint=f"Takes {_choices()}.")
        return SqliteStore(path, limits)
    from jupyter_core.paths import jupyter_data_dir

    return SqliteStore(Path(jupyter_data_dir()) / "fstools" / "store.sqlite", limits)


def memory_store(rest: str, limits: StoreLimits) -> Store:
    """A store in this process' memory."""
    from .in_memory import InMemoryStore

    if rest:
        raise Invalid(f"store: memory: takes nothing more, not {rest!r}", hint=f"Takes {_choices()}.")
    return InMemoryStore(limits)
