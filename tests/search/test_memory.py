"""Memory depends on the page that is asked for, not on how many files there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search import grep
from jupyter_fstools.search.glob import find_files
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import TextQuery

pytestmark = pytest.mark.slow

FILES = 30_000
MOST_GROWTH = 5 << 20
"""Bytes; names and times of that many files, kept, would be four times as much."""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A few files, and very many of the same kind."""
    folder = tmp_path_factory.mktemp("trees")
    sizes = {"few": 300, "many": FILES}
    for name, number in sizes.items():
        for each in range(number):
            inside = folder / name / str(each // 100)
            inside.mkdir(parents=True, exist_ok=True)
            (inside / f"a file with a long name {each}.txt").write_bytes(b"needle\n")
    return folder / "few", folder / "many"


def peak(work: Callable[[], int | None]) -> tuple[int, int | None]:
    tracemalloc.start()
    try:
        total = work()
        return tracemalloc.get_traced_memory()[1], total
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("engine", ["ripgrep", "python"])
@pytest.mark.parametrize("mode", ["content", "files"])
def test_of_a_text_search(trees: tuple[Path, Path], engine: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the true total. A few batches are under way at once, smaller ones here as the tree is smaller."""
    monkeypatch.setattr(grep, "LARGEST_BATCH", 1000)
    query = TextQuery(pattern="needle", limit=10, output_mode=mode)

    def search(root: Path) -> int | None:
        return search_text(LocalDisk(root), query, engine=engine).total

    search(trees[0])
    (few, _), (many, total) = (peak(lambda root=root: search(root)) for root in trees)
    assert total == FILES
    assert many - few < MOST_GROWTH


@pytest.mark.parametrize("sort", ["modified", "path"])
def test_of_a_search_by_name(trees: tuple[Path, Path], sort: str) -> None:
    def find(root: Path) -> int:
        return find_files(LocalDisk(root), "*.txt", limit=10, sort=sort).total

    find(trees[0])
    (few, _), (many, total) = (peak(lambda root=root: find(root)) for root in trees)
    assert total == FILES
    assert many - few < MOST_GROWTH


@pytest.mark.parametrize("engine", ["ripgrep", "python"])
def test_of_one_large_file_where_no_match_goes_over_lines(tmp_path: Path, engine: str) -> None:
    """As without `multiline`."""
    size = (tmp_path / "large.txt").write_bytes((b"x" * 99 + b"\n") * 1_000_000 + b"needle\n")
    query = TextQuery(pattern="needle", multiline=True, max_file_bytes=500)
    used, total = peak(lambda: search_text(LocalDisk(tmp_path), query, "large.txt", engine=engine).total)
    assert total == 1
    assert used < size
