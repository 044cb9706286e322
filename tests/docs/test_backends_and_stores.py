"""The example of the page on backends, installed as a package of its own."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.entry_points import open_backend
from jupyter_fstools.errors import Invalid, TooLarge
from jupyter_fstools.testing.backend_contract import BackendContract
from jupyter_fstools.testing.gate_contract import GateContract

PAGE = (Path(__file__).parents[2] / "docs" / "backends-and-stores.md").read_text("utf-8")
EXAMPLE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
ENTRY_POINT = re.search(r'```toml\n\[project\.entry-points\."(.*?)"\]\n(\w+) = "(.*?)"\n```', PAGE)


def install(folder, monkeypatch, *, module, source, group, entry_point, metadata=""):
    """Put a package and what pip would write about it into a folder that Python searches."""
    folder.mkdir()
    (folder / f"{module}.py").write_text(source)
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n{metadata}")
    (about / "entry_points.txt").write_text(f"[{group}]\n{entry_point}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.fixture
def installed(tmp_path_factory, monkeypatch):
    group, scheme, place = ENTRY_POINT.groups()
    install(
        tmp_path_factory.mktemp("site") / "packages",
        monkeypatch,
        module="small_files",
        source=EXAMPLE,
        group=group,
        entry_point=f"{scheme} = {place}",
    )


class TestSmallFiles(BackendContract):
    @pytest.fixture
    def backend(self, installed, tmp_path):
        return open_backend(f"small://{tmp_path}", durable=False)


class TestGateOnSmallFiles(GateContract):
    @pytest.fixture
    def open_files(self, installed, tmp_path):
        return lambda **settings: open_workspace(f"small://{tmp_path}", store="memory:", **settings)


def test_the_example_has_no_more_than_forty_lines():
    assert len(EXAMPLE.splitlines()) <= 40


def test_a_workspace_opens_on_the_example_and_heeds_its_rule(installed, tmp_path):
    files = open_workspace(f"small://{tmp_path}", store="memory:", max_write_bytes=20_000_000)
    call_tool(files, "write_file", path="a.txt", content="x")
    with pytest.raises(TooLarge, match="not modified"):
        call_tool(files, "write_file", path="b.txt", content="x" * 10_000_001)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_missing_extra_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    install(
        tmp_path / "site",
        monkeypatch,
        module="far_files",
        source="import no_such_client\n",
        group="jupyter_fstools.backends",
        entry_point="far = far_files:FarFiles",
        metadata="Provides-Extra: cloud\nRequires-Dist: no-such-client>=1; extra == 'cloud'\n",
    )
    with pytest.raises(Invalid, match="no_such_client, which is not installed") as refused:
        open_backend("far://bucket")
    assert "pip install 'far_files[cloud]'" in refused.value.hint


@pytest.mark.parametrize("group", ["jupyter_fstools.backends", "jupyter_fstools.stores"])
def test_what_comes_with_the_package_is_registered_like_anybody_elses_and_listed_on_the_page(group):
    there = distribution("jupyter-fstools").entry_points.select(group=group)
    row = re.search(rf"^\| `{re.escape(group)}` \| (.*?) \|", PAGE, re.MULTILINE)[1]
    assert sorted(re.findall(r"`(.*?)`", row)) == sorted(one.name for one in there)
    assert all(callable(one.load().from_setting) for one in there)


def test_a_scheme_that_nobody_registered_is_refused_with_those_that_are():
    with pytest.raises(Invalid, match="nothing installed handles ftp:") as refused:
        open_backend("ftp://host/x")
    assert "file:" in refused.value.hint
