"""Values that rest on a sample of pairs say so: in the files of `analyze`, on pages and in the report."""

import csv
import json

import pytest
from django.core.management import call_command

from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation, Assignment, Box, Judgement, Task
from catalog.models import Attribute
from generation.models import Image

IMAGES = 160  # with two drawings each: 51,040 pairs, where 50,000 are compared
SAID = "represented by a random sample of 50,000 pairs"


@pytest.fixture
def drawn(marked):
    """The study with `tall hat` drawn by two people on 160 further images."""
    hat = Attribute.objects.get(text="tall hat")
    group = marked.images["v1"].group
    images = Image.objects.bulk_create(
        Image(study=marked.study, group=group, model_label="sketch", source_name=f"more{number}.png")
        for number in range(IMAGES)
    )
    tasks = Task.objects.bulk_create(Task(campaign=marked.campaign, image=image, held=2) for image in images)
    people = [marked.annotators[name] for name in "pq"]
    given = [(task, slot, person) for task in tasks for slot, person in enumerate(people)]
    now = marked.campaign.closed_at
    assignments = Assignment.objects.bulk_create(
        Assignment(
            task=task,
            annotator=person,
            slot=slot,
            state=Assignment.State.SUBMITTED,
            expires_at=now,
            ended_at=now,
        )
        for task, slot, person in given
    )
    annotations = Annotation.objects.bulk_create(
        Annotation(campaign=marked.campaign, task=one.task, annotator=one.annotator, assignment=one)
        for one in assignments
    )
    judgements = Judgement.objects.bulk_create(
        Judgement(annotation=one, attribute=hat, present=True) for one in annotations
    )
    Box.objects.bulk_create(
        Box(judgement=one, x=0.1, y=0.1, width=0.2 + number % 7 / 10, height=0.3 + number % 5 / 10)
        for number, one in enumerate(judgements)
    )
    return marked


def test_analyze_marks_values_that_rest_on_a_sample(drawn, tmp_path):
    call_command("analyze", "--study", "isles", "--output", str(tmp_path / "out"), "--resamples", "100")
    with (tmp_path / "out" / "agreement.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    noted = {row["measure"]: row["note"] for row in rows if row["note"]}
    assert noted == {"box_expected_distance": "sampled_pairs", "box_alpha": "sampled_pairs"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["notes"]["boxes"]["sampled"] == {
        "measures": ["box_expected_distance", "box_alpha"],
        "attributes": {"sketch": ["tall hat"]},
        "pairs": 50_000,
        "seed": 0,
    }
    report = " ".join((tmp_path / "out" / "report.html").read_text(encoding="utf-8").split())
    assert report.count(SAID) == 2


def test_the_page_of_agreement_marks_sampled_values(drawn, analyst, analyst_client):
    compute_report(study=drawn.study, parameters=parameters_of(drawn.study, resamples=100), by=analyst)
    page = " ".join(analyst_client.get("/studies/isles/results/agreement/").content.decode().split())
    assert page.count(SAID) == 2


def test_nothing_is_marked_where_every_pair_was_compared(marked, analyst, analyst_client):
    report = compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst
    )
    assert "sampled" not in report.summary["notes"]["boxes"]
    assert SAID not in analyst_client.get("/studies/isles/results/agreement/").content.decode()
