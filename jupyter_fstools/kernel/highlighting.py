"""Highlights source as HTML in the colours of JupyterLab's theme."""

from __future__ import annotations

from html import escape

from ..plain_text import one_line

_MOST_CHARACTERS = 64 << 10

COLOURS = {
    "k": ("Keyword", "keyword", "#008000"),
    "s": ("Literal.String", "string", "#ba2121"),
    "m": ("Literal.Number", "number", "#088008"),
    "c": ("Comment", "comment", "#408080"),
    "b": ("Name.Builtin", "builtin", "#0080a0"),
    "d": ("Name.Function", "def", "#2060d0"),
    "n": ("Name.Class", "def", "#2060d0"),
    "a": ("Name.Decorator", "meta", "#a030f0"),
    "o": ("Operator.Word", "keyword", "#008000"),
    "t": ("Name.Tag", "tag", "#008000"),
}
"""CSS class: Pygments' token, the theme's variable, the colour without a theme."""


def styles() -> str:
    """The style rules of the coloured words."""
    return "".join(
        f".fstools .fs-{css}{{color:var(--jp-mirror-editor-{variable}-color,{colour})}}"
        for css, (_, variable, colour) in COLOURS.items()
    )


def as_typed(line: str) -> str:
    """A line of HTML with its spaces kept, also where the styles are taken out or the page is written anew."""
    return f"<pre>{line}</pre>"


def highlighted_lines(path: str, text: str) -> list[str]:
    """The lines of a text as HTML; plain where the name tells no language or there is too much of it."""
    try:
        # Pygments comes with IPython, and without types.
        from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
        from pygments.util import ClassNotFound  # type: ignore[import-untyped]
    except ImportError:
        return _plain(text)
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return _plain(text)
    if len(text) > _MOST_CHARACTERS:
        return _plain(text)
    lines = [""]
    for token, value in lexer.get_tokens(text):
        css = _class_of(str(token))
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append("")
            shown = escape(one_line(part.removesuffix("\r")))
            lines[-1] += f'<span class="fs-{css}">{shown}</span>' if css and shown else shown
    return lines


def _class_of(token: str) -> str:
    name = token.removeprefix("Token.")
    return next((css for css, (prefix, _, _) in COLOURS.items() if name.startswith(prefix)), "")


def _plain(text: str) -> list[str]:
    return [escape(one_line(line.removesuffix("\r"))) for line in text.split("\n")]
