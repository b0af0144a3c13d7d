"""A rehearsal finds changes of a backup, even by somebody who could sign it."""

import gzip
import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from operations.backups import keys
from operations.backups.rehearsal import same
from tests.operations.conftest import KEY

BEFORE, AFTER = b"tall hat", b"tall hut"


@pytest.fixture(autouse=True)
def _same_key(settings):
    settings.SECRET_KEY = KEY


def plant(backup_name):
    """Change a word in one row of the dump, and make everything else agree with it."""
    for path in (backup_name / "database").iterdir():
        if path.suffix == ".sqlite3":
            with closing(sqlite3.connect(path)) as database, database:
                database.execute("UPDATE catalog_attribute SET text = 'tall hut' WHERE text = 'tall hat'")
        elif path.suffix == ".gz" and BEFORE in (data := gzip.decompress(path.read_bytes())):
            path.write_bytes(gzip.compress(data.replace(BEFORE, AFTER)))
    manifest = json.loads((backup_name / "manifest.json").read_text())
    for part in manifest["parts"]:
        data = (backup_name / part["name"]).read_bytes()
        part |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    content = json.dumps(manifest).encode()
    (backup_name / "manifest.json").write_bytes(content)
    (backup_name / "signature").write_text(keys.sign(content))


def test_a_changed_row_is_found(filled, copied, tmp_path):
    (backup_name,) = (copied / "backups").iterdir()
    plant(backup_name)
    process = filled[0].run("verify_backup", str(copied), "--scratch", str(tmp_path), check=False)
    assert process.returncode == 1
    assert "the rows of catalog_attribute differ from those backed up (" in process.stderr


def test_a_changed_file_is_found(filled, copied, tmp_path):
    path = sorted(copied.glob("files/*/*"))[-1]
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    process = filled[0].run("verify_backup", str(copied), "--scratch", str(tmp_path), check=False)
    assert process.returncode == 1
    assert "has changed since it was copied. Use another backup." in process.stderr


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ([{"theta": 1.5}], [{"theta": 1.5 + 1e-12}], True),
        ([{"theta": 1.5}], [{"theta": 1.5001}], False),
        ([{"theta": None}], [{"theta": 0.0}], False),
        ([1, 2], [1, 2, 3], False),
        ({"a": "x"}, {"b": "x"}, False),
    ],
)
def test_results_are_compared_but_for_rounding(first, second, equal):
    assert same(first, second) is equal
