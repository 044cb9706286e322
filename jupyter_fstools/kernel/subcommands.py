"""Implements the subcommands of `%fs`, one function each."""

from __future__ import annotations

from argparse import Namespace

from ..documents.text.diff import unified
from ..errors import Invalid, NotFound
from ..journal.commands import is_command
from ..journal.journal import ChangeQuery
from ..plain_text import change_row, fact_rows
from ..stores.records import Change
from .arguments import argument, subcommand
from .desk import Desk
from .edit_blocks import edits_of
from .result import KernelResult

_STATUSES = ("proposed", "applied", "rejected", "undone")
_MOST_DIFF_BYTES = 256 << 10


@subcommand(
    "read",
    argument("path", help="the file, relative to the root"),
    argument("--offset", metavar="N", help="first line to show, 1-based"),
    argument("--limit", metavar="N", help="how many lines to show"),
    argument("--pages", metavar="P", help="pages of a PDF, such as 3 or 1-5"),
    argument("--no-numbers", dest="line_numbers", action="store_false", help="without line numbers"),
    argument("--force", action="store_true", help="show the text again even if it is unchanged since the last read"),
    argument("--encoding", metavar="E", help="if the file is not UTF-8 and does not say so itself"),
    argument("--column", metavar="N", help="first character to show of the first line"),
    tool="read_file",
)
def read(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show a file, or a window of its lines; what was shown may be edited."""
    result = desk.call("read_file", vars(given))
    result.numbered = getattr(given, "line_numbers", True)
    return result


@subcommand(
    "ls",
    argument("path", nargs="?", help="the folder, relative to the root; left out: the root"),
    argument("-r", "--recursive", action="store_true", help="everything below it too"),
    argument("--limit", metavar="N", help="at most so many entries"),
    argument("--offset", metavar="N", help="leave out so many entries first"),
    tool="list_files",
)
def ls(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """List a folder."""
    return desk.call("list_files", vars(given))


@subcommand(
    "glob",
    argument("pattern", help="such as *.py (at any depth), /*.py (here only), src/**/*.{py,md}"),
    argument("path", nargs="?", help="the folder to search; left out: the root"),
    argument("--sort", choices=["modified", "path"], help="newest first (the default), or by path"),
    argument("--hidden", dest="include_hidden", action="store_true", help="names that begin with a dot too"),
    argument("--no-ignore", dest="include_ignored", action="store_true", help="what .gitignore leaves out too"),
    argument("--limit", metavar="N", help="at most so many files"),
    argument("--offset", metavar="N", help="leave out so many files first"),
    tool="glob",
)
def glob(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Find files by name."""
    return desk.call("glob", vars(given))


@subcommand(
    "grep",
    argument("pattern", help="a regular expression; one that begins with a dash goes behind --"),
    argument("path", nargs="?", help="the folder or file to search; left out: the root"),
    argument("-i", dest="case_insensitive", action="store_true", help="fold case"),
    argument("-F", dest="literal", action="store_true", help="the pattern is plain text"),
    argument("-U", dest="multiline", action="store_true", help="a match may go over lines"),
    argument("-A", dest="after_lines", metavar="N", help="lines to show after each match"),
    argument("-B", dest="before_lines", metavar="N", help="lines to show before each match"),
    argument("-C", dest="context", metavar="N", help="both"),
    argument("--glob", metavar="G", help="only files that fit, such as *.py; !*.md: all others"),
    argument("--type", dest="file_type", metavar="T", help="only files of a kind, such as py"),
    argument("-l", dest="output_mode", action="store_const", const="files", help="only the files"),
    argument("-c", dest="output_mode", action="store_const", const="count", help="only how many lines match in each"),
    argument("--hidden", dest="include_hidden", action="store_true", help="names that begin with a dot too"),
    argument("--no-ignore", dest="include_ignored", action="store_true", help="what .gitignore leaves out too"),
    argument("--outputs", dest="include_outputs", action="store_true", help="the outputs of notebooks too"),
    argument("--limit", metavar="N", help="at most so many lines"),
    argument("--offset", metavar="N", help="leave out so many lines first"),
    argument("--no-total", dest="exact_total", action="store_const", const=False, help="end once the limit is reached"),
    tool="grep",
)
def grep(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Search in files, and in the cells of notebooks."""
    return desk.call("grep", vars(given))


@subcommand(
    "write",
    argument("path", help="the file, relative to the root"),
    argument("--create-only", action="store_true", help="refuse if the file exists already"),
    argument("--encoding", metavar="E", help="of a new file; an existing one keeps its own"),
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
    argument("--old", metavar="S", help="the exact text to replace; it must be there once"),
    argument("--new", metavar="S", help="the text to put in its place; '' to delete"),
    argument("--all", dest="replace_all", action="store_true", help="replace it wherever it stands"),
    argument(
        "--if-stale",
        choices=["refuse", "match"],
        help="match: go on although the file changed since it was read, if every old text still matches exactly once",
    ),
    body="optional",
    tool="edit_file",
)
def edit(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Replace exact text in a file that was read.

    In a line, --old and --new are literal: a backslash and an n are no newline. Longer texts go into the cell:
    %%fs edit PATH, and below it blocks of whole lines

        from .result import KernelResult

    or a JSON list of {"old_string": ..., "new_string": ..., "replace_all": false}. All or nothing.
    """
    arguments = dict(vars(given))
    names = {"old": "old_string", "new": "new_string"}
    if body is None:
        missing = next((f"--{name}" for name in names if name not in arguments), None)
        if missing is not None:
            raise Invalid(
                f"%fs edit: {missing} is missing",
                hint="Give --old and --new, or use %%fs edit and put the edits into the cell.",
                field=missing,
            )
        return desk.call("edit_file", {names.get(name, name): value for name, value in arguments.items()})
    if {"old", "new", "replace_all"} & set(arguments):
        raise Invalid(
            "the edits are given in the line and in the cell", hint="Give them in one of both.", field="edits"
        )
    return desk.call("edit_file", {**arguments, "edits": edits_of(body)})


@subcommand(
    "undo",
    argument("target", nargs="?", metavar="ID|PATH", help="a change, or a file whose newest change is meant"),
    tool="undo",
)
def undo(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Take back a change of this session; nothing named: the newest one.

    It works while the file still has the content that the change left.
    """
    target = getattr(given, "target", None)
    if target is None:
        return desk.call("undo", {"change_id": _newest_own_change(desk).id})
    try:
        found = desk.files.change(target)
    except NotFound:
        return desk.call("undo", {"path": target})
    return desk.call("undo", {"change_id": found.id})


@subcommand(
    "changes",
    argument("path", nargs="?", help="only of this file, or below this folder"),
    argument("--session", metavar="NAME", help="only of this session"),
    argument("--status", choices=_STATUSES, help="only with this status"),
    argument("--limit", metavar="N", type=int, help="at most so many (default 20)"),
)
def changes(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """List what was changed, newest first, by whichever session."""
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
    diffs = "\n".join(unified(file.diff, _MOST_DIFF_BYTES) for file in change.all_files)
    text = f"{'  '.join(change_row(change))}\n{diffs}"
    return KernelResult.of_text("diff", text, {"change": change.model_dump(mode="json")}, change)


@subcommand("session", argument("name", nargs="?", metavar="NAME", help="the session to go on in"))
def session(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show the session, or go on in another one: its receipts count from then on."""
    name = getattr(given, "name", None)
    if name is not None:
        desk.switch(name)
    return KernelResult.of_text("session", f"Session: {desk.session}", {"session": desk.session})


@subcommand("status")
def status(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show the root, the session, and what is switched on."""
    data = desk.files.status()
    return KernelResult.of_text("status", "\n".join(f"{name}: {fact}" for name, fact in fact_rows(data)), data)


def _newest_own_change(desk: Desk) -> Change:
    """The newest change of this session that still stands and is no step back itself."""
    page, user = 50, desk.files.user()
    for offset in range(0, 10_000, page):
        query = ChangeQuery(session=desk.session, status="applied", limit=page, offset=offset)
        found, _ = desk.files.changes(query)
        for change in found:
            if change.undoes is None and not is_command(change) and change.user == user:
                return change
        if len(found) < page:
            break
    raise NotFound(
        f"session {desk.session} has no change to undo (not modified)",
        hint="List the changes (`changes`) to see what there was.",
        session=desk.session,
    )
