"""Every module says in one sentence what it is for; the architecture page lists those sentences."""

from __future__ import annotations

import ast
import io
import re
import tokenize

import pytest

from docs.generated import PACKAGE, REPOSITORY, caption, modules

MODULES = sorted(PACKAGE.rglob("*.py"))
EXTENSION = REPOSITORY / "labextension" / "src"
SCRIPTS = [script for script in sorted(EXTENSION.rglob("*.ts")) if "__tests__" not in script.parts]
RIDDLE = re.compile(r"(?:^|[.:!?#]\s)\W*((?:What|Which|Whose|Of)\b.*)", re.MULTILINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_begins_with_a_caption_of_one_sentence(module):
    assert module.read_text("utf-8").startswith(('"""', 'r"""'))
    assert re.fullmatch(r"([A-Z%`]|[a-z_]+: ).*[^.]\.", caption(module))
    assert not re.search(r"[^.]\. ", caption(module)), "two sentences"
    assert len(caption(module).split()) <= 12, "more than 12 words"
    assert not caption(module).startswith(("What ", "Which ", "Whose ", "Of ")), "it begins with a verb"


@pytest.mark.parametrize("module", SCRIPTS, ids=lambda path: path.relative_to(EXTENSION).as_posix())
def test_a_module_of_the_extension_begins_with_a_caption(module):
    assert re.match(r"/\*\* [A-Z][a-z]+s ", module.read_text("utf-8")), "it begins with a verb"


def test_the_architecture_page_lists_every_caption():
    listed = modules()
    assert [module for module in MODULES if caption(module) not in listed] == []


def test_no_test_reads_the_source_beside_it():
    """The quick workflow removes it, so that what was installed is tested: `jupyter_fstools.__file__` leads there."""
    tests = sorted(path for path in (REPOSITORY / "tests").rglob("*.py") if path.name != "test_captions.py")
    assert [path.name for path in tests if re.search(r"""/ ?["']jupyter_fstools""", path.read_text("utf-8"))] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_sentence_begins_with_what_which_whose_or_of(module):
    """Neither in a comment nor in a docstring, an attribute's included: a noun or a verb says the same at once."""
    with tokenize.open(module) as source:
        text = source.read()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    statements = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    docstrings = [
        value.value for value in statements if isinstance(value, ast.Constant) and isinstance(value.value, str)
    ]
    assert RIDDLE.findall("\n".join([*comments, *docstrings])) == []
