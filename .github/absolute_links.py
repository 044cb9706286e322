"""Make the README's links work on PyPI, and add the project's addresses: `python absolute_links.py URL REF`.

The release workflow runs it before it builds, with the address of the repository that it runs in.
"""

import re
import sys
from pathlib import Path

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")
_PLACES = {
    "Source": "",
    "Documentation": "/tree/{ref}/docs",
    "Changes": "/blob/{ref}/CHANGELOG.md",
    "Issues": "/issues",
}


def main(url: str, ref: str) -> None:
    """Rewrite README.md and pyproject.toml of the current folder."""
    readme = Path("README.md")
    text = readme.read_text("utf-8")
    readme.write_text(
        _LINK.sub(lambda link: f"{link[1]}[{link[2]}]({url}/{'raw' if link[1] else 'blob'}/{ref}/{link[3]})", text),
        "utf-8",
    )
    project = Path("pyproject.toml")
    rows = "".join(f'{name} = "{url}{place.format(ref=ref)}"\n' for name, place in _PLACES.items())
    project.write_text(f"{project.read_text('utf-8').rstrip()}\n\n[project.urls]\n{rows}", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
