"""Which annotations count, and why the others do not."""

import pytest
from django.utils import timezone

from accounts.models import Annotator
from annotation.answers import exclusion
from annotation.answers.inclusion import counted, not_counted
from annotation.answers.validation import Answer
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.campaigns.progress import progress
from annotation.lead.people.annotator_lines import annotator_lines
from annotation.models import Annotation, Enrolment
from generation.models import Image
from studies import consent
from tests.annotation.assignment.test_leases import label_everything, next_for
from tests.annotation.factories import new_annotator, submit, ticking

pytestmark = pytest.mark.django_db


def only(reason, number):
    return {
        one: number if one == reason else 0
        for one in (
            "gold",
            "repeat",
            "revised",
            "simulated",
            "withdrawn",
            "annotator_excluded",
            "excluded",
            "retracted",
            "surplus",
        )
    }


@pytest.fixture
def anna(marking):
    anna = new_annotator(marking)
    label_everything(marking, anna)
    return anna


def test_accepted_annotations_count(marking, anna):
    assert counted(marking).count() == 8
    assert not_counted(marking) == only("", 0)


def test_only_the_latest_revision_counts(marking, anna):
    kept = Annotation.objects.first().assignment
    text = kept.task.task_attributes.first().attribute.text
    latest = submit(kept, ticking(kept, text))
    assert counted(marking).get(task=kept.task) == latest
    assert not_counted(marking) == only("revised", 1)


def test_labels_of_withdrawn_annotators_do_not_count(marking, anna):
    consent.withdraw(annotator=anna, study=marking.study)
    assert counted(marking).count() == 0
    assert not_counted(marking) == only("withdrawn", 8)
    assert Annotation.objects.count() == 8


def test_labels_of_an_excluded_annotator_do_not_count(marking, anna):
    Enrolment.objects.filter(annotator=anna).update(state="excluded")
    assert counted(marking).count() == 0
    assert not_counted(marking) == only("annotator_excluded", 8)


def test_labels_count_though_their_annotator_is_excluded_from_another_campaign(marking, rating, anna):
    Enrolment.objects.create(campaign=rating, annotator=anna, state="excluded")
    assert counted(marking).count() == 8
    assert not_counted(marking) == only("annotator_excluded", 0)


def test_a_paused_annotator_still_counts(marking, anna):
    Enrolment.objects.filter(annotator=anna).update(state="paused")
    assert counted(marking).count() == 8


def test_a_retracted_image_does_not_count(marking, anna):
    Image.objects.filter(pk=marking.tasks.first().image_id).update(retracted_at=timezone.now())
    assert counted(marking).count() == 6
    assert not_counted(marking) == only("retracted", 2)


def test_an_excluded_annotation_does_not_count(marking, anna, lead):
    exclusion.exclude(annotation=Annotation.objects.first(), by=lead, reason="odd")
    assert counted(marking).count() == 7
    assert not_counted(marking) == only("excluded", 1)


def test_a_surplus_annotation_does_not_count(marking, anna):
    late = new_annotator(marking)
    leased = next_for(late, marking)
    leases.expire(campaign=marking, now=leased.expires_at)
    label_everything(marking, new_annotator(marking))
    submit(leased, now=leased.expires_at)
    assert counted(marking).count() == 16
    assert not_counted(marking) == only("surplus", 1)


def test_simulated_labels_count_only_in_a_simulated_study(marking):
    label_everything(marking, new_annotator(marking, origin=Annotator.Origin.SIMULATED))
    assert counted(marking).count() == 0
    assert not_counted(marking) == only("simulated", 8)
    marking.study.simulated = True
    marking.study.save()
    assert counted(marking).count() == 8
    assert not_counted(marking) == only("", 0)


def test_imported_labels_count_without_consent(marking):
    somebody = Annotator.objects.create(origin="imported", source="file", source_id="A1")
    Annotation.objects.create(campaign=marking, task=marking.tasks.first(), annotator=somebody)
    assert counted(marking).count() == 1


def test_ratings_without_an_image_count(rating):
    anna = new_annotator(rating)
    leased = next_for(anna, rating)
    submit(leased, Answer.parse({"rating": 5}, leased.task))
    assert counted(rating).count() == 1


def test_every_annotation_counts_or_has_one_reason(marking, anna, lead):
    bea = new_annotator(marking)
    label_everything(marking, bea)
    consent.withdraw(annotator=bea, study=marking.study)
    Image.objects.filter(pk=marking.tasks.first().image_id).update(retracted_at=timezone.now())
    exclusion.exclude(annotation=anna.annotations.last(), by=lead, reason="odd")
    everything = counted(marking).count() + sum(not_counted(marking).values())
    assert everything == Annotation.objects.count() == 16


def test_progress_counts_tasks_slots_people_groups_and_days(
    marking, anna, lead, django_assert_max_num_queries
):
    bea = new_annotator(marking)
    leases.skip(assignment=next_for(bea, marking), annotator=bea)
    submit(next_for(bea, marking))
    leased = next_for(bea, marking)
    with django_assert_max_num_queries(10):
        shown = progress(marking)
    assert (shown.tasks, shown.untouched, shown.begun, shown.complete) == (8, 0, 7, 1)
    assert (shown.slots, shown.accepted, shown.leased, shown.free) == (16, 9, 1, 6)
    assert shown.share == 9 / 16
    assert not shown.finished
    assert shown.annotators == 2
    lines = annotator_lines(marking, marking.enrolments.select_related("annotator"))
    by_person = {line.enrolment.annotator: line for line in lines}
    assert by_person[anna].answered == 8
    line = by_person[bea]
    assert (line.answered, line.skipped, line.open_now) == (1, 1, 1)
    assert [(group.name, group.tasks, group.slots) for group in shown.groups] == [
        ("Orsani", 4, 8),
        ("Velmari", 4, 8),
    ]
    assert sum(group.accepted for group in shown.groups) == 9
    assert [day.submitted for day in shown.days] == [9]
    overdue = progress(marking, now=leased.expires_at)
    assert (overdue.leased, overdue.free) == (0, 7)


def test_progress_of_a_finished_and_of_an_empty_campaign(marking, study, lead):
    draft = lifecycle.create(study=study, name="Empty", kind="attribute_likert", by=lead)
    empty = progress(draft)
    assert (empty.tasks, empty.share, empty.finished) == (0, 0.0, False)
    for _ in range(2):
        label_everything(marking, new_annotator(marking))
    assert progress(marking).finished
