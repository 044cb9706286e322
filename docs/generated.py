"""Writes the parts of the documentation that the code itself knows.

A page asks for a part with the comment `<!-- generated: NAME -->`. Run as a program, this renews the picture of the
floors in CONTRIBUTING; with `--check` it only says whether that picture is current.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jupyter_fstools
from jupyter_fstools.client.configurations import CLIENTS, McpClient, address_entry, command_entry, configuration

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = Path(jupyter_fstools.__file__).parent
CONTRIBUTING = REPOSITORY / ".github" / "CONTRIBUTING.md"

_PART = re.compile(r"<!-- generated: (\w+) -->")
_FLOORS = re.compile(r"(<!-- floors -->\n).*?(<!-- /floors -->)", re.DOTALL)
_HTTP_METHODS = ("get", "head", "post", "put", "delete")
_MARKUP = re.compile(r"[\\*_<>\[\]]")
_FEW = 3
"""A longer list stands below the table of settings, not in it."""


def with_parts(page: str) -> str:
    """A page with the parts that it asks for.

    Args:
        page: its source, MyST Markdown.

    Raises:
        KeyError: there is no such part.
    """
    return _PART.sub(lambda found: PARTS[found[1]](), page)


@cache
def caption(module: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


def modules() -> str:
    """The package as a tree: its modules, then its folders with theirs, each with its caption."""
    rows = [("jupyter_fstools/", caption(PACKAGE / "__init__.py")), *_rows_of(PACKAGE, "  ")]
    width = max(len(name) for name, _ in rows) + 2
    return _fenced("".join(f"{name:<{width}}{text}".rstrip() + "\n" for name, text in rows))


def _rows_of(folder: Path, indent: str) -> Iterator[tuple[str, str]]:
    for module in sorted(folder.glob("*.py")):
        if module.name != "__init__.py":
            yield indent + module.name, caption(module)
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield f"{indent}{package.name}/", caption(package / "__init__.py")
        yield from _rows_of(package, indent + "  ")


def floors() -> str:
    """The floors of the import contract, top down, each part with its caption."""
    rows = [
        (str(number), f"`{part}`", caption(module)) for number, parts in _floors() for part, module in parts.items()
    ]
    return _table(("floor", "part", "is"), rows)


def picture() -> str:
    """The floors of the import contract, top down, a line each."""
    return _fenced("".join(f"{number:>2}  {' | '.join(parts)}\n" for number, parts in _floors()))


def _floors() -> list[tuple[int, dict[str, Path]]]:
    """Each floor's number, from 1 at the bottom, and its parts: their modules by name, without those still to come."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "floors")
    named = [{name: _module(name) for name in re.findall(r"\w+", layer)} for layer in layers]
    there = [{name: module for name, module in floor.items() if module.exists()} for floor in named]
    there = [floor for floor in there if floor]
    return list(zip(range(len(there), 0, -1), there, strict=True))


def _module(name: str) -> Path:
    folder = PACKAGE / name
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def settings() -> str:
    """Every setting of `FsToolsConfig`: its default and its help text; below them the rules that are set by default."""
    from jupyter_fstools.config import FsToolsConfig

    traits = FsToolsConfig.class_traits(config=True)
    # In the order in which they are declared; traitlets sorts them by name.
    defaults = {name: traits[name].default() for name in vars(FsToolsConfig) if name in traits}
    rows = [(f"`{name}`", _default(name, value), _literal(traits[name].help)) for name, value in defaults.items()]
    lists = "".join(
        f"\n### `{name}`\n\n{_fenced(''.join(f'{one}{chr(10)}' for one in value))}"
        for name, value in defaults.items()
        if isinstance(value, list) and len(value) > _FEW
    )
    return f"{_table(('setting', 'default', 'meaning'), rows)}\n## Rules set by default\n{lists}"


def _default(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "see below" if len(value) > _FEW else ", ".join(f"`{one}`" for one in value) or "none"
    if name.endswith("_bytes"):
        for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if value % size == 0:
                return f"{value // size} {unit}"
    return f"`{value}`" if value != "" else "none"


def tools() -> str:
    """Every tool with its description, as an assistant reads it, and its arguments."""
    from jupyter_fstools.tools import TOOLS

    text = ""
    for name, tool in TOOLS.items():
        kind = "only reads" if tool.reads_only else "runs commands" if tool.runs_commands else "writes"
        text += f"### `{name}`\n\n*{tool.title}; {kind}.* {_literal(_one_line(tool.description))}\n\n"
        schema = tool.arguments.model_json_schema(by_alias=False)
        rows = [
            (f"`{one}`", "yes" if one in schema.get("required", ()) else "", _literal(_meaning(part, schema)))
            for one, part in schema["properties"].items()
        ]
        text += _table(("argument", "required", "meaning"), rows) + "\n"
    return text


def _meaning(part: dict[str, Any], schema: dict[str, Any]) -> str:
    """The description of an argument, also of one that may be null, with its choices or the fields of its objects."""
    forms = (part, *part.get("anyOf", ()))
    said = next((form["description"] for form in forms if "description" in form), "")
    for form in forms:
        if "enum" in form:
            choices = (f"`{one}`" + " (default)" * (one == part.get("default")) for one in form["enum"])
            said += f" One of {', '.join(choices)}."
        if "$ref" in form.get("items", ()):
            fields = schema["$defs"][form["items"]["$ref"].rpartition("/")[2]]["properties"]
            named = ", ".join(f"`{one}`" for one in fields)
            said += f" Each has some of {named}; instead, those of a single one may stand beside `path`."
    return said


def subcommands() -> str:
    """Every subcommand of `%fs` with its help."""
    from jupyter_fstools.kernel import magic

    found = magic.SUBCOMMANDS.values()
    return "".join(f"### `%fs {one.name}`\n\n{one.summary}\n\n{_fenced(one.help + chr(10))}\n" for one in found)


def commands() -> str:
    """Every subcommand of `jupyter fstools`, and theirs, with its help."""
    from jupyter_fstools.command_line import app

    return "".join(f"### `{one.prog}`\n\n{_fenced(one.format_help())}\n" for one in _subparsers(app._parser()))


def _subparsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield one
                yield from _subparsers(one)


def configuration_of(client: McpClient) -> str:
    """The configuration of an MCP client: its file, an address and a command in its form, its own page."""
    form = "toml" if client.form == "toml" else "json"
    words = ["jupyter-fstools", "mcp", "--root", "/path/to/the/folder"]
    entries = (
        address_entry(client, "http://localhost:8888/api/fstools/mcp", "fst_..."),
        command_entry(client, words, "fst_..."),
    )
    where = f"`{client.file}`" if client.file else "the client's configuration"
    blocks = "".join(f"```{form}\n{configuration(client, 'jupyter', entry)}```\n\n" for entry in entries)
    return f"In {where}, in [this form]({client.page}):\n\n{blocks}"


def routes() -> str:
    """Every route of the REST interface that the OpenAPI document describes."""
    from jupyter_fstools.server.routes import ROUTES

    rows = [
        (
            ", ".join(f"`{method.upper()} {path}`" for path in route.spelled_out()),
            (getattr(route.handler, method).__doc__ or "").partition("\n")[0],
        )
        for route in ROUTES
        for method in _HTTP_METHODS
        if method in route.operations
    ]
    return _table(("method and path", "does"), rows)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    cells = [[_one_line(cell).replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def _literal(text: str) -> str:
    """Text that was not written as Markdown, with nothing of it read as markup but code between backticks."""
    pieces = text.split("`")
    pieces[::2] = [_MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fenced(text: str) -> str:
    return f"```text\n{text}```\n"


PARTS: dict[str, Callable[[], str]] = {
    part.__name__: part for part in (modules, floors, settings, tools, subcommands, commands, routes)
} | {f"client_{name.replace('-', '_')}": partial(configuration_of, client) for name, client in CLIENTS.items()}
"""By the name under which a page asks for them."""


def main(arguments: list[str]) -> int:
    """Renew the floors in CONTRIBUTING; 1 where `--check` finds them out of date."""
    text = CONTRIBUTING.read_text("utf-8")
    renewed = _FLOORS.sub(lambda found: found[1] + picture() + found[2], text)
    if "--check" not in arguments:
        CONTRIBUTING.write_text(renewed, "utf-8")
    elif renewed != text:
        sys.stderr.write(f"{CONTRIBUTING.name}: the floors have changed; run `make floors`\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
