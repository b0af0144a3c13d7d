"""Backups and restores that are killed at any point: the message says what to do next, and it works."""

import time
from contextlib import contextmanager

import pytest

from tests.foundation.database.own_database import own_server
from tests.operations.places import empty_place, files_of, media
from tests.services.annotators import wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow]
FILES = 400
READY = "from django.test import Client\nanswer = Client(SERVER_NAME='127.0.0.1').get('/readyz').json()"


@contextmanager
def killed(server, *arguments, reached):
    """Start a command and kill it as soon as `reached` is true; yield whether it was in time."""
    with server.start(*arguments) as process:
        wait_until(lambda: reached() or process.poll() is not None)
        still_running = process.poll() is None
        process.kill()  # has no effect if the command has ended
        process.wait()
        yield still_running


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a server with so many files that a process can be killed in the middle of them."""
    folder = tmp_path_factory.mktemp("large")
    with own_server(folder) as server:
        uploads = media(server) / "uploads"
        uploads.mkdir(parents=True)
        for number in range(FILES):
            (uploads / f"{number}.bin").write_bytes(number.to_bytes(2, "big") * 20_000)
        yield server


def test_a_killed_backup_leaves_the_earlier_ones_whole_and_the_next_one_goes_on(large, tmp_path):
    folder = tmp_path / "backups"

    def copying():
        return len(list(folder.glob("files/*/*"))) > FILES // 10

    with killed(large, "backup", str(folder), reached=copying) as in_time:
        assert in_time
    refused = large.run("verify_backup", str(folder), check=False)
    assert "the only backup was interrupted before it was complete; run “backup” again." in refused.stderr
    printed = large.run("backup", str(folder)).stdout
    assert printed.startswith(
        "An earlier backup was interrupted. The incomplete files of that backup were removed.\nBackup 20"
    )
    assert not list(folder.glob("files/*.part"))

    (media(large) / "uploads" / "one-more.bin").write_bytes(b"one more")
    with killed(
        large, "backup", str(folder), reached=(folder / "backups" / "unfinished" / "database").exists
    ):
        pass
    with empty_place(tmp_path / "place") as place:
        place.run("restore", str(folder))
        assert len(files_of(place)) in {FILES, FILES + 1}
    (media(large) / "uploads" / "one-more.bin").unlink()


def test_a_killed_restore_says_so_to_everybody_and_begins_once_more(large, tmp_path):
    folder = tmp_path / "backups"
    large.run("backup", str(folder))
    with empty_place(tmp_path / "place") as place:

        def in_the_middle():
            return media(place).exists() and len(list(media(place).rglob("*.bin"))) > FILES // 10

        with killed(place, "restore", str(folder), reached=in_the_middle) as in_time:
            assert in_time
        refused = place.run("restore", str(folder), check=False)
        assert "was interrupted: run the same command with --again" in refused.stderr
        # Nobody can work on or back up an incompletely restored server.
        refused = place.run("backup", str(folder), check=False)
        assert "into this server was interrupted: finish that restore first." in refused.stderr
        assert place.ask(READY)["database"] == "failed: a restore was interrupted"

        with killed(place, "restore", str(folder), "--again", reached=lambda: loading(place)) as in_time:
            assert in_time
        place.run("restore", str(folder), "--again")
        assert files_of(place) == files_of(large)
        assert place.ask(READY)["database"] == "ok"


def loading(place):
    """Return whether the restore has reached the database."""
    time.sleep(0.05)
    if place.env["DATABASE_URL"].startswith("sqlite"):
        return (media(place) / "uploads" / f"{FILES - 1}.bin").exists()
    return place.rows("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'")[0][0] > 20
