"""Taking back consent: the annotator's answers leave every later result, and what they have open is freed."""

from django.db import transaction

from accounts.models import Annotator, ConsentText
from annotation.answers import replacement
from annotation.assignment import leases, slots
from annotation.kinds.options import Options
from annotation.label_studio.base import claims
from annotation.label_studio.base.erasure import forget
from annotation.models import Annotation, Enrolment
from studies import audit, consent
from studies.models import Study


def is_possible(*, annotator: Annotator, study: Study) -> bool:
    """Return whether the annotator has something to withdraw: a consent, or answers given under an earlier text."""
    if consent.withdrawal_of(annotator, study) is not None:
        return False
    answers = Annotation.objects.filter(annotator=annotator, campaign__study=study)
    return answers.exists() or consent.of_series(annotator, study).exists()


def covered(*, annotator: Annotator, study: Study) -> list[Enrolment]:
    """Return the annotator's enrolments that a withdrawal ends: in this study, and where the same consent was used.

    A person who agreed to one text for several studies takes it back from all of them.
    """
    enrolments = annotator.enrolments.select_related("campaign__study__consent_text").order_by("pk")
    shared = set(consent.rests_on(annotator, study))
    resting: dict[int, bool] = {study.pk: True}
    for other in {one.campaign.study_id: one.campaign.study for one in enrolments}.values():
        if other.pk not in resting:
            resting[other.pk] = not shared.isdisjoint(consent.rests_on(annotator, other))
    return [one for one in enrolments if resting[one.campaign.study_id]]


@transaction.atomic
def withdraw(*, annotator: Annotator, study: Study) -> bool:
    """Withdraw the annotator; return whether that changed anything. Labels stay stored but count no more.

    Their screens are asked of others where the campaign's option `reopen_withdrawn` says so. The audit entry
    names the pseudonym and no user: who is behind it is kept in accounts.
    """
    enrolments = _lock(covered(annotator=annotator, study=study))
    if not is_possible(annotator=annotator, study=study):
        return False
    studies = {study.pk: study} | {one.campaign.study_id: one.campaign.study for one in enrolments}
    left = {pk for pk, one in studies.items() if consent.withdraw(annotator=annotator, study=one)}
    enrolments = [one for one in enrolments if one.campaign.study_id in left]
    slots.lock_held(annotator.pk, [enrolment.campaign_id for enrolment in enrolments])
    for enrolment in enrolments:
        leases.release(annotator=annotator, campaign=enrolment.campaign)
        if enrolment.campaign.options.get("reopen_withdrawn", Options.reopen_withdrawn):
            replacement.free(
                campaign=enrolment.campaign, annotator_id=annotator.pk, reason=replacement.WITHDRAWN
            )
    forget(annotator=annotator, campaigns=[enrolment.campaign for enrolment in enrolments])
    for pk in sorted(left):
        _record("consent.withdrawn", annotator, studies[pk])
    return True


@transaction.atomic
def agree(*, annotator: Annotator, text: ConsentText, study: Study) -> None:
    """Give consent in a study. After a withdrawal from it, answers count again where their places are still free."""
    enrolled = annotator.enrolments.select_related("campaign__study").filter(campaign__study=study)
    enrolments = _lock(list(enrolled.order_by("pk")))
    renewed = consent.withdrawal_of(annotator, study) is not None
    consent.give(annotator=annotator, text=text, study=study)
    if renewed:
        _record("consent.renewed", annotator, study)
    for enrolment in enrolments:
        replacement.take_back(enrolment)
    claims.agreed(annotator=annotator, study=study)


def _record(action: str, annotator: Annotator, study: Study) -> None:
    audit.record(by=None, action=action, subject=annotator, study=study, pseudonym=annotator.pseudonym)


def _lock(enrolments: list[Enrolment]) -> list[Enrolment]:
    """Let an answer that is being saved end first, so that none comes to hold a place afterwards."""
    keys = [one.pk for one in enrolments]
    list(Enrolment.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk"))
    return enrolments
