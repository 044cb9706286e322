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


def programs() -> Path | None:
    """The newest version's programs; Debian keeps them off PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    there = str(found[-1]) if found else shutil.which("pg_ctl")
    return Path(there).parent if there else None


class Postgresql:
    """A server with its data folder, reached over TCP with a password."""

    def __init__(self, folder: Path) -> None:
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
        self._run("initdb", "-D", str(self.folder), "-U", "ada", f"--pwfile={secret}", "--auth=scram-sha-256", "-N")
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
        command = [str(self._binaries / program), *words]
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups", *command]
        done = subprocess.run(
            command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def running():
    # Not below pytest's folder, which each run of pytest closes to other accounts.
    folder = Path(tempfile.mkdtemp(prefix="fstools-postgresql-"))
    try:
        server = Postgresql(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
