"""Sends requests to an object store, and reads one version by windows."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotModifiedError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import ObjectStore as Bucket
from obstore.store import from_url

from ..content.source import CHUNK_BYTES, Chunk
from ..errors import Denied, FsToolsError, InputOutput, Invalid, NotFound, TimedOut
from .path_names import HIDDEN_PREFIX
from .protocol import FileStat
from .system_errors import EXISTS, missing, overtaken, refused

_log = logging.getLogger("jupyter_fstools")

TIMEOUT = "30s"
"""Time limit of one request, and of connecting to the store."""

RETRIES: Any = {
    "max_retries": 6,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
    "retry_timeout": timedelta(seconds=60),
}

_NO_CREDENTIALS = "Check the credentials that the provider's own tools use here: environment, role or instance."
_UNREACHABLE = (
    "Check the store's endpoint, the network and the credentials here, or ask who runs the store; then repeat the call."
)
_HINTS = {
    "object with invalid path": (
        "Rename that object by the provider's own tools: names with `//`, `.` or `..` as a part, or with control "
        "characters, are not served."
    ),
    "ETag Header missing": "Use a store that sends ETags.",
}
_REQUEST = re.compile(
    r"(?:The operation lacked .*?: )?Error performing (?:list request: Error performing )?([A-Z]+ \w+://[^/\s]*)\S*"
    r" in [^\s,]+(, after \d+ retries)?(?:, max_retries: \d+, retry_timeout: \S+)?\s+- "
    r"(?:Server returned non-2xx status code: )?"
)
"""The library's words about a request: they are longer than the store's, which follow."""
_NO_ANSWER = " - HTTP error: "
_IS_DENIED = re.compile(r"status code: 40[13] ")
_XML = re.compile(r"<\?xml.*?<Code>([^<]*)</Code>\s*<Message>([^<]*)</Message>.*|<\?xml.*|<Error>.*", re.DOTALL)
_SECRETS = re.compile(r"\?[^\s\"')]*|(?i:(signature|key|token|credential|authorization)\S*\s*[=:]\s*)\S+")
_ANOTHER = {"e_tag": '"another"', "version": "1"}
_AT_A_TIME, _AHEAD_BYTES, _LOOK_SECONDS = 16, 32 << 20, 0.1


def opened_bucket(where: str) -> Bucket:
    """The bucket, with its prefix, at an address; credentials come from the provider's own chain.

    Raises:
        Invalid: it is not an address, or it holds credentials.
    """
    if re.match(r"[a-z0-9+.-]+://[^/]*:[^/]*@", where):
        raise Invalid("root: the address holds a password", hint="Give credentials by the environment instead.")
    if "?" in where or "#" in where:  # The library ignores what follows, which may be a signature.
        raise Invalid(
            "root: the address of an object store has no part behind a ? or #",
            hint="Give credentials by the environment, and write %3F and %23 for these signs in a prefix.",
            field="root",
        )
    try:
        options: Any = {"timeout": TIMEOUT, "connect_timeout": TIMEOUT, "allow_http": _allows_http()}
        return from_url(where, client_options=options, retry_config=RETRIES)
    except (BaseError, ValueError) as error:
        raise Invalid(
            f"root: {where} cannot be opened: {plain_reason(error)}",
            hint="An address looks like s3://bucket/prefix; az:// needs AZURE_STORAGE_ACCOUNT_NAME in the environment.",
        ) from None


def _allows_http() -> bool:
    """The value of the library's own environment variables, which it ignores once `client_options` are given."""
    told = (os.environ.get(f"{provider}_ALLOW_HTTP", "") for provider in ("AWS", "AZURE", "GOOGLE"))
    return any(one.lower() in ("1", "true") for one in told)


@contextlib.contextmanager
def explained(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turn a store's error into a refusal about `path`.

    Raises:
        NotFound, Conflict, Denied, Invalid, InputOutput
    """
    try:
        yield
    except FileNotFoundError:
        raise missing(path, writing=writing) from None
    except AlreadyExistsError:
        raise overtaken(path, EXISTS, writing=writing) from None
    except (PreconditionError, NotModifiedError):
        raise overtaken(path, writing=writing) from None
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise _denied(path, error, writing) from None
    except (NotSupportedError, NotImplementedError):
        raise refused(InputOutput, path, "the store cannot do that", hint="", writing=writing) from None
    except ValueError:
        reason = "an object store takes no such name"
        raise refused(Invalid, path, reason, hint="Use a name without control characters.", writing=writing) from None
    except (BaseError, OSError) as error:
        if _IS_DENIED.search(str(error)):  # The library has no error of its own for a listing that is not permitted.
            raise _denied(path, error, writing) from None
        reason = f"the store says: {plain_reason(error)}"
        hint = next((hint for said, hint in _HINTS.items() if said in reason), _UNREACHABLE)
        raise refused(InputOutput, path, reason, hint=hint, writing=writing) from None


def _denied(path: str, error: Exception, writing: bool) -> FsToolsError:
    reason = f"the store does not permit it: {plain_reason(error)}"
    return refused(Denied, path, reason, hint=_NO_CREDENTIALS, writing=writing)


@contextlib.contextmanager
def knowing_outcome(path: str, error: Exception) -> Iterator[None]:
    """Context for the look at a file after a write request failed with `error`.

    Raises:
        InputOutput: the look failed too; `details["modified"]` says that the file may be modified.
    """
    try:
        yield
    except FsToolsError:
        if isinstance(error, (PermissionDeniedError, UnauthenticatedError, NotSupportedError, NotImplementedError)):
            raise error from None
        raise _unknown_outcome(path, error) from None


def not_written(path: str, error: Exception) -> Exception:
    """The error to raise after a write request failed with `error`, and the file is still as it was."""
    # A request without an answer may still be under way.
    return _unknown_outcome(path, error) if _NO_ANSWER in str(error) else error


def _unknown_outcome(path: str, error: Exception) -> InputOutput:
    return InputOutput(
        f"'{path}': whether it was modified is not known, as the store did not answer: {plain_reason(error)}.",
        hint="Once the store answers, read the file before you change it again; the journal tells then whether it "
        "was changed.",
        modified="unknown",
    )


def plain_reason(error: Exception) -> str:
    """The reason for a failure in one line, without anything that could be a credential."""
    told = _REQUEST.sub(r"\1\2: ", str(error).partition("\n\nDebug source")[0])
    told = _XML.sub(lambda found: f"{found[2]} ({found[1]})" if found[1] else "", told).removesuffix(": ")
    return _SECRETS.sub("", " ".join(told.split()))[:200]


def condition_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The mode of a write that requires the version seen: most stores compare the ETag, Google's the generation."""
    return {name: meta[name] for name in ("e_tag", "version") if meta[name]}


def version_of(meta: Mapping[str, Any], path: str) -> str:
    """The ETag in quotes as HTTP requires, which Azure's listings leave out. A store's own version number is not used.

    Raises:
        InputOutput: the store sends no ETag, or a weak one, for which HTTP's conditions never hold.
    """
    tag = meta["e_tag"] or ""
    if tag.startswith("W/"):
        raise InputOutput(
            f"'{path}': the store gives only a weak version (ETag) of it.",
            hint="Switch compression off in the proxy before the store, or use the store's own address.",
        )
    if not tag:
        raise InputOutput(f"'{path}': the store gives no version (ETag) of it.", hint="Use a store that sends ETags.")
    return str(tag) if tag.endswith('"') else f'"{tag}"'


def require_conditions(bucket: Bucket, key: str) -> None:
    """Refuse a store that ignores conditions and would overwrite other writers; tested with a probe object below `key`.

    Raises:
        Invalid, InputOutput
    """
    probe = f"{HIDDEN_PREFIX}{uuid.uuid4().hex}"
    try:
        with explained(key):
            answer = obstore.put(bucket, probe, b"1", mode="create")
    except Denied as refusal:
        _log.warning("root: nothing can be written below %s %s", refusal.message, refusal.hint)
        return  # Without permission to write, nothing can be overwritten.
    except NotFound:
        raise Invalid(
            f"root: there is no bucket or container of {key}",
            hint="Make it with the provider's own tools, or set another root.",
            field="root",
        ) from None
    try:
        version_of(answer, key)
        with contextlib.suppress(Denied, NotFound), explained(key):
            version_of(obstore.head(bucket, probe), key)
        heeds = _is_refused(bucket, key, probe, "create") and _is_refused(bucket, key, probe, _ANOTHER)
    finally:
        with contextlib.suppress(BaseError, OSError):
            obstore.delete(bucket, probe)
    if not heeds:
        raise Invalid(
            f"root: {key} does not support conditional writes (If-Match, If-None-Match)",
            hint="Without them one writer would overwrite another: use a store that does.",
            field="root",
        )


def _is_refused(bucket: Bucket, key: str, probe: str, mode: Any) -> bool:
    with explained(key):
        try:
            obstore.put(bucket, probe, b"2", mode=mode)
        except (AlreadyExistsError, PreconditionError):
            return True
    return False


class OneVersion:
    """One version of a file, read in windows.

    Args:
        stat: the status of this version.
        fetch: returns the bytes from a start to an end.
        look: returns the current status of a path; None if there is no file.
    """

    def __init__(
        self, stat: FileStat, fetch: Callable[[int, int], bytes], look: Callable[[str], FileStat | None]
    ) -> None:
        self.stat = stat
        self.size = stat.size
        self._look = look
        self._fetch = fetch
        self._block, self._begins = b"", 0

    def unchanged(self) -> bool:
        """True while the file still has this version."""
        found = self._look(self.stat.path)
        return found is not None and found.version == self.stat.version

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; shorter only at the end."""
        end = min(start + length, self.size)
        if start >= end:
            return b""
        if not self._begins <= start <= end <= self._begins + len(self._block):
            self._begins, self._block = start, self._fetch(start, min(max(end, start + CHUNK_BYTES), self.size))
        return self._block[start - self._begins : end - self._begins]

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """The bytes from `start` to `end`, in order."""
        end = self.size if end is None else min(end, self.size)
        for at in range(start, end, CHUNK_BYTES):
            yield self.read(at, min(CHUNK_BYTES, end - at))


def fetched_ahead(
    files: Iterable[FileStat], fetch: Callable[[FileStat], bytes], ended: Callable[[], bool]
) -> Iterator[tuple[str, bytes | None]]:
    """Each file's path and bytes, in the given order, with several requests at a time; see `ReadsAhead`.

    Raises:
        TimedOut: `ended` said so while a request was under way.
    """
    coming, waiting, held = iter(files), deque[tuple[FileStat, Future[bytes]]](), 0
    pool = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="fstools-objects")
    try:
        while True:
            while len(waiting) < _AT_A_TIME and held < _AHEAD_BYTES and (file := next(coming, None)) is not None:
                waiting.append((file, pool.submit(fetch, file)))
                held += file.size
            if not waiting:
                return
            file, fetched = waiting.popleft()
            while not wait([fetched], _LOOK_SECONDS).done:
                if ended():
                    raise TimedOut(
                        f"the search ended before the store sent '{file.path}' (nothing was modified)",
                        hint="Search a folder further down; if that ends early too, ask who runs the store.",
                    )
            try:
                yield file.path, fetched.result()
            except FsToolsError:  # Reading this file alone raises the reason.
                yield file.path, None
            held -= file.size
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
