"""Hooks of schemathesis: calls that wait for a person wait for a moment only."""

from __future__ import annotations

import schemathesis

LONGEST = 0.1


@schemathesis.hook
def map_query(context, query):
    if isinstance(wait := (query or {}).get("wait"), (int, float)) and wait > LONGEST:
        query["wait"] = LONGEST
    return query
