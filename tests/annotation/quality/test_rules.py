"""Annotators who miss a threshold are warned or paused once, with the reason; others are not."""

import uuid

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Campaign, Enrolment, QualityEvent
from annotation.people import enrolments
from annotation.quality import enforcement, rules
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.assignment.test_check_answers import answered
from tests.annotation.assignment.test_leases import next_for
from tests.annotation.factories import add_images, new_annotator, none_of_them, submit, ticking
from tests.annotation.quality.test_measures import label, texts

pytestmark = pytest.mark.django_db


def straight(campaign, *, threshold=0.9, minimum=3, action="warn", by=None):
    return rules.set_rule(
        campaign=campaign,
        measure="straight_lining",
        threshold=threshold,
        minimum=minimum,
        action=action,
        by=by,
    )


def same_answers(campaign, annotator, number):
    kept = []
    for _ in range(number):
        saved = submit(next_for(annotator, campaign))
        kept += enforcement.after_answer(annotation_id=saved.pk)
    return kept


def test_rules_flag_exactly_the_planted_annotators(study, lead):
    add_images(study, 4)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=5,
        attributes_per_screen=3,
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    honest, other, line, fast, fickle = (new_annotator(campaign) for _ in range(5))
    tasks = list(campaign.tasks.order_by("pk"))
    assert len(tasks) == 16

    def sees(task, person, place):
        """Half of the attributes are present; everybody except one person says so, with occasional errors."""
        words = [text for text in texts(task) if (task.pk + len(text)) % 2]
        if (task.pk + place) % 7 == 0:
            words = words[1:]
        given = Assignment(task=task)
        return ticking(given, *words) if words and person != line else none_of_them(given)

    for task in tasks:
        for place, person in enumerate((honest, other, line, fast, fickle)):
            seconds = 0.8 if person == fast else 8 + (task.pk + place) % 5
            label(task, person, sees(task, person, place), place, seconds=seconds)
    for task in tasks[:10]:
        for place, person in enumerate((honest, other, fast, fickle)):
            again = sees(task, person, place)
            if person == fickle:
                given = Assignment(task=task)
                words = [text for text in texts(task) if (task.pk + len(text)) % 2 == 0]
                again = ticking(given, *words) if words else none_of_them(given)
            answered(task, person, again, "repeat", "repeat")
    for measure, threshold, action in (
        ("straight_lining", 0.9, "warn"),
        ("median_seconds", 3, "warn"),
        ("self_consistency", 0.6, "pause"),
        ("agreement", 0.3, "pause"),
    ):
        rules.set_rule(
            campaign=campaign, measure=measure, threshold=threshold, minimum=8, action=action, by=lead
        )
    caught = set(QualityEvent.objects.values_list("enrolment__annotator", "measure", "action"))
    assert caught == {
        (line.pk, "straight_lining", "warn"),
        (fast.pk, "median_seconds", "warn"),
        (fickle.pk, "self_consistency", "pause"),
    }
    paused = campaign.enrolments.get(state="paused")
    assert paused.annotator == fickle
    assert paused.reason.startswith("self-consistency on repeats ")
    assert paused.reason.endswith(" over 10 screens, at least 60 % asked")
    assert enforcement.check(campaign=campaign) == []
    assert QualityEvent.objects.count() == 3


def test_nobody_is_flagged_before_enough_answers(marking, lead):
    straight(marking, minimum=4, by=lead)
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    assert enforcement.check(campaign=marking) == []
    same_answers(marking, anna, 1)
    (event,) = enforcement.check(campaign=marking)
    assert (event.value, event.threshold, event.rests_on) == (1.0, 0.9, 4)
    entry = AuditEntry.objects.get(action="enrolment.warned")
    assert entry.details["pseudonym"] == anna.pseudonym
    assert entry.details["reason"] == (
        "share of the most frequent answer 100 % over 4 screens, at most 90 % asked"
    )


def test_a_pause_frees_open_tasks_and_names_the_measure(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    leased = next_for(anna, marking)
    straight(marking, action="pause", by=lead)
    enrolment = Enrolment.objects.get(annotator=anna)
    assert enrolment.state == "paused"
    assert "share of the most frequent answer 100 % over 3 screens" in enrolment.reason
    assert Assignment.objects.get(pk=leased.pk).state == "expired"


def test_resuming_clears_flags_until_there_is_new_evidence(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    straight(marking, action="pause", by=lead)
    enrolment = Enrolment.objects.get(annotator=anna)
    enrolments.resume(enrolment=enrolment, by=lead, reason="We talked")
    event = QualityEvent.objects.get()
    assert (event.ending, event.ended_at is not None) == ("resumed", True)
    # Earlier answers no longer count; two new ones are too few.
    same_answers(marking, anna, 2)
    assert enforcement.check(campaign=marking) == []
    same_answers(marking, anna, 1)
    assert [one.rests_on for one in enforcement.check(campaign=marking)] == [3]
    enrolment.refresh_from_db()
    assert enrolment.state == "paused"


def test_an_annotator_who_recovered_is_flagged_again_at_the_next_miss(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    straight(marking, by=lead)
    assert enforcement.check(campaign=marking) == []
    leased = next_for(anna, marking)
    submit(leased, ticking(leased, texts(leased.task)[0]))
    assert enforcement.check(campaign=marking) == []
    assert QualityEvent.objects.get().ending == "recovered"
    straight(marking, threshold=0.5, by=lead)
    assert list(QualityEvent.objects.order_by("pk").values_list("ending", flat=True)) == ["recovered", ""]


def test_removing_a_rule_ends_its_flags_but_resumes_nobody(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    rule = straight(marking, action="pause", by=lead)
    rules.remove_rule(rule=rule, by=lead)
    assert QualityEvent.objects.get().ending == "rule_gone"
    assert Enrolment.objects.get(annotator=anna).state == "paused"
    actions = AuditEntry.objects.filter(action__startswith="quality_rule.").values_list("action", flat=True)
    assert set(actions) == {"quality_rule.set", "quality_rule.removed"}


def test_the_database_allows_one_open_flag_of_a_kind(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    straight(marking, by=lead)
    event = QualityEvent.objects.get()
    event.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        event.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        QualityEvent.objects.update(ending="resumed")


def test_rules_are_checked_after_every_tenth_answer_to_any_task(marking, lead, monkeypatch):
    anna = new_annotator(marking)
    straight(marking, minimum=1, by=lead)
    monkeypatch.setattr(enforcement, "EVERY", 4)
    assert same_answers(marking, anna, 3) == []
    assert len(same_answers(marking, anna, 1)) == 1


def test_an_answer_to_a_check_does_not_trigger_a_warning(marking, lead, monkeypatch):
    bela = new_annotator(marking)
    straight(marking, minimum=1, by=lead)
    monkeypatch.setattr(enforcement, "EVERY", 3)
    saved = submit(next_for(bela, marking))
    again = answered(saved.task, bela, none_of_them(Assignment(task=saved.task)), "repeat", "repeat")
    assert enforcement.after_answer(annotation_id=again.pk) == []
    last = submit(next_for(bela, marking))
    assert [one.enrolment.annotator for one in enforcement.after_answer(annotation_id=last.pk)] == [bela]


def test_without_rules_by_a_lead_answers_add_queries_at_most_once_a_minute(marking, lead):
    anna = new_annotator(marking)

    def submitted():
        leased = leases.next_assignment(campaign=marking, annotator=anna)
        answer = {"none_of_the_above": True}
        return submit_and_next(SentAnswer(anna.user_id, leased.public_id, uuid.uuid4(), answer))

    cache.clear()
    saved = submitted()
    assert saved.has_rules is False
    assert enforcement.now_and_then(campaign=marking, annotator_id=saved.annotator_id) == []
    with CaptureQueriesContext(connection) as statements:
        assert enforcement.now_and_then(campaign=marking, annotator_id=saved.annotator_id) == []
    assert len(statements) == 0
    straight(marking, by=lead)
    assert submitted().has_rules is True


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"measure": "charm"}, "measure"),
        ({"action": "scold"}, "action"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"minimum": 0}, "minimum"),
    ],
)
def test_a_wrong_rule_is_refused_by_field(marking, lead, change, field):
    rule = {"measure": "agreement", "threshold": 0.5, "minimum": 10, "action": "warn"}
    with pytest.raises(DomainError) as refusal:
        rules.set_rule(campaign=marking, by=lead, **(rule | change))
    assert list(refusal.value.fields) == [field]
    assert not marking.quality_rules.filter(standard=False).exists()


def test_rules_can_be_set_in_drafts_but_not_after_closing(study, marking, lead):
    draft = lifecycle.create(study=study, name="Later", kind="attribute_likert", by=lead)
    straight(draft, by=lead)
    assert draft.quality_rules.filter(standard=False).count() == 1
    lifecycle.close(campaign=marking, by=lead)
    with pytest.raises(Conflict, match="is closed"):
        straight(marking, by=lead)
    Campaign.objects.filter(pk=marking.pk).update(imported=True)
    with pytest.raises(Conflict, match="imported from a file"):
        straight(marking, by=lead)


def test_checking_everybody_takes_a_fixed_number_of_queries(marking, lead):
    straight(marking, threshold=1, by=lead)
    taken = []
    for _ in range(2):
        for _ in range(3):
            submit(next_for(new_annotator(marking), marking))
        with CaptureQueriesContext(connection) as statements:
            enforcement.check(campaign=marking)
        taken.append(len(statements))
    # The rule set here looks at all answers, the standard ones at the latest.
    assert taken[0] == taken[1] <= 16


def test_answers_of_a_paused_annotator_count_until_the_lead_decides(marking, lead):
    anna = new_annotator(marking)
    same_answers(marking, anna, 3)
    straight(marking, action="pause", by=lead)
    assert Annotation.objects.filter(annotator=anna, status="accepted").count() == 3
    with pytest.raises(DomainError, match="paused"):
        submit(Assignment.objects.filter(annotator=anna).first())


@pytest.mark.parametrize(
    ("measure", "value", "short"),
    [
        ("agreement", 0.7, False),
        ("agreement", 0.69, True),
        ("straight_lining", 0.7, False),
        ("straight_lining", 0.71, True),
    ],
)
def test_a_threshold_that_is_just_reached_is_not_missed(measure, value, short):
    assert enforcement.falls_short(measure, 0.7, value) == short
