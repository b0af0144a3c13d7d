"""A colleague's change in Label Studio replaces no label: the lead decides, and can restore any version."""

import itertools

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.answers.validation import answer_of
from annotation.campaigns import lifecycle
from annotation.label_studio.labels import edits, versions
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser, LabelStudioVersion
from annotation.label_studio.people import identity
from annotation.models import Task
from annotation.people import withdrawal
from foundation.errors import Conflict, NotFound
from studies.models import AuditEntry
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.label_studio.labels.test_settle_again import after_closing
from tests.annotation.label_studio.payloads import annotation, compare, marks, number_of, project_of, tell
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
State, Edit = LabelStudioAnnotation.State, LabelStudioAnnotation.Edit
ANNA, BELA, CLARA = 1, 2, 3


def said(task, annotator) -> set[str]:
    """Return the attributes that the annotator's latest label ticks."""
    label = task.annotations.get(annotator=annotator, is_latest=True)
    ticked = answer_of(label).ticked
    return set(label.judgements.filter(attribute__in=ticked).values_list("attribute__text", flat=True))


@pytest.fixture
def full(bridge, task):
    """A task whose places two people hold; Clara's answer is surplus."""
    for number in (ANNA, BELA, CLARA):
        told(bridge, task, number, number, minute=number)
    assert row(3).state == State.SURPLUS
    return task


def test_a_colleagues_change_does_not_move_places(bridge, full, anna, bela, clara):
    before = statuses(full)
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9, updated_by=CLARA)
    assert statuses(full) == before == {anna.pk: "accepted", bela.pk: "accepted", clara.pk: "surplus"}
    assert said(full, anna) == set()  # none of the above, as she sent it
    assert (row(1).state, row(1).edit) == (State.COUNTED, Edit.OPEN)
    assert row(3).state == State.SURPLUS
    assert Task.objects.get(pk=full.pk).held == 2
    assert slots_are_counted()


@pytest.mark.parametrize("change", [{"was_cancelled": True}, {"completed_by": CLARA}])
def test_skipping_or_renaming_anothers_answer_does_not_move_places(bridge, full, anna, change):
    before = statuses(full)
    told(bridge, full, 1, ANNA, minute=1, changed=9, updated_by=CLARA, **change)
    assert statuses(full) == before
    assert (row(1).state, row(1).edit, row(1).user.external_id) == (State.COUNTED, Edit.OPEN, ANNA)


def test_an_answer_that_its_author_gives_to_a_colleague_is_not_the_colleagues(bridge, full):
    before = statuses(full)
    told(bridge, full, 1, ANNA, minute=1, changed=9, updated_by=ANNA, completed_by=CLARA)
    assert statuses(full) == before
    assert (row(1).state, row(1).edit) == (State.COUNTED, Edit.OPEN)


def test_a_change_that_changes_no_answer_needs_no_decision(bridge, full):
    told(bridge, full, 1, ANNA, minute=1, changed=9, updated_by=CLARA)
    assert (row(1).state, row(1).edit) == (State.COUNTED, "")


def test_the_lead_keeps_the_original_answer(bridge, full, anna, lead):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9, updated_by=CLARA)
    edits.keep(mirrored=row(1), by=lead)
    assert (row(1).state, row(1).edit, said(full, anna)) == (State.COUNTED, Edit.KEPT, set())
    edits.undo(mirrored=row(1), by=lead)
    assert row(1).edit == Edit.OPEN
    actions = AuditEntry.objects.filter(actor=lead, action__startswith="label_studio_annotation.")
    assert list(actions.order_by("pk").values_list("action", flat=True)) == [
        "label_studio_annotation.kept",
        "label_studio_annotation.undecided",
    ]


def test_the_lead_accepts_the_change_and_undoes_that(bridge, full, anna, clara, lead):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9, updated_by=CLARA)
    edits.take(mirrored=row(1), by=lead)
    assert (row(1).edit, said(full, anna)) == (Edit.TAKEN, {text_of(full)})
    edits.keep(mirrored=row(1), by=lead)
    assert (row(1).edit, said(full, anna)) == (Edit.KEPT, set())
    edits.take(mirrored=row(1), by=lead)
    edits.undo(mirrored=row(1), by=lead)
    assert (row(1).edit, said(full, anna)) == (Edit.OPEN, set())
    assert full.annotations.filter(annotator=anna).count() == 5  # nothing was overwritten
    assert statuses(full)[clara.pk] == "surplus"
    assert slots_are_counted()


def test_a_further_change_is_flagged_again_and_the_decision_stays(bridge, full, anna, lead):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9, updated_by=CLARA)
    edits.take(mirrored=row(1), by=lead)
    told(bridge, full, 1, ANNA, text_of(full, 1), minute=1, changed=10, updated_by=BELA)
    assert (row(1).edit, said(full, anna)) == (Edit.OPEN, {text_of(full)})
    told(bridge, full, 1, ANNA, text_of(full, 1), minute=1, changed=11)  # she sends it herself
    assert (row(1).edit, said(full, anna)) == ("", {text_of(full, 1)})
    told(bridge, full, 1, ANNA, minute=1, changed=12, updated_by=BELA)
    assert (row(1).edit, said(full, anna)) == (Edit.OPEN, {text_of(full, 1)})


def test_any_seen_version_can_be_restored(bridge, full, anna, lead):
    first = row(1).digest
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9)
    told(bridge, full, 1, ANNA, text_of(full, 1), minute=1, changed=10)
    edits.restore(mirrored=row(1), version=first, by=lead)
    assert (row(1).edit, said(full, anna)) == (Edit.RESTORED, set())
    edits.undo(mirrored=row(1), by=lead)
    assert (row(1).edit, said(full, anna)) == ("", {text_of(full, 1)})
    with pytest.raises(NotFound):
        edits.restore(mirrored=row(1), version="0" * 64, by=lead)


def test_an_answer_in_anothers_name_counts_only_once_its_author_sends_it(bridge, full, anna, lead):
    other = bridge.campaign.tasks.latest("pk")
    told(bridge, other, 9, ANNA, text_of(other), updated_by=CLARA)
    assert (row(9).state, row(9).edit) == (State.FLAGGED, "")
    edits.keep(mirrored=row(9), by=lead)
    assert (row(9).state, row(9).edit, statuses(other)) == (State.REFUSED, Edit.KEPT, {})
    told(bridge, other, 9, ANNA, text_of(other), changed=5)
    assert (row(9).state, statuses(other)) == (State.COUNTED, {anna.pk: "accepted"})


def test_a_decision_about_an_outdated_version_is_refused(bridge, full, lead):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9, updated_by=CLARA)
    before = row(1).digest
    told(bridge, full, 1, ANNA, text_of(full, 1), minute=1, changed=10, updated_by=CLARA)
    with pytest.raises(Conflict) as refused:
        edits.take(mirrored=row(1), by=lead, seen=before)
    assert refused.value.code == "answer_changed"
    with pytest.raises(Conflict, match="last sent by its author"):
        edits.take(mirrored=row(2), by=lead)


def test_a_change_after_closing_changes_nothing_until_it_is_open_again(bridge, full, anna, lead):
    lifecycle.close(campaign=bridge.campaign, by=lead)
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=after_closing(), updated_by=CLARA)
    assert (row(1).state, row(1).edit, statuses(full)[anna.pk]) == (State.COUNTED, "", "accepted")
    lifecycle.reopen(campaign=bridge.campaign, by=lead)
    count_what_is_left(bridge)
    assert (row(1).state, row(1).edit, statuses(full)[anna.pk]) == (State.COUNTED, Edit.OPEN, "accepted")


def test_versions_of_withdrawn_annotators_are_deleted(bridge, full, anna, clara):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9)
    told(bridge, full, 2, BELA, text_of(full), minute=2, changed=9, updated_by=CLARA, completed_by=CLARA)
    assert LabelStudioVersion.objects.count() == 2
    withdrawal.withdraw(annotator=anna, study=bridge.campaign.study)
    assert set(LabelStudioVersion.objects.values_list("mirrored", flat=True)) == {row(2).pk}
    # The version in her name is deleted; that of the author stays and counts.
    withdrawal.withdraw(annotator=clara, study=bridge.campaign.study)
    count_what_is_left(bridge)
    assert not isinstance(row(2).result, list)
    assert (row(2).state, row(2).user.external_id) == (State.COUNTED, BELA)


def test_an_erased_user_leaves_no_version(bridge, full, lead):
    told(bridge, full, 1, ANNA, text_of(full), minute=1, changed=9)
    identity.erase(user=LabelStudioUser.objects.get(external_id=ANNA), by=lead)
    assert not LabelStudioVersion.objects.exists()


def test_versions_are_limited_but_those_that_may_count_are_kept(bridge, full, anna, monkeypatch):
    monkeypatch.setattr(versions, "MOST_KEPT", 5)
    for minute in range(9, 20):
        told(bridge, full, 1, ANNA, text_of(full, minute % 2), minute=1, changed=minute, updated_by=CLARA)
    assert LabelStudioVersion.objects.count() <= 6
    assert (row(1).edit, said(full, anna)) == (Edit.OPEN, set())


def test_the_order_and_repetition_of_seen_versions_do_not_matter(bridge, task, anna):
    number = number_of(bridge, task)

    def version(changed, *texts, **more):
        return annotation(1, task=number, user=ANNA, result=marks(*texts), changed=changed, **more)

    seen = [
        version(1, text_of(task)),
        version(2, text_of(task, 1)),
        version(3, updated_by=CLARA),
        version(4, text_of(task), updated_by=BELA, completed_by=BELA),
    ]
    last = version(5, updated_by=BELA)
    outcomes = set()
    for order in itertools.permutations(seen):
        for one in (*order, *order[:2]):
            tell(bridge, one)
        compare(bridge, last)
        found = row(1)
        outcomes.add((found.state, found.edit, found.user.external_id, frozenset(said(task, anna))))
        LabelStudioAnnotation.objects.all().delete()
        task.annotations.all().delete()
        task.assignments.all().delete()
        Task.objects.filter(pk=task.pk).update(held=0)
    assert outcomes == {(State.COUNTED, Edit.OPEN, ANNA, frozenset({text_of(task, 1)}))}


def test_queries_for_versions_do_not_grow_with_the_answers(bridge, task):
    project = project_of(bridge)
    counts = []
    tasks = list(bridge.campaign.tasks.order_by("pk"))
    for some in (tasks[:1], tasks[1:4]):
        numbers = [number_of(bridge, one) for one in some]
        for changed, more in ((1, {}), (2, {"updated_by": CLARA})):
            told_of = [
                annotation(
                    number,
                    task=number,
                    user=ANNA,
                    result=marks() if changed == 1 else [],
                    changed=changed,
                    **more,
                )
                for number in numbers
            ]
            with CaptureQueriesContext(connection) as queries:
                tell(project.bridge, *told_of)
        counts.append(len(queries))
    assert counts[0] == counts[1]
