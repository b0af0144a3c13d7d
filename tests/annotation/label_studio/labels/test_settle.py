"""Answers in Label Studio become labels here, by the rules of our own pages."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import profiles
from annotation.assignment import leases
from annotation.campaigns.instruments import versions
from annotation.label_studio.base import reasons
from annotation.label_studio.labels import edits
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from annotation.label_studio.pull.mirror import mirror
from annotation.label_studio.push import lifecycle
from annotation.models import Annotation, Assignment, Instrument, Task
from foundation.errors import Conflict
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.assignment.test_quota_assignment import opened, person, rules_hold
from tests.annotation.factories import new_annotator, none_of_them, submit, ticking
from tests.annotation.label_studio.payloads import (
    START,
    annotation,
    compare,
    number_of,
    tell,
    worker,
)
from tests.annotation.label_studio.rows import bridge_of
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


def test_an_answer_becomes_a_label_with_judgements_and_boxes(bridge, task, anna):
    settled = told(bridge, task, 1, 1, text_of(task))
    assert (settled.counted, settled.written) == (1, 1)
    label = task.annotations.get()
    assert (label.annotator, label.status, label.revision, label.active_seconds) == (
        anna,
        "accepted",
        1,
        12.5,
    )
    assert list(label.judgements.order_by("pk").values_list("present", flat=True)) == [True, False, False]
    box = label.judgements.get(present=True).boxes.get()
    assert (box.x, box.y, box.width, box.height) == (0.1, 0.2, 0.3, 0.4)
    held = Assignment.objects.get()
    assert (held.state, held.slot, held.purpose) == ("submitted", 0, "label")
    assert row(1).state == State.COUNTED
    assert row(1).annotation == label
    assert slots_are_counted()


def test_a_repeated_message_writes_nothing(bridge, task):
    told(bridge, task, 1, 1)
    before = Annotation.objects.values().get()
    assert told(bridge, task, 1, 1).tasks == 0
    assert settle(bridge=bridge, task_ids=[task.pk]).written == 0
    assert Annotation.objects.values().get() == before


def test_a_changed_answer_is_a_further_revision(bridge, task):
    told(bridge, task, 1, 1)
    told(bridge, task, 1, 1, text_of(task), changed=5)
    first, second = task.annotations.order_by("revision")
    assert (first.is_latest, second.is_latest, second.status) == (False, True, "accepted")
    assert row(1).annotation == second
    assert slots_are_counted()


def test_a_change_that_changes_no_answer_adds_no_revision(bridge, task):
    told(bridge, task, 1, 1, text_of(task))
    told(bridge, task, 1, 1, text_of(task), changed=5)
    assert task.annotations.count() == 1
    assert row(1).state == State.COUNTED


def test_surplus_answers_are_the_latest_by_label_studios_clock(bridge, task, anna, bela, clara):
    told(bridge, task, 3, 3, minute=3)
    told(bridge, task, 2, 2, minute=2, slot=2)
    assert set(statuses(task).values()) == {"accepted"}
    told(bridge, task, 1, 1, minute=1)
    assert statuses(task) == {anna.pk: "accepted", bela.pk: "accepted", clara.pk: "surplus"}
    assert row(3).state == State.SURPLUS
    assert slots_are_counted()


def test_answers_given_here_before_keep_their_places(marking, bridge, task, anna, bela, clara):
    lifecycle.end(bridge=bridge, by=None)
    leased = leases.next_assignment(campaign=marking, annotator=clara)
    submit(leased)
    bridge = bridge_of(marking, server=LabelStudioUser.objects.earliest("pk").server)
    task = leased.task
    told(bridge, task, 1, 1, minute=1)
    told(bridge, task, 2, 2, minute=2)
    told(bridge, task, 3, 3, minute=0)
    assert statuses(task) == {clara.pk: "accepted", anna.pk: "accepted", bela.pk: "surplus"}
    assert (row(3).state, row(3).reason) == (State.FURTHER, reasons.ANSWERED_HERE)
    assert slots_are_counted()


def test_a_second_answer_of_the_same_person_does_not_count(bridge, task, anna):
    told(bridge, task, 1, 1, minute=1)
    told(bridge, task, 2, 1, minute=0, slot=2)
    assert (row(1).state, row(2).state) == (State.FURTHER, State.COUNTED)
    assert statuses(task) == {anna.pk: "accepted"}
    assert slots_are_counted()


def test_an_answer_deleted_in_label_studio_leaves_results_and_may_return(bridge, task, anna):
    one = annotation(1, task=number_of(bridge, task), user=1)
    compare(bridge, one)
    compare(bridge)
    label = task.annotations.get()
    assert (label.status, label.status_reason) == ("excluded", reasons.DELETED_THERE)
    assert row(1).state == State.DELETED
    assert Task.objects.get(pk=task.pk).held == 0
    compare(bridge, one)
    label.refresh_from_db()
    assert (label.status, label.status_reason, label.revision) == ("accepted", "", 1)
    assert slots_are_counted()


def test_an_answer_skipped_in_label_studio_is_skipped_here(bridge, task, anna):
    told(bridge, task, 1, 1, was_cancelled=True)
    assert Assignment.objects.get().state == "skipped"
    assert not task.annotations.exists()
    told(bridge, task, 1, 1, changed=3)
    assert statuses(task) == {anna.pk: "accepted"}
    told(bridge, task, 1, 1, was_cancelled=True, changed=4)
    assert statuses(task) == {anna.pk: "excluded"}
    assert Assignment.objects.get().state == "skipped"
    assert slots_are_counted()


def test_unknown_users_wait_and_are_not_guessed(bridge, task):
    told(bridge, task, 1, 77)
    user = LabelStudioUser.objects.get(external_id=77)
    assert (user.state, user.name) == ("waiting", "worker77@example.org (Worker)")
    assert row(1).state == State.WAITING
    assert not Annotation.objects.exists()
    user.state = "ignored"
    user.save()
    settle(bridge=bridge, task_ids=[task.pk])
    assert row(1).state == State.LEFT_OUT


def test_a_label_follows_its_user_to_another_annotator(bridge, task, anna, marking):
    told(bridge, task, 1, 1)
    dora = new_annotator(marking)
    user = LabelStudioUser.objects.filter(external_id=1)
    for annotator, expected in (
        (dora, {anna.pk: "excluded", dora.pk: "accepted"}),
        (anna, {anna.pk: "accepted", dora.pk: "excluded"}),
    ):
        user.update(annotator=annotator)
        settle(bridge=bridge, task_ids=[task.pk])
        assert statuses(task) == expected
        assert slots_are_counted()
    user.update(annotator=None, state="waiting")
    settle(bridge=bridge, task_ids=[task.pk])
    assert set(statuses(task).values()) == {"excluded"}
    assert row(1).state == State.WAITING


def test_an_answer_in_anothers_name_counts_only_if_the_lead_allows_it(bridge, task, anna):
    told(bridge, task, 1, 1, updated_by=2)
    assert row(1).state == State.FLAGGED
    assert not statuses(task)
    edits.take(mirrored=row(1), by=None)
    assert statuses(task) == {anna.pk: "accepted"}
    edits.undo(mirrored=row(1), by=None)
    assert (row(1).state, row(1).allowed) == (State.FLAGGED, False)
    assert task.annotations.get().status_reason == reasons.FLAGGED_THERE
    assert slots_are_counted()


def test_an_answer_in_anothers_project_is_refused(bridge, task, anna, bela):
    bridge.projects.filter(slot=1).update(slot=None, annotator=bela)
    project = bridge.projects.get(annotator=bela)
    number = project.tasks.get(task=task).external_id
    for user in (1, 2):
        mirror(project=project, annotations=[annotation(user, task=number, user=user)])
    settle(bridge=bridge, task_ids=[task.pk])
    assert (row(1).state, row(1).reason) == (State.REFUSED, reasons.NOT_THEIR_PROJECT)
    assert statuses(task) == {bela.pk: "accepted"}


def test_unreadable_answers_are_refused_until_they_are_corrected(bridge, task, anna):
    told(bridge, task, 1, 1, "a kite that nobody asked for")
    assert row(1).state == State.REFUSED
    assert "not one of the attributes" in row(1).reason
    told(bridge, task, 1, 1, changed=1)
    assert statuses(task) == {anna.pk: "accepted"}
    told(bridge, task, 1, 1, "a kite that nobody asked for", changed=2)
    assert task.annotations.get().status_reason == reasons.UNREADABLE_THERE
    assert slots_are_counted()


def test_a_task_that_was_not_sent_is_refused(bridge):
    assert tell(bridge, annotation(1, task=999_999, user=1)).tasks == 0
    assert (row(1).state, row(1).reason) == (State.REFUSED, reasons.NOT_SENT)


def test_a_wrong_clock_in_label_studio_does_not_date_labels_in_the_future(bridge, task):
    told(bridge, task, 1, 1, minute=60 * 24 * 365 * 20)
    assert task.annotations.get().submitted_at <= timezone.now()
    assert Assignment.objects.get().ended_at <= timezone.now()


def test_quotas_apply_in_label_studio_as_here(study, lead):
    campaign = opened(study, lead, "at_least 1 gender != man")
    men = [person(campaign, gender="man") for _ in range(2)]
    woman = person(campaign, gender="woman")
    bridge = bridge_of(campaign)
    for number, annotator in enumerate((*men, woman), start=1):
        worker(bridge, number, annotator)
    task = campaign.tasks.earliest("pk")
    for number in (1, 2, 3):
        told(bridge, task, number, number, minute=number)
    assert statuses(task) == {men[0].pk: "accepted", men[1].pk: "surplus", woman.pk: "accepted"}
    assert rules_hold(campaign)
    assert slots_are_counted()
    profiles.describe(annotator=men[1], gender="woman")
    settle(bridge=bridge, task_ids=[task.pk])
    assert statuses(task)[men[1].pk] == "accepted"
    assert rules_hold(campaign)


def test_our_own_pages_give_out_no_task_but_keep_answers(marking, bridge, anna, bela):
    with pytest.raises(Conflict) as refusal:
        leases.next_assignment(campaign=marking, annotator=anna)
    assert refusal.value.code == "labelled_in_label_studio"


def test_answers_from_label_studio_are_changed_only_there(bridge, task, anna):
    told(bridge, task, 1, 1)
    held = Assignment.objects.get()
    with pytest.raises(Conflict) as refusal:
        submit(held, ticking(held, text_of(task)), now=held.ended_at)
    assert refusal.value.code == "labelled_in_label_studio"
    assert submit(held, none_of_them(held), now=held.ended_at) == task.annotations.get()


def test_queries_do_not_grow_with_the_tasks(
    marking, bridge, django_assert_max_num_queries, connection_queries
):
    tasks = list(marking.tasks.order_by("pk"))
    numbers = [connection_queries(told, bridge, tasks[0], 1, 1)]
    many = [
        annotation(10 + place, task=number_of(bridge, task), user=1 + place % 3, minute=place)
        for place, task in enumerate(tasks[1:])
    ]
    numbers.append(connection_queries(tell, bridge, *many))
    assert numbers[1] <= numbers[0] + 2


@pytest.fixture
def connection_queries():
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def count(verb, *given):
        with CaptureQueriesContext(connection) as captured:
            verb(*given)
        return len(captured)

    return count


def test_mirrored_rows_are_deleted_with_their_study(study, bridge, task):
    told(bridge, task, 1, 77)
    study.campaigns.all().delete()
    study.images.all().delete()
    study.delete()
    assert not LabelStudioAnnotation.objects.exists()
    assert not LabelStudioUser.objects.exists()


def test_labels_outlast_their_bridge(marking, bridge, task, anna):
    told(bridge, task, 1, 1)
    lifecycle.end(bridge=bridge, by=None)
    assert statuses(task) == {anna.pk: "accepted"}
    assert leases.next_assignment(campaign=marking, annotator=anna).task != task
    assert slots_are_counted()


def test_an_answer_stores_the_version_of_the_guidelines_that_was_read(
    marking, bridge, task, anna, bela, lead
):
    first = versions.current(marking)
    second = versions.revise(campaign=marking, by=lead, guidelines="Look twice.")
    # Written this morning and sent later.
    written = START + timedelta(minutes=30)
    Instrument.objects.filter(pk=second.pk).update(created_at=written)
    bridge.projects.update(instrument=second)
    told(bridge, task, 1, 1, minute=10)
    told(bridge, task, 2, 2, minute=40)
    assert task.annotations.get(annotator=anna).instrument == first
    assert task.annotations.get(annotator=bela).instrument == second
