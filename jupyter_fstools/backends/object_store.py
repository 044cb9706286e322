"""Reads and writes files in an object store by conditional requests."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, InvalidPathError, PreconditionError
from obstore.store import AzureStore
from obstore.store import ObjectStore as Bucket

from ..content.source import Chunk
from ..errors import Conflict, FsToolsError, Invalid, TooLarge
from ..own_folders import data_folder
from .object_requests import (
    OneVersion,
    condition_of,
    explained,
    fetched_ahead,
    knowing_outcome,
    not_written,
    opened_bucket,
    require_conditions,
    version_of,
)
from .path_names import HIDDEN_PREFIX, canonical_parts, names_without_links
from .protocol import Entry, FileStat, OpenFile
from .system_errors import file_instead, folder_instead, missing, overtaken, refused
from .version_files import VersionFiles

MOST_WRITTEN_BYTES = 1 << 30
"""Maximum bytes of a write: a conditional write is a single request, held in memory."""
LONGEST_KEY = 1024
"""Maximum bytes of an object's name, prefixes included; a single part of it may be as long."""
WHOLE_BYTES = 64 << 20
"""Files up to this many bytes are fetched whole, once per version, as the gate hashes them; larger ones in windows."""
CACHE_BYTES = 1 << 30

_LOOKS = 20
_NOTED = "\0noted"
_MARK = "fstoolswrite"
"""Metadata key that identifies our own write when the answer to it was lost."""


class ObjectStore:
    """A bucket, or a prefix in one, as a `Backend`: `s3://bucket/prefix`, `gs://…`, `az://…`.

    A folder exists as long as a file is below it. The store has no links, modes, owners or locks: instead, a write or a
    removal is refused unless the file still has the version that was seen.

    Args:
        bucket: the store, opened at the prefix.
        address: the beginning of every key.
        versions: caches whole files; None: no cache.

    Raises:
        Invalid: the store does not take conditional writes.
    """

    def __init__(self, bucket: Bucket, address: str, versions: VersionFiles | None = None) -> None:
        self._bucket = bucket
        self._key = address.rstrip("/")
        self._prefix = self._key.partition("://")[2].partition("/")[2]
        self._versions = versions
        # Azure takes `a\b` for `a/b`: what the rules say of the one would not hold for the other.
        self._folds_backslash = isinstance(bucket, AzureStore)
        require_conditions(bucket, self._key)

    @classmethod
    def from_setting(cls, where: str, *, durable: bool) -> ObjectStore:
        """The backend for an address; `durable` has no effect, as a store confirms a write only once it is stored."""
        versions = VersionFiles(data_folder() / "objects", CACHE_BYTES)
        bucket = opened_bucket(where)
        # Two spellings of one prefix must give the same keys: "my%20project" and "my project".
        scheme, _, rest = where.partition("://")
        return cls(bucket, f"{scheme}://{rest.partition('/')[0]}/{getattr(bucket, 'prefix', None) or ''}", versions)

    @property
    def root_key(self) -> str:
        """The address."""
        return self._key

    def stat(self, path: str) -> FileStat:
        """Look at a path as a caller spells it; see `Backend.stat`."""
        plain = path.removeprefix("./")
        if plain and not {"", ".", ".."} & set(plain.split("/")):
            self._parts(plain)
            found = self._look(plain)
            # A folder that exists proves those above it; else one of them may be a file.
            if found.kind == "missing" and not self._is_folder(plain.rpartition("/")[0]):
                self._names(plain)
            return found
        wanted = "/".join(self._names(path))
        # If both an object and a folder have this name, a "/" at the end selects the folder.
        return self._folder(wanted) if path.endswith("/") and self._is_folder(wanted) else self._look(wanted)

    def list(self, path: str) -> Iterator[Entry]:
        """The entries of one folder, with the status that the listing gives; see `Backend.list`."""
        self._parts(path)
        with explained(path):
            try:
                listed = obstore.list_with_delimiter(self._bucket, path or None)
            except InvalidPathError:
                # This error names only the first part of the invalid object name; a plain listing mostly names it all.
                next(iter(obstore.list(self._bucket, prefix=path or None, chunk_size=2)), None)
                raise
        if path and not listed["objects"] and not listed["common_prefixes"]:
            self._refuse_missing_folder(path)
        for prefix in listed["common_prefixes"]:
            yield from self._entry(path, prefix, None)
        folders = set(listed["common_prefixes"])
        for meta in listed["objects"]:
            if meta["path"] not in folders:
                yield from self._entry(path, meta["path"], meta)

    @contextlib.contextmanager
    def read(self, path: str) -> Iterator[OpenFile]:
        """Open a file's bytes; see `Backend.read`."""
        self._parts(path)
        stat, data = self._latest(path)
        if data is None:
            yield OneVersion(stat, lambda start, end: self._range(stat, start, end), self._head)
        else:
            yield OneVersion(stat, lambda start, end: data[start:end], self._head)

    def read_ahead(self, files: Iterable[FileStat], ended: Callable[[], bool]) -> Iterator[tuple[str, bytes | None]]:
        """Each listed file's path and bytes, with several requests at a time; see `ReadsAhead`."""
        return fetched_ahead(files, self._whole, ended)

    def noted(self, stat: FileStat) -> bytes | None:
        """The note kept about a version; see `KeepsNotes`."""
        return None if self._versions is None else self._versions.get(stat.key, stat.version + _NOTED)

    def note(self, stat: FileStat, found: bytes) -> None:
        """Keep a note about a version; see `KeepsNotes`."""
        if self._versions is not None:
            self._versions.put(stat.key, stat.version + _NOTED, found)

    def write(self, path: str, chunks: Iterable[Chunk], *, if_match: str | None) -> FileStat:
        """Replace a file's bytes at once; see `Backend.write`.

        Raises:
            TooLarge: more bytes than one request may have.
        """
        names = self._parts(path)
        if not names:
            raise folder_instead(path, writing=True)
        data = _joined(path, chunks)
        if if_match is None:
            self._check_free(path, names)
            return self._put(path, data, "create", {})
        there, condition, attributes = self._described(path)
        if there is None and self._is_folder(path):
            raise folder_instead(path, writing=True)
        if there is None or there.version != if_match:
            raise overtaken(path)
        if there.size == len(data) and self._whole(there) == data:
            return there
        return self._put(path, data, condition, attributes)

    def delete(self, path: str, *, if_match: str) -> None:
        """Remove a file; see `Backend.delete`. Not atomic: the version is checked in a request before the removal."""
        self._parts(path)
        if self._file(path).version != if_match:
            raise overtaken(path)
        with explained(path, writing=True):
            try:
                obstore.delete(self._bucket, path)
            except (BaseError, OSError) as error:
                with knowing_outcome(path, error):
                    left = self._head(path)
                if left is not None:
                    raise not_written(path, error) from None

    def close(self) -> None:
        """Do nothing: connections end by themselves."""

    def _parts(self, path: str) -> Sequence[str]:
        self._check_spelling(path)
        parts = canonical_parts(path, LONGEST_KEY)
        if len(os.fsencode(f"{self._prefix}/{path}" if self._prefix else path)) > LONGEST_KEY:
            raise Invalid(
                f"`path` is too long: an object's name has {LONGEST_KEY} bytes at most, those of the root's included.",
                hint="Use a shorter path.",
            )
        return parts

    def _check_spelling(self, path: str) -> None:
        if self._folds_backslash and "\\" in path:
            raise Invalid("`path` has a backslash, which this store takes for a slash.", hint="Write `/` for it.")

    def _names(self, path: str) -> Sequence[str]:
        self._check_spelling(path)
        names = names_without_links(path, self._is_barred, self._is_folder, LONGEST_KEY)
        self._parts("/".join(names))
        return names

    def _put(self, path: str, data: bytes, mode: Any, attributes: Mapping[str, str]) -> FileStat:
        mark = uuid.uuid4().hex
        with explained(path, writing=True):
            try:
                answer = obstore.put(self._bucket, path, data, mode=mode, attributes={**attributes, _MARK: mark})
            except (AlreadyExistsError, PreconditionError, BaseError, OSError) as error:
                # A retry can conflict with our own first attempt; a request may succeed although its answer is lost.
                with knowing_outcome(path, error):
                    written = self._marked(path, mark)
                if written is None:
                    raise not_written(path, error) from None
            else:
                written = self._written(path, len(data), answer)
        if self._versions is not None and written.size == len(data) <= WHOLE_BYTES:
            self._versions.put(written.key, written.version, data)
        return written

    def _written(self, path: str, size: int, answer: Mapping[str, Any]) -> FileStat:
        """The status of the version that was written, even if others have written since."""
        now, own = None, version_of(answer, path)
        with contextlib.suppress(FsToolsError):  # The write has succeeded even if this look fails.
            now = self._head(path)
        moment = time.time_ns() if now is None else now.mtime_ns
        return now if now and now.version == own else FileStat(path, f"{self._key}/{path}", "file", size, moment, own)

    def _marked(self, path: str, mark: str) -> FileStat | None:
        stat, _, attributes = self._described(path)
        return stat if attributes.get(_MARK) == mark else None

    def _described(self, path: str) -> tuple[FileStat | None, dict[str, str], dict[str, str]]:
        """A file, the condition for overwriting it, and its metadata; (None, {}, {}) if it does not exist."""
        with explained(path):
            try:
                answer = obstore.get(self._bucket, path, options={"head": True})
            except FileNotFoundError:
                return None, {}, {}
            attributes = {str(name): str(one) for name, one in answer.attributes.items()}
            return self._stat_of(answer.meta, path), condition_of(answer.meta), attributes

    def _head(self, path: str) -> FileStat | None:
        with explained(path):
            try:
                return self._stat_of(obstore.head(self._bucket, path), path)
            except FileNotFoundError:
                return None

    def _file_at(self, path: str) -> FileStat | None:
        """The file at a path; None if it is missing or an empty object that only marks a folder with files below it."""
        found = self._head(path)
        return found if found and (found.size or not self._is_folder(path)) else None

    def _is_barred(self, path: str) -> bool:
        """True if the name is a file and not also a folder, so that nothing can be below it."""
        return self._head(path) is not None and not self._is_folder(path)

    def _look(self, path: str) -> FileStat:
        if path and (found := self._file_at(path)) is not None:
            return found
        if not path or self._is_folder(path):
            return self._folder(path)
        return FileStat(path, f"{self._key}/{path}", "missing")

    def _folder(self, path: str) -> FileStat:
        return FileStat(path, f"{self._key}/{path}" if path else self._key, "directory", 0, 0, "folder")

    def _file(self, path: str) -> FileStat:
        found = self._look(path)
        if found.kind == "directory":
            raise folder_instead(path)
        if found.kind == "missing":
            self._names(path)
            raise missing(path)
        return found

    def _is_folder(self, path: str) -> bool:
        if not path:
            return True
        with explained(path):
            # The prefix matches whole segments: "a/b" does not match "a/bc". An object "a/b/" marks an empty folder.
            try:
                return bool(next(iter(obstore.list(self._bucket, prefix=path, chunk_size=2)), []))
            except InvalidPathError:  # An object below it has a name that no path can spell.
                return True

    def _latest(self, path: str) -> tuple[FileStat, bytes | None]:
        """A file's current status, and its bytes unless it is large."""
        for _ in range(_LOOKS):
            stat = self._file(path)
            if stat.size > WHOLE_BYTES:
                return stat, None
            # A conflict means that others wrote between the look and the request for that version.
            with contextlib.suppress(Conflict):
                return stat, self._whole(stat)
        hint = "Read it again while no other program writes it."
        raise refused(Conflict, path, f"other writers changed it {_LOOKS} times while it was fetched", hint=hint)

    def _whole(self, stat: FileStat) -> bytes:
        if self._versions is not None and (kept := self._versions.get(stat.key, stat.version)) is not None:
            return kept
        data = self._range(stat, 0, stat.size) if stat.size else b""
        if self._versions is not None and data:
            self._versions.put(stat.key, stat.version, data)
        return data

    def _range(self, stat: FileStat, start: int, end: int) -> bytes:
        with explained(stat.path):
            wanted: Any = {"range": (start, end), "if_match": stat.version}
            return bytes(obstore.get(self._bucket, stat.path, options=wanted).bytes())

    def _stat_of(self, meta: Mapping[str, Any], path: str) -> FileStat:
        moment = int(meta["last_modified"].timestamp() * 1_000_000) * 1000
        return FileStat(path, f"{self._key}/{path}", "file", meta["size"], moment, version_of(meta, path))

    def _entry(self, folder: str, path: str, meta: Mapping[str, Any] | None) -> Iterator[Entry]:
        """The entry for a listed name, or nothing for a name that no caller could use as a path."""
        name = path.removeprefix(f"{folder}/" if folder else "")
        if path == folder or not name or "/" in name or name in (".", "..") or name.startswith(HIDDEN_PREFIX):
            return
        if meta is None:
            yield Entry(path, name, "directory", self._folder(path))
        else:
            yield Entry(path, name, "file", self._stat_of(meta, path))

    def _check_free(self, path: str, names: Sequence[str]) -> None:
        """Refuse a new file in the place of a folder or below a file."""
        if self._is_folder(path):
            raise folder_instead(path, writing=True)
        for depth in range(len(names) - 1, 0, -1):
            folder = "/".join(names[:depth])
            if self._is_folder(folder):
                return
            if self._head(folder) is not None:
                raise file_instead(path, folder, writing=True)

    def _refuse_missing_folder(self, path: str) -> None:
        if self._head(path) is not None:
            raise file_instead(path)
        self._names(path)
        raise missing(path, folder=True)


def _joined(path: str, chunks: Iterable[Chunk]) -> bytes:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MOST_WRITTEN_BYTES:
            raise TooLarge(
                f"'{path}' was not modified: one request writes {MOST_WRITTEN_BYTES} bytes at most.",
                hint="Split the file.",
                limit=MOST_WRITTEN_BYTES,
            )
    return bytes(data)
