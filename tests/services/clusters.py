"""A PostgreSQL server of a test's own, which may be stopped and crashed."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Cluster:
    """A private PostgreSQL server with the settings it comes with (fsync on)."""

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

    def stop(self) -> None:
        """Stop without a checkpoint, as after a loss of power: the next start recovers from the log."""
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
    """Yield a running server, or skip with the reason."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        pytest.skip("no initdb of PostgreSQL on this machine")
    binaries = found[-1].parent if found else Path(str(on_path)).parent
    folder = Path(tempfile.mkdtemp())  # not pytest's own, which only its user may enter
    try:
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            try:
                shutil.chown(folder, "postgres")
            except LookupError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        cluster = Cluster(binaries, folder)
        cluster.initialise()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
