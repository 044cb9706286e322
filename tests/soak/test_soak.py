"""A minute of the soak; `make soak` runs it for an hour."""

from __future__ import annotations

import sys

import pytest

from .run import soak

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs limits and kills of POSIX")]


def test_nothing_is_lost_torn_or_unknown_after_a_minute_of_kills_full_disks_and_clock_jumps(tmp_path):
    found = soak(tmp_path, 60)
    assert found.is_sound, found.line()
