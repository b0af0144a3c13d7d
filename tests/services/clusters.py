"""A separate PostgreSQL server for a test, which may be stopped and crashed.

Initialising and migrating one takes fifteen seconds of processor time, a copy of its folder a tenth of a second, so
the folder is kept between runs, and recreated when a migration or PostgreSQL changes.
"""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from tests.foundation.database.migrated import fingerprint, migrate


class Cluster:
    """A private PostgreSQL server with default settings (fsync on)."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder = binaries, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def initialise(self) -> None:
        self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")

    def start(self) -> None:
        listening = "-c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        self._run(
            "pg_ctl",
            "-w",
            "-t",
            "120",
            "-l",
            f"{self.folder}/log",
            "-o",
            f"-p {self.port} {listening}",
            "start",
        )

    def finish(self) -> None:
        """Stop as an operator does."""
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def stop(self) -> None:
        """Stop without a checkpoint, as after a power failure: the next start recovers from the log."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def restart(self) -> None:
        self._run("pg_ctl", "-w", "-t", "120", "-m", "immediate", "-l", f"{self.folder}/log", "restart")

    def _run(self, program: str, *arguments: str) -> None:
        with (self.folder / "out").open("wb") as out:  # a pipe would stay open as long as the server runs
            done = subprocess.run(
                [str(self.binaries / program), "-D", str(self.folder / "data"), *arguments],
                cwd=self.folder,
                user="postgres" if os.geteuid() == 0 else None,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        assert done.returncode == 0, (self.folder / "out").read_text()


@contextmanager
def private_cluster() -> Iterator[Cluster]:
    """Yield a running server with a migrated, empty database, or skip with the reason."""
    binaries = _binaries()
    with _own_folder() as folder:
        cluster = Cluster(binaries, folder)
        _copy(_migrated(binaries), folder / "data")
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        pytest.skip("no initdb of PostgreSQL on this machine")
    return found[-1].parent if found else Path(str(on_path)).parent


@contextmanager
def _own_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())  # not pytest's own folder, which only its user may enter
    try:
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            try:
                shutil.chown(folder, "postgres")
            except LookupError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _migrated(binaries: Path) -> Path:
    """Return the folder of an initialised, migrated and stopped server; create it if it does not exist."""
    shelf = Path(settings.VAR) / "migrated" / "clusters"
    shelf.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(
        [str(binaries / "initdb"), "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[2]
    kept = shelf / f"{version}-{fingerprint()}"
    with (shelf / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.is_dir():
            for outdated in shelf.glob(f"{version}-*"):
                shutil.rmtree(outdated)
            with _own_folder() as folder:
                cluster = Cluster(binaries, folder)
                cluster.initialise()
                cluster.start()
                try:
                    migrate(cluster.url, folder)
                finally:
                    cluster.finish()
                _copy(folder / "data", kept.with_suffix(".new"))
            kept.with_suffix(".new").rename(kept)
    return kept


def _copy(source: Path, target: Path) -> None:
    """Copy a folder and the owners of its files, which the server requires."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
