"""A mail server in a separate process, and the letters that it received."""

import mailbox
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

FROM, SITE = "stereoscope@labels.example.org", "https://labels.example.org"


class MailServer:
    """A running mail server. Addresses determine its behaviour: see `server.py`."""

    def __init__(self, folder: Path) -> None:
        self.port, self.folder = free_port(), folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            sys.executable,
            str(Path(__file__).with_name("server.py")),
            str(self.port),
            str(self.folder),
        ]
        self._process = subprocess.Popen(command)
        for _ in range(400):
            assert self._process.poll() is None, "the mail server ended"
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                    assert connection.recv(3) == b"220"
                    return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def letters(self) -> list[Message]:
        return sorted(mailbox.Maildir(self.folder, create=True), key=lambda letter: str(letter["Subject"]))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def mail_server(settings, tmp_path) -> Iterator[MailServer]:
    """Run a mail server that receives our letters."""
    server = MailServer(tmp_path / "mail")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    settings.SITE_URL, settings.DEFAULT_FROM_EMAIL = SITE, FROM
    server.start()
    yield server
    server.stop()
