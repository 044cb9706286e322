"""A PostgreSQL server of the tests' own: started on a free port by an unprivileged account, stopped by its folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.emulators import free_port, missing

ACCOUNT = "postgres"
# PostgreSQL does not run as root. In a namespace of its own, root may have no other account.
AS_ANOTHER = (
    ("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"),
    ("unshare", "--map-user=1000", "--map-group=1000"),
)


def programs() -> Path | None:
    """The newest version's programs; Debian keeps them off PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    there = str(found[-1]) if found else shutil.which("pg_ctl")
    return Path(there).parent if there else None


def as_another() -> tuple[str, ...]:
    """The words before a command that keep it from running as root; empty for other users."""
    if os.getuid() != 0:
        return ()
    tried = (subprocess.run([*way, "true"], stderr=subprocess.DEVNULL, check=False) for way in AS_ANOTHER)
    return next(way for way, done in zip(AS_ANOTHER, tried, strict=True) if done.returncode == 0)


class Postgresql:
    """A server with its data folder, reached over TCP with a password; `options` are initdb's."""

    def __init__(self, folder: Path, *options: str) -> None:
        binaries = programs()
        if binaries is None:
            missing("PostgreSQL is not installed: run make postgresql")
        self.port = free_port()
        self.folder = folder / "data"
        self._binaries = binaries
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text("the-password")
        secret.chmod(0o644)
        account = ("-U", "ada", f"--pwfile={secret}", "--auth=scram-sha-256")
        self._run("initdb", "-D", str(self.folder), *account, "-N", *options)
        self._options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        )

    @property
    def address(self) -> str:
        return f"postgresql://ada:the-password@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder), "-o", self._options, "-l", log, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.folder), "-m", mode, "-w", "stop")

    def _run(self, program: str, *words: str) -> None:
        command = [*as_another(), str(self._binaries / program), *words]
        done = subprocess.run(
            command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def folder():
    """An empty folder for a server. Not below pytest's, which each run of pytest closes to other accounts."""
    made = Path(tempfile.mkdtemp(prefix="fstools-postgresql-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def running():
    with folder() as place:
        server = Postgresql(place)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
