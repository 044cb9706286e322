"""Implements the `%fs` subcommands for files, changes and sessions."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable

from ..errors import Invalid, NotFound
from ..journal.listing import ChangeQuery
from ..plain_text import change_row, fact_rows, unified_diffs
from ..search.regex.dialect import compile_expression
from .arguments import argument, subcommand
from .desk import Desk
from .edit_blocks import called_with_edits
from .result import FurtherMatches, KernelResult, no_matches

_STATUSES = ("proposed", "applied", "rejected", "undone")
_EDITING = {"old": "old_string", "new": "new_string"}
_MOST_STEPS = 4_000_000
"""Steps that a pattern may take in a line: some milliseconds."""


@subcommand(
    "read",
    argument("path", help="the file, relative to the root"),
    argument("--offset", metavar="N", help="first line to show, 1-based"),
    argument("--limit", metavar="N", help="how many lines to show"),
    argument("--pages", metavar="P", help="pages of a PDF, such as 3 or 1-5"),
    argument("--no-numbers", dest="line_numbers", action="store_false", help="without line numbers"),
    argument("--encoding", metavar="E", help="encoding, if the file is not UTF-8 and does not declare it"),
    argument("--column", metavar="N", help="first character of the first line to show"),
    tool="read_file",
)
def read(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show a file, or a window of its lines; what was shown may be edited."""
    # A person who runs the line again wants to see the text again; only an assistant still has the earlier answer.
    result = desk.call("read_file", {**vars(given), "force": True})
    result.numbered = getattr(given, "line_numbers", True)
    return result


@subcommand(
    "ls",
    argument("path", nargs="?", help="the folder, relative to the root (default: the root)"),
    argument("-r", "--recursive", action="store_true", help="list everything below it too"),
    argument("--limit", metavar="N", help="list at most N entries"),
    argument("--offset", metavar="N", help="skip the first N entries"),
    tool="list_files",
)
def ls(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """List a folder."""
    return desk.call("list_files", vars(given))


@subcommand(
    "glob",
    argument("pattern", help="such as *.py (at any depth), /*.py (here only), src/**/*.{py,md}"),
    argument("path", nargs="?", help="the folder to search (default: the root)"),
    argument("--sort", choices=["modified", "path"], help="newest first (the default), or by path"),
    argument("--hidden", dest="include_hidden", action="store_true", help="include names that begin with a dot"),
    argument("--no-ignore", dest="include_ignored", action="store_true", help="include what .gitignore excludes"),
    argument("--limit", metavar="N", help="list at most N files"),
    argument("--offset", metavar="N", help="skip the first N files"),
    tool="glob",
)
def glob(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Find files by name."""
    return desk.call("glob", vars(given))


@subcommand(
    "grep",
    argument("pattern", help="a regular expression; put -- before one that begins with a dash"),
    argument("path", nargs="?", help="the folder or file to search (default: the root)"),
    argument("-i", dest="case_insensitive", action="store_true", help="ignore case"),
    argument("-F", dest="literal", action="store_true", help="the pattern is plain text"),
    argument("-U", dest="multiline", action="store_true", help="a match may span lines"),
    argument("-A", dest="after_lines", metavar="N", help="lines to show after each match"),
    argument("-B", dest="before_lines", metavar="N", help="lines to show before each match"),
    argument("-C", dest="context", metavar="N", help="lines to show before and after each match"),
    argument("--glob", metavar="G", help="only files that match, such as *.py; !*.md: all others"),
    argument("--type", dest="file_type", metavar="T", help="only files of a type, such as py"),
    argument("-l", dest="output_mode", action="store_const", const="files", help="only the names of the files"),
    argument(
        "-c",
        dest="output_mode",
        action="store_const",
        const="count",
        help="only the number of matching lines",
    ),
    argument("--hidden", dest="include_hidden", action="store_true", help="include names that begin with a dot"),
    argument("--no-ignore", dest="include_ignored", action="store_true", help="include what .gitignore excludes"),
    argument("--outputs", dest="include_outputs", action="store_true", help="search the outputs of notebooks too"),
    argument("--limit", metavar="N", help="show at most N lines"),
    argument("--offset", metavar="N", help="skip the first N lines"),
    argument("--no-total", dest="exact_total", action="store_const", const=False, help="stop at the limit; no total"),
    tool="grep",
)
def grep(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Search in files, and in the cells of notebooks."""
    result = desk.call("grep", vars(given))
    result.further_matches = _further_matches(given)
    return result


def _further_matches(given: Namespace) -> FurtherMatches:
    """Finds the matches of a line after its first one, the only one that the tool returns."""
    told = {name: bool(getattr(given, name, False)) for name in ("literal", "case_insensitive", "multiline")}
    expression = compile_expression(given.pattern, **told)
    degree = expression.degree
    if told["multiline"] or degree is None:
        return no_matches
    pattern = re.compile(expression.write_full(), re.MULTILINE | (re.IGNORECASE if expression.ignore_case else 0))

    def further(line: str, start: int) -> Iterable[re.Match[str]]:
        # A result has hundreds of lines: none are marked in one where the pattern may take long.
        steps = expression.factor * (len(line) - start) ** (degree + 1)
        return pattern.finditer(line, start) if steps <= _MOST_STEPS else ()

    return further


@subcommand(
    "write",
    argument("path", help="the file, relative to the root"),
    argument("--create-only", action="store_true", help="refuse if the file exists already"),
    argument("--encoding", metavar="E", help="encoding of a new file; an existing one keeps its own"),
    body="required",
    tool="write_file",
)
def write(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Write the rest of the cell into a file, exactly, final newline included.

    An existing file must have been read. IPython ends every cell with a newline, so the file ends with one.
    """
    return desk.call("write_file", {**vars(given), "content": body})


@subcommand(
    "edit",
    argument("path", help="the file, relative to the root"),
    argument("--old", metavar="S", help="the exact text to replace; it must occur exactly once"),
    argument("--new", metavar="S", help="the text to put in its place; '' to delete"),
    argument("--all", dest="replace_all", action="store_true", help="replace every occurrence"),
    argument(
        "--if-stale",
        choices=["refuse", "match"],
        help="match: accept a file that changed since it was read, if every old text still matches exactly once",
    ),
    body="optional",
    tool="edit_file",
    names=_EDITING,
)
def edit(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Replace exact text in a file that was read.

    In a line, --old and --new are literal: a backslash and an n are no newline. Longer texts go into the cell:
    %%fs edit PATH, and below it blocks

        <<<<<<< old
        the lines to replace
        =======
        the lines to put in their place
        >>>>>>> new

    or a JSON list of {"old_string": ..., "new_string": ..., "replace_all": false}. All or nothing. --all replaces
    every occurrence of each.
    """
    arguments = dict(vars(given))
    if body is None:
        missing = next((f"--{name}" for name in _EDITING if name not in arguments), None)
        if missing is not None:
            raise Invalid(
                f"%fs edit: {missing} is missing",
                hint="Give --old and --new, or use %%fs edit and put the edits into the cell.",
                field=missing,
            )
        return desk.call("edit_file", {_EDITING.get(name, name): value for name, value in arguments.items()})
    if _EDITING.keys() & arguments.keys():
        raise Invalid(
            "the edits are given in the line and in the cell", hint="Give them in one of the two.", field="edits"
        )
    shared = {"replace_all": arguments.pop("replace_all")} if "replace_all" in arguments else {}
    return called_with_edits(body, lambda edits: desk.call("edit_file", {**arguments, "edits": edits}), shared)


@subcommand(
    "undo",
    argument("target", nargs="?", metavar="ID|PATH", help="a change, or a file whose newest change is meant"),
    tool="undo",
)
def undo(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Undo a change of this session: the newest one, unless another is named.

    It works while the file still has the content that the change left.
    """
    target = getattr(given, "target", None)
    if target is None:
        return desk.call("undo", {"change_id": desk.newest_own_change().id})
    try:
        found = desk.files.change(target)
    except NotFound:
        return _newest_of(desk, target)
    return desk.call("undo", {"change_id": found.id})


def _newest_of(desk: Desk, path: str) -> KernelResult:
    try:
        return desk.call("undo", {"path": path})
    except NotFound as refusal:
        if "waiting" not in refusal.details:
            refusal.hint = "Name a change of this session (`changes` lists them)."
        raise


@subcommand(
    "changes",
    argument("path", nargs="?", help="only changes of this file, or below this folder"),
    argument("--session", metavar="NAME", help="only changes of this session"),
    argument("--status", choices=_STATUSES, help="only changes with this status"),
    argument("--limit", metavar="N", type=int, help="list at most N (default 20)"),
)
def changes(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """List the changes of all sessions, newest first."""
    query = {"limit": 20, **vars(given)}
    if query["limit"] < 1:
        raise Invalid(f"limit: takes 1 or more, got {query['limit']}", hint="Correct the limit.", field="limit")
    wanted = ChangeQuery(**query)
    found, total = desk.files.changes(wanted)
    rows = ["  ".join(change_row(change)) for change in found] or ["There are no changes."]
    if total > wanted.limit:
        rows.append(f"[{total} changes in all; --limit {total} lists them]")
    data = {"changes": [change.model_dump(mode="json") for change in found], "total": total}
    return KernelResult.of_text("changes", "\n".join(rows), data)


@subcommand("diff", argument("change_id", metavar="ID", help="the change"))
def diff(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show what one change did."""
    change = desk.files.change(given.change_id)
    text = "\n".join(["  ".join(change_row(change)), *unified_diffs(change)])
    return KernelResult.of_text("diff", text, {"change": change.model_dump(mode="json")}, change)


@subcommand("session", argument("name", nargs="?", metavar="NAME", help="the session to switch to"))
def session(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show the session, or switch to another one: its receipts count from then on."""
    name = getattr(given, "name", None)
    if name is not None:
        desk.switch(name)
    return KernelResult.of_text("session", f"Session: {desk.session}", {"session": desk.session})


@subcommand("status")
def status(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show the root, the session, and what is switched on."""
    data = desk.files.status()
    return KernelResult.of_text("status", "\n".join(f"{name}: {fact}" for name, fact in fact_rows(data)), data)
