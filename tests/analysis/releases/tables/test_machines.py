"""A release contains automated scores for each image, and the measures of up-to-date results."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from analysis.models import AttributeScore, Caption, TextScore
from analysis.releases.preview import preview
from analysis.releases.tables import machine_columns
from analysis.releases.tables.columns import TABLES
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.campaigns.images import retraction
from tests.analysis.automated import factories
from tests.analysis.releases.documents.test_croissant import read
from tests.analysis.releases.documents.test_data_card import load

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(study, lead):
    """People's answers, scores, captions and what a classifier says of these."""
    factories.judge(study, lead, images=6)
    factories.score(study)
    factories.describe(study)
    factories.draw_near(study, each=2)
    by = factories.scorer(
        study, "toxicity", "toxicity tiny", parameters={"model": "/home/somebody/models/tiny"}
    )
    first = Caption.objects.order_by("pk").first()
    TextScore.objects.create(scorer=by, caption=first, label="toxic", score=0.25)
    return study


def compute(study, **choices):
    return compute_report(study=study, parameters=parameters_of(study, resamples=200, **choices), by=None)


def built(output, *options):
    call_command("release", "--study", "isles", "--output", output, "--k", 2, *options, stdout=io.StringIO())
    return output


def rows(folder, name):
    return pq.read_table(folder / f"data/{name}.parquet").to_pylist()


def test_scores_and_captions_are_released_with_images_and_scorers(scored, tmp_path):
    folder = built(tmp_path / "release")
    images = {row["image"] for row in rows(folder, "images")}
    scores = rows(folder, "attribute_scores")
    assert len(scores) == AttributeScore.objects.count() == 12 * 6
    assert {row["image"] for row in scores} <= images
    stored = sorted(AttributeScore.objects.values_list("attribute__text", "probability"))
    assert sorted((row["attribute"], row["probability"]) for row in scores) == stored
    assert sorted(row["text"] for row in rows(folder, "captions")) == sorted(
        Caption.objects.values_list("text", flat=True)
    )
    (said,) = rows(folder, "text_scores")
    assert (said["scorer"], said["captioned_by"], said["label"], said["score"]) == (
        "toxicity tiny", "BLIP tiny", "toxic", 0.25,
    )  # fmt: skip
    by = {row["scorer"]: row for row in rows(folder, "scorers")}
    assert set(by) == {"CLIP tiny", "BLIP tiny", "pull by tiny", "toxicity tiny"}
    assert (by["CLIP tiny"]["images"], by["CLIP tiny"]["failed"]) == (12, 0)
    assert "somebody" not in by["toxicity tiny"]["parameters"]
    assert json.loads(by["toxicity tiny"]["parameters"])["model"].endswith("tiny")


def test_the_preview_counts_the_rows_of_the_release_without_those_of_a_retracted_image(
    scored, lead, tmp_path
):
    image = Caption.objects.first().image
    retraction.retract(image=image, by=lead, reason="A real person")
    shown = preview(scored, k=2).rows
    folder = built(tmp_path / "release")
    counted = {name: len(rows(folder, name)) for name in ("images", "attribute_scores", "captions")}
    assert {name: shown[name] for name in counted} == counted
    assert counted["images"] == scored.images.count() - 1


def test_measures_are_those_of_results_that_are_up_to_date(scored, tmp_path):
    report = compute(scored)
    folder = built(tmp_path / "release")
    for name, columns in machine_columns.MEASURED.items():
        released = rows(folder, name)
        assert released == [{one.name: row[one.name] for one in columns} for row in report.rows(name)]
    assert rows(folder, "concordance")
    with (folder / "csv/pull.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 2


def test_outdated_results_are_left_out_with_a_note(scored, tmp_path):
    compute(scored)
    factories.describe(scored, label="Another")
    folder = built(tmp_path / "release")
    assert rows(folder, "concordance") == []
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert "automated results" in {one["what"] for one in manifest["missing"]}
    of_some = tmp_path / "some"
    compute(scored, without_annotators=["judge p"])
    assert rows(built(of_some), "concordance") == []


def test_new_scores_make_a_new_version_and_equal_ones_equal_bytes(scored, tmp_path):
    first, second = built(tmp_path / "first"), built(tmp_path / "second")
    for path in first.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path
    AttributeScore.objects.filter(pk=AttributeScore.objects.first().pk).update(probability=0.5)
    third = built(tmp_path / "third")
    assert json.loads((third / "release.json").read_text(encoding="utf-8"))["version"] == 2


def test_a_study_without_scorers_has_no_such_table(study, lead, tmp_path):
    factories.judge(study, lead, images=2)
    folder = built(tmp_path / "release")
    assert {path.stem for path in (folder / "data").iterdir()} == set(TABLES)


def test_retracted_images_take_their_scores_with_them(scored, tmp_path):
    scored.images.filter(group__name="Orsani").update(
        retracted_at="2026-01-01T00:00Z", retracted_reason="No."
    )
    folder = built(tmp_path / "release")
    assert len(rows(folder, "attribute_scores")) == 6 * 6
    by = {row["scorer"]: row for row in rows(folder, "scorers")}
    assert by["CLIP tiny"]["images"] == 6


@pytest.mark.slow
def test_other_readers_load_the_tables_of_machines(scored, tmp_path):
    compute(scored)
    folder = built(tmp_path / "release")
    tables = [
        name for name in machine_columns.TABLES if pq.read_metadata(folder / f"data/{name}.parquet").num_rows
    ]
    assert {
        "scorers",
        "attribute_scores",
        "captions",
        "text_scores",
        "concordance",
        "salience",
        "pull",
    } <= set(tables)
    found = load(folder, tmp_path / "cache", *tables)
    through_croissant = read(folder)
    assert (through_croissant["errors"], through_croissant["warnings"]) == ([], [])
    assert through_croissant["said"] == []
    for name in tables:
        number = pq.read_table(folder / f"data/{name}.parquet").num_rows
        assert len(found[name]["train"]) == number
        assert len(through_croissant["rows"][name]) == number


def test_the_codebook_explains_every_column(scored, tmp_path):
    folder = built(tmp_path / "release")
    with (folder / "codebook.csv").open(encoding="utf-8", newline="") as file:
        explained = {(line["table"], line["column"]) for line in csv.DictReader(file)}
    for name, columns in machine_columns.COLUMNS.items():
        assert {(name, one.name) for one in columns} <= explained


def test_the_page_counts_the_rows_of_the_release(scored, analyst_client):
    page = analyst_client.get("/studies/isles/releases/").content.decode()
    assert "one row per scorer, image and attribute" in page


def test_scorers_name_their_encoders_as_results_do(scored, tmp_path):
    factories.another_encoder(scored, "pull")
    compute(scored)
    folder = built(tmp_path / "release")
    named = {row["encoder"] for row in rows(folder, "scorers") if row["kind"] == "pull"}
    assert named == {"tiny · folder · 1", "tiny · folder · 2"}
    assert {row["encoder"] for row in rows(folder, "pull")} == named
