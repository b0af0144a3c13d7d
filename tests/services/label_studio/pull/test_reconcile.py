"""Labels from a real Label Studio are the same by every route: webhooks, comparison, or a mixture of both."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.campaigns import lifecycle
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioEvent, LabelStudioUser
from annotation.models import Annotation, Campaign
from jobs.models import Job
from tests.services.label_studio.annotators import hands_of, rated, there
from tests.services.label_studio.proxy import wire_to
from tests.services.label_studio.study import (
    Arrangement,
    Ways,
    Work,
    bridged,
    do_jobs,
    events_done,
    four_people,
    known,
    same_on_our_pages,
    state_of,
    twin,
    two_campaigns,
)

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
State = LabelStudioAnnotation.State
# The result of every route; `Work` says who did what.
EXPECTED = Path(__file__).resolve().with_name("pulled.json")


@pytest.fixture
def wire(live_server, settings):
    with wire_to(live_server.url) as wire:
        settings.SITE_URL = wire.url
        yield wire


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:5]) as hands:
        yield hands


@pytest.fixture
def world(study, lead, label_studio, wire, hands):
    """Return both campaigns, sent, and four annotators who take part."""
    rating, marking = two_campaigns(study, lead)
    here = four_people((rating, marking))
    owner = label_studio.owner
    bridges = [
        bridged(campaign, arrangement, url=label_studio.url, token=owner.token, lead=lead)
        for campaign, arrangement in ((rating, Arrangement.SHARED), (marking, Arrangement.PER_SLOT))
    ]
    wire.drop()  # webhooks about our own push
    return rating, marking, here, bridges


@pytest.mark.parametrize("way", ["webhooks", "comparing", "both"])
def test_all_ways_come_to_the_same(world, wire, hands, lead, study, tmp_path, way):
    rating, marking, here, bridges = world
    pull = getattr(Ways(wire, bridges), way)
    work = Work(*bridges, hands)
    work.begin()
    pull()
    assert LabelStudioUser.objects.filter(state="waiting").count() == 4
    assert not Annotation.objects.exists()
    known(bridges, hands, here, lead)
    work.go_on()
    pull()
    counted = [_counted(campaign) for campaign in (rating, marking)]
    work.change_their_minds()
    pull()
    assert events_done()
    assert set(wire.statuses) <= {202}
    assert not Job.objects.exclude(state=Job.State.SUCCEEDED).exists()
    for bridge in bridges:
        bridge.refresh_from_db()
        assert bridge.problem in ("", "tasks_missing"), bridge.problem_text
    state = [state_of(campaign, here, hands) for campaign in (rating, marking)]
    _same(json.loads(json.dumps(state)), json.loads(EXPECTED.read_text(encoding="utf-8")))
    # Repeated webhooks and comparisons change nothing more.
    Ways(wire, bridges).comparing()
    _same([state_of(campaign, here, hands) for campaign in (rating, marking)], state)
    assert counted == [11, 11]
    _check_what_counts(rating, marking)
    if way == "both":
        _check_analysis(study, lead, (rating, marking), here, tmp_path)


def _same(state: list[list[Any]], other: list[list[Any]]) -> None:
    for one, before in zip(state, other, strict=True):
        for place, (task, expected) in enumerate(zip(one, before, strict=True)):
            assert task == expected, place


def _counted(campaign: Campaign) -> int:
    accepted = Annotation.objects.filter(campaign=campaign, is_latest=True, status=Annotation.Status.ACCEPTED)
    return accepted.count()


def _check_what_counts(rating: Campaign, marking: Campaign) -> None:
    """Check the outcome itself, and not only that it is the same; `Work` says who did what."""
    assert _numbers(rating) == {
        State.COUNTED: 11,
        State.SURPLUS: 1,
        State.SKIPPED: 2,
        State.DELETED: 1,
        State.FLAGGED: 2,
        State.WAITING: 1,
        State.REFUSED: 1,
    }
    assert _numbers(marking) == {
        State.COUNTED: 11,
        State.FURTHER: 1,
        State.SKIPPED: 1,
        State.DELETED: 2,
        State.WAITING: 1,
    }
    for campaign in (rating, marking):
        for task in campaign.tasks.all():
            accepted = Annotation.objects.filter(task=task, is_latest=True, status=Annotation.Status.ACCEPTED)
            assert accepted.count() == task.held <= task.wanted


def _numbers(campaign: Campaign) -> dict[str, int]:
    rows = LabelStudioAnnotation.objects.filter(project__bridge__campaign=campaign)
    found = list(rows.values_list("state", flat=True))
    return {state: found.count(state) for state in State if state in found}


def _check_analysis(study, lead, ours, here, folder: Path) -> None:
    """Check that the same labels made on our own pages have the same results."""
    other = twin(study, lead)
    for campaign, made in zip(ours, two_campaigns(other, lead), strict=True):
        same_on_our_pages(campaign, made, here)
    tables = []
    for slug in (study.slug, other.slug):
        call_command("analyze", study=slug, output=folder / slug, resamples=100)
        tables.append({path.name: path.read_text() for path in sorted((folder / slug).glob("*.csv"))})
    assert tables[0].keys() == tables[1].keys()
    assert len(tables[0]) > 3
    for name, text in tables[0].items():
        assert tables[1][name] == text, name


def test_a_hint_is_taken_and_nothing_is_done_in_it(world, wire, hands):
    """Webhooks are sent inside the annotator's own request, which waits for a second."""
    _, _, _, bridges = world
    [project] = bridges[0].projects.all()
    task = project.tasks.first()
    hands[0].answer(task.external_id, [])
    [kept] = wire.kept
    assert wire.send(kept) == 202
    assert not LabelStudioAnnotation.objects.exists()
    assert Job.objects.get(kind=job_queue.EVENTS).state == Job.State.QUEUED
    do_jobs()
    assert LabelStudioEvent.objects.get().outcome == "The task was read."
    assert LabelStudioAnnotation.objects.get().task == task.task


def test_the_command_pushes_and_pulls_here_and_now(world, hands, lead, capsys):
    rating, _, here, bridges = world
    work = Work(*bridges, hands)
    work.begin()
    call_command("sync_label_studio", campaign=rating.pk)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2
    assert LabelStudioAnnotation.objects.count() == 4
    known(bridges, hands, here, lead)
    assert Annotation.objects.filter(status=Annotation.Status.ACCEPTED).count() == 3


def test_in_a_project_for_each_annotator_only_their_own_answers_count(study, lead, label_studio, wire, hands):
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    rating = lifecycle.open_(campaign=draft, by=lead)
    here = four_people([rating])
    token = label_studio.owner.token
    bridge = bridged(rating, Arrangement.PER_ANNOTATOR, url=label_studio.url, token=token, lead=lead)
    wire.drop()
    theirs = {project.annotator_id: project for project in bridge.projects.all()}
    assert set(theirs) == {annotator.pk for annotator in here}
    task = rating.tasks.earliest("pk")
    ada, ben, cleo, dora, _ = hands
    for hand, annotator, rating_given in zip((ada, ben, cleo), here, (1, 2, 4), strict=False):
        hand.answer(there(theirs[annotator.pk], task), rated(rating_given))
    other = rating.tasks.latest("pk")
    dora.answer(there(theirs[here[0].pk], other), rated(5))  # in Ada's project
    ways = Ways(wire, [bridge])
    ways.webhooks()
    known([bridge], hands, here, lead)
    labels = Annotation.objects.filter(status=Annotation.Status.ACCEPTED, is_latest=True)
    expected = {(task.pk, annotator.pk) for annotator in here[:3]}
    assert set(labels.values_list("task_id", "annotator_id")) == expected
    assert LabelStudioAnnotation.objects.get(task=other).state == State.REFUSED
    ways.comparing()
    assert set(labels.values_list("task_id", "annotator_id")) == expected
