"""A release as the command writes it: its documents are correct, and other readers load it."""

import csv
import hashlib
import io
import json

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.db import transaction

from accounts.models import Annotator
from analysis.releases import build_job
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.tables.columns import COLUMNS
from annotation.answers.inclusion import counted
from annotation.imports.importer import ImportTarget
from annotation.label_studio.format.importer import import_export
from annotation.models import Annotation, Box, Judgement
from studies.models import Study
from tests.analysis.releases.documents.test_croissant import read
from tests.analysis.releases.documents.test_data_card import load
from tests.foundation.database.postgres import on_postgres
from tests.foundation.database.waiting import Waiting


@pytest.fixture
def folder(marked, tmp_path):
    """All formats of the small study, by the command."""
    output = tmp_path / "release"
    call_command(
        "release",
        "--study",
        "isles",
        "--output",
        output,
        "--k",
        2,
        "--include-justifications",
        stdout=io.StringIO(),
    )
    return output


@pytest.mark.slow
def test_other_readers_load_every_table(folder, tmp_path):
    tables = [name for name in COLUMNS if pq.read_metadata(folder / f"data/{name}.parquet").num_rows]
    found = load(folder, tmp_path / "cache", *tables)
    assert len(found[""]["train"]) == 48
    through_croissant = read(folder)
    assert (through_croissant["errors"], through_croissant["warnings"]) == ([], [])
    assert through_croissant["said"] == []
    for name in tables:
        rows = pq.read_table(folder / f"data/{name}.parquet").num_rows
        assert len(found[name]["train"]) == rows
        assert len(through_croissant["rows"][name]) == rows


def test_the_codebook_names_the_columns_that_are_written(folder):
    lines = list(csv.DictReader((folder / "codebook.csv").read_text(encoding="utf-8").splitlines()))
    explained = {(line["table"], line["column"]) for line in lines}
    written = {
        (path.stem, column) for path in (folder / "data").iterdir() for column in pq.read_schema(path).names
    }
    assert explained == written
    for path in (folder / "csv").iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            assert {(path.stem, column) for column in next(csv.reader(file))} <= explained


def test_croissant_has_the_digest_of_every_data_file(folder):
    written = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    objects = [one for one in written["distribution"] if one["@type"] == "cr:FileObject"]
    assert {one["@id"].split("/")[0] for one in objects} >= {"data", "csv", "jsonl", "coco", "label_studio"}
    for one in objects:
        content = (folder / one["contentUrl"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
        assert one["contentSize"] == f"{len(content)} B"


def answers(study):
    """Return the judgements without annotators: image, attribute, answer and boxes."""
    found = []
    for campaign in study.campaigns.all():
        for judgement in Judgement.objects.filter(annotation__in=counted(campaign)).select_related(
            "annotation"
        ):
            boxes = Box.objects.filter(judgement=judgement).order_by("x", "y", "width")
            found.append(
                (
                    judgement.attribute.text,
                    judgement.present,
                    judgement.rating,
                    judgement.annotation.justification,
                    judgement.annotation.active_seconds,
                    tuple(
                        round(value, 9) for box in boxes for value in (box.x, box.y, box.width, box.height)
                    ),
                )
            )
    return sorted(found, key=repr)


def test_label_studio_files_are_imported_as_the_same_judgements_and_boxes(folder, marked, resource):
    for name in ("stereotype-marking", "attribute-likert"):
        report = import_export(
            target=ImportTarget(name="Isles again", by=None, resource=resource),
            file=folder / "label_studio" / f"{name}.json",
        )
        assert not report.reports[0].rejected
    again = Study.objects.get(name="Isles again")
    assert answers(again) == answers(marked.study)
    none = Annotation.objects.filter(campaign__study__in=[again, marked.study]).values_list(
        "campaign__study", "none_of_the_above"
    )
    assert sorted((value for study, value in none if study == again.pk), key=repr) == sorted(
        (value for study, value in none if study != again.pk), key=repr
    )
    assert Annotator.objects.filter(source=again.slug).count() == 3


def test_no_text_contains_database_keys_or_personal_data(folder, marked, lead):
    hidden = [one.pseudonym for one in marked.annotators.values()] + [lead.username, lead.display_name]
    for path in folder.rglob("*"):
        if path.suffix in {".md", ".json", ".txt", ".csv", ".jsonl", ".xml", ".sha256"}:
            content = path.read_text(encoding="utf-8")
            assert not any(name in content for name in hidden), path


@pytest.mark.slow
def test_an_empty_study_gives_a_release_that_says_so_and_is_valid(study, tmp_path):
    output = tmp_path / "release"
    call_command("release", "--study", "isles", "--output", output, stdout=io.StringIO())
    card = (output / "README.md").read_text(encoding="utf-8")
    assert "0 judgements, 0 boxes and 0 ratings by 0 annotators on 0 images" in card
    assert "rows of judgements: no marking campaign of the study has answers that count." in card
    assert "Nothing was asked, because the study has no campaign." in card
    found = read(output)
    assert found["errors"] == []
    assert found["rows"]["judgements"] == []


def test_a_simulated_study_says_so_before_anything_else(marked, tmp_path):
    Study.objects.filter(pk=marked.study.pk).update(simulated=True)
    output = tmp_path / "release"
    call_command("release", "--study", "isles", "--output", output, stdout=io.StringIO())
    card = (output / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    assert card.lstrip().split("\n\n")[1].startswith("> **Simulated.**")
    written = json.loads((output / "croissant.json").read_text(encoding="utf-8"))
    assert written["description"].startswith("Simulated.")


@pytest.mark.skipif(not on_postgres(), reason="SQLite locks all rows")
@pytest.mark.django_db(transaction=True)
def test_two_who_ask_for_a_release_at_once_get_one_build(study, lead):
    asked = {"study": study, "parameters": ReleaseParameters(), "by": lead}
    asking = Waiting(lambda: build_job.request(**asked))
    with transaction.atomic():
        job = build_job.request(**asked)
        asking.begin()
    assert asking.result() == job
