"""A separate S3-compatible server for a test, which may be stopped."""

import importlib.util
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.jobs.brokers import free_port


class ObjectServer:
    """moto's server: real HTTP, real requests of boto3; its content is lost when it stops."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, "the S3 server ended"
            assert time.monotonic() < end, "the S3 server did not start"
            time.sleep(0.1)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/moto-api/", timeout=2):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False


@contextmanager
def object_server() -> Iterator[ObjectServer]:
    """Start a server, or skip if moto is not installed."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        pytest.skip("moto[server] is not installed")
    server = ObjectServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
