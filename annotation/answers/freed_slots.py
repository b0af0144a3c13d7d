"""Places of labels that no longer count: freeing them, so that others are asked, and undoing this.

A label may stop counting because the lead excluded it or its annotator, or because the annotator took back consent.
The lead decides, at once or later, whether its screen is asked again. The answer is kept.
(Screens of a retracted image are not asked at all; restoring the image brings them back unchanged.)
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from annotation import integrations
from annotation.answers import exclusion
from annotation.answers.inclusion import counted
from annotation.assignment import slots
from annotation.assignment.leases import lock_enrolments
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Judgement
from foundation.errors import Conflict
from studies import audit
from studies.consent import withdrawn_from

# Marks answers that were set aside together with their annotator: undoing this restores only these.
WITH_ANNOTATOR = "excluded together with its annotator"
WITHDRAWN = "consent withdrawn, and the screen is asked again"


@dataclass(frozen=True)
class Places:
    """How many places are meant, and of how many screens."""

    places: int
    screens: int

    def __bool__(self) -> bool:
        return self.places > 0


@dataclass(frozen=True)
class Effect:
    """The effects of excluding an annotator: answers and labels that no longer count, screens that can be asked
    again."""

    answers: int
    labels: int
    screens: int


def effect_of_excluding(enrolment: Enrolment) -> Effect:
    """Count the labels that an exclusion removes from results, and the screens that others can then be asked about."""
    answers = counted(enrolment.campaign).filter(annotator=enrolment.annotator_id)
    assignments = _held(enrolment.campaign).filter(annotator=enrolment.annotator_id)
    return Effect(
        answers=answers.count(),
        labels=Judgement.objects.filter(annotation__in=answers).count(),
        screens=assignments.count(),
    )


def free(*, campaign: Campaign, annotator_id: int, reason: str) -> int:
    """Free the places of an annotator's answers, and set these aside; return their number. Call it in a transaction."""
    assignments = _held(campaign, offered=False).filter(annotator=annotator_id)
    return _free(campaign, assignments.values_list("pk", flat=True), reason)


def take_back(enrolment: Enrolment) -> int:
    """Let an annotator's answers that were put aside with them count again; return how many.

    If a place was given to somebody else, the answer becomes surplus. Nothing is done while the annotator is
    excluded or has withdrawn consent. Call it in a transaction.
    """
    campaign = enrolment.campaign
    withdrawn = withdrawn_from(campaign.study).filter(pk=enrolment.annotator_id).exists()
    if withdrawn or enrolment.state == Enrolment.State.EXCLUDED:
        return 0
    put_aside = campaign.annotations.filter(
        annotator=enrolment.annotator_id,
        status=Annotation.Status.EXCLUDED,
        status_reason__in=[WITH_ANNOTATOR, WITHDRAWN],
        is_latest=True,
    )
    annotations = list(put_aside.order_by("task", "pk"))  # tasks are locked in the order of their ids
    for annotation in annotations:
        exclusion.take_back(annotation)
    return len(annotations)


def in_vain(campaign: Campaign) -> Places:
    """Count the places that are held by labels that no longer count."""
    assignment_ids = {pk for pks in _in_vain(campaign).values() for pk in pks}
    screens = (
        Assignment.objects.filter(pk__in=assignment_ids).values("task").distinct().count()
        if assignment_ids
        else 0
    )
    return Places(len(assignment_ids), screens)


@transaction.atomic
def reopen(*, campaign: Campaign, by: User | None) -> Places:
    """Ask again about screens whose places are taken by labels that no longer count."""
    lock_enrolments(campaign.pk)
    campaign = Campaign.locked(campaign.pk)
    if campaign.imported or campaign.state not in {Campaign.State.OPEN, Campaign.State.PAUSED}:
        raise Conflict(
            "wrong_state",
            f"“{campaign.name}” is {campaign.state}. Only an open or paused campaign can replace labels.",
        )
    freed = in_vain(campaign)
    if not freed:
        raise Conflict("nothing_to_reopen", "There are no labels to replace.")
    for reason, assignment_ids in _in_vain(campaign).items():
        _free(campaign, assignment_ids, reason)
    audit.record(
        by=by,
        action="campaign.screens_reopened",
        subject=campaign,
        study=campaign.study,
        screens=freed.screens,
        places=freed.places,
    )
    return freed


def _held(campaign: Campaign, *, offered: bool = True) -> QuerySet[Assignment]:
    """Return the assignments whose answers take a place; `offered`: on screens that can be asked again."""
    assignments = Assignment.objects.filter(
        task__campaign=campaign, slot__isnull=False, state=Assignment.State.SUBMITTED
    )
    return assignments.filter(task__withdrawn=False) if offered else assignments


def _in_vain(campaign: Campaign) -> dict[str, set[int]]:
    """Return the assignments that take a place without counting, each under the first reason that applies."""
    assignments = _held(campaign)
    alone = assignments.filter(annotations__is_latest=True, annotations__status=Annotation.Status.EXCLUDED)
    withdrawn = withdrawn_from(campaign.study).filter(enrolments__campaign=campaign)
    put_out = campaign.enrolments.filter(state=Enrolment.State.EXCLUDED)
    people = {
        WITHDRAWN: list(withdrawn.values_list("pk", flat=True)),
        WITH_ANNOTATOR: list(put_out.values_list("annotator", flat=True)),
    }
    ids_by_reason = {"": set(alone.values_list("pk", flat=True))}
    for reason, annotators in people.items():
        earlier_ids = {pk for pks in ids_by_reason.values() for pk in pks}
        assignment_ids = (
            assignments.filter(annotator__in=annotators).values_list("pk", flat=True) if annotators else ()
        )
        ids_by_reason[reason] = set(assignment_ids) - earlier_ids
    return ids_by_reason


def _free(campaign: Campaign, assignments: Collection[int], reason: str) -> int:
    locked = Assignment.objects.select_for_update().filter(pk__in=list(assignments), slot__isnull=False)
    tasks = dict(locked.order_by("pk").values_list("pk", "task"))
    campaign.annotations.filter(
        assignment__in=tasks, is_latest=True, status=Annotation.Status.ACCEPTED
    ).update(status=Annotation.Status.EXCLUDED, status_reason=reason)
    Assignment.objects.filter(pk__in=tasks).update(state=Assignment.State.SURPLUS, slot=None)
    slots.give_back(tasks.values())
    for tool in integrations.registered():
        tool.places_changed(tasks.values())
    return len(tasks)
