"""Withdrawal of consent: the annotator's answers leave every later result, and their open tasks are released."""

from django.db import transaction

from accounts.models import Annotator, ConsentText
from annotation import integrations
from annotation.answers import freed_slots
from annotation.answers.questions import copied_texts
from annotation.assignment import leases, slots
from annotation.kinds.options import Options
from annotation.models import Annotation, Enrolment
from studies import audit, consent
from studies.models import Study


def is_possible(*, annotator: Annotator, study: Study) -> bool:
    """Return whether the annotator has a consent to withdraw, or answers given under an earlier text."""
    if consent.withdrawal_of(annotator, study) is not None:
        return False
    answers = Annotation.objects.filter(annotator=annotator, campaign__study=study)
    return answers.exists() or consent.of_series(annotator, study).exists()


def covered(*, annotator: Annotator, study: Study) -> list[Enrolment]:
    """Return the annotator's enrolments that a withdrawal ends.

    One consent given for several studies is withdrawn from all of them.
    """
    enrolments = annotator.enrolments.select_related("campaign__study__consent_text").order_by("pk")
    shared = set(consent.rests_on(annotator, study))
    resting: dict[int, bool] = {study.pk: True}
    for other_study in {
        enrolment.campaign.study_id: enrolment.campaign.study for enrolment in enrolments
    }.values():
        if other_study.pk not in resting:
            resting[other_study.pk] = not shared.isdisjoint(consent.rests_on(annotator, other_study))
    return [enrolment for enrolment in enrolments if resting[enrolment.campaign.study_id]]


@transaction.atomic
def withdraw(*, annotator: Annotator, study: Study) -> bool:
    """Withdraw the annotator; return whether that changed anything. Labels stay stored but no longer count.

    Their screens are offered to others if the campaign's option `reopen_withdrawn` is set. The audit entry
    names the pseudonym and not the user.
    """
    enrolments = _lock(covered(annotator=annotator, study=study))
    if not is_possible(annotator=annotator, study=study):
        return False
    studies = {study.pk: study} | {row.campaign.study_id: row.campaign.study for row in enrolments}
    withdrawn_ids = {
        pk
        for pk, covered_study in studies.items()
        if consent.withdraw(annotator=annotator, study=covered_study)
    }
    enrolments = [row for row in enrolments if row.campaign.study_id in withdrawn_ids]
    slots.lock_held(annotator.pk, [enrolment.campaign_id for enrolment in enrolments])
    for enrolment in enrolments:
        leases.release(annotator=annotator, campaign=enrolment.campaign)
        if enrolment.campaign.options.get("reopen_withdrawn", Options.default("reopen_withdrawn")):
            freed_slots.free(
                campaign=enrolment.campaign, annotator_id=annotator.pk, reason=freed_slots.WITHDRAWN
            )
    for tool in integrations.registered():
        tool.consent_withdrawn(annotator, [enrolment.campaign for enrolment in enrolments])
    copied_texts.forget(annotator=annotator, studies=withdrawn_ids)
    for pk in sorted(withdrawn_ids):
        _record("consent.withdrawn", annotator, studies[pk])
    return True


@transaction.atomic
def agree(*, annotator: Annotator, text: ConsentText, study: Study) -> None:
    """Give consent in a study. After a withdrawal from it, answers count again if their places are still free."""
    enrolled = annotator.enrolments.select_related("campaign__study").filter(campaign__study=study)
    enrolments = _lock(list(enrolled.order_by("pk")))
    renewed = consent.withdrawal_of(annotator, study) is not None
    consent.give(annotator=annotator, text=text, study=study)
    if renewed:
        _record("consent.renewed", annotator, study)
    for enrolment in enrolments:
        freed_slots.take_back(enrolment)
    for tool in integrations.registered():
        tool.consent_given(annotator, study)


def _record(action: str, annotator: Annotator, study: Study) -> None:
    audit.record(by=None, action=action, subject=annotator, study=study, pseudonym=annotator.pseudonym)


def _lock(enrolments: list[Enrolment]) -> list[Enrolment]:
    """Wait for answers that are being saved, so that none takes a place afterwards."""
    leases.lock_for_decisions(enrolments)
    return enrolments
