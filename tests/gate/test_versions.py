"""Values computed from a file are cached per version."""

from jupyter_fstools.gate.versions import VersionCache


def test_a_result_is_kept_per_version_and_the_oldest_makes_way():
    cache = VersionCache(most=2)
    first = cache.keep("/a", "1", object())
    assert cache.of("/a", "1") is first and cache.of("/a", "2") is None
    assert cache.keep("/a", "1", object()) is first
    cache.keep("/a", "2", object())
    cache.keep("/b", "1", object())
    assert cache.of("/a", "1") is None and cache.drop("/b", "1") and cache.of("/b", "1") is None


def test_the_index_of_an_open_file_is_begun_once(call):
    call.put("a.txt", "x\ny\n")
    versions = call.workspace.versions
    with call.workspace.show("a.txt") as opened:
        assert versions.index(opened) is versions.index(opened)
        assert versions.fingerprint(opened) == versions.index(opened).fingerprint
