"""Loads the class that an entry point names for a scheme."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .errors import Invalid

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):(?=//|$)")
_ANY_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*;.*\bextra\s*==\s*['\"]([^'\"]+)['\"]")


def scheme_of(setting: str, *, bare: bool = False) -> str | None:
    """The scheme that a setting begins with, such as "s3" in "s3://bucket"; None where there is none.

    A folder's name may hold a colon: unless `bare`, a colon makes a scheme only at the end or before "//".
    """
    found = (_ANY_SCHEME if bare else _SCHEME).match(setting)
    return found and found[1]


def load_class(group: str, scheme: str, field: str) -> Any:
    """The class that is registered for a scheme.

    Args:
        group: the entry point group; each name in it is a scheme.
        scheme: as the setting spells it.
        field: the setting, which a refusal names.

    Raises:
        Invalid: nobody registered the scheme, or a package that its class needs is not installed.
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
    # Of two packages with one scheme always the same wins, whatever the order on the disk.
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
    """What pip is asked for: the extra of the distribution that brings the module, or the module by its name."""
    top = module.partition(".")[0].lower()
    found = [_REQUIREMENT.match(requirement) for requirement in (point.dist and point.dist.requires) or ()]
    extras = [match[2] for match in found if match]
    brings = [match[2] for match in found if match and match[1].replace("-", "_").lower() == top]
    if point.dist is None or not brings:
        return module.partition(".")[0]
    # Extras such as "dev" bring what others do, and more: the smallest one is meant.
    return f"{point.dist.name}[{min(brings, key=extras.count)}]"
