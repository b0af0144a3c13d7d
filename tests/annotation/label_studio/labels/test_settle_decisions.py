"""Decisions made here apply to all answers in Label Studio: exclusions, withdrawals, pauses, closing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.answers import exclusion
from annotation.answers.inclusion import counted
from annotation.campaigns import lifecycle
from annotation.label_studio.base import reasons
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from annotation.models import Task
from annotation.people import enrolments, withdrawal
from foundation.errors import Conflict
from studies import consent
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.label_studio.payloads import (
    annotation,
    compare,
    number_of,
)
from tests.annotation.label_studio.scenario import (
    anna,
    bela,
    bridge,
    clara,
    row,
    statuses,
    task,
    text_of,
    told,
)

__all__ = ["anna", "bela", "bridge", "clara", "task"]
pytestmark = pytest.mark.django_db
State = LabelStudioAnnotation.State


@pytest.mark.parametrize("ask_again", [True, False])
def test_answers_excluded_by_the_lead_stay_excluded(bridge, task, anna, lead, ask_again):
    told(bridge, task, 1, 1)
    exclusion.exclude(
        annotation=task.annotations.get(), by=lead, reason="drawn by a cat", ask_again=ask_again
    )
    told(bridge, task, 1, 1, text_of(task), changed=2)
    latest = task.annotations.get(is_latest=True)
    assert (latest.revision, latest.status, latest.status_reason) == (2, "excluded", "drawn by a cat")
    assert row(1).state == State.EXCLUDED
    assert Task.objects.get(pk=task.pk).held == (0 if ask_again else 1)
    exclusion.readmit(annotation=latest, by=lead)
    settle(bridge=bridge, task_ids=[task.pk])
    assert statuses(task) == {anna.pk: "accepted"}
    assert slots_are_counted()


def test_the_place_of_an_excluded_answer_goes_to_the_next(bridge, task, anna, bela, clara, lead):
    for number in (1, 2, 3):
        told(bridge, task, number, number, minute=number)
    exclusion.exclude(annotation=task.annotations.get(annotator=anna), by=lead, reason="no")
    assert row(3).state == State.NEW  # the next comparison reads it
    settle(bridge=bridge, task_ids=[task.pk])
    assert statuses(task) == {anna.pk: "excluded", bela.pk: "accepted", clara.pk: "accepted"}
    assert slots_are_counted()


def test_a_lead_cannot_readmit_an_answer_deleted_in_label_studio(bridge, task, lead):
    compare(bridge, annotation(1, task=number_of(bridge, task), user=1))
    compare(bridge)
    with pytest.raises(Conflict, match="deleted in Label Studio") as refusal:
        exclusion.readmit(annotation=task.annotations.get(), by=lead)
    assert refusal.value.code == "dropped_in_label_studio"


def test_a_withdrawal_wipes_the_mirrored_answers(marking, bridge, task, anna, bela):
    told(bridge, task, 1, 1, text_of(task))
    other = marking.tasks.latest("pk")
    told(bridge, other, 2, 2)
    withdrawal.withdraw(annotator=anna, study=marking.study)
    assert row(1).result == reasons.instead_of_result(reasons.WITHDRAWN)
    assert LabelStudioUser.objects.get(annotator=anna).name == ""
    told(bridge, other, 3, 1, text_of(other))
    told(bridge, task, 1, 1, changed=9)
    assert row(3).result == row(1).result == reasons.instead_of_result(reasons.WITHDRAWN)
    assert (row(1).state, row(3).state) == (State.CONSENT, State.CONSENT)
    assert statuses(task) == {anna.pk: "excluded"}
    assert [one.annotator for one in counted(marking)] == [bela]
    assert slots_are_counted()


def test_after_renewed_consent_stored_labels_count_and_wiped_answers_do_not(marking, bridge, task, anna):
    told(bridge, task, 1, 1, text_of(task))
    withdrawal.withdraw(annotator=anna, study=marking.study)
    other = marking.tasks.latest("pk")
    told(bridge, other, 3, 1)
    withdrawal.agree(annotator=anna, text=consent.current_text(marking.study), study=marking.study)
    settle(bridge=bridge, task_ids=[task.pk, other.pk])
    assert statuses(task) == {anna.pk: "accepted"}
    assert task.annotations.get().judgements.filter(present=True).count() == 1
    assert (row(1).state, row(3).state) == (State.COUNTED, State.REFUSED)
    assert not other.annotations.exists()
    assert slots_are_counted()


def test_without_consent_answers_wait(marking, bridge, task, anna):
    consent.withdraw(annotator=anna, study=marking.study)
    told(bridge, task, 1, 1)
    assert row(1).state == State.CONSENT
    assert not statuses(task)


def test_answers_of_people_not_enrolled_wait(marking, bridge, task, anna):
    marking.enrolments.filter(annotator=anna).delete()
    told(bridge, task, 1, 1)
    assert (row(1).state, row(1).reason) == (State.WAITING, reasons.NOT_ENROLLED)


def test_labels_stay_and_new_answers_wait_during_a_pause(marking, bridge, task, anna, lead):
    other = marking.tasks.latest("pk")
    told(bridge, task, 1, 1)
    enrolment = marking.enrolments.get(annotator=anna)
    enrolments.pause(enrolment=enrolment, by=lead, reason="a rest")
    told(bridge, other, 2, 1)
    settle(bridge=bridge, task_ids=[task.pk])
    assert statuses(task) == {anna.pk: "accepted"}
    assert (row(1).state, row(2).state, row(2).reason) == (State.COUNTED, State.WAITING, reasons.PAUSED)
    enrolments.resume(enrolment=enrolment, by=lead, reason="rested")
    settle(bridge=bridge, task_ids=[task.pk, other.pk])
    assert statuses(other) == {anna.pk: "accepted"}


@pytest.mark.parametrize("ask_again", [True, False])
def test_labels_of_an_excluded_annotator_stop_counting_and_may_return(
    marking, bridge, task, anna, lead, ask_again
):
    other = marking.tasks.latest("pk")
    told(bridge, task, 1, 1)
    enrolment = marking.enrolments.get(annotator=anna)
    enrolments.exclude(enrolment=enrolment, by=lead, reason="asleep", ask_again=ask_again)
    told(bridge, other, 2, 1)
    settle(bridge=bridge, task_ids=[task.pk])
    assert not counted(marking).exists()
    assert (row(1).state, row(2).state, row(2).reason) == (State.EXCLUDED, State.EXCLUDED, reasons.PUT_OUT)
    assert Task.objects.get(pk=task.pk).held == (0 if ask_again else 1)
    enrolments.resume(enrolment=enrolment, by=lead, reason="awake")
    assert row(2).state == State.NEW
    settle(bridge=bridge, task_ids=[task.pk, other.pk])
    assert counted(marking).count() == 2
    assert slots_are_counted()


def test_after_the_campaign_was_closed_nothing_changes(marking, bridge, task, anna, lead):
    one = annotation(1, task=number_of(bridge, task), user=1)
    other = marking.tasks.latest("pk")
    compare(bridge, one)
    lifecycle.close(campaign=marking, by=lead)
    moment = (timezone.now() + timedelta(minutes=10)).isoformat()
    late = {"created_at": moment, "updated_at": moment}
    before = annotation(3, task=number_of(bridge, other), user=2)
    compare(bridge, before, annotation(2, task=number_of(bridge, other), user=1) | late)
    assert statuses(task) == {anna.pk: "accepted"}  # its annotation was deleted there
    assert (row(2).state, row(2).reason) == (State.WAITING, reasons.CLOSED)
    assert row(3).state == State.COUNTED  # it was made before
    lifecycle.reopen(campaign=marking, by=lead)
    settle(bridge=bridge, task_ids=[task.pk, other.pk])
    assert statuses(task) == {anna.pk: "excluded"}
    assert row(2).state == State.COUNTED


@pytest.mark.parametrize(("minutes", "state"), [(4, State.COUNTED), (6, State.WAITING)])
def test_the_clocks_may_differ_by_five_minutes_about_the_closing(
    marking, bridge, task, anna, lead, minutes, state
):
    lifecycle.close(campaign=marking, by=lead)
    moment = (timezone.now() + timedelta(minutes=minutes)).isoformat()
    made = {"created_at": moment, "updated_at": moment}
    compare(bridge, annotation(1, task=number_of(bridge, task), user=1) | made)
    assert row(1).state == state
