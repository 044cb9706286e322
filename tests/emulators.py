"""Emulators of object stores, started as processes of their own and stopped by their ids."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path

import pytest

AZURITE = Path(sys.prefix) / "azurite" / "node_modules" / ".bin" / "azurite-blob"
"""Where `make emulators` puts it."""
# Published by Microsoft for its emulator: https://learn.microsoft.com/azure/storage/common/storage-use-azurite
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def missing(what: str) -> None:
    """Skip a test whose real part is not installed; in CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def running(command: list[str], port: int, log: Path):
    """A process that listens on a port."""
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=log.parent)
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process
    finally:
        # Killed at once: its data is discarded, and a polite end may wait for open connections.
        process.kill()
        process.wait()


S3 = """
import sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
served, turn = DomainDispatcherApplication(create_backend_app), threading.Lock()
def one_at_a_time(environ, start_response):
    with turn:
        return served(environ, start_response)
run_simple("127.0.0.1", int(sys.argv[1]), one_at_a_time, threaded=True)
"""
"""Moto compares an ETag and writes without a lock: two writes at once may both succeed, unlike at a real store."""


@contextmanager
def s3(folder: Path):
    """An S3 API; gives the environment that leads to it."""
    port = free_port()
    command = [sys.executable, "-c", S3, str(port)]
    with running(command, port, folder / "s3.log"):
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "ada",
            "AWS_SECRET_ACCESS_KEY": "the-secret",
            "AWS_REGION": "us-east-1",
        }


def make_bucket(environment: dict[str, str], name: str) -> None:
    request = urllib.request.Request(f"{environment['AWS_ENDPOINT_URL']}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


@contextmanager
def azure(folder: Path):
    """Azure's blob service; gives the environment that leads to it."""
    if not AZURITE.exists() or shutil.which("node") is None:
        missing("azurite is not installed: run make emulators")
    port = free_port()
    options = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder), "--silent"]
    with running([str(AZURITE), *options, "--skipApiVersionCheck"], port, folder / "azure.log"):
        yield {
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{port}",
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
            "AZURE_ALLOW_HTTP": "true",
        }


def make_container(environment: dict[str, str], name: str) -> None:
    """By the rules for a shared key: https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key"""
    date, version = formatdate(usegmt=True), "2021-08-06"
    signed = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{version}\n"
    signed += f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    key = hmac.new(base64.b64decode(ACCOUNT_KEY), signed.encode(), hashlib.sha256).digest()
    request = urllib.request.Request(
        f"{environment['AZURITE_BLOB_STORAGE_URL']}/{ACCOUNT}/{name}?restype=container",
        method="PUT",
        headers={
            "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(key).decode()}",
            "x-ms-date": date,
            "x-ms-version": version,
        },
    )
    urllib.request.urlopen(request, timeout=30).close()
