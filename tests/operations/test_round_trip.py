"""A backup restored elsewhere gives the same server, and everything unfinished continues there."""

import pytest

from tests.foundation.database.own_database import own_server
from tests.operations.conftest import KEY
from tests.operations.places import empty_place, files_of, media
from tests.operations.source import UPLOAD

STATE = "from tests.operations.source import state\nanswer = state()"


def test_a_restored_server_has_the_rows_files_and_open_work_of_the_one_backed_up(filled, backed_up, tmp_path):
    server, _ = filled
    with empty_place(tmp_path / "place") as place:
        printed = place.run("restore", str(backed_up)).stdout
        assert "1 sessions were ended, 1 jobs queued again, 1 e-mails cancelled, " in printed
        assert " 0 e-mails with personal links held, 0 bonuses held." in printed
        assert files_of(place) == files_of(server)
        assert UPLOAD in files_of(place)
        # A running job waits for a worker of the new server; a letter sent meanwhile is not sent again.
        before, after = server.ask(STATE), place.ask(STATE)
        assert before["jobs"] == {"Generate": "running", "Letter": "running", "Done": "succeeded"}
        assert after["jobs"] == {"Generate": "queued", "Letter": "cancelled", "Done": "succeeded"}
        assert (before["sessions"], after["sessions"]) == (1, 0)
        assert (before["workers"], after["workers"]) == (1, 0)
        refused = place.run("restore", str(backed_up), check=False)
        assert refused.returncode == 1
        assert "tables: restore needs an empty database" in refused.stderr


def test_a_rehearsal_compares_rows_files_and_the_results_of_a_report(filled, backed_up, tmp_path):
    server, digest = filled
    printed = server.run("verify_backup", str(backed_up), "--scratch", str(tmp_path)).stdout
    assert "can be restored" in printed
    assert (
        f"θ of Isles computed from the restored copy equals the stored value (inputs {digest[:16]})."
        in printed
    )
    assert list(tmp_path.iterdir()) == []


def test_no_file_of_a_backup_holds_the_key_or_can_be_read_by_others(backed_up):
    for path in backed_up.rglob("*"):
        if path.is_file() and path.name != "README.txt":
            assert KEY.encode() not in path.read_bytes()
    for path in (backed_up, backed_up / "files", backed_up / "backups"):
        assert path.stat().st_mode & 0o077 == 0


@pytest.fixture
def changing(tmp_path):
    """Return a separate server whose files the test changes."""
    folder = tmp_path / "changing"
    folder.mkdir()
    with own_server(folder) as server:
        for number in range(3):
            write(server, f"uploads/{number}.csv", f"table {number}")
        yield server


def write(server, name, text):
    path = media(server) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_are_copied_once_and_go_with_the_last_backup_that_has_them(changing, tmp_path):
    folder = tmp_path / "backups"
    assert "3 files (3 new" in changing.run("backup", str(folder), "--keep", "2").stdout
    first = write(changing, "uploads/3.csv", "table 3")
    write(changing, "uploads/same.csv", "table 0")
    assert "5 files (1 new, 7 bytes)" in changing.run("backup", str(folder), "--keep", "2").stdout
    first.unlink()
    (first.parent / "same.csv").unlink()
    (first.parent / "0.csv").write_text("another")
    printed = changing.run("backup", str(folder), "--keep", "2").stdout
    assert "3 files (1 new" in printed
    assert "Removed 20" in printed
    kept = {path.read_text() for path in folder.glob("files/*/*")}
    assert kept == {"table 0", "table 1", "table 2", "table 3", "another"}
    changing.run("backup", str(folder), "--keep", "1")
    assert {path.read_text() for path in folder.glob("files/*/*")} == {"another", "table 1", "table 2"}
    with empty_place(tmp_path / "place") as place:
        place.run("restore", str(folder))
        assert files_of(place) == files_of(changing)


BACKED_UP_MEANWHILE = """
from pathlib import Path
from django.conf import settings
from jobs.progress.reporter import Unwatched
from operations.backups.create import backup
from operations.backups.folder import BackupFolder

class PeopleAtWork(Unwatched):
    uploads = Path(settings.MEDIA_ROOT) / "uploads"

    def advance(self, n=1, message=""):
        (self.uploads / "added.csv").write_text("added after the files were listed, before the moment")

    def step(self, name):
        if name == "Copying new files":
            (self.uploads / "0.csv").unlink(missing_ok=True)  # removed after the moment

report = backup(folder=Path({folder!r}), progress=PeopleAtWork())
answer = [file.name for file in BackupFolder(Path({folder!r})).index(report.backup_name)]
"""


def test_files_that_come_and_go_around_the_moment_are_in_the_backup(changing, tmp_path):
    names = changing.ask(BACKED_UP_MEANWHILE.format(folder=str(tmp_path / "backups")))
    assert names == ["uploads/0.csv", "uploads/1.csv", "uploads/2.csv", "uploads/added.csv"]
