"""Storing answers: once, completely and permanently."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.answers import exclusion, submission_rules
from annotation.answers.validation import answer_of
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Box, Enrolment, Judgement, Task
from foundation.errors import Conflict, Forbidden, NotFound
from tests.annotation.assignment.test_leases import label_everything, next_for, slots_are_counted
from tests.annotation.factories import new_annotator, none_of_them, submit, ticking

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(marking):
    return new_annotator(marking)


@pytest.fixture
def leased(marking, anna):
    return next_for(anna, marking)


def first_text(leased):
    return leased.task.task_attributes.first().attribute.text


def test_every_attribute_of_the_screen_gets_its_judgement_and_boxes(leased):
    text = first_text(leased)
    kept = submit(leased, ticking(leased, text))
    assert {j.attribute.text: j.present for j in kept.judgements.all()} == {
        one.attribute.text: one.attribute.text == text for one in leased.task.task_attributes.all()
    }
    box = Box.objects.get()
    assert (box.judgement.attribute.text, box.x, box.width, box.clipped) == (text, 0.1, 0.3, False)
    assert (kept.none_of_the_above, kept.revision, kept.instrument.version) == (False, 1, 1)


def test_the_same_submission_id_returns_the_same_annotation(leased, anna):
    key = uuid.uuid4()
    first, again = (
        submit(leased, answer, submission_id=key)
        for answer in (none_of_them(leased), ticking(leased, first_text(leased)))
    )
    assert first == again
    assert Annotation.objects.get().none_of_the_above is True


def test_a_submission_id_of_another_task_is_refused_and_nothing_is_written(leased, anna, marking):
    key = uuid.uuid4()
    submit(leased, submission_id=key)
    second = next_for(anna, marking)
    with pytest.raises(Conflict, match="submission_id"):
        submit(second, submission_id=key)
    assert Annotation.objects.count() == 1
    assert Assignment.objects.get(pk=second.pk).state == "leased"


def test_a_correction_is_a_new_revision_and_the_old_one_is_kept(leased):
    first = submit(leased)
    second = submit(leased, ticking(leased, first_text(leased)))
    first.refresh_from_db()
    assert (first.revision, first.is_latest, first.judgements.filter(present=True).count()) == (1, False, 0)
    assert (second.revision, second.is_latest, second.judgements.filter(present=True).count()) == (2, True, 1)
    assert leased.task.assignments.get().state == "submitted"


def test_a_correction_gives_no_further_time_for_corrections(leased):
    submit(leased, now=leased.leased_at)
    text = first_text(leased)
    submit(leased, ticking(leased, text), now=leased.leased_at + timedelta(minutes=20))
    with pytest.raises(Forbidden) as refusal:
        submit(leased, now=leased.leased_at + timedelta(minutes=31))
    assert refusal.value.code == "edit_window_over"
    assert Assignment.objects.get(pk=leased.pk).ended_at == leased.leased_at


def test_an_answer_that_changes_nothing_adds_no_revision(leased):
    answer = ticking(leased, first_text(leased))
    first = submit(leased, answer)
    assert submit(leased, answer) == first
    assert answer_of(first) == answer
    assert Annotation.objects.count() == 1


def test_a_late_answer_is_accepted_if_its_place_is_free(leased):
    kept = submit(leased, now=leased.expires_at + timedelta(hours=3))
    assert kept.status == "accepted"
    assert slots_are_counted()


def test_a_late_answer_after_release_takes_a_free_place(leased, marking):
    late = leased.expires_at + timedelta(minutes=1)
    leases.expire(campaign=marking, now=late)
    assert Task.objects.get(pk=leased.task_id).held == 0
    kept = submit(leased, now=late)
    assert kept.status == "accepted"
    assert Assignment.objects.get(pk=leased.pk).slot == 0
    assert slots_are_counted()


def test_a_late_answer_is_surplus_if_every_place_is_taken(leased, marking):
    leases.expire(campaign=marking, now=leased.expires_at)
    for _ in range(2):
        label_everything(marking, new_annotator(marking))
    kept = submit(leased, now=leased.expires_at)
    assert (kept.status, kept.status_reason) == ("surplus", submission_rules.LATE)
    assert kept.judgements.count() == leased.task.task_attributes.count()
    assert Assignment.objects.get(pk=leased.pk).state == "surplus"
    assert leased.task.annotations.filter(status="accepted").count() == 2
    correction = submit(leased, ticking(leased, first_text(leased)))
    assert (correction.status, correction.revision) == ("surplus", 2)
    assert slots_are_counted()


@pytest.mark.parametrize("verb", [lifecycle.pause, lifecycle.close])
def test_a_live_lease_is_accepted_though_the_campaign_stopped_meanwhile(leased, marking, lead, verb):
    verb(campaign=marking, by=lead)
    assert submit(leased).status == "accepted"


def test_after_closing_and_after_the_lease_an_answer_is_surplus(leased, marking, lead):
    lifecycle.close(campaign=marking, by=lead)
    kept = submit(leased, now=leased.expires_at)
    assert (kept.status, kept.status_reason) == ("surplus", submission_rules.CLOSED)
    assert slots_are_counted()


def test_a_closed_campaign_takes_no_corrections(leased, marking, lead):
    submit(leased)
    lifecycle.close(campaign=marking, by=lead)
    with pytest.raises(Forbidden, match="closed"):
        submit(leased, ticking(leased, first_text(leased)))
    assert Annotation.objects.count() == 1


def test_a_skipped_task_that_is_answered_after_all_is_taken(leased, anna):
    leases.skip(assignment=leased, annotator=anna)
    assert submit(leased).status == "accepted"
    assert slots_are_counted()


def test_nobody_can_submit_the_task_of_another(leased, marking):
    other = new_annotator(marking)
    with pytest.raises(NotFound):
        submit(leased, by=other)


def test_no_label_without_consent(leased, anna):
    anna.consents.update(withdrawn_at=timezone.now())
    with pytest.raises(Forbidden) as refusal:
        submit(leased)
    assert refusal.value.code == "consent_missing"
    assert not Annotation.objects.exists()


def test_an_excluded_annotator_cannot_submit(leased, anna):
    Enrolment.objects.filter(annotator=anna).update(state="excluded")
    with pytest.raises(Forbidden):
        submit(leased)
    assert not Judgement.objects.exists()


def test_active_seconds_never_exceed_the_time_since_the_lease(leased, anna):
    kept = submit(leased, active_seconds=10_000, now=leased.leased_at + timedelta(seconds=40))
    assert kept.active_seconds == 40


def test_excluding_an_annotation_offers_its_task_to_somebody_else(leased, marking, lead):
    kept = submit(leased)
    exclusion.exclude(annotation=kept, by=lead, reason="clicked at random")
    kept.refresh_from_db()
    assert (kept.status, kept.status_reason) == ("excluded", "clicked at random")
    for _ in range(2):
        assert leased.task_id in label_everything(marking, new_annotator(marking))
    back = exclusion.readmit(annotation=kept, by=lead)
    assert back.status == "surplus"
    assert slots_are_counted()


def test_only_the_latest_revision_can_be_excluded(leased, lead):
    replaced = submit(leased)
    submit(leased, ticking(leased, first_text(leased)))
    with pytest.raises(Conflict, match="Only the latest revision"):
        exclusion.exclude(annotation=replaced, by=lead, reason="clicked at random")
    assert Assignment.objects.get(pk=leased.pk).slot == 0


def test_an_exclusion_can_be_taken_back(leased, lead):
    kept = submit(leased)
    for ask_again in (True, False):
        exclusion.exclude(annotation=kept, by=lead, reason="test", ask_again=ask_again)
        assert exclusion.readmit(annotation=kept, by=lead).status == "accepted"
        assert Assignment.objects.get(pk=leased.pk).state == "submitted"
        assert slots_are_counted()


def test_a_retry_is_answered_even_if_the_annotator_was_paused_meanwhile(leased, anna, marking):
    key = uuid.uuid4()
    kept = submit(leased, submission_id=key)
    Enrolment.objects.filter(annotator=anna).update(state="paused")
    assert submit(leased, submission_id=key) == kept
    with pytest.raises(Forbidden):
        submit(leased)
