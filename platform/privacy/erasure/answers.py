"""The answers of an erased person, deleted or kept under a nameless code, study by study."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from accounts.models import Annotator, ConsentText
from annotation.assignment import slots
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Judgement
from privacy.erasure import consents
from privacy.inventory import blank
from studies import consent
from studies.models import Study, Withdrawal

Labels = ConsentText.LabelsWhenErased


@dataclass(frozen=True)
class AnswersOutcome:
    """The promise by study, and the number of answers deleted and kept."""

    promises: Mapping[int, Labels]
    answers_deleted: int
    answers_kept: int


def studies_of(annotator: Annotator) -> list[Study]:
    """Return the studies in which an annotator is enrolled, has answered or withdrew."""
    about = (
        Q(pk__in=Enrolment.objects.filter(annotator=annotator).values("campaign__study"))
        | Q(pk__in=Annotation.objects.filter(annotator=annotator).values("campaign__study"))
        | Q(pk__in=Withdrawal.objects.filter(annotator=annotator).values("study"))
    )
    return list(Study.objects.filter(about).select_related("consent_text").order_by("pk"))


def promise_of(annotator: Annotator, study: Study) -> Labels:
    """Return whether the annotator's answers in a study are deleted or kept at erasure.

    They are kept only if every version that the person agreed to says so. Without consent, or after a
    withdrawal, they are deleted.
    """
    if consent.withdrawal_of(annotator, study) is not None:
        return Labels.DELETE
    promises = set(consents.binding(annotator, study).values_list("text__labels_when_erased", flat=True))
    return Labels.SEVER if promises == {Labels.SEVER.value} else Labels.DELETE


def settle(annotator: Annotator) -> AnswersOutcome:
    """Delete answers, or remove identifying data from them. The caller must have locked their tasks."""
    promises = {study.pk: promise_of(annotator, study) for study in studies_of(annotator)}
    severed = [pk for pk, promise in promises.items() if promise is Labels.SEVER]
    # A labelling tool still knows the author of answers given there, so these are deleted.
    kept_campaigns = Campaign.objects.filter(study__in=severed, labelled_in="")
    deleted = _delete(annotator, list(kept_campaigns.values_list("pk", flat=True)))
    _sever(annotator)
    return AnswersOutcome(promises, deleted, Annotation.objects.filter(annotator=annotator).count())


def _delete(annotator: Annotator, kept_campaigns: list[int]) -> int:
    annotations = Annotation.objects.filter(annotator=annotator).exclude(campaign__in=kept_campaigns)
    count = annotations.count()
    annotations.delete()
    assignments = Assignment.objects.filter(annotator=annotator).exclude(task__campaign__in=kept_campaigns)
    freed_tasks = list(assignments.filter(slot__isnull=False).values_list("task_id", flat=True))
    assignments.delete()
    slots.give_back(freed_tasks)
    return count


def _sever(annotator: Annotator) -> None:
    annotations = Annotation.objects.filter(annotator=annotator)
    annotations.update(**blank("annotation.Annotation"))
    Judgement.objects.filter(annotation__in=annotations, text__isnull=False).delete()
    # Without answers, no record of the participation is needed. With answers, a lead's decisions about the person
    # remain valid.
    enrolments = Enrolment.objects.filter(annotator=annotator)
    enrolments.exclude(campaign__in=annotations.values("campaign")).delete()
    enrolments.filter(state=Enrolment.State.ACTIVE).update(state=Enrolment.State.PAUSED)
    enrolments.update(**blank("annotation.Enrolment"))
