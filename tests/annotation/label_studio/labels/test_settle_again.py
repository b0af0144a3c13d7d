"""Labels are settled again after decisions made here, despite interruptions and for any time of reading."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import profiles
from annotation.answers import exclusion
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.label_studio.labels import edits
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioUser
from annotation.label_studio.people import identity
from annotation.label_studio.push import lifecycle as push_lifecycle
from annotation.models import Assignment, Campaign
from annotation.people import enrolments, withdrawal
from jobs.models import Job
from studies import consent
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.assignment.test_quota_assignment import opened, person
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.payloads import START, annotation, compare, number_of, tell, worker
from tests.annotation.label_studio.rows import bridge_of, server_of
from tests.annotation.label_studio.scenario import (
    anna,
    bela,
    bridge,
    clara,
    count_what_is_left,
    row,
    statuses,
    task,
    text_of,
    told,
)

__all__ = ["anna", "bela", "bridge", "clara", "task"]
pytestmark = pytest.mark.django_db


def after_closing() -> float:
    """Return a minute, by Label Studio's clock, that is after the campaign was closed."""
    return (timezone.now() - START + timedelta(minutes=10)).total_seconds() / 60


def test_an_answer_deleted_during_a_pause_does_not_count_afterwards(bridge, task, anna, lead):
    told(bridge, task, 1, 1)
    enrolment = bridge.campaign.enrolments.get(annotator=anna)
    enrolments.pause(enrolment=enrolment, by=lead, reason="a rest")
    compare(bridge)
    assert statuses(task) == {anna.pk: "accepted"}
    enrolments.resume(enrolment=enrolment, by=lead, reason="rested")
    count_what_is_left(bridge)
    assert (statuses(task), row(1).state) == ({anna.pk: "excluded"}, "deleted")
    assert slots_are_counted()


def test_an_excluded_answer_deleted_meanwhile_cannot_return(bridge, task, anna, lead):
    told(bridge, task, 1, 1)
    exclusion.exclude(annotation=task.annotations.get(), by=lead, reason="odd")
    count_what_is_left(bridge)
    compare(bridge)
    exclusion.readmit(annotation=task.annotations.get(), by=lead)
    count_what_is_left(bridge)
    assert statuses(task) == {anna.pk: "excluded"}


def test_an_answer_reassigned_during_a_pause_counts_only_for_the_new_annotator(
    bridge, task, anna, bela, lead
):
    told(bridge, task, 1, 1)
    enrolment = bridge.campaign.enrolments.get(annotator=anna)
    enrolments.pause(enrolment=enrolment, by=lead, reason="a rest")
    count_what_is_left(bridge)
    users = bridge.server.users
    identity.undo(user=users.get(annotator=bela), by=lead)
    identity.undo(user=users.get(annotator=anna), by=lead)
    identity.confirm(user=users.get(external_id=1), annotator=bela, by=lead)
    enrolments.resume(enrolment=enrolment, by=lead, reason="rested")
    count_what_is_left(bridge)
    assert statuses(task) == {anna.pk: "excluded", bela.pk: "accepted"}
    assert slots_are_counted()


def test_labels_of_an_earlier_bridge_keep_their_places(bridge, task, anna, bela, lead):
    told(bridge, task, 1, 1)
    push_lifecycle.end(bridge=bridge, by=lead)
    again = bridge_of(Campaign.objects.get(pk=bridge.campaign_id), bridge.server)
    told(again, task, 1, 1, text_of(task), minute=3)
    assert task.annotations.get().annotator == anna
    assert (statuses(task), row(1).state) == ({anna.pk: "accepted"}, "further")


def test_changes_after_closing_count_once_the_campaign_is_reopened(bridge, task, anna, lead):
    told(bridge, task, 1, 1)
    lifecycle.close(campaign=bridge.campaign, by=lead)
    told(bridge, task, 1, 1, changed=after_closing(), was_cancelled=True)
    assert statuses(task) == {anna.pk: "accepted"}
    lifecycle.reopen(campaign=bridge.campaign, by=lead)
    assert Job.objects.filter(kind="label_studio.settle", state="queued").count() == 1
    count_what_is_left(bridge)
    assert statuses(task) == {anna.pk: "excluded"}


def test_an_answer_in_time_counts_even_if_first_seen_after_a_change(bridge, task, anna, lead):
    lifecycle.close(campaign=bridge.campaign, by=lead)
    told(bridge, task, 1, 1, text_of(task), changed=after_closing())
    told(bridge, task, 2, 2, minute=after_closing())
    assert statuses(task) == {anna.pk: "accepted"}
    assert (row(1).state, row(2).state) == ("counted", "waiting")
    settle(bridge=bridge, task_ids=[task.pk])
    assert row(1).state == "counted"
    told(bridge, task, 1, 1, changed=after_closing() + 1)
    assert task.annotations.count() == 1


def test_a_skip_that_is_taken_back_after_closing_is_too_late(bridge, task, lead):
    told(bridge, task, 1, 1, was_cancelled=True)
    lifecycle.close(campaign=bridge.campaign, by=lead)
    told(bridge, task, 1, 1, changed=after_closing())
    assert not statuses(task)


def test_a_profile_completed_later_lets_the_answer_count(study, lead):
    campaign = opened(study, lead, "at_least 1 gender = woman", wanted=2)
    man, other = person(campaign, gender="man"), person(campaign, gender="")
    bridge = bridge_of(campaign, server_of(study))
    worker(bridge, 1, man)
    worker(bridge, 2, other)
    task = campaign.tasks.earliest("pk")
    told(bridge, task, 1, 1, minute=1)
    told(bridge, task, 2, 2, minute=2)
    assert statuses(task) == {man.pk: "accepted", other.pk: "surplus"}
    profiles.describe(annotator=other, gender="woman")
    assert Job.objects.filter(kind="label_studio.settle", state="queued").count() == 1
    count_what_is_left(bridge)
    assert statuses(task) == {man.pk: "accepted", other.pk: "accepted"}
    profiles.describe(annotator=other, gender="man")
    count_what_is_left(bridge)
    once = statuses(task)
    settle(bridge=bridge, task_ids=[task.pk])
    assert statuses(task) == once
    assert slots_are_counted()


def test_tasks_open_on_our_pages_are_freed_when_a_bridge_begins(marking, study, lead, settings):
    settings.SITE_URL = "https://here.example.org"
    campaign = Campaign.objects.get(pk=marking.pk)
    annotator = new_annotator(campaign)
    lease = leases.next_assignment(campaign=campaign, annotator=annotator)
    push_lifecycle.begin(campaign=campaign, server=server_of(study), arrangement="per_slot", by=lead)
    assert Assignment.objects.get(pk=lease.pk).state == "expired"
    assert slots_are_counted()
    lease.task.refresh_from_db()
    assert lease.task.held == 0


def test_answers_seen_during_a_withdrawal_count_after_renewed_consent(bridge, task, anna):
    study, other = bridge.campaign.study, bridge.campaign.tasks.latest("pk")
    told(bridge, task, 1, 1, text_of(task))
    withdrawal.withdraw(annotator=anna, study=study)
    there = [
        annotation(1, task=number_of(bridge, task), user=1),
        annotation(2, task=number_of(bridge, other), user=1),
    ]
    tell(bridge, *there)
    assert not isinstance(row(2).result, list)
    assert tell(bridge, *there).tasks == 0  # already seen, but not stored
    withdrawal.agree(annotator=anna, text=consent.current_text(study), study=study)
    tell(bridge, *there)
    count_what_is_left(bridge)
    assert statuses(other) == {anna.pk: "accepted"}
    assert row(2).state == "counted"
    assert isinstance(row(1).result, list)


@pytest.mark.parametrize("decide", [identity.undo, identity.erase])
def test_a_decision_interrupted_before_counting_takes_effect(bridge, task, anna, lead, decide, monkeypatch):
    told(bridge, task, 1, 1)

    def killed(*_arguments, **_named):
        raise KeyboardInterrupt

    # The process ends when counting begins.
    monkeypatch.setattr(identity, "settle", killed)
    with pytest.raises(KeyboardInterrupt):
        decide(user=LabelStudioUser.objects.get(annotator=anna), by=lead)
    monkeypatch.undo()
    count_what_is_left(bridge)
    assert statuses(task) == {anna.pk: "excluded"}


def test_an_answer_no_longer_allowed_stops_counting_despite_kills(bridge, task, anna, lead, monkeypatch):
    told(bridge, task, 1, 1, updated_by=2)
    edits.take(mirrored=row(1), by=lead)
    assert statuses(task) == {anna.pk: "accepted"}

    def killed(*_arguments, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(edits, "settle", killed)
    with pytest.raises(KeyboardInterrupt):
        edits.undo(mirrored=row(1), by=lead)
    monkeypatch.undo()
    count_what_is_left(bridge)
    assert statuses(task) == {anna.pk: "excluded"}
