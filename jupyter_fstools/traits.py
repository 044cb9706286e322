"""Makes the traits of settings, also as options of a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from traitlets import Bool, Enum, Float, Int, List, TraitError, TraitType, Unicode, Union

_MOST = 1e9


class _Text(Unicode[str, str | bytes]):
    """A text without NUL characters: most are paths, or go to the system, which takes none."""

    def validate(self, obj: Any, value: Any) -> Any:
        """The text, if it has no NUL character."""
        text = super().validate(obj, value)
        if "\0" in text:
            raise TraitError(f"{self.name} takes no text with a NUL character")
        return text


class _Texts(List[str]):
    """A list of texts; on a command line each use of the option adds one, and a single use may be a list literal."""

    def from_string(self, s: str) -> Any:
        # traitlets refuses a literal with texts here, and would take it for one text: a rule that holds for no path.
        return self.from_string_list([s])


class WordOrRules(Union):
    """A word or a list of rules; on a command line each use of the option adds one rule."""

    def class_init(self, cls: type[Any], name: str | None) -> None:
        """Give the list its name, too: without one traitlets parses no list literal."""
        super().class_init(cls, name)
        self.trait_types[1].name = name

    def from_string(self, s: str) -> Any:
        """The value of an option that is given once."""
        return self.from_string_list([s])

    def from_string_list(self, s_list: list[str]) -> Any:
        """The word, or the rules; a misspelt word must not become a rule that holds for no path."""
        is_word = len(s_list) == 1 and s_list[0].isalpha()
        return s_list[0] if is_word else self.trait_types[1].from_string_list(s_list)


class BoundedFloat(Float[float, int | float]):
    """A number of seconds or days, at most a thousand million: the system cannot wait much longer."""

    def validate(self, obj: Any, value: Any) -> Any:
        """The number, if it is finite and not too large."""
        number = super().validate(obj, value)
        if not abs(number) <= _MOST:
            raise TraitError(f"{self.name} takes a number up to {_MOST:.0f}, got {number}")
        return number


def text(help: str, default: str = "") -> Unicode[str, str | bytes]:
    """The trait of a text."""
    return _Text(default, help=help).tag(config=True)


def list_of_texts(help: str, default: Sequence[str] = ()) -> List[str]:
    """The trait of a list of texts."""
    return _Texts(Unicode(), list(default), help=help).tag(config=True)


def switch(default: bool, help: str) -> Bool[bool, bool | int]:
    """The trait of what is on or off."""
    return Bool(default, help=help).tag(config=True)


def number(default: float, help: str, least: float = 0.1) -> Float[float, int | float]:
    """The trait of a number of seconds or days, from `least` on."""
    return BoundedFloat(default, min=least, help=help).tag(config=True)


def traits_of(record: type) -> dict[str, TraitType[Any, Any]]:
    """A trait for each field of a dataclass made by `limits.setting`."""
    types = get_type_hints(record)
    return {one.name: _trait_of(types[one.name], one.default, **one.metadata) for one in fields(record)}


def _trait_of(its_type: Any, default: Any, help: str, least: float) -> TraitType[Any, Any]:
    if its_type is bool:
        return switch(default, help)
    if its_type is int:
        return Int(default, min=int(least), help=help).tag(config=True)
    if its_type is float:
        return number(default, help, least)
    return Enum(get_args(its_type), default, help=help).tag(config=True)
