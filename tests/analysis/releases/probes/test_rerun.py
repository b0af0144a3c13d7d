"""The answers of a release, imported into an empty study of the same scenarios, give the same tables."""

import pytest
from django.core.management import call_command

from analysis.results.probe_tables import PROBE_TABLES
from generation.models import Answer, ProbeRun
from studies.models import Study
from tests.analysis.probing.isles import isles, probe
from tests.annotation.campaigns.images.scenarios import ALIKE, DIFFERENT, answer, opened_check

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


def test_a_rerun_has_only_kept_scenarios(probed, made_study, released, tmp_path, lead, capsys):
    """The importing study does not know the check of images, and compares the kept scenarios."""
    answer(opened_check(probed, lead), {"bridge": [ALIKE] * 3, "harbour": [DIFFERENT] * 3})
    _, folder = released(probed)
    expected = analysed(probed, tmp_path / "first")
    assert b",harbour," not in expected["pairs_scenarios.csv"]
    other = made_study("Lamps once more")
    path = folder / "csv/probe_answers.csv"
    call_command("import_answers", "--study", other.slug, str(path), "--output", str(tmp_path))
    call_command("code_answers", "--study", other.slug)
    again = analysed(other, tmp_path / "second")
    expected.pop("pairs_scenario_checks.csv"), again.pop("pairs_scenario_checks.csv")
    assert again == expected
    assert "harbour" not in path.read_text(encoding="utf-8")
    card = " ".join((folder / "README.md").read_text(encoding="utf-8").split())
    assert "48 answers of models" in card


def test_a_rerun_of_completed_sentences_gives_the_same_associations(lead, released, tmp_path):
    study = isles(lead, tmp_path)
    Study.objects.update(name="First", slug="first")
    study.refresh_from_db()
    other = isles(lead, tmp_path)
    probe(study, temperature=0.7)
    probe(study, model="cold", temperature=0.0)
    _, folder = released(study)
    for path in ("csv/probe_answers.csv", "jsonl/probe_answers.jsonl"):
        file = str(folder / path)
        call_command("import_answers", "--study", other.slug, file, "--output", str(tmp_path / "rejected"))
    call_command("code_answers", "--study", other.slug)
    tables = []
    for each in (study, other):
        output = tmp_path / each.slug
        call_command("analyze", "--study", each.slug, "--output", str(output), "--resamples", "100")
        tables.append({path.name: path.read_bytes() for path in sorted(output.glob("association*.csv"))})
    assert tables[0] == tables[1]
    assert b"cold" in tables[0]["associations.csv"]
