"""Places of labels that count no more: freeing them, so that their screens are asked of others, and taking that back.

A label may stop counting because the lead excluded it or its annotator, or because the annotator took back consent.
Whether its screen is then asked again is the lead's choice, made at once or later. What was answered is kept.
(Screens of a retracted image are not asked at all; restoring the image brings them back as they were.)
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from annotation.answers import submission
from annotation.answers.inclusion import counted
from annotation.assignment import slots
from annotation.label_studio.base.invalidate import look_again
from annotation.label_studio.base.row_locks import lock_enrolments
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Judgement
from foundation.errors import Conflict
from studies import audit
from studies.consent import withdrawn_from

# Marks what was put aside together with its annotator: taking that back brings back these and no others.
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
    """What excluding an annotator does: answers and labels that leave results, screens that can be asked again."""

    answers: int
    labels: int
    screens: int


def effect_of_excluding(enrolment: Enrolment) -> Effect:
    """Count what leaves results with an annotator, and what can then be asked of others."""
    answers = counted(enrolment.campaign).filter(annotator=enrolment.annotator_id)
    held = _held(enrolment.campaign).filter(annotator=enrolment.annotator_id)
    return Effect(
        answers=answers.count(),
        labels=Judgement.objects.filter(annotation__in=answers).count(),
        screens=held.count(),
    )


def free(*, campaign: Campaign, annotator_id: int, reason: str) -> int:
    """Free the places an annotator's answers hold, and put these aside; return how many. In a transaction."""
    held = _held(campaign, offered=False).filter(annotator=annotator_id)
    return _free(campaign, held.values_list("pk", flat=True), reason)


def take_back(enrolment: Enrolment) -> int:
    """Let an annotator's answers that were put aside with them count again; return how many.

    Where the place was given to somebody else they become surplus. Nothing is done while the annotator is
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
    found = list(put_aside.order_by("task", "pk"))  # tasks are locked in the order of their ids
    for annotation in found:
        submission.take_back(annotation)
    return len(found)


def in_vain(campaign: Campaign) -> Places:
    """Count the places that are held by labels that count no more."""
    held = {pk for pks in _in_vain(campaign).values() for pk in pks}
    screens = Assignment.objects.filter(pk__in=held).values("task").distinct().count() if held else 0
    return Places(len(held), screens)


@transaction.atomic
def reopen(*, campaign: Campaign, by: User | None) -> Places:
    """Ask the screens again whose places are held by labels that count no more."""
    lock_enrolments(campaign.pk)
    # Not against submissions: at their commit those look whether the campaign is still there.
    locked = Campaign.objects.select_for_update(of=("self",), no_key=True)
    campaign = locked.select_related("study").get(pk=campaign.pk)
    if campaign.imported or campaign.state not in {Campaign.State.OPEN, Campaign.State.PAUSED}:
        raise Conflict(
            "wrong_state",
            f"“{campaign.name}” is {campaign.state}; only an open or paused campaign asks again.",
        )
    freed = in_vain(campaign)
    if not freed:
        raise Conflict("nothing_to_reopen", "No place is held by a label that counts no more.")
    for reason, held in _in_vain(campaign).items():
        _free(campaign, held, reason)
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
    """Return the assignments whose answers hold a place; `offered`: of screens that can be asked again."""
    held = Assignment.objects.filter(
        task__campaign=campaign, slot__isnull=False, state=Assignment.State.SUBMITTED
    )
    return held.filter(task__withdrawn=False) if offered else held


def _in_vain(campaign: Campaign) -> dict[str, set[int]]:
    """Return the assignments that hold a place in vain, each under the first reason that holds."""
    held = _held(campaign)
    alone = held.filter(annotations__is_latest=True, annotations__status=Annotation.Status.EXCLUDED)
    gone = withdrawn_from(campaign.study).filter(enrolments__campaign=campaign)
    put_out = campaign.enrolments.filter(state=Enrolment.State.EXCLUDED)
    people = {
        WITHDRAWN: list(gone.values_list("pk", flat=True)),
        WITH_ANNOTATOR: list(put_out.values_list("annotator", flat=True)),
    }
    found = {"": set(alone.values_list("pk", flat=True))}
    for reason, annotators in people.items():
        known = {pk for pks in found.values() for pk in pks}
        theirs = held.filter(annotator__in=annotators).values_list("pk", flat=True) if annotators else ()
        found[reason] = set(theirs) - known
    return found


def _free(campaign: Campaign, assignments: Collection[int], reason: str) -> int:
    locked = Assignment.objects.select_for_update().filter(pk__in=list(assignments), slot__isnull=False)
    tasks = dict(locked.order_by("pk").values_list("pk", "task"))
    campaign.annotations.filter(
        assignment__in=tasks, is_latest=True, status=Annotation.Status.ACCEPTED
    ).update(status=Annotation.Status.EXCLUDED, status_reason=reason)
    Assignment.objects.filter(pk__in=tasks).update(state=Assignment.State.SURPLUS, slot=None)
    slots.give_back(tasks.values())
    look_again(tasks.values())
    return len(tasks)
