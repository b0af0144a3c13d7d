"""Replacing labels that stop counting: the lead decides, at once or later."""

import pytest
from django.db.models import Count, F, Q

from annotation.answers import exclusion, freed_slots
from annotation.answers.inclusion import counted
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.campaigns.images import retraction
from annotation.models import Annotation, Assignment, Enrolment, Judgement, Task
from annotation.people import enrolments, withdrawal
from foundation.errors import Conflict
from studies import consent
from studies.models import AuditEntry
from tests.annotation.assignment.test_leases import next_for, slots_are_counted
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db


def answers(annotator, campaign, number):
    """Answer as many screens; return the annotations."""
    return [submit(next_for(annotator, campaign)) for _ in range(number)]


def enrolment_of(annotator):
    return Enrolment.objects.select_related("campaign__study").get(annotator=annotator)


def invariants_hold():
    accepted = Count("annotations", filter=Q(annotations__status="accepted", annotations__is_latest=True))
    too_many = Task.objects.annotate(accepted=accepted).filter(accepted__gt=F("wanted"))
    return slots_are_counted() and not too_many.exists()


def set_option(campaign, **options):
    campaign.options = {**campaign.options, **options}
    campaign.save(update_fields=["options"])


def test_the_effects_of_an_exclusion_are_shown_beforehand(marking, lead):
    anna = new_annotator(marking)
    answers(anna, marking, 2)
    enrolment = enrolment_of(anna)
    effect = freed_slots.effect_of_excluding(enrolment)
    labels = Judgement.objects.filter(annotation__annotator=anna).count()
    assert (effect.answers, effect.labels, effect.screens) == (2, labels, 2)
    before = counted(marking).count()
    enrolments.exclude(enrolment=enrolment, by=lead, reason="Ticks anything", ask_again=True)
    assert before - counted(marking).count() == effect.answers
    assert Annotation.objects.filter(annotator=anna, status="excluded").count() == effect.screens
    assert Task.objects.filter(held=0).count() == marking.tasks.count()
    details = AuditEntry.objects.get(action="enrolment.excluded").details
    assert (details["labels"], details["ask_again"]) == (labels, True)
    assert invariants_hold()


def test_answers_to_checks_free_no_place(marking, lead):
    anna = new_annotator(marking)
    (answered,) = answers(anna, marking, 1)
    Assignment.objects.create(
        task=answered.task,
        annotator=anna,
        purpose="repeat",
        state="submitted",
        expires_at=answered.submitted_at,
    )
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    assert Assignment.objects.get(purpose="repeat").state == "submitted"
    assert invariants_hold()


def test_answers_of_a_readmitted_annotator_take_free_places_or_are_surplus(marking, lead):
    anna = new_annotator(marking)
    taken, _ = answers(anna, marking, 2)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    for _ in range(2):
        person = new_annotator(marking)
        while submit(next_for(person, marking)).task_id != taken.task_id:
            pass
    enrolments.resume(enrolment=enrolment_of(anna), by=lead, reason="A misunderstanding")
    statuses = dict(Annotation.objects.filter(annotator=anna).values_list("task", "status"))
    assert statuses.pop(taken.task_id) == "surplus"
    assert invariants_hold()
    assert not AuditEntry.objects.filter(action="annotation.readmitted").exists()


@pytest.mark.parametrize("asked_again", [True, False])
def test_an_answer_excluded_alone_stays_excluded_when_its_annotator_returns(marking, lead, asked_again):
    anna = new_annotator(marking)
    alone, other = answers(anna, marking, 2)
    exclusion.exclude(annotation=alone, by=lead, reason="The image did not load", ask_again=asked_again)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    enrolments.resume(enrolment=enrolment_of(anna), by=lead, reason="A misunderstanding")
    for annotation, expected in ((alone, "excluded"), (other, "accepted")):
        annotation.refresh_from_db()
        assert annotation.status == expected
    assert invariants_hold()


def test_the_return_of_one_annotator_brings_back_no_answer_of_another(marking, lead):
    people = [new_annotator(marking) for _ in range(2)]
    for person in people:
        answers(person, marking, 1)
        enrolments.exclude(enrolment=enrolment_of(person), by=lead, reason="Careless", ask_again=True)
    enrolments.resume(enrolment=enrolment_of(people[0]), by=lead, reason="A misunderstanding")
    statuses = dict(Annotation.objects.values_list("annotator", "status"))
    assert statuses == {people[0].pk: "accepted", people[1].pk: "excluded"}
    assert invariants_hold()


def test_screens_of_a_retracted_image_are_not_among_those_that_can_be_asked_again(marking, lead):
    anna = new_annotator(marking)
    first, _ = answers(anna, marking, 2)
    Task.objects.filter(pk=first.task_id).update(withdrawn=True)
    assert freed_slots.effect_of_excluding(enrolment_of(anna)).screens == 1
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless")
    assert freed_slots.in_vain(marking) == freed_slots.Places(places=1, screens=1)


@pytest.mark.parametrize("asked_again", [True, False])
def test_the_campaign_decides_whether_a_withdrawal_frees_places(marking, asked_again):
    set_option(marking, reopen_withdrawn=asked_again)
    anna = new_annotator(marking)
    answers(anna, marking, 3)
    assert withdrawal.withdraw(annotator=anna, study=marking.study)
    assert counted(marking).count() == 0
    assert Task.objects.filter(held__gt=0).count() == (0 if asked_again else 3)
    assert freed_slots.in_vain(marking).places == (0 if asked_again else 3)
    assert invariants_hold()


def test_a_withdrawal_frees_places_unless_the_campaign_says_otherwise(marking):
    anna = new_annotator(marking)
    answers(anna, marking, 1)
    withdrawal.withdraw(annotator=anna, study=marking.study)
    assert not Task.objects.filter(held__gt=0).exists()


def test_answers_count_again_after_renewed_consent_where_places_are_free(marking):
    anna = new_annotator(marking)
    answers(anna, marking, 3)
    withdrawal.withdraw(annotator=anna, study=marking.study)
    for _ in range(2):
        person = new_annotator(marking)
        answers(person, marking, 8)
    text = consent.current_text(marking.study)
    withdrawal.agree(annotator=anna, text=text, study=marking.study)
    assert list(Annotation.objects.filter(annotator=anna).values_list("status", flat=True)) == ["surplus"] * 3
    assert invariants_hold()


def test_answers_count_again_only_when_exclusion_and_withdrawal_have_both_ended(marking, lead):
    anna = new_annotator(marking)
    answers(anna, marking, 2)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    withdrawal.withdraw(annotator=anna, study=marking.study)
    enrolments.resume(enrolment=enrolment_of(anna), by=lead, reason="A misunderstanding")
    assert not Task.objects.filter(held__gt=0).exists()
    withdrawal.agree(annotator=anna, text=consent.current_text(marking.study), study=marking.study)
    assert counted(marking).count() == 2
    assert invariants_hold()


def test_renewed_consent_does_not_end_an_exclusion(marking, lead):
    anna = new_annotator(marking)
    answers(anna, marking, 2)
    withdrawal.withdraw(annotator=anna, study=marking.study)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    withdrawal.agree(annotator=anna, text=consent.current_text(marking.study), study=marking.study)
    assert not Task.objects.filter(held__gt=0).exists()
    assert not counted(marking).exists()
    enrolments.resume(enrolment=enrolment_of(anna), by=lead, reason="A misunderstanding")
    assert counted(marking).count() == 2
    assert invariants_hold()


def test_a_lead_who_changes_their_mind_can_have_the_screens_asked_again(marking, lead):
    set_option(marking, reopen_withdrawn=False)
    excluded, gone, honest = (new_annotator(marking) for _ in range(3))
    answers(excluded, marking, 2)
    answers(gone, marking, 2)
    single, kept = answers(honest, marking, 2)
    enrolments.exclude(enrolment=enrolment_of(excluded), by=lead, reason="Careless")
    withdrawal.withdraw(annotator=gone, study=marking.study)
    exclusion.exclude(annotation=single, by=lead, reason="A slip", ask_again=False)
    found = freed_slots.in_vain(marking)
    assert found.places == 5
    assert freed_slots.reopen(campaign=marking, by=lead) == found
    assert list(Assignment.objects.filter(slot__isnull=False).values_list("annotations", flat=True)) == [
        kept.pk
    ]
    assert not freed_slots.in_vain(marking)
    assert invariants_hold()
    entry = AuditEntry.objects.get(action="campaign.screens_reopened")
    assert (entry.details["places"], entry.actor) == (5, lead)
    with pytest.raises(Conflict, match="There are no labels to replace"):
        freed_slots.reopen(campaign=marking, by=lead)
    # The freed screens are offered to others, and the excluded annotator can still be readmitted.
    assert {one.task_id for one in answers(new_annotator(marking), marking, 8)} >= {single.task_id}
    enrolments.resume(enrolment=enrolment_of(excluded), by=lead, reason="A misunderstanding")
    assert Annotation.objects.filter(annotator=excluded, status="accepted").count() == 2
    assert invariants_hold()


def test_every_place_of_a_screen_is_freed_when_several_of_its_labels_no_longer_count(marking, lead):
    people = [new_annotator(marking) for _ in range(2)]
    for person in people:
        answers(person, marking, 8)
    for person in people:
        enrolments.exclude(enrolment=enrolment_of(person), by=lead, reason="Careless")
    freed = freed_slots.reopen(campaign=marking, by=lead)
    assert (freed.places, freed.screens) == (16, 8)
    assert not marking.tasks.filter(held__gt=0).exists()
    assert invariants_hold()


def test_a_closed_campaign_asks_nothing_again(marking, lead):
    anna = new_annotator(marking)
    answers(anna, marking, 1)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless")
    lifecycle.close(campaign=marking, by=lead)
    with pytest.raises(Conflict, match="Only an open or paused"):
        freed_slots.reopen(campaign=marking, by=lead)


def test_screens_of_a_retracted_image_are_not_asked_until_it_is_restored(marking, lead):
    anna = new_annotator(marking)
    (answered,) = answers(anna, marking, 1)
    image = answered.task.image
    retraction.retract(image=image, by=lead, reason="A real person")
    assert not freed_slots.in_vain(marking)
    enrolments.exclude(enrolment=enrolment_of(anna), by=lead, reason="Careless", ask_again=True)
    others = answers(new_annotator(marking), marking, 6)
    assert image.pk not in {one.task.image_id for one in others}
    retraction.restore(image=image, by=lead)
    offered = leases.next_assignment(campaign=marking, annotator=new_annotator(marking))
    assert offered is not None
    # Nothing of the excluded answer holds a place; the new annotator may hold one if this very screen was drawn.
    assert Task.objects.get(pk=answered.task_id).held == (offered.task_id == answered.task_id)
    assert invariants_hold()
