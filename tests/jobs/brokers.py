"""Redis and RabbitMQ for tests: a Redis for a single test, which it may stop; a RabbitMQ that is already running."""

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


class Redis:
    """A Redis process on a free port that stores nothing on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *("redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""),
                *("--appendonly", "no", "--dir", str(self._folder)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < end, "Redis did not start"
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        return False


@contextmanager
def own_redis(folder: Path) -> Iterator[Redis]:
    """Start a Redis, or skip the test where it is not installed."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    redis = Redis(folder)
    redis.start()
    try:
        yield redis
    finally:
        redis.stop()


@contextmanager
def rabbitmq_queues() -> Iterator[dict[str, str]]:
    """Yield settings for separate queues at a running RabbitMQ, or skip the test; remove the queues afterwards."""
    import kombu

    url = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    with kombu.Connection(url, connect_timeout=2) as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=3)
        except Exception as error:
            pytest.skip(f"no RabbitMQ answers at {connection.as_uri()}: {type(error).__name__}")
        try:
            yield {"CELERY_BROKER_URL": url, "CELERY_QUEUE_PREFIX": prefix}
        finally:
            channel = connection.channel()
            for queue in ("default", "gpu"):
                channel.queue_delete(f"{prefix}.{queue}")
                channel.exchange_delete(f"{prefix}.{queue}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
