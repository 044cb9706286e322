"""Lists MCP clients with the form of their configuration."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..errors import Invalid
from . import toml_text
from .json_text import Member, added, line_end, members, plain_json, replaced

Entry = dict[str, Any]
"""One server's entry in a client's configuration."""


class McpClient(NamedTuple):
    """An MCP client.

    Attributes:
        name: its name on the command line.
        title: its name for people.
        file: its configuration file, relative to the home (`~/`) or to the project's folder; None: it varies.
        folder: the environment variable that names another folder for that file.
        key: the member of that file that holds the servers.
        page: address of the documentation of its configuration.
        url: the member of an entry that holds an address.
        more: further members of an entry with an address, beside the headers.
        always: further members of every entry.
        form: JSON with the servers by name, JSON with a list of them, or TOML.
    """

    name: str
    title: str
    file: str | None
    key: str
    page: str
    url: str = "url"
    more: Mapping[str, str] = {}
    always: Mapping[str, bool] = {}
    form: Literal["json", "list", "toml"] = "json"
    folder: str = ""

    def file_below(self, project: str) -> Path | None:
        """Its configuration file here; None if unknown.

        Args:
            project: the folder of the project.
        """
        if self.file is None:
            return None
        if named := os.environ.get(self.folder):
            return Path(named, Path(self.file).name)
        try:
            return Path(self.file).expanduser() if self.file.startswith("~") else Path(project, self.file)
        except RuntimeError:  # The user's home cannot be determined.
            return None


_TYPE = {"type": "http"}
# Otherwise a conversation may begin before the command has started, and then only a search finds its tools.
_LOADED = {"alwaysLoad": True}
CLIENTS: Mapping[str, McpClient] = {
    client.name: client
    for client in (
        McpClient(
            "claude-code", "Claude Code", "~/.claude.json", "mcpServers",
            "https://code.claude.com/docs/en/mcp", more=_TYPE, always=_LOADED, folder="CLAUDE_CONFIG_DIR",
        ),
        McpClient(
            "codex", "Codex", "~/.codex/config.toml", "mcp_servers",
            "https://developers.openai.com/codex/mcp", form="toml", folder="CODEX_HOME",
        ),
        McpClient(
            "vscode", "VS Code", ".vscode/mcp.json", "servers",
            "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration", more=_TYPE,
        ),
        McpClient("cursor", "Cursor", "~/.cursor/mcp.json", "mcpServers", "https://cursor.com/docs/mcp"),
        McpClient("zed", "Zed", "~/.config/zed/settings.json", "context_servers", "https://zed.dev/docs/ai/mcp"),
        McpClient(
            "gemini-cli", "Gemini CLI", "~/.gemini/settings.json", "mcpServers",
            "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md", url="httpUrl",
        ),
        McpClient(
            "jupyter-ai", "Jupyter AI", ".jupyter/mcp_settings.json", "mcp_servers",
            "https://github.com/jupyter-ai-contrib/jupyter-ai-persona-manager", more=_TYPE, form="list",
        ),
        McpClient(
            "generic", "Another client", None, "mcpServers",
            "https://modelcontextprotocol.io/docs/develop/connect-local-servers", more=_TYPE,
        ),
    )
}  # fmt: skip
"""The clients whose configuration is known, by name."""


TOKEN_VARIABLE = "JUPYTER_TOKEN"  # noqa: S105  # The name of Jupyter's own variable, not a token.
_FOLDERS = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "JUPYTER_PLATFORM_DIRS")
_HUB_URL = "JUPYTERHUB_PUBLIC_URL"


def mcp_address(server: str) -> str:
    """The address at which a client reaches a server's `/mcp`; the public one of JupyterHub if that is set.

    Args:
        server: the server's own address.
    """
    return endpoint_of(os.environ.get(_HUB_URL) or server)


def endpoint_of(server: str) -> str:
    """The address of a server's `/mcp`, below the server's own address."""
    return f"{server.rstrip('/')}/api/fstools/mcp"


class McpServer(NamedTuple):
    """A server in a client's configuration.

    Attributes:
        client: the client with the configuration.
        name: the server's name in it.
        entry: the server's entry in it.
    """

    client: McpClient
    name: str
    entry: Entry

    @property
    def configuration(self) -> str:
        """A configuration with this one server."""
        return configuration(self.client, self.name, self.entry)


def server_of(client: McpClient, name: str, secret: str, *, url: str, command: Sequence[str] = ()) -> McpServer:
    """This server as an entry for a client.

    Args:
        client: the client with the configuration.
        name: the name of its token.
        secret: the token.
        url: the address at which the client reaches the server's `/mcp`.
        command: the options of `jupyter fstools mcp` that select the server, for a client that starts a command
            instead of calling an address.
    """
    # The full path selects this environment, whatever the client's PATH is.
    words = [str(Path(sys.executable).with_name("jupyter-fstools")), "mcp", *command]
    entry = command_entry(client, words, secret, jupyter_folders()) if command else address_entry(client, url, secret)
    return McpServer(client, "jupyter" if name == client.name else f"jupyter-{name}", entry)


def address_entry(client: McpClient, url: str, token: str) -> Entry:
    """The entry for a server that is reached over HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    if client.form == "toml":
        return {"url": url, "http_headers": headers}
    return {**client.more, client.url: url, "headers": _named(client, headers), **client.always}


def jupyter_folders() -> dict[str, str]:
    """The set variables that locate runtime files; some clients pass no variables on to the command."""
    return {name: os.environ[name] for name in _FOLDERS if os.environ.get(name)}


def command_entry(
    client: McpClient, words: Sequence[str], token: str, folders: Mapping[str, str] = MappingProxyType({})
) -> Entry:
    """The entry for a server behind a command on standard input and output; `folders` are `jupyter_folders`."""
    environment = _named(client, {TOKEN_VARIABLE: token, **folders})
    entry: Entry = {"command": words[0], "args": list(words[1:]), "env": environment, **client.always}
    return {"type": "stdio", **entry} if client.name == "vscode" else entry


def configuration(client: McpClient, server: str, entry: Entry) -> str:
    """A client's configuration with one server."""
    if client.form == "toml":
        return toml_text.table(client.key, server, entry)
    return json.dumps({client.key: _alone(client, server, entry)}, indent=2) + "\n"


def merged(client: McpClient, text: str, server: str, entry: Entry) -> str:
    """A client's configuration with a server added; it replaces an entry of the same name.

    Every other character of the text stays the same. In TOML an entry keeps what else the person set in it.

    Raises:
        Invalid: the configuration cannot be read, has the servers or this one twice, or (in TOML) has this one in
            another form than a table with a line for each member.
    """
    import tomllib

    if text.startswith("\ufeff"):  # A byte order mark, as editors on Windows write it.
        return "\ufeff" + merged(client, text[1:], server, entry)
    if client.form != "toml" and not plain_json(text).strip():
        end = line_end(text)
        text = f"{text.rstrip()}{end}{{}}{end}".lstrip()  # Comments alone are no JSON.
    try:
        there = tomllib.loads(text) if client.form == "toml" else json.loads(plain_json(text))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _unreadable(client, f"it is not valid {'TOML' if client.form == 'toml' else 'JSON'}: {reason}") from None
    known = there.get(client.key) if isinstance(there, dict) else None
    if not isinstance(there, dict) or not isinstance(known, (list if client.form == "list" else dict, type(None))):
        raise _unreadable(client, f"{client.key} has another form")
    if client.form != "toml":
        return _merged_json(client, text, server, entry)
    return _merged_toml(client, text, server, entry, there)


def _merged_toml(client: McpClient, text: str, server: str, entry: Entry, there: dict[str, Any]) -> str:
    import tomllib

    known = there.get(client.key, {})
    own = known.get(server)
    told = (toml_text.added if own is None else toml_text.replaced)(text, client.key, server, entry)
    try:
        of_person = {name: value for name, value in (own or {}).items() if name not in toml_text.MEMBERS}
        fits = tomllib.loads(told) == {**there, client.key: {**known, server: {**of_person, **entry}}}
    except (AttributeError, tomllib.TOMLDecodeError):  # Not a table; or a table after an inline one of the same name.
        fits = False
    if not fits:
        raise _unreadable(
            client, f"{server!r} cannot be {'added to' if own is None else 'replaced in'} its {client.key}"
        )
    return told


def _merged_json(client: McpClient, text: str, server: str, entry: Entry) -> str:
    holders = [member for member in members(text) if member.name == client.key]
    if len(holders) > 1:
        raise _unreadable(client, f"it has {client.key} twice")
    if not holders:
        return added(text, 0, client.key, _alone(client, server, entry), 1)
    [holder] = holders
    if holder.value is None:
        return replaced(text, holder, _alone(client, server, entry), 1)
    same = [member for member in members(text, holder.start) if _name(member) == server]
    if len(same) > 1:
        raise _unreadable(client, f"it has the server {server!r} twice")
    new = {"name": server, **entry} if client.form == "list" else entry
    if same:
        return replaced(text, same[0], new, 2)
    return added(text, holder.start, None if client.form == "list" else server, new, 2)


def _name(member: Member) -> Any:
    """A server's name: the name of its member or, in a list, its own member `name`."""
    return member.value.get("name") if member.name is None and isinstance(member.value, dict) else member.name


def _alone(client: McpClient, server: str, entry: Entry) -> Any:
    return [{"name": server, **entry}] if client.form == "list" else {server: entry}


def _named(client: McpClient, values: Mapping[str, str]) -> Any:
    if client.form == "list":
        return [{"name": name, "value": value} for name, value in values.items()]
    return dict(values)


def _unreadable(client: McpClient, why: str) -> Invalid:
    return Invalid(
        f"the configuration of {client.title} is left as it is: {why}",
        hint="Add it by hand: without --write it is shown.",
    )
