"""An untrustworthy backup is refused in one sentence, before anything is written."""

import hashlib
import json
import os
import re
import shutil

import pytest
from django.db.migrations.loader import MigrationLoader

from foundation.errors import DomainError
from jobs.progress.reporter import Unwatched
from operations.backups import keys
from operations.backups.create import backup
from operations.backups.databases.postgresql import PostgresDatabase
from operations.backups.files import require_room
from operations.backups.folder import BackupFolder
from operations.backups.restore import check_content, check_manifest, restore
from tests.operations.conftest import KEY
from tests.operations.places import empty_place, media

pytestmark = pytest.mark.django_db
OTHER_KEY = "another key for tests, long enough to be one, too"


@pytest.fixture(autouse=True)
def _same_key(settings):
    settings.SECRET_KEY = KEY


def read(folder):
    """Read the whole latest backup, as a restore does before it writes."""
    backups = BackupFolder(folder)
    backup_name = backups.choose("")
    manifest = check_manifest(backups, backup_name)
    return check_content(backups, backup_name, manifest, Unwatched())


def refused(folder) -> str:
    with pytest.raises(DomainError) as refusal:
        read(folder)
    assert refusal.value.message.endswith(".")
    return refusal.value.message


def latest(folder):
    (backup_name,) = (folder / "backups").iterdir()
    return backup_name


def change(folder, **values):
    """Change the manifest and sign it again, which is only possible with the key."""
    path = latest(folder) / "manifest.json"
    content = json.dumps(json.loads(path.read_text()) | values).encode()
    path.write_bytes(content)
    (latest(folder) / "signature").write_text(keys.sign(content))


def change_index(folder, edit):
    """Change the lines of the index, and update its size and hash everywhere."""
    path = latest(folder) / "files.jsonl"
    lines = [edit(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    manifest = json.loads((latest(folder) / "manifest.json").read_text())
    part = next(part for part in manifest["parts"] if part["name"] == "files.jsonl")
    part["size"] = path.stat().st_size
    part["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    change(folder, parts=manifest["parts"], file_bytes=sum(line["size"] for line in lines))


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_whole_backup_is_read(copied):
    assert {file.name for file in read(copied)} >= {"uploads/table.csv"}


@pytest.mark.parametrize("pattern", ["files/*/*", "backups/*/database/*", "backups/*/files.jsonl"])
def test_a_flipped_bit_is_found(copied, pattern):
    flip(sorted(copied.glob(pattern))[0])
    assert "is damaged" in refused(copied)


@pytest.mark.parametrize("pattern", ["files/*/*", "backups/*/database/*", "backups/*/signature"])
def test_a_missing_file_is_found(copied, pattern):
    path = sorted(copied.glob(pattern))[0]
    path.unlink()
    assert refused(copied).endswith(f"{path.name} is missing. Use another backup.")


def test_a_changed_manifest_is_found(copied):
    path = latest(copied) / "manifest.json"
    path.write_text(path.read_text().replace('"files": ', '"files":  '))
    assert "its manifest was changed after it was signed" in refused(copied)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"format": 1}', b'{"format": 1, "rows": 3}'])
def test_a_manifest_that_is_none_is_refused(copied, content):
    (latest(copied) / "manifest.json").write_bytes(content)
    assert "manifest.json cannot be read" in refused(copied)


def test_a_manifest_of_gigabytes_is_not_read(copied):
    with (latest(copied) / "manifest.json").open("r+b") as file:
        file.truncate(8 * 1024**3)
    assert "manifest.json is larger than a manifest can be" in refused(copied)


def test_another_key_is_refused_until_it_is_named(copied, settings):
    settings.SECRET_KEY = OTHER_KEY
    own, needed = (
        keys.fingerprints()[0],
        json.loads((latest(copied) / "manifest.json").read_text())["keys"][0],
    )
    assert (
        f"needs the SECRET_KEY with the fingerprint {needed}, but this server’s key has the fingerprint {own}"
        in refused(copied)
    )
    settings.SECRET_KEY_FALLBACKS = [KEY]
    assert read(copied)


def test_a_backup_of_a_newer_schema_or_format_is_refused(copied):
    manifest = json.loads((latest(copied) / "manifest.json").read_text())
    later = manifest["migrations"] | {"studies": [*manifest["migrations"]["studies"], "0999_later"]}
    change(copied, migrations=later)
    assert "has the migration studies.0999_later, which this version does not know" in refused(copied)
    change(copied, format=2, anything="new")
    assert "was written by a newer version of this software" in refused(copied)


def test_migrations_of_this_version_are_known(copied):
    manifest = json.loads((latest(copied) / "manifest.json").read_text())
    names = {(app, name) for app, names in manifest["migrations"].items() for name in names}
    assert names == set(MigrationLoader(None).disk_migrations)


@pytest.mark.parametrize(
    "name",
    [
        *("../outside.png", "/etc/passwd", "images/../../outside", "a//b", "a/./b", "back\\slash", "nul\x00"),
        *("", ".hidden", "a/.hidden", "line\nbreak", "x" * 501),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(copied, name):
    change_index(copied, lambda line: line | ({"name": name} if line["name"] == "uploads/table.csv" else {}))
    assert "files.jsonl contains an invalid line" in refused(copied)


@pytest.mark.parametrize("sha256", ["../../../etc/passwd", "A" * 64, "a" * 63])
def test_a_hash_that_is_none_is_refused(copied, sha256):
    change_index(copied, lambda line: line | {"sha256": sha256})
    assert "files.jsonl contains an invalid line" in refused(copied)


def test_a_name_that_stands_twice_is_refused(copied):
    change_index(copied, lambda line: line | {"name": "same"})
    assert "files.jsonl names a file twice" in refused(copied)


@pytest.mark.parametrize("pattern", ["files/*/*", "backups/*/database/*", "backups/*/manifest.json"])
def test_a_link_is_not_followed(copied, pattern, tmp_path):
    path = sorted(copied.glob(pattern))[0]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert "cannot be read" in refused(copied)


def test_a_folder_that_is_a_link_is_not_followed(copied, tmp_path):
    folder = sorted(copied.glob("files/*"))[0]
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert f"{folder.name} is a link" in refused(copied)


def test_a_pipe_is_no_file(copied):
    path = sorted(copied.glob("files/*/*"))[0]
    path.unlink()
    os.mkfifo(path)
    assert "is not a regular file" in refused(copied)


def test_a_part_outside_the_backup_is_refused(copied):
    manifest = json.loads((latest(copied) / "manifest.json").read_text())
    for name in ("database/../../outside", "/etc/passwd", "other/file"):
        change(copied, parts=[*manifest["parts"], {"name": name, "size": 1, "sha256": "a" * 64}])
        assert "manifest.json cannot be read (parts" in refused(copied)


def test_a_file_that_the_manifest_does_not_name_is_refused(copied):
    (latest(copied) / "database" / "more.dat").write_bytes(b"")
    assert "more.dat was not part of the backup" in refused(copied)


def test_a_huge_declared_size_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(DomainError, match="needs 1,000,000,000,000,000 bytes"):
        require_room(tmp_path / "not" / "there", 10**15)


def test_a_declared_size_that_is_not_the_real_one_is_refused(copied):
    change_index(copied, lambda line: line | {"size": line["size"] + 1})
    assert "has changed since it was copied" in refused(copied)


def test_an_unknown_or_a_missing_backup_is_named(copied, tmp_path):
    with pytest.raises(DomainError, match="There is no backup 2020 in"):
        BackupFolder(copied).choose("2020")
    with pytest.raises(DomainError, match="is not a folder of backups"):
        restore(folder=tmp_path)
    shutil.rmtree(latest(copied))
    with pytest.raises(DomainError, match=r"There is no complete backup in .*: run “backup” again"):
        BackupFolder(copied).choose("")
    (copied / "backups" / "unfinished").mkdir()
    with pytest.raises(DomainError, match="the only backup was interrupted before it was complete"):
        BackupFolder(copied).choose("")


def test_a_folder_in_use_is_left_alone(copied):
    with (
        BackupFolder(copied).locked(exclusive=False),
        pytest.raises(DomainError, match="Another backup or restore is using"),
        BackupFolder(copied).locked(exclusive=True),
    ):
        pass


def test_a_backup_goes_neither_into_other_files_nor_into_its_own_source(tmp_path, settings):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.tex").write_text("")
    with pytest.raises(DomainError, match=r"contains other files, such as thesis\.tex"):
        BackupFolder(tmp_path / "used").prepare()
    for folder in (settings.MEDIA_ROOT / "backups", settings.MEDIA_ROOT.parent):
        with pytest.raises(DomainError, match="choose another folder for backups"):
            backup(folder=folder)
    with pytest.raises(DomainError, match="Keep at least 1"):
        backup(folder=tmp_path / "new", keep=0)


def test_a_program_of_postgresql_that_is_missing_or_fails_is_named(monkeypatch, tmp_path):
    settings = {"NAME": "nowhere", "USER": "", "PASSWORD": "a secret", "HOST": "127.0.0.1", "PORT": "1"}
    database = PostgresDatabase(settings)
    assert "a secret" not in database.address
    with pytest.raises(DomainError, match="The database nowhere does not answer"):
        database.unfinished_restore()
    if shutil.which("pg_dump"):
        with pytest.raises(DomainError, match="pg_dump failed: ") as refusal:
            database.run("pg_dump")
        assert "a secret" not in refusal.value.message
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DomainError, match="pg_dump is not installed"):
        database.run("pg_dump")


def test_nothing_is_written_when_a_backup_is_refused(copied, tmp_path):
    flip(sorted(copied.glob("files/*/*"))[0])
    with empty_place(tmp_path / "place") as place:
        process = place.run("restore", str(copied), check=False)
        assert process.returncode == 1
        assert re.fullmatch(r"(?:Checking.*\n)*Backup .* is damaged: .*\n", process.stderr)
        assert not media(place).exists() or not any(media(place).iterdir())
        process = place.run("restore", str(copied), "--again", check=False)
        assert "No restore into this database was interrupted: leave out --again." in process.stderr


def test_a_server_with_files_is_no_empty_place(copied, tmp_path):
    with empty_place(tmp_path / "place") as place:
        media(place).mkdir(parents=True)
        (media(place) / "forgotten.png").write_bytes(b"")
        process = place.run("restore", str(copied), check=False)
        assert "already contains files, such as forgotten.png" in process.stderr
        assert (media(place) / "forgotten.png").exists()
