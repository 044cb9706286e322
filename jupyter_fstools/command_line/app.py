"""Parses `jupyter fstools` subcommands and prints refusals.

The arguments are read by argparse, not by a traitlets application: the bridge starts with every assistant, and has no
settings of its own.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from .._version import __version__
from ..client.configurations import TOKEN_VARIABLE
from ..errors import FsToolsError, InputOutput, Invalid, NotFound
from ..sessions import TOKEN_PREFIX, checked_session
from .connect import add_connect_words, add_token_words, run_connect
from .finding import find_server

if TYPE_CHECKING:
    from .desks import Desk

_STATUSES = ("proposed", "applied", "rejected", "undone")
_MOST_CHANGES = 1000
_MOST_LEFT_OUT = 1_000_000_000


def main(words: Sequence[str] | None = None) -> int:
    """Run a subcommand; the exit code is 0, 1 for a refusal, 2 for arguments that do not fit."""
    _open_missing_streams()
    given = _parser().parse_args(words)
    run: Callable[[argparse.Namespace], None] = given.run
    try:
        run(given)
        sys.stdout.flush()
    except FsToolsError as refusal:
        return _refused(refusal)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output has closed it; at exit Python would flush stdout and report the error once more.
        sys.stdout = sys.stderr
        return 1
    except OSError as error:
        from ..own_folders import FULL

        hint = "Is the folder still there?"
        if error.errno in FULL:
            hint = "Free some space."
            sys.stdout = sys.stderr  # As above, if the output goes to that disk.
        return _refused(InputOutput(str(error), hint=hint))
    return 0


def _open_missing_streams() -> None:
    """Open the standard streams that are closed where the command is started; Python has None in their places."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # Open to the end, as they are.


def run_bridge(given: argparse.Namespace) -> None:
    """Bridge standard input and output to the server's `/mcp`."""
    from .bridge import Bridge

    session = None if given.session is None else checked_session(given.session)
    outgoing = io.FileIO(sys.stdout.fileno(), "w", closefd=False)  # Unbuffered, to send each answer at once.
    find = partial(find_server, given.root, given.url, login=_own_token())
    Bridge(find, session, sys.stdin.buffer, outgoing).run()


def run_status(given: argparse.Namespace) -> None:
    """Print which server is found and what is switched on."""
    from ..plain_text import fact_rows

    rows = fact_rows(_desk(given).status())
    width = max(len(name) for name, _ in rows)
    _say(f"{name:<{width}}  {fact}" for name, fact in rows)


def run_changes(given: argparse.Namespace) -> None:
    """List the journal."""
    from ..journal.listing import ChangeQuery
    from ..plain_text import change_row, lines_of, unified_diffs

    path = None if given.path is None else _path(given, given.path)
    session = None if given.session is None else checked_session(given.session)
    query = ChangeQuery(path=path, session=session, status=given.status, limit=given.limit, offset=given.offset)
    found, total = _desk(given).changes(query)
    for change in found:
        _say(["  ".join(change_row(change))])
        if given.diff:
            for text in unified_diffs(change):
                _say([*lines_of(text), ""])
    if not found:
        _say(["There are no changes." if not total else "There are no more changes."])
    shown = query.offset + query.limit
    if total > shown:
        _say([f"[{total - shown} more; --offset {shown} shows the next, --limit N up to {_MOST_CHANGES} at once]"])


def run_undo(given: argparse.Namespace) -> None:
    """Take back a change, as a person."""
    from ..plain_text import one_line

    done = _desk(given).undo(given.target, _path(given, given.target))
    _say([f"Undid change {done.undoes} of {one_line(done.path)} (as change {done.id})."])


def run_token(given: argparse.Namespace) -> None:
    """Make, list or revoke tokens, as a person."""
    act: Callable[[argparse.Namespace, Desk], Iterable[str]] = given.act
    _say(act(given, _desk(given)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter fstools", description="Safe file and notebook tools for AI assistants, from a shell."
    )
    parser.add_argument("--version", action="version", version=__version__)
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--root", metavar="DIR", default=".", help="the server's folder (default: the current one)")
    where.add_argument(
        "--url", help=f"the address of a server that does not run here; its token is taken from {TOKEN_VARIABLE}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], None], summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[where], help=summary, description=f"{summary}.")
        added.set_defaults(run=run)
        return added

    bridge = command("mcp", run_bridge, "Serve MCP on standard input and output, through the running Jupyter server")
    bridge.add_argument("--session", metavar="NAME", help="work in this session (default: one of the client's own)")
    add_connect_words(
        command(
            "connect", run_connect, "Make a token and a configuration for an assistant, and wait for its first call"
        )
    )
    command("status", run_status, "Show which server is found, what is switched on, and how many changes wait")
    changes = command("changes", run_changes, "List the changes of all sessions, newest first")
    changes.add_argument("path", nargs="?", help="only changes of this file, or below this folder")
    changes.add_argument("--diff", action="store_true", help="show the diff of each change")
    changes.add_argument("--session", metavar="NAME", help="only changes of this session")
    changes.add_argument("--status", choices=_STATUSES, help="only changes with this status")
    limit, offset = _number(1, _MOST_CHANGES), _number(0, _MOST_LEFT_OUT)
    changes.add_argument("--limit", metavar="N", type=limit, default=20, help="list at most N (default 20)")
    changes.add_argument("--offset", metavar="N", type=offset, default=0, help="skip the newest N")
    undo = command("undo", run_undo, "Take back a change, whoever made it, while the file is as the change left it")
    undo.add_argument("target", metavar="ID|PATH", help="the change, or a file whose newest change is meant")
    summary = "Make, list and revoke tokens for assistants"
    token = commands.add_parser("token", help=summary, description=f"{summary}.")
    token.set_defaults(run=run_token)
    add_token_words(token, where)
    return parser


def _own_token() -> str:
    """The assistant's own token, if the environment has one."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    return token if token.startswith(TOKEN_PREFIX) else ""


def _desk(given: argparse.Namespace) -> Desk:
    from .desks import ServerDesk, StoreDesk

    try:
        return ServerDesk(find_server(given.root, given.url))
    except NotFound:
        if given.url is not None:
            raise
        return StoreDesk(given.root)


def _path(given: argparse.Namespace, path: str) -> str:
    """An absolute path, resolved as the shell does; on another machine it stays relative to the root there."""
    return path if given.url is not None else os.path.abspath(path)


def _number(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of numbers from `least` to `most`."""

    def read(word: str) -> int:
        # `int` raises an error for numbers with thousands of digits.
        if not word.isdecimal() or len(word) > 20 or not least <= int(word) <= most:
            raise argparse.ArgumentTypeError(f"takes a number from {least} to {most}")
        return int(word)

    return read


def _say(lines: Iterable[str]) -> None:
    # Names and contents may have characters that the terminal's encoding lacks; they are shown as escapes.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _refused(refusal: FsToolsError) -> int:
    from ..plain_text import lines_of, one_line

    lines = [f"jupyter fstools: {one_line(refusal.message)}"]
    if refusal.hint:
        lines.append(f"Hint: {one_line(refusal.hint)}")
    lines += lines_of(str(refusal.details.get("diff", "")))
    sys.stderr.writelines(f"{line}\n" for line in lines)
    return 2 if isinstance(refusal, Invalid) else 1
