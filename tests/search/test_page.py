"""The files that match, kept as far as the page needs them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.search.batches import Counted
from jupyter_fstools.search.page import SPARE, MatchingFiles
from jupyter_fstools.search.query import TextQuery

batches = st.lists(st.lists(st.integers(1, 4), max_size=700), max_size=5)


@given(batches=batches, limit=st.integers(0, 40), offset=st.integers(0, 40), random=st.randoms(use_true_random=False))
def test_the_page_is_what_all_of_them_in_order_would_give(
    batches: list[list[int]], limit: int, offset: int, random: object
) -> None:
    """In whatever order they come."""
    paths = [f"{number:04}" for number in range(sum(map(len, batches)))]
    random.shuffle(paths)
    names = iter(paths)
    given_files = [[Counted(name, name, lines) for lines, name in zip(batch, names, strict=False)] for batch in batches]
    whole = sorted(file for batch in given_files for file in batch)
    by_line, by_file = (
        MatchingFiles(TextQuery(pattern="x", limit=limit, offset=offset, output_mode=mode))
        for mode in ("content", "files")
    )
    for batch in given_files:
        by_line.add(list(batch))
        by_file.add(list(batch))
    lines = [(file, line) for file in whole for line in range(file.lines)]
    assert (by_line.total, by_file.total) == (len(lines), len(whole))
    assert by_file.page() == whole[offset : offset + limit]
    shown = [(file, line) for file, part in by_line.parts() for line in range(part.start, part.stop)]
    assert shown == lines[offset : offset + limit]
    assert by_line.fill_the_page is (len(lines) > offset + limit)


def test_memory_depends_on_the_page() -> None:
    found = MatchingFiles(TextQuery(pattern="x", limit=5, output_mode="files"))
    for number in range(10 * SPARE):
        found.add([Counted(str(number), str(number), 1)])
        assert len(found._kept) <= 2 * SPARE
    assert found.files == 10 * SPARE
