"""Defines receipts, changes, refusals and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from ..diffs.file_diff import FileDiff

ChangeStatus = Literal["pending", "proposed", "applied", "rejected", "undone"]
"""`pending` is what is being written just now; nobody is shown it who does not ask for it by that status."""
Via = Literal["browser", "token", "command line"]
Place = Literal["disk", "document", "room"]


class Reader(NamedTuple):
    """Who reads: a user and one of their sessions. Receipts belong to a reader, locks to a file."""

    user: str
    session: str


class OpenDocument(NamedTuple):
    """A file that a page in a browser has open.

    Attributes:
        page: the name by which the server knows the page.
        key: the file (`FileStat.key`).
        saved: the page holds nothing that is not in the file.
        hash: SHA-256 of the file's bytes as the page loaded or saved them last; None where it does not know.
        counter: grows with each change of the document.
    """

    page: str
    key: str
    saved: bool
    hash: str | None = None
    counter: int = 0


class Receipt(BaseModel):
    """Proof that a reader was shown a file.

    Attributes:
        user: the reader's user.
        session: the reader's session.
        key: the file (`FileStat.key`).
        version: the file's version when it was last found to be what the reader saw.
        text_sha: SHA-256 of the LF-normalised bytes; None where the file was too large to be hashed for a window.
        exact_sha: SHA-256 of the bytes as they were; None as above.
        lines: the line ranges shown, 1-based and inclusive, sorted and disjoint; for a notebook the cells shown in the
            order of `cell_order`, counted alike.
        partly: long lines shown piece by piece from their beginning: up to which character.
        full: the union of what was shown is the whole file.
        views: the windows answered since the last own change, as their arguments spell them: a repeated one may be
            answered "unchanged".
        encoding: the encoding the caller named at the read, to be used again at the edit.
        cells: for a notebook, fingerprints of the cells shown, by cell id, each with the lines shown behind a colon
            where they are not all; None for other files.
        cell_order: for a notebook, a fingerprint of the order of its cells.
        read_at: when, in seconds since 1970.
        own_write: nothing was shown yet: the reader wrote the file, and knows it from there.
    """

    user: str
    session: str
    key: str
    version: str
    text_sha: str | None
    exact_sha: str | None
    lines: list[tuple[int, int]] = Field(default_factory=list)
    partly: dict[int, int] = Field(default_factory=dict)
    full: bool = False
    views: list[str] = Field(default_factory=list)
    encoding: str | None = None
    cells: dict[str, str] | None = None
    cell_order: str | None = None
    read_at: float
    own_write: bool = False

    @property
    def reader(self) -> Reader:
        """The reader of the receipt."""
        return Reader(self.user, self.session)


class FileState(BaseModel):
    """The state of a file at one moment: enough to recognise it, not enough to rebuild it.

    The digests are those of `Fingerprint`; None before a change of a file too large to be hashed for that alone.
    `on_disk` is the exact one of the file itself, where the content is that of a document with unsaved changes.
    """

    text_sha: str | None
    exact_sha: str | None
    size: int
    on_disk: str | None = None


ChosenHunks = list[int] | dict[str, list[int]]
"""Positions in the `hunks` of a text's diff, or in those of a notebook's cells, by cell id; a cell whose diff has no
hunks counts as one at position 0."""


class Decided(BaseModel):
    """A person's decision about a proposal, in detail.

    Attributes:
        taken: the hunks of the proposal that were carried out.
        rejected: those that were not.
        reason: what the person wrote about it.
        edited: the person wrote something else than what was proposed; the change's diff shows it.
    """

    taken: ChosenHunks
    rejected: ChosenHunks
    reason: str | None = None
    edited: bool = False


class CommandOutcome(BaseModel):
    """The outcome of a command that ran.

    Attributes:
        exit_code: the shell's; 128 + n where signal n ended it.
        output: the end of what it printed.
        cut: there was more before.
        note: why it was ended, if it was.
    """

    exit_code: int
    output: str
    cut: bool
    note: Literal["timed out", "cancelled"] | None = None


class ChangedFile(BaseModel):
    """The change of one file.

    Attributes:
        key: the file (`FileStat.key`), which clients are not told.
        path: relative to the root of the workspace that shows it.
        before: the file before the change; None if it did not exist.
        after: the file after it; None if the change deleted it.
        diff: its rows.
    """

    key: str = ""
    path: str
    before: FileState | None
    after: FileState | None
    diff: FileDiff


class Change(BaseModel):
    """A step by one reader: of one file, or of several at once.

    Attributes:
        id: a short unique word.
        revision: grows with every step any process makes in the journal (a new change, a new status); the store sets
            it. Following the journal is asking for what is above the last revision seen.
        key: the file (`FileStat.key`), of several the first; so are `path`, `before`, `after` and `diff`.
        path: relative to the root of the workspace that shows it.
        tool: the tool that made it; `undo` for a step back.
        user: the reader's user.
        session: the reader's session.
        created_at: when it was made or proposed, seconds since 1970.
        decided_at: when it was approved, rejected or undone.
        decided_by: the user who did.
        decided_via: how that came in: from a browser that is logged in, with Jupyter's token, or from the command line
            of this machine; None where nobody decided, or a program did.
        before: the file before the change; None if it did not exist.
        after: the file after it; None if the change deleted it.
        undoes: the id of the change that this one takes back.
        undoable: False where what it takes to go back was too large to keep.
        place: where the change landed: on the disk, in a document that a browser had open, or in a room where several
            edit together; of several files a room if one of them is in one, else a document if one is open.
        saved: the file has the change; False where a room had not saved it yet when the change was made.
        decided: what a person decided about a proposal; its diff and `after` are of what was carried out.
        told: the session that proposed it was told what was decided.
        seen_by: the users who have seen it and keep it.
        kept: the hunks that a user has seen and keeps, by user, until they are all of it.
        files: of a change of several files all of them, sorted by key; empty for a change of one.
        ran: of a command that has ended; None for all else.
        interrupted: its writer was killed, and the file had other content by the time anybody looked: whether the
            change was carried out cannot be told.
        account: the account of the system that made it (`system_user`); empty in records of earlier versions.
    """

    id: str
    revision: int = 0
    key: str
    path: str
    tool: str
    user: str
    session: str
    created_at: float
    decided_at: float | None = None
    decided_by: str | None = None
    decided_via: Via | None = None
    status: ChangeStatus
    before: FileState | None
    after: FileState | None
    diff: FileDiff
    undoes: str | None = None
    undoable: bool = True
    place: Place = "disk"
    saved: bool = True
    decided: Decided | None = None
    told: bool = False
    seen_by: list[str] = Field(default_factory=list)
    kept: dict[str, ChosenHunks] = Field(default_factory=dict)
    files: list[ChangedFile] = Field(default_factory=list)
    ran: CommandOutcome | None = None
    interrupted: bool = False
    account: str = ""

    @property
    def reader(self) -> Reader:
        """Who made it."""
        return Reader(self.user, self.session)

    @property
    def all_files(self) -> list[ChangedFile]:
        """Every file of it, one or several."""
        return self.files or [
            ChangedFile(key=self.key, path=self.path, before=self.before, after=self.after, diff=self.diff)
        ]

    def with_each(self, facts: Iterable[Mapping[str, Any]]) -> Change:
        """The same change with other facts about each of its files, one or several, in their order."""
        files = [file.model_copy(update=told) for file, told in zip(self.all_files, facts, strict=True)]
        first = files[0]
        own = {"path": first.path, "before": first.before, "after": first.after, "diff": first.diff}
        return self.model_copy(update={**own, "files": files if self.files else []})

    @property
    def title(self) -> str:
        """The file that it is of, or the first and how many more."""
        return self.path if len(self.files) < 2 else f"{self.path} and {len(self.files) - 1} more"

    @property
    def keys(self) -> list[str]:
        """The keys of all its files."""
        return [file.key for file in self.files] or [self.key]


class Refusal(BaseModel):
    """A call that was refused, as far as everybody who sees the root may know of it.

    Attributes:
        key: the file (`FileStat.key`); the root of the workspace where no file is told.
        path: relative to the root of the workspace that shows it; None where no file is told.
        user: the reader's user.
        session: the reader's session.
        tool: the tool that was called.
        code: the refusal's code.
        message: what was wrong, bounded.
        hint: the caller's next step, bounded.
        at: when, in seconds since 1970.
    """

    key: str
    path: str | None
    user: str
    session: str
    tool: str
    code: str
    message: str
    hint: str = ""
    at: float


class Token(BaseModel):
    """The rights of an assistant with a token of its own; the token itself is not kept.

    Attributes:
        id: names it, and opens nothing.
        user: the person who made it, and as whom it reads and writes.
        account: whose servers it opens; empty: those of `user`. Others may share the store.
        name: what that person calls it.
        session: the session it works in.
        tools: those that only read, those that write too (no commands), or these.
        paths: rules as in `.gitignore` for the files that it opens; empty: all.
        created_at: in seconds since 1970.
        expires_at: None: never.
        last_used_at: None: not yet.
    """

    id: str
    user: str
    account: str = ""
    name: str
    session: str
    tools: Literal["read", "write"] | list[str]
    paths: list[str] = Field(default_factory=list)
    created_at: float
    expires_at: float | None
    last_used_at: float | None = None

    @property
    def reader(self) -> Reader:
        """As whom it reads and writes."""
        return Reader(self.user, self.session)
