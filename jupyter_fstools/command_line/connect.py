"""Connects assistants; makes, lists and revokes their tokens."""

from __future__ import annotations

import argparse
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from ..client.configurations import CLIENTS, McpClient, McpServer, endpoint_of, mcp_address, merged, server_of
from ..client.requests import ON_A_SOCKET, ask, understood
from ..client.runtime_files import JupyterServer
from ..errors import FsToolsError, InputOutput, NotFound
from ..sessions import checked_session, token_ids
from .finding import find_server

if TYPE_CHECKING:
    from ..stores.records import Token
    from .desks import Desk

_BY_HAND = "Add it by hand: without --write it is shown."
_WAIT_SECONDS = 30
_DAY = 86400.0


def add_connect_words(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter fstools connect` beside the options of all commands."""
    parser.add_argument("client", choices=CLIENTS, help="the assistant's program")
    parser.add_argument(
        "--name",
        default=None,
        help="name of the token and the session (default: the client's); the entry is then called jupyter-NAME",
    )
    parser.add_argument(
        "--tools",
        choices=("read", "write"),
        default="write",
        help="what the token allows: reading, or writing too (default)",
    )
    parser.add_argument(
        "--stdio", action="store_true", help="configure a command that finds the server, instead of its address"
    )
    parser.add_argument("--write", action="store_true", help="write the configuration without asking")
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        default=300,
        help="how long to wait for the first call; 0: not at all (default 300)",
    )


def run_connect(given: argparse.Namespace) -> None:
    """Make a token, show or write the configuration, and wait for the first call."""
    from ..plain_text import one_line

    client = CLIENTS[given.client]
    name = checked_session(given.name or client.name, "name")
    server = find_server(given.root, given.url)
    file = client.file_below(given.root)
    where = ("--url", given.url) if given.url else ("--root", os.path.abspath(given.root))
    # An address that the person gave is used as it is, also on a hub.
    url = endpoint_of(server.url) if given.url else mcp_address(server.url)
    # Clients know no addresses of Unix sockets; the command does.
    by_command = given.stdio or url.startswith(f"{ON_A_SOCKET}:")

    def with_token(secret: str) -> McpServer:
        return server_of(client, name, secret, url=url, command=where if by_command else ())

    unfit = None if file is None else _hindrance(file, with_token(""))
    if unfit is not None and given.write:
        raise unfit
    with understood(server, writes=True):
        token = ask(server, "POST", "/tokens", {"name": name, "tools": given.tools})
        token_id, entered = token["id"], with_token(token["token"])
    sys.stdout.write(entered.configuration)
    sys.stdout.flush()
    _tell(f"\n`jupyter fstools token revoke {token_id}` revokes its token.")
    _tell(f"This form is documented at {client.page}.")
    if unfit is not None:
        _tell(f"{one_line(unfit.message)}. Add it by hand.")
    elif file is not None and (given.write or _agrees(file)):
        replaced = _write(file, entered)
        _tell(f"Written to {file}. Restart {client.title}, or have it reload its MCP servers.")
        for old_id in replaced:
            with suppress(NotFound):  # It may be another server's.
                ask(server, "DELETE", f"/tokens/{old_id}")
                _tell(f"Revoked {old_id}, the token that was there before.")
    elif file is None and given.write:
        _tell(f"No file is known to write it to: put it where {client.title} keeps its MCP servers.")
    if given.wait:
        _wait(server, token_id, client, given.wait)


def _agrees(file: Path) -> bool:
    if not sys.stdin.isatty():
        _tell(f"Put it into {file}; --write does that.")
        return False
    sys.stderr.write(f"Write it to {file}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _hindrance(file: Path, server: McpServer) -> FsToolsError | None:
    """The reason why a server cannot be added to a client's file; checked before a token is made in vain."""
    try:
        _with_server(file, server)
    except FsToolsError as refusal:
        return refusal
    return None


def _with_server(file: Path, server: McpServer) -> tuple[str, str]:
    """The text of a client's file, and the same with a server added."""
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InputOutput(f"{file} is not a file", hint=_BY_HAND)
        if not mode & 0o222:  # Needed for root too: replacing a file checks only its folder.
            raise InputOutput(f"{file} is read-only (not modified)", hint=_BY_HAND)
        old = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        old = ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutput(f"{file} cannot be read: {error}", hint=_BY_HAND) from None
    return old, merged(server.client, old, server.name, server.entry)


def _write(file: Path, server: McpServer) -> set[str]:
    """Add a server to a client's file; return the ids of the tokens that it replaces there."""
    old, new = _with_server(file, server)
    place = Path(os.path.realpath(file))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Readable by the owner alone, as it holds a secret; the random name is safe in a folder of another user.
        descriptor, beside = mkstemp(".fstools", f".{place.name}.", place.parent)
        try:
            with open(descriptor, "wb") as out:
                out.write(new.encode("utf-8"))
            os.replace(beside, place)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise InputOutput(f"{file} cannot be written: {error}", hint="Add what is shown above by hand.") from None
    return token_ids(old) - token_ids(new)


def _wait(server: JupyterServer, token_id: str, client: McpClient, seconds: int) -> None:
    _tell(f"Waiting for the first call of {client.title} (Ctrl+C ends the waiting) ...")
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        with understood(server):
            told = ask(server, "GET", f"/tokens/{token_id}?wait={min(left, _WAIT_SECONDS):.1f}")
            is_used = told["last_used_at"] is not None
        if is_used:
            _tell(f"{client.title} has called: it works.")
            return
    waited = "1 second" if seconds == 1 else f"{seconds} seconds"
    _tell(f"No call came within {waited}. The token stays valid: restart {client.title}, and have it use a tool.")


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def add_token_words(parser: argparse.ArgumentParser, where: argparse.ArgumentParser) -> None:
    """Add the subcommands of `jupyter fstools token`, each with the options of `where`."""
    words = parser.add_subparsers(metavar="WORD", required=True)

    def word(name: str, act: Callable[[argparse.Namespace, Desk], Iterable[str]], summary: str) -> Any:
        added = words.add_parser(name, parents=[where], help=summary, description=f"{summary}.")
        added.set_defaults(act=act)
        return added

    create = word("create", _create, "Make a token; it is printed this one time and stored nowhere")
    create.add_argument("name", help="a name for the token")
    create.add_argument("--session", metavar="NAME", help="the session it works in (default: its name)")
    create.add_argument(
        "--tools",
        metavar="TOOLS",
        default="write",
        help="read, write (default), or names of tools, separated by commas",
    )
    create.add_argument(
        "--path",
        metavar="RULE",
        action="append",
        default=[],
        help="a rule as in .gitignore for its paths; repeatable",
    )
    days = create.add_mutually_exclusive_group()
    days.add_argument("--days", type=_days, default=30.0, help="days until it expires (default 30)")
    days.add_argument("--forever", action="store_true", help="it never expires")
    word("list", _list, "List your tokens, newest first, with their last use")
    revoke = word("revoke", _revoke, "Revoke a token; it is refused from then on")
    revoke.add_argument("id", help="its id, as `list` shows it")


def _create(given: argparse.Namespace, desk: Desk) -> Iterable[str]:
    tools = given.tools if given.tools in ("read", "write") else given.tools.split(",")
    seconds = None if given.forever else given.days * _DAY
    token, secret = desk.issue_token(given.name, given.session, tools, given.path, seconds)
    sys.stderr.write(f"{'  '.join(_row(token))}\nIt is shown only once: give it to the assistant now.\n")
    return [secret]


def _list(given: argparse.Namespace, desk: Desk) -> Iterable[str]:
    return ["  ".join(_row(token)) for token in desk.tokens()] or ["There are no tokens."]


def _revoke(given: argparse.Namespace, desk: Desk) -> Iterable[str]:
    desk.revoke_token(given.id)
    return [f"Revoked {given.id}."]


def _row(token: Token) -> list[str]:
    from ..plain_text import one_line

    tools = token.tools if isinstance(token.tools, str) else ",".join(token.tools)
    paths = " ".join(map(one_line, token.paths)) if token.paths else "all files"
    ends = "never expires" if token.expires_at is None else f"expires {_moment(token.expires_at)}"
    used = "not used" if token.last_used_at is None else f"used {_moment(token.last_used_at)}"
    return [token.id, one_line(token.name), f"session {token.session}", tools, paths, ends, used]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _seconds(word: str) -> int:
    if not word.isdecimal() or len(word) > 9:
        raise argparse.ArgumentTypeError("takes a number of seconds, 0 or more")
    return int(word)


def _days(word: str) -> float:
    try:
        days = float(word)
    except ValueError:
        days = 0
    if not 0 < days <= 36500:
        raise argparse.ArgumentTypeError("takes a number of days, 36500 at most")
    return days
