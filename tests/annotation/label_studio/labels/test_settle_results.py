"""Results from labels made in Label Studio equal those of the same answers given on our own pages."""

import csv
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction

from annotation.answers.attribute_references import references
from annotation.answers.validation import Answer
from annotation.assignment import leases
from annotation.label_studio.models import LabelStudioServer
from annotation.models import Annotation, Campaign
from tests.annotation.factories import new_annotator, submit
from tests.annotation.label_studio.payloads import annotation, marks, number_of, rating, tell, worker
from tests.annotation.label_studio.rows import bridge_of, server_of

pytestmark = pytest.mark.django_db


def choice(task, annotator) -> int:
    """Return this annotator's answer to this task, by a fixed rule that gives some of each answer."""
    return (task.pk * 7 + annotator.pk * 3) % 5


def texts_of(task) -> list[str]:
    return list(task.task_attributes.order_by("position").values_list("attribute__text", flat=True))


def here(task, annotator) -> Answer:
    picked = choice(task, annotator)
    if task.campaign.kind == "attribute_likert":
        return Answer.parse({"rating": picked + 1, "justification": "a sail?" if picked == 2 else ""}, task)
    refs = list(references(task))[:picked]
    boxes = [{"attribute": ref, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4} for ref in refs]
    return Answer.parse({"ticked": refs, "boxes": boxes, "none_of_the_above": not refs}, task)


def there(task, annotator) -> list[dict]:
    picked = choice(task, annotator)
    if task.campaign.kind == "attribute_likert":
        return rating(picked + 1, "a sail?" if picked == 2 else "")
    return marks(*texts_of(task)[:picked])


def label_here(campaigns, people) -> list[tuple]:
    """Answer all tasks on our own pages; return annotators and tasks in this order."""
    done = []
    for campaign in campaigns:
        for annotator in people:
            while leased := leases.next_assignment(campaign=campaign, annotator=annotator):
                submit(leased, here(leased.task, annotator), active_seconds=None)
                done.append((leased.task, annotator))
    return done


def label_there(campaigns, done) -> None:
    """Give the same answers in a Label Studio, in the opposite order."""
    server: LabelStudioServer = server_of(campaigns[0].study)
    bridges = {campaign.pk: bridge_of(campaign, server) for campaign in campaigns}
    users: dict[int, int] = {}
    for task, annotator in done:
        if annotator.pk not in users:
            users[annotator.pk] = worker(bridges[task.campaign_id], len(users) + 1, annotator).external_id
    for number, (task, annotator) in reversed(list(enumerate(done, start=1))):
        bridge = bridges[task.campaign_id]
        user = users[annotator.pk]
        told = annotation(number, task=number_of(bridge, task), user=user, minute=number, lead_time=None)
        tell(bridge, told | {"result": there(task, annotator)})


def analyzed(study, output: Path) -> dict[str, list[list[str]]]:
    call_command("analyze", "--study", study.slug, "--output", str(output), "--resamples", "100")
    return {
        path.name: list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        for path in sorted(output.glob("*.csv"))
    }


def test_analyze_gives_the_same_results(study, marking, rating_campaign, tmp_path):
    campaigns = [marking, rating_campaign]
    people = [new_annotator(marking) for _ in range(3)]
    for one in people:
        rating_campaign.enrolments.create(annotator=one)
    with transaction.atomic():
        done = label_here(campaigns, people)
        expected = analyzed(study, tmp_path / "here")
        number = Annotation.objects.filter(status="accepted", is_latest=True).count()
        transaction.set_rollback(True)
    label_there(campaigns, done)
    assert Annotation.objects.filter(status="accepted", is_latest=True).count() == number > 20
    assert analyzed(study, tmp_path / "there") == expected
    assert len(expected["likelihood.csv"]) > 4


@pytest.fixture
def rating_campaign(request) -> Campaign:
    return request.getfixturevalue("rating")
