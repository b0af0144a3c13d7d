"""Extending a campaign from 3 to 5 annotators a task: during work, under quotas, after closing."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assignment import leases, slots
from annotation.campaigns import extension, lifecycle
from annotation.campaigns.extension import extend, look_ahead
from annotation.campaigns.progress import progress
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from annotation.people import withdrawal
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.assignment.test_concurrency import at_once, label_all
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.assignment.test_quota_assignment import next_for, opened, person, rules_hold
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db


def mixes_are_true(campaign):
    """Return whether the stored quota mix of each task equals one computed from scratch."""
    before = dict(campaign.tasks.values_list("pk", "quota_mix"))
    slots.mix_anew(list(before))
    return before == dict(campaign.tasks.values_list("pk", "quota_mix"))


def test_more_annotators_are_asked_until_each_task_has_them(marking, lead):
    people = [new_annotator(marking) for _ in range(5)]
    assert [label_all(marking, one) for one in people[:3]] == [8, 8, 0]
    extended = extend(campaign=marking, by=lead, annotators_per_task=5)
    assert (extended.annotators_per_task, extended.state) == (5, "open")
    assert [label_all(extended, one) for one in people] == [0, 0, 8, 8, 8]
    assert progress(extended).finished
    assert slots_are_counted()
    entry = AuditEntry.objects.get(action="campaign.extended")
    assert entry.details == {"before": 2, "to": 5, "readmitted": 0}


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_a_campaign_stays_in_its_state(marking, lead, state):
    moment = timezone.now() if state == "closed" else None
    Campaign.objects.update(state=state, closed_at=moment)
    extended = extend(campaign=marking, by=lead, annotators_per_task=3)
    extended.refresh_from_db()
    assert (extended.state, extended.closed_at) == (state, moment)
    assert set(extended.tasks.values_list("wanted", flat=True)) == {3}


def test_gold_tasks_want_no_labels_afterwards_either(marking, lead):
    gold = Task.objects.create(campaign=marking, image=marking.tasks.first().image, purpose="gold", wanted=0)
    extend(campaign=marking, by=lead, annotators_per_task=3)
    gold.refresh_from_db()
    assert gold.wanted == 0


def late_label(campaign, annotator, *, hours):
    """Submit a surplus label: its lease ran out, and others took its place."""
    ago = timezone.now() - timedelta(hours=hours)
    task = campaign.tasks.earliest("pk")
    late = Assignment.objects.create(
        task=task, annotator=annotator, state="expired", leased_at=ago, expires_at=ago
    )
    made = submit(late)
    assert made.status == "surplus"
    Annotation.objects.filter(pk=made.pk).update(submitted_at=ago)
    return made


def test_late_labels_take_the_new_places_oldest_first(marking, lead):
    for _ in range(2):
        label_all(marking, new_annotator(marking))
    young, old, middle = (late_label(marking, new_annotator(marking), hours=hours) for hours in (1, 3, 2))
    assert look_ahead(marking, 4).surplus == 3
    extend(campaign=marking, by=lead, annotators_per_task=4)
    for one in (young, old, middle):
        one.refresh_from_db()
    assert (old.status, middle.status, young.status) == ("accepted", "accepted", "surplus")
    assert (old.status_reason, old.assignment.state) == ("", "submitted")
    assert slots_are_counted()
    assert AuditEntry.objects.get(action="campaign.extended").details["readmitted"] == 2


def test_a_late_label_of_an_excluded_annotator_takes_no_place(marking, lead):
    for _ in range(2):
        label_all(marking, new_annotator(marking))
    annotator = new_annotator(marking)
    late = late_label(marking, annotator, hours=1)
    Enrolment.objects.filter(annotator=annotator).update(state="excluded")
    extend(campaign=marking, by=lead, annotators_per_task=4)
    late.refresh_from_db()
    assert late.status == "surplus"


def test_a_late_label_of_somebody_who_withdrew_takes_no_place(marking, lead):
    for _ in range(2):
        label_all(marking, new_annotator(marking))
    annotator = new_annotator(marking)
    late = late_label(marking, annotator, hours=1)
    withdrawal.withdraw(annotator=annotator, study=marking.study)
    assert look_ahead(marking, 4).surplus == 0
    extend(campaign=marking, by=lead, annotators_per_task=4)
    late.refresh_from_db()
    assert late.status == "surplus"


def test_fewer_are_refused_where_a_task_has_more_and_closing_is_suggested(marking, lead):
    label_all(marking, new_annotator(marking))
    extend(campaign=marking, by=lead, annotators_per_task=1)
    extend(campaign=marking, by=lead, annotators_per_task=2)
    label_all(marking, new_annotator(marking))
    with pytest.raises(Conflict, match="close the campaign"):
        extend(campaign=marking, by=lead, annotators_per_task=1)
    marking.refresh_from_db()
    assert marking.annotators_per_task == 2
    assert slots_are_counted()


@pytest.mark.parametrize("wrong", [0, 101, 2.5])
def test_a_wrong_number_is_refused(marking, lead, wrong):
    with pytest.raises(DomainError):
        extend(campaign=marking, by=lead, annotators_per_task=wrong)


def test_drafts_and_imports_are_not_extended(study, marking, lead):
    draft = lifecycle.create(study=study, name="Draft", kind="attribute_likert", by=lead)
    with pytest.raises(Conflict, match="change the draft"):
        extend(campaign=draft, by=lead, annotators_per_task=5)
    Campaign.objects.filter(pk=marking.pk).update(imported=True)
    with pytest.raises(Conflict, match="imported"):
        extend(campaign=marking, by=lead, annotators_per_task=5)


def test_quotas_hold_for_the_new_places(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man", "distinct nationality", wanted=2)
    label_all(campaign, person(campaign, gender="man", nationality="Velmari"))
    label_all(campaign, person(campaign, gender="woman", nationality="Orsani"))
    campaign = extend(campaign=campaign, by=lead, annotators_per_task=3)
    assert mixes_are_true(campaign)
    assert next_for(campaign, person(campaign, gender="man", nationality="Kenya")) is None
    assert next_for(campaign, person(campaign, gender="woman", nationality="Orsani")) is None
    assert label_all(campaign, person(campaign, gender="woman", nationality="Kenya")) == 4
    assert rules_hold(campaign)


def test_quotas_that_five_people_cannot_meet_prevent_an_extension(study, lead):
    # There are six age bands.
    campaign = opened(study, lead, "distinct age_band", wanted=3)
    assert "cannot be met by 7" in look_ahead(campaign, 7).refusal
    with pytest.raises(Conflict, match="cannot be met by 7"):
        extend(campaign=campaign, by=lead, annotators_per_task=7)
    assert look_ahead(campaign, 6).refusal == ""


def test_the_people_that_quotas_still_need_are_shown_beforehand(study, lead):
    campaign = opened(study, lead, "at_least 2 gender = woman", wanted=2)
    for gender in ("woman", "woman", "man", "man"):
        label_all(campaign, person(campaign, gender=gender))
    found = look_ahead(campaign, 4)
    assert (found.people, found.more_answers, found.too_few_people, found.quotas.stuck) == (4, 8, False, 0)
    found = look_ahead(campaign, 5)
    assert (found.too_few_people, found.quotas.stuck) == (True, 4)


def test_profiles_changed_while_the_campaign_was_closed_are_considered(study, lead):
    from accounts import profiles

    campaign = opened(study, lead, "at_most 1 gender = man", wanted=2)
    anna = person(campaign, gender="woman")
    label_all(campaign, anna)
    lifecycle.close(campaign=campaign, by=lead)
    profiles.describe(annotator=anna, gender="man")
    extend(campaign=campaign, by=lead, annotators_per_task=3)
    campaign = lifecycle.reopen(campaign=campaign, by=lead)
    assert mixes_are_true(campaign)
    assert next_for(campaign, person(campaign, gender="man")) is None


def test_profiles_changed_while_the_campaign_was_closed_are_considered_on_reopening(study, lead):
    from accounts import profiles

    campaign = opened(study, lead, "at_most 1 gender = man", wanted=2)
    anna = person(campaign, gender="woman")
    label_all(campaign, anna)
    lifecycle.close(campaign=campaign, by=lead)
    profiles.describe(annotator=anna, gender="man")
    campaign = lifecycle.reopen(campaign=campaign, by=lead)
    assert mixes_are_true(campaign)
    assert next_for(campaign, person(campaign, gender="man")) is None


@pytest.mark.parametrize("seed", range(6))
def test_an_extended_campaign_is_as_if_it_had_begun_with_the_new_number(study, lead, seed):
    """Random work with two extensions in between: counts, mixes and rules stay correct."""
    draw = random.Random(seed)
    rules = ("at_most 1 gender = man", "distinct nationality", "at_least 1 languages = English | French")
    campaign = opened(study, lead, *rules, wanted=2)
    people = [
        person(
            campaign,
            gender=draw.choice(["man", "woman", ""]),
            nationality=draw.choice(["Velmari", "Orsani", "Kenya", "Peru", "India", ""]),
            languages=draw.sample(["English", "French", "Tamoric"], draw.randint(0, 2)),
        )
        for _ in range(9)
    ]
    now = timezone.now()
    for step in range(60):
        now += timedelta(minutes=draw.choice([1, 40]))
        if step in (20, 40):
            campaign = extend(
                campaign=campaign, by=lead, annotators_per_task=campaign.annotators_per_task + 2
            )
        leased = next_for(campaign, draw.choice(people), now)
        if leased is not None and draw.random() < 0.8:
            submit(leased, now=now + timedelta(minutes=draw.choice([1, 90])))
    assert set(campaign.tasks.values_list("wanted", flat=True)) == {6}
    assert slots_are_counted()
    assert mixes_are_true(campaign)
    assert rules_hold(campaign)


@pytest.mark.django_db(transaction=True)
def test_a_campaign_can_be_extended_while_people_submit(marking, lead, tmp_path):
    people = [new_annotator(marking) for _ in range(6)]
    with shared_database(tmp_path):
        jobs = [lambda one=one: label_all(marking, one) for one in people]
        jobs += [lambda: extend(campaign=marking, by=lead, annotators_per_task=4)] * 2
        results = at_once(jobs)
        assert all(isinstance(one, int | Campaign) for one in results), results
        for one in people:
            label_all(marking, one)
        counts = {task.annotations.filter(status="accepted").count() for task in marking.tasks.all()}
        assert counts == {4}
        assert slots_are_counted()
        assert AuditEntry.objects.filter(action="campaign.extended").count() == 1


def test_a_large_campaign_takes_as_many_queries_as_a_small_one(study, lead, django_assert_max_num_queries):
    campaign = opened(study, lead, "at_most 1 gender = man", wanted=2, images=20)
    assert campaign.tasks.count() == 80
    with django_assert_max_num_queries(22):
        extension.extend(campaign=campaign, by=lead, annotators_per_task=3)
    assert mixes_are_true(campaign)
    add_images(study, 1, model_label="other")
    assert leases.next_assignment(campaign=campaign, annotator=person(campaign)) is not None
