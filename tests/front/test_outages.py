"""Messages and log entries while the database is unavailable, or a disk is full or read-only."""

import logging
import resource
import socket
import sys
from pathlib import Path

import pytest
from django.conf import settings as configured
from django.db import IntegrityError, OperationalError, connection, connections
from django.db.utils import ConnectionHandler
from django.test import RequestFactory

from foundation.database.outages import OutageFilter, database_away
from foundation.disks import disk_trouble
from web import views


@pytest.fixture
def refused(django_db_blocker) -> OperationalError:
    """The error raised by a real connection to a port where no database listens."""
    psycopg = pytest.importorskip("psycopg")
    del psycopg
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    databases = ConnectionHandler(
        {
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "HOST": "127.0.0.1",
                "PORT": port,
                "NAME": "none",
            }
        }
    )
    with django_db_blocker.unblock(), pytest.raises(OperationalError) as error:
        databases["default"].ensure_connection()
    return error.value


class Written(logging.Handler):
    """Collects the lines that the console would show."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        self.addFilter(OutageFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += self.format(record).splitlines()


@pytest.fixture
def console():
    logger, handler = logging.getLogger("tests.outages"), Written()
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, handler
    logger.removeHandler(handler)


def test_the_console_of_this_server_has_the_filter():
    assert "outages" in configured.LOGGING["handlers"]["console"]["filters"]


def test_a_hundred_failed_requests_are_one_line(console, refused):
    logger, handler = console
    for number in range(100):
        try:
            raise refused
        except OperationalError:
            logger.exception("Internal Server Error: /page/%s", number)
    assert len(handler.lines) == 1
    assert handler.lines[0].startswith("ERROR The database does not answer: connection")


def test_the_next_line_says_how_many_were_left_out(console, refused, monkeypatch):
    logger, handler = console
    for _ in range(5):
        logger.warning("A worker waits", exc_info=refused)
    monkeypatch.setattr("foundation.database.outages._SECONDS_BETWEEN_LINES", 0.0)
    logger.warning("A worker waits", exc_info=refused)
    assert len(handler.lines) == 2
    assert handler.lines[1].endswith("(4 more since the last such line)")


def test_a_wrong_query_and_any_other_fault_keep_their_traceback(console):
    logger, handler = console
    for error in (OperationalError("no such table: nothing"), IntegrityError("UNIQUE"), ZeroDivisionError()):
        try:
            raise error
        except (OperationalError, IntegrityError, ZeroDivisionError):
            logger.exception("Internal Server Error")
    assert sum(line.startswith("Traceback") for line in handler.lines) == 3


def test_an_error_caused_by_an_unavailable_database_counts_as_an_outage(refused):
    with pytest.raises(RuntimeError) as error:
        raise RuntimeError("the session could not be read") from refused
    assert database_away(error.value)
    assert not database_away(None)


def test_a_calm_page_is_shown_while_the_database_is_unavailable(refused):
    try:
        raise refused
    except OperationalError:
        answer = views.server_error(RequestFactory().get("/studies/"))
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    text = answer.content.decode()
    assert "cannot reach its database at the moment" in text
    assert "fault" not in text


class TestDisks:
    def test_a_writable_folder_passes(self, tmp_path, settings):
        settings.READY_FREE_BYTES = 0
        assert disk_trouble(tmp_path / "new") == ""
        assert list((tmp_path / "new").iterdir()) == []

    @pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no read-only file system to try")
    def test_a_read_only_disk_is_reported(self):
        assert disk_trouble(Path("/sys/kernel"))

    @pytest.mark.skipif(sys.platform != "linux", reason="limits of files are those of Linux")
    def test_a_disk_that_opens_files_but_cannot_store_bytes_is_reported(self, tmp_path):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            trouble = disk_trouble(tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert trouble == "File too large"

    def test_too_little_space_is_reported_with_both_figures(self, tmp_path, settings):
        settings.READY_FREE_BYTES = 10**18
        assert "fewer than the 1,000,000,000,000,000,000 of READY_FREE_BYTES" in disk_trouble(tmp_path)


@pytest.mark.django_db
class TestReadiness:
    def test_a_healthy_server_is_ready(self, client, settings):
        settings.READY_FREE_BYTES = 0
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()) == (
            200,
            {"database": "ok", "queue": "ok", "storage": "ok"},
        )

    @pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no read-only file system to try")
    def test_a_read_only_folder_of_images_is_named(self, client, settings):
        settings.READY_FREE_BYTES = 0
        settings.MEDIA_ROOT = Path("/sys/kernel/media")
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["storage"].startswith("failed: ")
        assert answer.json()["database"] == "ok"

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite's file lies in a folder of ours")
    @pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no read-only file system to try")
    def test_a_read_only_folder_of_the_sqlite_file_is_named(self, client, settings, monkeypatch):
        settings.READY_FREE_BYTES = 0
        monkeypatch.setitem(connections["default"].settings_dict, "NAME", "/sys/kernel/stereoscope.sqlite3")
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["database"].startswith("failed: ")

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="only PostgreSQL can be read-only as a whole"
    )
    def test_a_read_only_database_is_reported(self, client, settings):
        settings.READY_FREE_BYTES = 0
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        assert client.get("/readyz").json()["database"] == "failed: it is read-only"
