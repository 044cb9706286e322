"""Every module says in one sentence what it is, and the README lists those sentences.

As a program it compares the list with the modules; with `--write` it writes the list.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "jupyter_fstools"
README = REPOSITORY / "README.md"
BLOCK = re.compile(r"<!-- captions -->\n```text\n(.*?)```\n<!-- /captions -->", re.DOTALL)
MODULES = sorted(PACKAGE.rglob("*.py"))


def caption(module: Path) -> str:
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


def architecture() -> str:
    """The package as a list: its modules, then its folders with theirs, each with its caption."""
    rows = [("jupyter_fstools/", caption(PACKAGE / "__init__.py")), *folder_rows(PACKAGE, "  ")]
    width = max(len(name) for name, _ in rows) + 2
    return "".join(f"{name:<{width}}{text}".rstrip() + "\n" for name, text in rows)


def folder_rows(folder: Path, indent: str) -> list[tuple[str, str]]:
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    rows = [(indent + path.name, caption(path)) for path in modules]
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        rows += [(f"{indent}{package.name}/", caption(package / "__init__.py"))]
        rows += folder_rows(package, indent + "  ")
    return rows


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_begins_with_a_caption_of_one_sentence(module):
    assert module.read_text("utf-8").startswith(('"""', 'r"""'))
    assert re.fullmatch(r"([A-Z%`]|[a-z_]+: ).*[^.]\.", caption(module))
    assert not re.search(r"[^.]\. ", caption(module)), "two sentences"


def test_the_readme_lists_the_captions():
    listed = BLOCK.search(README.read_text("utf-8"))
    assert listed, "README.md has no block between <!-- captions --> and <!-- /captions -->"
    assert listed[1] == architecture(), "run `make captions`"


def main(arguments: list[str]) -> int:
    text = README.read_text("utf-8")
    renewed = BLOCK.sub(lambda _: f"<!-- captions -->\n```text\n{architecture()}```\n<!-- /captions -->", text, count=1)
    if "--write" in arguments:
        README.write_text(renewed, "utf-8")
    elif renewed != text:
        print("README.md: the captions have changed; run `make captions`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
