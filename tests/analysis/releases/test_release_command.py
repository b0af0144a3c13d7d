"""The output and exit codes of `release`."""

import json

import pytest
from django.core.management import CommandError, call_command

from analysis.models import Release
from foundation.errors import DomainError
from tests.foundation.database.own_database import own_server

pytestmark = pytest.mark.django_db


def test_the_command_prints_what_was_written(marked, tmp_path, capsys):
    call_command("release", "--study", "isles", "--output", str(tmp_path / "out"), "--k", "6", "--by", "lena")
    assert "version 1 of Isles" in capsys.readouterr().out
    release = Release.objects.get()
    assert (release.parameters["k"], release.built_by.username) == (6, "lena")


def test_only_the_requested_formats_are_written(marked, tmp_path):
    out = tmp_path / "out"
    call_command("release", "--study", "Isles", "--output", str(out), "--format", "csv", "coco")
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"csv", "coco"}
    missing = {one["what"] for one in json.loads((out / "release.json").read_text())["missing"]}
    assert {"format parquet", "format images"} <= missing


def test_images_can_be_left_out(marked, tmp_path):
    call_command("release", "--study", "isles", "--output", str(tmp_path / "out"), "--without-images")
    assert "images" not in Release.objects.get().parameters["formats"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "1"], "k must be"),
        (["--licence", ""], "licence"),
        (["--licence", " "], "licence"),
        (["--format", "coco"], "tables"),
        (["--format", "images"], "tables"),
    ],
)
def test_invalid_choices_are_usage_errors(marked, tmp_path, options, words):
    with pytest.raises(CommandError, match=words) as refused:
        call_command("release", "--study", "isles", "--output", str(tmp_path / "out"), *options)
    assert refused.value.returncode == 2
    assert not (tmp_path / "out").exists()


def test_an_unknown_study_is_reported_in_one_sentence(marked, tmp_path):
    with pytest.raises(DomainError, match="no study"):
        call_command("release", "--study", "nowhere", "--output", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_a_usage_error(marked, tmp_path):
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("release", "--study", "isles", "--output", str(tmp_path), "--format", "xlsx")


def test_exit_codes_of_a_separate_process(tmp_path):
    with own_server(tmp_path) as server:
        server.ask('answer = Study.objects.create(name="Isles", slug="isles", seed=1).pk')
        done = server.run("release", "--study", "isles", "--output", str(tmp_path / "out"))
        assert "version 1 of Isles" in done.stdout
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.txt").write_text("mine")
        refused = server.run("release", "--study", "isles", "--output", str(tmp_path / "mine"), check=False)
        assert (refused.returncode, len(refused.stderr.strip().splitlines())) == (1, 1)
        assert server.run("release", "--study", "isles", check=False).returncode == 2
        help_text = server.run("release", "--help").stdout
        assert "python manage.py release --study" in help_text
