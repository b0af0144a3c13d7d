"""The answers of a release, imported into an empty study of the same scenarios, give the same tables."""

import pytest
from django.core.management import call_command

from analysis.results.probe_tables import PROBE_TABLES
from generation.models import Answer, ProbeRun

pytestmark = pytest.mark.django_db


def analysed(study, folder):
    """Return the tables of PAIRS that `analyze` writes, as bytes."""
    call_command(
        "analyze", "--study", study.slug, "--output", str(folder), "--seed", "7", "--resamples", "100"
    )
    return {path.name: path.read_bytes() for path in sorted(folder.glob("pairs_*.csv"))}


@pytest.mark.parametrize("path", ["csv/probe_answers.csv", "jsonl/probe_answers.jsonl"])
def test_a_rerun_from_a_release_gives_the_same_tables(probed, made_study, released, tmp_path, capsys, path):
    _, folder = released(probed)
    expected = analysed(probed, tmp_path / "first")
    assert set(expected) >= {"pairs_scores.csv", "pairs_tests.csv"}
    assert set(expected) == {f"{name}.csv" for name in PROBE_TABLES} | {"pairs_words.csv"}
    other = made_study("Lamps once more")
    for added in (96, 0):
        call_command("import_answers", "--study", other.slug, str(folder / path), "--output", str(tmp_path))
        assert f"{added} answers added" in capsys.readouterr().out
    call_command("code_answers", "--study", other.slug)
    assert analysed(other, tmp_path / "second") == expected
    kept = ("experiment", "question", "scenario", "order", "repeat", "outcome", "text", "served_model")
    of_study = [
        Answer.objects.filter(run__study=study).order_by("run__model_label", "pk").values_list(*kept)
        for study in (probed, other)
    ]
    assert list(of_study[0]) == list(of_study[1])
    assert set(ProbeRun.objects.filter(study=other).values_list("backend", "probe_set_digest")) == {
        ("imported", probed.probe_runs.first().probe_set_digest)
    }
