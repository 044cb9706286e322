"""Sends requests to an object store, and says what its failures mean."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

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

from ..errors import Conflict, Denied, InputOutput, Invalid, NotFound
from .system_errors import refused

TIMEOUT = "30s"
"""For one request, and for reaching the store at all."""

RETRIES: Any = {
    "max_retries": 6,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
    "retry_timeout": timedelta(seconds=60),
}

_NO_CREDENTIALS = "Check the credentials that the provider's own tools use here: environment, role or instance."
_SECRETS = re.compile(r"\?[^\s\"')]*|(?i:(signature|key|token|credential|authorization)\S*\s*[=:]\s*)\S+")
_STATUS = re.compile(r"(?:status(?: code)?:?|HTTP) (\d{3})|(\d{3}) [A-Z][a-z]+ ?[A-Z]?")


def opened_bucket(where: str) -> Bucket:
    """A bucket with its prefix, by its address; credentials come by the provider's own chain.

    Raises:
        Invalid: it is no address, or it holds credentials.
    """
    if re.match(r"[a-z0-9+.-]+://[^/]*:[^/]*@", where):
        raise Invalid("root: the address holds a password", hint="Give credentials by the environment instead.")
    try:
        options: Any = {"timeout": TIMEOUT, "connect_timeout": TIMEOUT, "allow_http": _allows_http()}
        return from_url(where, client_options=options, retry_config=RETRIES)
    except (BaseError, ValueError) as error:
        raise Invalid(
            f"root: {where} cannot be opened: {plain_reason(error)}", hint="An address looks like s3://bucket/prefix."
        ) from None


def _allows_http() -> bool:
    """The variables of the library itself, which it does not read where other options are given."""
    told = (os.environ.get(f"{provider}_ALLOW_HTTP", "") for provider in ("AWS", "AZURE", "GOOGLE"))
    return any(one.lower() in ("1", "true") for one in told)


@contextlib.contextmanager
def explained(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turn what a store answers into a refusal about `path`.

    Raises:
        NotFound, Conflict, Denied, Invalid, InputOutput
    """
    try:
        yield
    except FileNotFoundError:
        hint = "List the folder to see what is there."
        raise refused(NotFound, path, "it does not exist", hint=hint, writing=writing) from None
    except (PreconditionError, AlreadyExistsError, NotModifiedError) as error:
        reason = "it exists already" if isinstance(error, AlreadyExistsError) else "it has changed meanwhile"
        hint = "Read it again, then repeat the change."
        raise refused(Conflict, path, reason, hint=hint, writing=writing) from None
    except (PermissionDeniedError, UnauthenticatedError):
        raise refused(Denied, path, "the store does not permit it", hint=_NO_CREDENTIALS, writing=writing) from None
    except (NotSupportedError, NotImplementedError):
        raise refused(InputOutput, path, "the store cannot do that", hint="", writing=writing) from None
    except ValueError:
        reason = "an object store takes no such name"
        raise refused(Invalid, path, reason, hint="Use a name without control characters.", writing=writing) from None
    except (BaseError, OSError) as error:
        reason = f"the store says: {plain_reason(error)}"
        raise refused(InputOutput, path, reason, hint="Try again in a while.", writing=writing) from None


def plain_reason(error: Exception) -> str:
    """What went wrong in one line, without anything that could be a credential."""
    told = str(error).partition("\n\nDebug source")[0]
    return _SECRETS.sub("", " ".join(told.split()))[:200]
