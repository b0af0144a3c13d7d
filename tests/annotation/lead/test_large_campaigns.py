"""Pages of a campaign too large to be counted at each request: counts are shared and show their time."""

import random
import re
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Annotator
from analysis.releases.preview import preview
from annotation.answers import exclusion, freed_slots
from annotation.assignment import leases
from annotation.campaigns import extension, snapshots
from annotation.campaigns.coverage import coverage, shown_coverage
from annotation.campaigns.images import reports
from annotation.campaigns.progress import CampaignProgress, progress
from annotation.lead.campaigns.progress import progress_page, shown_progress
from annotation.lead.people.annotator_lines import annotator_lines
from annotation.models import Annotation, CampaignSnapshot
from annotation.people import enrolments, pay, withdrawal
from annotation.quality.measures import ALL
from tests.annotation.factories import new_annotator, none_of_them, submit, ticking

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/campaigns/marking/"
SUBJECTS = ("progress", "quotas", "annotators", "coverage", "pay", "labels")


@pytest.fixture
def large(monkeypatch, answered):
    """The campaign with answers, treated as too large, and counted once."""
    monkeypatch.setattr(snapshots, "LARGE_SCREENS", 3)
    for subject in SUBJECTS:
        snapshots.read(answered, subject, ".." if subject == "pay" else "", wait=True)
    return answered


def grow_old(*, seconds, took):
    """Set the age of the counts and the time that counting took, in seconds."""
    counted_at = timezone.now() - timedelta(seconds=seconds)
    CampaignSnapshot.objects.update(counted_at=counted_at, seconds=took)


def test_a_small_campaign_is_counted_at_each_request(lead_client, answered):
    lead_client.get(PAGE)
    lead_client.get(f"{PAGE}annotators/")
    assert not CampaignSnapshot.objects.exists()
    assert progress_page(answered).counted_at is None


def test_polling_reads_no_judgement_and_counts_no_answer(lead_client, large):
    with CaptureQueriesContext(connection) as captured:
        shown = lead_client.get(f"{PAGE}progress/")
    assert shown.context["shown"].progress.accepted == 4
    assert len(captured) <= 20
    for statement in (one["sql"] for one in captured):
        assert "annotation_judgement" not in statement
        assert not re.search(r'(COUNT|SUM)\([^)]*\)[^()]*FROM "annotation_(annotation|task)"', statement)
        assert 'FROM "annotation_annotation"' not in statement or "LIMIT 1" in statement


@pytest.mark.parametrize(
    "part", ["", "progress/", "annotators/", "who/", "pay/", "close/confirm/", "../../../isles/releases/"]
)
def test_pages_show_stored_counts_with_their_time(lead_client, large, part):
    grow_old(seconds=60, took=30)  # not old yet: twenty times as long as it took
    submit(leases.next_assignment(campaign=large, annotator=new_annotator(large)))
    with CaptureQueriesContext(connection) as captured:
        page = lead_client.get("/studies/isles/releases/" if "releases" in part else PAGE + part)
    assert page.status_code == 200
    assert not any("annotation_judgement" in one["sql"] for one in captured)
    if part != "close/confirm/" and "releases" not in part:
        assert "As of <time" in page.content.decode()
    if part in {"", "progress/"}:
        assert page.context["shown"].progress.accepted == 4


def test_outdated_counts_are_renewed_by_a_single_request(lead_client, large):
    submit(leases.next_assignment(campaign=large, annotator=new_annotator(large)))
    grow_old(seconds=60, took=0.1)
    kept = CampaignSnapshot.objects.get(subject="progress")
    CampaignSnapshot.objects.filter(pk=kept.pk).update(claimed_until=timezone.now() + timedelta(minutes=1))
    assert lead_client.get(PAGE).context["shown"].progress.accepted == 4  # another request is counting
    CampaignSnapshot.objects.filter(pk=kept.pk).update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert lead_client.get(PAGE).context["shown"].progress.accepted == 5
    kept.refresh_from_db()
    assert kept.claimed_until is None
    assert timezone.now() - kept.counted_at < timedelta(seconds=30)


@pytest.mark.parametrize("part", ["", "progress/", "annotators/", "who/", "pay/"])
def test_the_page_says_that_nothing_was_counted_yet(lead_client, large, part):
    CampaignSnapshot.objects.update(
        value=None, counted_at=None, claimed_until=timezone.now() + timedelta(minutes=1)
    )
    page = lead_client.get(PAGE + part).content.decode()
    assert "being counted" in page
    lists = lead_client.get("/studies/isles/").content.decode()
    assert "being counted" in lists
    assert lead_client.get("/studies/").status_code == 200


def test_lists_show_stored_counts(lead_client, large):
    grow_old(seconds=60, took=30)
    line = lead_client.get("/studies/isles/campaigns/").context["campaigns"][0]
    assert (line.accepted, line.wanted) == (4, 16)


def test_the_api_states_the_time_of_its_counts(lead_client, large):
    grow_old(seconds=60, took=30)
    said = lead_client.get(f"/api/v1/campaigns/{large.pk}/progress/").json()
    assert said["accepted"] == 4
    assert said["counted_at"] is not None


def test_stored_counts_equal_the_slow_counts_after_any_actions(study, large, lead):
    generator = random.Random(11)
    people = [new_annotator(large) for _ in range(4)]
    for _ in range(10):
        if (leased := leases.next_assignment(campaign=large, annotator=generator.choice(people))) is None:
            continue
        word = leased.task.task_attributes.first().attribute.text
        saved = submit(leased, generator.choice([none_of_them(leased), ticking(leased, word)]))
        if generator.random() < 0.4:
            submit(leased, ticking(leased, word) if saved.none_of_the_above else none_of_them(leased))
    _equal(large)
    excluded = Annotation.objects.filter(campaign=large, is_latest=True).first()
    exclusion.exclude(annotation=excluded, by=lead, reason="unreadable")
    enrolment = large.enrolments.select_related("annotator").get(annotator=people[0])
    enrolments.exclude(enrolment=enrolment, by=lead, reason="careless", ask_again=False)
    _equal(large)
    freed_slots.reopen(campaign=large, by=lead)
    _equal(large)
    withdrawal.withdraw(annotator=people[1], study=study)
    reports.retract(image=study.images.first(), by=lead, reason="a real person")
    _equal(large)
    extension.extend(campaign=large, by=lead, annotators_per_task=5)
    for person in people[2:]:
        if (leased := leases.next_assignment(campaign=large, annotator=person)) is not None:
            submit(leased)
    _equal(large)


def _equal(campaign):
    CampaignSnapshot.objects.update(counted_at=timezone.now() - timedelta(days=1), seconds=0.1)
    slow = progress(campaign)
    shown = shown_progress(campaign)
    assert shown.counted_at is not None
    assert CampaignProgress.from_json(shown.as_json()) == slow
    rows = list(campaign.enrolments.select_related("annotator").order_by("pk"))
    assert shown_coverage(campaign, rows)[0] == coverage(campaign, rows)
    assert pay.shown_statement(campaign)[0] == pay.statement(campaign)
    kept = snapshots.read(campaign, "annotators").value
    lines = annotator_lines(campaign, rows, measures=ALL)
    assert kept == {str(line.enrolment.pk): line.as_json() for line in lines}
    labels = preview(campaign.study, k=2).rows["judgements"]
    whole = snapshots._SUBJECTS["labels"](campaign, "")
    assert labels == whole["judgements"]


def test_unused_snapshots_are_deleted(large):
    long_ago, old = (timezone.now() - timedelta(days=3), timezone.now() - timedelta(minutes=1))
    CampaignSnapshot.objects.filter(subject="pay").update(counted_at=long_ago)
    CampaignSnapshot.objects.filter(subject="progress").update(counted_at=old, seconds=0.1)
    snapshots.read(large, "progress")
    assert not CampaignSnapshot.objects.filter(subject="pay").exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_readers_cause_a_single_count(marking, lead_client, monkeypatch):
    if connection.vendor == "sqlite":
        pytest.skip("another thread cannot read a database in memory that a test writes to")
    monkeypatch.setattr(snapshots, "LARGE_SCREENS", 3)
    began, all_looked = [], threading.Event()

    @snapshots.register("slow")
    def _slow(campaign, _):
        began.append(campaign.pk)
        assert all_looked.wait(60)
        return {"people": Annotator.objects.count()}

    assert [snapshots.read(marking, "slow").pending for _ in range(10)] == [True] * 10
    all_looked.set()
    until = time.monotonic() + 60
    while snapshots.read(marking, "slow").pending and time.monotonic() < until:
        time.sleep(0.05)
    assert snapshots.read(marking, "slow").value == {"people": 0}
    assert began == [marking.pk]
    del snapshots._SUBJECTS["slow"]
