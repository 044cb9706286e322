"""The SQLite store answers as the one in memory does, whatever it is asked."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jupyter_fstools.errors import TooLarge
from jupyter_fstools.limits import StoreLimits
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.protocol import ChangeFilter, MomentFilter
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import ANN, NO_UTF8, change_of, receipt_of, refusal_of, two_files

KEY = "/root/a.txt"


READERS = st.sampled_from([ANN, Reader("ann", "s2"), Reader("bob", "default")])
KEYS = st.sampled_from(["/r", "/r/a", "/r/a/b", "/r/a0", "/r/a%", NO_UTF8])
IDS = st.integers(0, 12).map(str)
STATUSES = st.sampled_from(["pending", "proposed", "applied", "rejected", "undone"])
BLOBS = st.none() | st.binary(max_size=30)
FILTERS = st.builds(
    ChangeFilter,
    key_prefix=st.none() | KEYS,
    key=st.none() | KEYS,
    reader=st.none() | READERS,
    session=st.sampled_from([None, "default", "s2"]),
    status=st.none() | STATUSES,
    after=st.none() | st.integers(-1, 30),
    limit=st.integers(-1, 8),
    offset=st.integers(-1, 4),
    rows=st.booleans(),
)
MOMENTS = st.none() | st.integers(-1, 45).map(float)
MOMENT_FILTERS = st.builds(
    MomentFilter,
    key_prefix=st.none() | KEYS,
    session=st.sampled_from([None, "default", "s2"]),
    after=MOMENTS,
    before=MOMENTS,
    limit=st.integers(-1, 8),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("receipt"), READERS, KEYS),
        st.tuples(st.just("put_receipt"), KEYS, READERS, BLOBS, st.booleans()),
        st.tuples(st.just("reads"), MOMENT_FILTERS),
        st.tuples(st.just("add_refusal"), KEYS, READERS, st.integers(1, 40).map(float)),
        st.tuples(st.just("refusals"), MOMENT_FILTERS),
        st.tuples(st.just("was_dropped"), READERS, KEYS),
        st.tuples(st.just("shown_text"), READERS, KEYS),
        st.tuples(st.just("receipts"), READERS, st.none() | KEYS),
        st.tuples(st.just("forget"), READERS, st.none() | KEYS),
        st.tuples(st.just("add_change"), KEYS, READERS, STATUSES, st.none() | KEYS),
        st.tuples(st.just("decide"), IDS, STATUSES, STATUSES, BLOBS),
        st.tuples(st.just("finish"), IDS, KEYS, READERS, BLOBS, BLOBS, st.booleans()),
        st.tuples(st.just("drop"), IDS),
        st.tuples(st.just("unfinished"), KEYS),
        st.tuples(st.just("change"), IDS),
        st.tuples(st.just("splices"), IDS),
        st.tuples(st.just("changes"), FILTERS),
        st.tuples(st.just("count_changes"), FILTERS),
        st.tuples(st.just("revision")),
        st.tuples(st.just("close")),
    ),
    max_size=40,
)


def taken(store, name, arguments, number):
    if name == "put_receipt":
        key, reader, shown, own_write = arguments
        return store.put_receipt(receipt_of(key, reader, read_at=float(number), own_write=own_write), shown)
    if name == "add_refusal":
        key, reader, at = arguments
        return store.add_refusal(refusal_of(str(number), key, reader, at=time.time() // 86400 * 86400 + at))
    if name == "add_change":
        key, reader, status, further = arguments
        created_at = time.time() - (40 * 86400 if number % 5 == 0 else 0)
        files = two_files(key, further) if further is not None else []
        facts = {"status": status, "files": files, "created_at": created_at // 86400 * 86400}
        change = change_of(str(number), key, reader, **facts)
        try:
            return store.add_change(change, b"x" * (number * 7 % 40))
        except TooLarge as refusal:
            return refusal.message
    if name == "finish":
        change_id, key, reader, shown, splices, revised = arguments
        receipts = [(receipt_of(key, reader, read_at=float(number)), shown)]
        return store.finish(change_id, receipts, splices=splices, record=change_of(change_id) if revised else None)
    if name == "decide":
        change_id, expected, status, splices = arguments
        return store.decide(change_id, expected, status, decided_at=3.0, decided_by="b", splices=splices)
    return getattr(store, name)(*arguments)


@given(STEPS)
@hypothesis_settings(max_examples=60)
def test_it_answers_as_the_store_in_memory_does(tmp_path_factory, steps):
    limits = StoreLimits(max_receipts=3, journal_max_changes=6, journal_max_bytes=3000, session_proposals=3)
    path = tmp_path_factory.mktemp("model") / "store.sqlite"
    model, one, two = InMemoryStore(limits), SqliteStore(path, limits), SqliteStore(path, limits)
    for number, (name, *arguments) in enumerate(steps):
        actual = taken(one if number % 3 else two, name, arguments, number)
        assert actual == taken(model, name, arguments, number), (number, name)
    one.close()
    two.close()
