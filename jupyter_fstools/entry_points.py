"""Opens the backend or store that a setting names; hides its password."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from .errors import FsToolsError, Invalid
from .limits import StoreLimits

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .backends.protocol import Backend
    from .stores.protocol import Store

BACKENDS = "jupyter_fstools.backends"
"""An entry point group: scheme -> class with `from_setting(where, *, durable)`."""
STORES = "jupyter_fstools.stores"
"""An entry point group: scheme -> class with `from_setting(where, limits)`."""

_DEFAULTS = StoreLimits()
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):(?=//|$)")
_ANY_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*;.*\bextra\s*==\s*['\"]([^'\"]+)['\"]")


def open_backend(root: str | os.PathLike[str], *, durable: bool = True) -> Backend:
    """The files below a root.

    Args:
        root: a folder's path, or an address that begins with a registered scheme, such as "s3://bucket/prefix".
        durable: return from a write only once it is safe from a power failure.

    Raises:
        Invalid: the scheme is unknown, its package is missing, or the rest of the address is not valid for it.
        NotFound, NotADirectory, Denied, InputOutput: the root does not exist or cannot be opened.
    """
    where = os.fspath(root)
    scheme = scheme_of(where)
    if scheme is None:
        from .backends.local_disk import LocalDisk

        return LocalDisk(os.path.expanduser(where), durable=durable)
    return cast("Backend", _load_class(BACKENDS, scheme, "root").from_setting(where, durable=durable))


def absolute_root(root: str, folder: str) -> str:
    """A root in a form valid in every process: an address is unchanged, a path is made absolute from `folder`."""
    return root if scheme_of(root) else os.path.abspath(os.path.join(folder, os.path.expanduser(root)))


def open_store(where: str, limits: StoreLimits = _DEFAULTS) -> Store:
    """The store that a setting names; it opens nothing before its first call.

    Args:
        where: a scheme, ":" and its argument, such as "sqlite:/absolute/path".
        limits: how much it keeps.

    Raises:
        Invalid: the scheme is unknown, its package is missing, or its argument is not valid.
    """
    return cast("Store", store_class(where).from_setting(where, limits))


def store_class(where: str) -> Any:
    """The class of the store that a setting names.

    Raises:
        Invalid: the scheme is unknown, or its package is missing.
    """
    scheme = scheme_of(where, bare=True)
    if scheme is None:
        raise Invalid(
            "store: takes a scheme, a colon and what belongs to it",
            hint="sqlite: is a file in Jupyter's data folder, sqlite:/absolute/path another one, memory: none.",
            field="store",
        )
    if scheme == "sqlite":
        # Reading the metadata of all installed packages is slow, so the default store does without it.
        from .stores.sqlite import SqliteStore

        return SqliteStore
    return _load_class(STORES, scheme, "store")


def scheme_of(setting: str, *, bare: bool = False) -> str | None:
    """The scheme that a setting begins with, such as "s3" in "s3://bucket"; None if it has none.

    A folder's name may contain a colon, so unless `bare` a colon ends a scheme only at the end or before "//".
    """
    found = (_ANY_SCHEME if bare else _SCHEME).match(setting)
    return found and found[1]


def _load_class(group: str, scheme: str, field: str) -> Any:
    """The class that is registered for a scheme.

    Args:
        group: the entry point group; each name in it is a scheme.
        scheme: as the setting spells it.
        field: the setting to name in a refusal.

    Raises:
        Invalid: no package registers the scheme, or a package that its class needs is not installed.
    """
    from importlib.metadata import entry_points

    found = entry_points(group=group, name=scheme)
    if not found:
        known = ", ".join(sorted({f"{point.name}:" for point in entry_points(group=group)})) or "none"
        raise Invalid(
            f"{field}: nothing installed handles {scheme}:",
            hint=f"Schemes here: {known}. A package registers more in the entry point group {group}.",
            field=field,
        )
    # If two packages register the scheme, the choice must not depend on their order on the disk.
    point = min(found, key=lambda one: (one.value, one.group))
    try:
        return point.load()
    except ModuleNotFoundError as missing:
        raise Invalid(
            f"{field}: {scheme}: needs the package {missing.name}, which is not installed",
            hint=f"Install it: pip install '{_requirement(point, missing.name or '')}'",
            field=field,
        ) from None


def _requirement(point: EntryPoint, module: str) -> str:
    """The requirement for pip: the distribution with the extra that installs the module, or the module's name."""
    top = module.partition(".")[0].lower()
    found = [_REQUIREMENT.match(requirement) for requirement in (point.dist and point.dist.requires) or ()]
    extras = [match[2] for match in found if match]
    brings = [match[2] for match in found if match and match[1].replace("-", "_").lower() == top]
    if point.dist is None or not brings:
        return module.partition(".")[0]
    # Extras such as "dev" include the packages of others, so the smallest one is suggested.
    return f"{point.dist.name}[{min(brings, key=extras.count)}]"


def shown_setting(where: str) -> str:
    """The address of a store or a root without the password in it."""
    from urllib.parse import unquote

    if "://" not in where:
        return where
    address, _, options = where.partition("?")
    user, colon, rest = address.partition("://")[2].partition(":")
    if colon and not {"/", "@"} & set(user):
        scheme = address.partition("://")[0]
        # A password may contain unescaped "@" or "?" signs, so everything up to the last "@" is removed.
        if "@" in rest:
            address = f"{scheme}://{user}@{rest.rpartition('@')[2]}"
        elif "@" in options and not rest.partition("/")[0].isdigit():
            return f"{scheme}://{user}"
    kept = "&".join(one for one in options.split("&") if not re.match(r"\w*password=", unquote(one), re.IGNORECASE))
    return f"{address}?{kept}" if kept else address


def shown_store(where: str, store: Store) -> str:
    """The address of a store without the password in it, and whether memory stands in for its file."""
    with suppress(FsToolsError):
        store.mark()  # The first call shows whether the store's file can be used.
    stands_in = getattr(store, "in_memory", False) and scheme_of(where, bare=True) != "memory"
    return f"{shown_setting(where)} (in memory: its file cannot be used)" if stands_in else shown_setting(where)
