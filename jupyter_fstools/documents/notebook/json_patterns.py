"""Matches as much strict JSON as possible at once."""

from __future__ import annotations

import re


def _many(turn: bytes, most: bytes = b"*") -> bytes:
    """A possessive repetition: as many turns as there are, without backtracking.

    The empty alternative is for Python below 3.11.5, which continues where a failed turn ended instead of where it
    began (python/cpython#106052).
    """
    return rb"(?:" + turn + rb"|)" + most + rb"+"


_PLAIN = rb"[\x20\x21\x23-\x5b\x5d-\xff]"  # Positive classes: a negated one costs SRE twice the time.
_ESCAPE = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_SPACE = rb"[ \t\n\r]*+"
# Bounded: longer runs are skipped by memchr, and a failed match of a container costs little. Lines of text end in \\n.
_STRING = rb'"' + _PLAIN + rb'{0,512}+(?:"|\\n"|' + _many(_ESCAPE + _PLAIN + rb"{0,512}+", b"{0,4096}") + rb'")'
_SCALAR = (
    rb"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++|)(?:[eE][+-]?[0-9]++|)"
    rb"|true|false|null|NaN|-?Infinity)(?=[ \t\n\r,\]}])"
)


def _runs(value: bytes) -> tuple[bytes, bytes]:
    """Patterns of runs of array items, and of object members, with values of this pattern.

    A comma belongs to the run unless a closing bracket follows it, so no value is matched twice.
    """
    item = _SPACE + rb"(?:" + value + rb")" + _SPACE
    more = rb"(?:,(?!" + _SPACE + rb"[\]}])|(?=[\]}]))"
    lines = _many(_SPACE + _STRING + rb",(?=" + _SPACE + rb'")')
    return lines + _many(item + more), _many(_SPACE + _STRING + _SPACE + rb":" + item + more)


_ATOM = _STRING + rb"|" + _SCALAR
_FLAT_ITEMS, _FLAT_MEMBERS = _runs(_ATOM)
_CONTAINER = rb"\[" + _FLAT_ITEMS + _SPACE + rb"\]|\{" + _FLAT_MEMBERS + _SPACE + rb"\}"
ITEMS, MEMBERS = map(re.compile, _runs(_ATOM + rb"|" + _CONTAINER))
_KEY = rb'("[\x20\x21\x23-\x5b\x5d-\x7e]{0,64}+")'
_VALUE = rb"(" + _ATOM + rb"|" + _CONTAINER + rb")"
_NEXT = rb"(?:,(?=" + _SPACE + rb'")|(?=\}))'
# One member (key and value are groups) whose value has at most one level of containers.
FLAT_MEMBER = re.compile(_SPACE + _KEY + _SPACE + rb":" + _SPACE + _VALUE + _SPACE + _NEXT)
STRING_BODY = re.compile(_many(_PLAIN + rb"++|" + _ESCAPE))
NUMBER = re.compile(_SCALAR.removesuffix(rb"(?=[ \t\n\r,\]}])"))
WORD = re.compile(rb"[-+.0-9a-zA-Z]*+")
BLANKS = re.compile(_SPACE)
