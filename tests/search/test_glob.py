"""Finding files by name."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
from pathlib import Path

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import Denied, FsToolsError, Invalid, NotADirectory, NotFound, OutsideRoot
from jupyter_fstools.search.batches import EngineName
from jupyter_fstools.search.glob import find_files, iso_time
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import TextQuery
from jupyter_fstools.walking.folders import DiskFolder
from jupyter_fstools.walking.listing import Listing
from tests.visible import Only

from .conftest import Find, Search, Write, git_files, names


@pytest.mark.parametrize("name", ["app/[id]/page.tsx", "file(1).txt", "[z", "a{b}c.txt"])
def test_a_file_named_like_a_pattern_is_found(find: Find, write: Write, name: str) -> None:
    write(name)
    write("other.txt")
    assert names(find(name)) == [name]


@pytest.mark.parametrize("glob", ["[bad", "![bad", "[z-a]", "!*[z-a].py", "{" * 500 + "a" + "}" * 500])
def test_a_malformed_glob_is_refused_for_a_single_file_too(search: Search, write: Write, glob: str) -> None:
    write("a.py", "foo\n")
    for path in (".", "a.py"):
        with pytest.raises(Invalid, match="glob: "):
            search("foo", path, glob=glob)


def test_a_malformed_pattern_is_refused(find: Find, write: Write) -> None:
    """It is never an empty answer."""
    write("a.txt")
    with pytest.raises(Invalid, match="never closed"):
        find("[invalid")
    with pytest.raises(Invalid, match="the range 'z-a' goes backwards in"):
        find("[z-a].txt")
    write("[z-a].txt")
    assert names(find("[z-a].txt")) == ["[z-a].txt"]


def test_links_are_neither_followed_nor_doubled(root: Path, find: Find, write: Write, tmp_path: Path) -> None:
    """A loop ends, nothing outside is listed, a link to a file inside is a file."""
    write("a/b.txt", "12345")
    (tmp_path / "secret.txt").write_text("s")
    (root / "a" / "loop").symlink_to("..")
    (root / "out").symlink_to(tmp_path)
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "in.txt").symlink_to("a/b.txt")
    (root / "gone.txt").symlink_to("nowhere")
    assert [(file.path, file.size_bytes) for file in find("**", sort="path").files] == [("a/b.txt", 5), ("in.txt", 5)]


def test_the_newest_come_first_and_the_page_is_cut_after_sorting(find: Find, write: Write) -> None:
    """The total counts all files, `truncated` is exact, equal times are ordered by path."""
    for number, name in enumerate(["c", "b", "a", "d"]):
        os.utime(write(name), (number // 2, number // 2))
    first = find("*", limit=3)
    assert [file.path for file in first.files] == ["a", "d", "b"]
    assert (first.total, first.truncated) == (4, True)
    assert first.files[0].modified_at == "1970-01-01T00:00:01.000000Z"
    rest = find("*", limit=3, offset=3)
    assert ([file.path for file in rest.files], rest.truncated) == (["c"], False)
    assert not find("*", limit=4).truncated
    assert find("*", offset=9).files == []


def test_a_search_that_must_end_says_so(find: Find, write: Write) -> None:
    """The files found so far are called partial, never complete."""
    for number in range(5):
        write(f"{number}/a.txt")
    gone = threading.Event()
    gone.set()
    for found in (find("**", seconds=0), find("**", cancelled=gone), find("**", cancelled=lambda: True)):
        assert found.truncated
        assert found.partial in ("timeout", "cancelled")


def test_any_name_is_one_entry(find: Find, root: Path, write: Write) -> None:
    """Line feeds, quotes, dashes, emoji, and bytes that are not UTF-8."""
    odd = ["new\nline", "quo\"te's", "-rf", " two  words ", "😀.txt", "caf\udce9.txt", "$(touch x)"]
    for name in odd:
        write(name)
    found = find("*")
    assert names(found) == sorted(odd)
    assert json.loads(json.dumps(found.model_dump())) == found.model_dump()
    assert all((root / file.path).read_text() == "x\n" for file in found.files)


def test_absolute_patterns(find: Find, root: Path, write: Write) -> None:
    """From the root wherever the search begins; another slash in front only anchors."""
    write("src/a.py")
    assert names(find(f"{root}/src/*.py")) == ["src/a.py"]
    assert names(find(f"{root}/src/*.py", "src")) == ["src/a.py"]
    assert names(find("/src/*.py")) == ["src/a.py"]
    assert names(find("/etc/passwd")) == names(find(f"{root.parent}/**")) == names(find(f"{root}x/**")) == []


@pytest.mark.parametrize("engine", ["ripgrep", "python"])
def test_absolute_patterns_by_way_of_a_link_to_the_root(root: Path, write: Write, engine: EngineName) -> None:
    """Both spellings work."""
    for path in ("a.txt", "b.md", "src/c.txt"):
        write(path)
    for link in ("[li]nk", "other"):
        (root.parent / link).symlink_to("root")
    linked, disk = root.parent / "[li]nk", LocalDisk(root.parent / "[li]nk")
    (root / "up").symlink_to(root)
    for spelled in (root, linked):
        assert names(find_files(disk, f"{spelled}/*.txt", "src")) == ["a.txt"]
        assert names(find_files(disk, f"{spelled}//src/./*", "src")) == ["src/c.txt"]
        for path, options in {".": {"glob": f"{spelled}/*.txt"}, "src": {"glob": f"!{spelled}/src/c.*"}}.items():
            found = search_text(disk, TextQuery(pattern="x", **options), path, engine=engine)
            assert [match.path for match in found.matches] == ([] if path == "src" else ["a.txt"])
    assert names(find_files(disk, str(linked))) == ["a.txt", "b.md", "src/c.txt"]
    assert names(find_files(disk, f"{root.parent}/other/*")) == names(find_files(disk, f"{linked}s/*")) == []
    assert names(find_files(disk, "/up/*")) == []
    with pytest.raises(OutsideRoot):
        find_files(disk, f"{linked}/../*")
    assert names(find_files(InMemory({"src/a.py": b""}), "/./*.py", "src")) == ["src/a.py"]


@pytest.mark.parametrize(
    "pattern", ["{root}/../*", "{root}/src/../../*", "{root}/{{../x,src}}", "/../*", r"\.\./*", "a/.{{.,b}}/*"]
)
def test_a_pattern_that_leads_out_is_refused(find: Find, root: Path, pattern: str) -> None:
    """Also where it is spelled with braces or backslashes."""
    with pytest.raises(OutsideRoot):
        find(pattern.format(root=root))


@pytest.mark.parametrize(
    ("path", "refusal"),
    [("missing", NotFound), ("a.py", NotADirectory), ("..", OutsideRoot), ("a.py/b", NotADirectory)],
)
def test_the_folder_searched_must_be_one(find: Find, write: Write, path: str, refusal: type[Exception]) -> None:
    write("a.py")
    with pytest.raises(refusal):
        find("*", path)


def test_a_file_has_nothing_below_it(find: Find, write: Write) -> None:
    """A trailing slash stands for the contents of the folder."""
    write("a.py")
    write("src/b/c.py")
    assert names(find("a.py/**")) == []
    assert names(find("a.py/")) == names(find("a.py/.")) == names(find("a.py/./.")) == []
    assert names(find("src/")) == names(find("src/.")) == ["src/b/c.py"]


def test_what_may_not_be_read_is_never_listed(find: Find, write: Write) -> None:
    """Denied files, contents of denied folders and links to them are not counted either."""
    for path in ("a.txt", "keys/id.txt", "b/secret.txt"):
        write(path)
    found = find("**", visible=Only(lambda path: "secret" not in path and path != "keys"))
    assert names(found) == ["a.txt"]
    assert found.total == 1
    with pytest.raises(Denied):
        find("**", "keys", visible=Only(lambda path: path != "keys"))


def test_what_may_not_be_shown_is_not_counted_as_ignored_or_excluded(find: Find, write: Write) -> None:
    write(".gitignore", "*.log\nbuild/\n")
    for path in (
        "a.log",
        "secret.log",
        "build/x",
        "shown/b.log",
        "shown/node_modules/x",
        "secret/.git/x",
        "secret/c.log",
    ):
        write(path, "x")
    found = find("**", visible=Only(lambda path: path == "shown" or path.startswith("shown/")))
    assert (found.ignored, found.excluded, found.total) == (1, ["node_modules"], 0)
    write("node_modules/x", "x")
    assert find("*", visible=Only(lambda path: "node_modules" not in path)).excluded == [".git"]


def test_default_exclusions_are_named_in_the_result(find: Find, write: Write) -> None:
    """Passed over unless the pattern writes them out, the path names them, or ignored files are asked for."""
    for folder in (".git", "node_modules", "__pycache__", ".ipynb_checkpoints"):
        write(f"{folder}/x.js")
    found = find("**/*.js")
    assert found.files == []
    assert found.excluded == [".git", ".ipynb_checkpoints", "__pycache__", "node_modules"]
    assert names(find("node_modules/*.js")) == ["node_modules/x.js"]
    assert names(find("*.js", "node_modules")) == ["node_modules/x.js"]
    assert find("*.js", include_ignored=True).total == 2
    assert find("*.js", include_ignored=True, include_hidden=True).total == 4


@pytest.mark.parametrize("options", [{"limit": -1}, {"offset": -1}])
def test_negative_numbers_are_refused(find: Find, options: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        find("*", **options)


def test_nothing_found_is_an_answer(find: Find) -> None:
    assert find("*.nothing").model_dump()["total"] == 0


def test_a_file_that_vanishes_is_left_out(
    find: Find, root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removed between the listing and the look at it."""
    write("a.txt")
    write("b.txt")
    look = DiskFolder.look

    def late(folder: DiskFolder, files: list[str]) -> object:
        (root / "a.txt").unlink(missing_ok=True)
        return look(folder, files)

    monkeypatch.setattr(DiskFolder, "look", late)
    assert names(find("*.txt")) == ["b.txt"]


def test_a_folder_swapped_for_a_link_leaks_nothing(
    find: Find, root: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are opened below the folder that was listed; folders that cannot be entered are counted."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("s")
    write("a/b.txt")
    enter = DiskFolder.enter

    def swapped(folder: DiskFolder, name: str) -> DiskFolder:
        (root / "a").rename(root / "was")
        (root / "a").symlink_to(tmp_path / "outside")
        return enter(folder, name)

    monkeypatch.setattr(DiskFolder, "enter", swapped)
    found = find("**")
    assert found.files == []
    assert found.skipped == {"unreadable": 1}


def test_the_names_differ_by_case(find: Find, write: Write) -> None:
    write("a.py")
    assert find("*.PY").total == 0


def test_a_backend_in_memory_answers_like_the_disk(root: Path, write: Write) -> None:
    memory = InMemory()
    for path in ("a.py", "src/b.py", "src/c.log", ".hidden/d.py", "node_modules/e.py", ".gitignore"):
        content = b"*.log\n" if path == ".gitignore" else b"x"
        write(path, content)
        memory.write(path, [content], if_match=None)
    for pattern in ("**", "*.py", "src/*", ".hidden/**"):
        disk, other = (find_files(each, pattern, sort="path") for each in (LocalDisk(root), memory))
        assert names(disk) == names(other)
        assert (disk.ignored, disk.excluded) == (other.ignored, other.excluded)


@pytest.mark.parametrize("room", range(1, 11))
def test_without_descriptors_a_search_fails_rather_than_leave_files_out(find: Find, write: Write, room: int) -> None:
    write("/".join("abcdefgh") + "/x.txt")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + room, hard))
    try:
        assert find("*.txt").total == 1
    except FsToolsError as refused:
        assert refused.code == "io"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_time_that_no_year_holds_is_told_as_the_beginning() -> None:
    """Some disks keep such times, and one file must not make the whole listing fail."""
    assert iso_time(2**38 * 10**9) == "1970-01-01T00:00:00.000000Z"


def test_rules_are_read_byte_by_byte_as_git_reads_them(root: Path, find: Find, write: Write) -> None:
    """A question mark and a class stand for one byte, and three stars for two."""
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in ("é.txt", "a.txt", "éa.log", "日.log", "é.md", "x/y/deep/z", "deep/z", "Ã©.c"):
        write(name)
    write(".gitignore", "?.txt\n???.log\n[é].md\n***/y/***\n[!a].c\n??.c\n")
    assert set(names(find("**", include_hidden=True))) == git_files(root)


@pytest.mark.parametrize("sort", ["path", "modified"])
def test_a_folder_that_may_be_listed_but_not_entered_is_counted(mortal: Path, sort: str) -> None:
    """Its files are not in the total; asked for directly, it is denied."""
    for name in ("no/a.txt", "no/b.txt", "no/deep/c.txt", "ok.txt"):
        (mortal / name).parent.mkdir(parents=True, exist_ok=True)
        (mortal / name).write_text("x\n")
    (mortal / "no").chmod(0o400)
    disk = LocalDisk(mortal)
    listing = Listing(disk, "", recursive=True)
    assert [name for run in listing for name in run.names] == ["no", "ok.txt"]
    for pattern, total in (("**", 1), ("no/*", 0), ("no/a.txt", 0), ("no/deep/*", 0)):
        found = find_files(disk, pattern, sort=sort, limit=1)
        assert (len(found.files), found.total, found.skipped) == (total, total, {"unreadable": len(listing.unreadable)})
    with pytest.raises(Denied):
        find_files(disk, "*", "no", sort=sort)
