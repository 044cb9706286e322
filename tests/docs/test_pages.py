"""The README and the documentation do what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from markdown_it import MarkdownIt

from docs import generated
from jupyter_fstools.config import FsToolsConfig
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.tools import TOOLS
from tests.docs.blocks import REPOSITORY, blocks_of

README = REPOSITORY / "README.md"
PAGES = [README, generated.CONTRIBUTING, *sorted((REPOSITORY / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_works(page, reader):
    for block in blocks_of(page):
        reader.follow(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_to_a_file(page):
    targets = LINK.findall(page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_is_left_out(page):
    fences = re.findall(r"^ *```", page.read_text("utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(blocks_of(page))


def test_the_readme_is_short():
    assert README.stat().st_size <= 6000


def test_the_page_on_pypi_has_absolute_links_only(tmp_path):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    script = REPOSITORY / ".github" / "absolute_links.py"
    subprocess.run([sys.executable, script, "https://example.org/o/r", "v1"], cwd=tmp_path, check=True)
    text = (tmp_path / "README.md").read_text("utf-8")
    told = re.findall(r"\]\(https://example.org/o/r/(?:blob|raw)/v1/([^)]+)\)", text)
    assert (LINK.findall(text), told) == ([], LINK.findall(README.read_text("utf-8")))
    addresses = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    assert addresses["Changes"] == "https://example.org/o/r/blob/v1/CHANGELOG.md"


def test_contributing_shows_the_floors_of_the_contract():
    assert generated.main(["--check"]) == 0


def test_the_page_of_refusals_lists_every_code_with_its_status():
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", (REPOSITORY / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE)
    assert rows == [(refusal.code, str(refusal.status)) for refusal in FsToolsError.__subclasses__()]


@pytest.mark.parametrize("name", generated.PARTS)
def test_a_page_asks_for_every_generated_part(name):
    pages = [page.name for page in PAGES if f"<!-- generated: {name} -->" in page.read_text("utf-8")]
    assert pages, "no page shows it"
    assert generated.PARTS[name]().count("\n") > 3


def _read(part):
    """A generated part as the page shows it, code aside."""
    tokens = MarkdownIt().enable("table").parse(generated.PARTS[part]())
    inner = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inner} <= {"text", "code_inline", "em_open", "em_close"}
    return " ".join("".join(child.content for child in token.children or ()) for token in tokens)


def test_the_page_of_tools_shows_every_text_as_an_assistant_reads_it():
    shown = _read("tools")
    texts = [field.description for tool in TOOLS.values() for field in tool.arguments.model_fields.values()]
    texts = [text for text in (*texts, *(tool.description for tool in TOOLS.values())) if text]
    assert [text for text in texts if " ".join(text.split()).replace("`", "") not in shown] == []


def test_the_page_of_tools_says_what_each_argument_means_and_lists_its_choices():
    page = generated.tools()
    rows = re.findall(r"^\| `(\w+)` \| \w* \| *(.*?) *\|$", page, re.MULTILINE)
    assert len(rows) == sum(len(tool.arguments.model_fields) for tool in TOOLS.values())
    assert [name for name, meaning in rows if not meaning] == []
    assert "One of `replace` (default), `edit`, `insert`, `delete`, `move`" in page
    assert "Each has some of `path`, `old_string`, `new_string`, `replace_all`;" in page


def test_the_page_of_commands_shows_the_options_of_each():
    shown = generated.commands()
    assert "### `jupyter fstools mcp`" in shown
    assert "### `jupyter fstools token create`" in shown and "--days DAYS" in shown


def test_the_page_of_settings_shows_every_help_text_and_every_rule_set_by_default():
    shown, page = _read("settings"), generated.settings()
    traits = FsToolsConfig.class_traits(config=True)
    assert [name for name, trait in traits.items() if trait.help.replace("`", "") not in shown] == []
    rules = [one for name in traits if name.startswith("default_") for one in traits[name].default()]
    assert [rule for rule in rules if rule not in page] == []
