"""The example in docs/develop/adding-a-kind.md works as printed, from the declaration to results and a release."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.kinds import study_kinds
from annotation.models import Annotation, Box, Judgement
from annotation.simulation.simulate import simulate
from tests.analysis.releases.documents.test_croissant import read
from tests.analysis.releases.documents.test_data_card import load
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_prompted_images

PAGE = Path(__file__).resolve().parents[3] / "docs" / "develop" / "adding-a-kind.md"


def shown(name: str) -> str:
    """Return the code block of the page with this name in a comment."""
    [block] = re.findall(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return block


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_the_declaration_is_short():
    assert len(shown("declaration").splitlines()) <= 60
    assert study_kinds.from_file(shown("declaration").encode()).key == "calm_scenes"


@pytest.mark.django_db(transaction=True)
def test_the_example_leads_to_results(study, lead, tmp_path):
    type(study).objects.filter(pk=study.pk).update(simulated=True)
    study.refresh_from_db()
    add_prompted_images(study, ["a {id} house by the sea"], models=("north", "south", "east"))
    names = {
        "study_kinds": study_kinds,
        "lifecycle": lifecycle,
        "task_plan": task_plan,
        "simulate": simulate,
        "call_command": call_command,
        "declaration": shown("declaration"),
        "study": study,
        "lead": lead,
        "folder": tmp_path,
    }
    with shared_database(tmp_path):
        exec(shown("walk"), names)
        # One screen of each group, for three people.
        assert Annotation.objects.filter(status="accepted").count() == 2 * 3
        restless = Judgement.objects.filter(question="calm", rating=1)
        boxed = Box.objects.values("judgement").distinct()
        assert boxed.filter(judgement__in=restless).count() == boxed.count() == restless.count()
        assert Judgement.objects.filter(question="disturbs").count() == restless.count() > 0
    means = table(tmp_path / "results" / "scales.csv")
    assert {row["question"] for row in means} == {"calm", "colour"}
    assert {row["question"] for row in table(tmp_path / "results" / "choices.csv")} == {"disturbs"}
    assert {row["question"] for row in table(tmp_path / "results" / "question_agreement.csv")} >= {"calm"}
    is_released_as_declared(tmp_path)


def is_released_as_declared(folder: Path) -> None:
    """Check that the release loads with one line, has no broken references, and gives the same means."""
    release = folder / "release"
    found = load(release, folder / "cache", "stimuli", "places", "questions", "options", "annotations")
    answers = found[""]["train"]
    screens = {(row["task"], row["position"]): row for row in found["stimuli"]["train"]}
    assert len(screens) == 2 * 3
    assert {(answer["task"], answer["position"]) for answer in answers} == set(screens)
    restless = {row["answer"] for row in answers if row["question"] == "calm" and row["rating"] == 1}
    assert {place["answer"] for place in found["places"]["train"]} == restless
    disturbed = Counter(row["code"] for row in answers if row["question"] == "disturbs")
    assert disturbed.total() == len(restless)
    assert set(disturbed) <= {"crowd", "weather"}
    conditions = {row["question"]: row["when_answers"] for row in found["questions"]["train"]}
    assert conditions == {"calm": None, "colour": None, "disturbs": "[1]"}
    rated = [row["rating"] for row in answers if row["question"] == "calm" and row["rating"] != 0]
    whole = next(
        row
        for row in table(folder / "results" / "scales.csv")
        if (row["question"], row["by"]) == ("calm", "all")
    )
    assert float(whole["mean"]) == pytest.approx(sum(rated) / len(rated))
    assert (
        study_kinds.from_file((release / "declarations" / "calm-scenes.json").read_bytes()).key
        == "calm_scenes"
    )
    through_croissant = read(release)
    assert (through_croissant["errors"], through_croissant["warnings"], through_croissant["said"]) == (
        [],
        [],
        [],
    )
    assert len(through_croissant["rows"]["answers"]) == len(answers)
