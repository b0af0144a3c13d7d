"""Invalid settings in the environment raise errors."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

pytestmark = pytest.mark.database_free


def test_a_secret_may_come_from_a_file(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    assert env.text("KEY") == "from a file"


def test_a_missing_secret_file_is_named(monkeypatch):
    monkeypatch.setenv("KEY_FILE", "/nowhere/key")
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE=/nowhere/key"):
        env.text("KEY")


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: env.flag("X", False), "maybe"),
        (lambda: env.integer("X", 1), "many"),
        (lambda: env.integer("X", 1), "-4"),
    ],
)
def test_nonsense_is_refused_by_name(monkeypatch, read, value):
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match="X="):
        read()


def test_a_postgresql_address_becomes_settings():
    settings = env.database("postgresql://ana:p%40ss@db:5433/labels?sslmode=require")
    assert (settings["USER"], settings["PASSWORD"], settings["HOST"], settings["PORT"], settings["NAME"]) == (
        *("ana", "p@ss", "db", "5433", "labels"),
    )
    assert settings["OPTIONS"] == {"sslmode": "require", "prepare_threshold": 5}


def test_an_absolute_and_a_relative_sqlite_path():
    assert env.database("sqlite:////var/lib/x.sqlite3")["NAME"] == "/var/lib/x.sqlite3"
    assert env.database("sqlite:///x.sqlite3")["NAME"] == "x.sqlite3"


def test_an_unknown_kind_of_database_is_refused():
    with pytest.raises(ImproperlyConfigured, match="mysql"):
        env.database("mysql://localhost/x")


def test_the_local_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path):
    from config.secret import local_secret_key

    path = tmp_path / "secret_key"
    key = local_secret_key(path)
    assert len(key) > 50
    assert local_secret_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
