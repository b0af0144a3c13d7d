"""Taking back consent: the annotator's answers leave every later result, and what they have open is freed."""

from django.db import transaction

from accounts import consent
from accounts.models import Annotator, ConsentText
from annotation import assignment, reopening
from annotation.bridge import claiming
from annotation.bridge.forgetting import forget
from annotation.models import Enrolment
from annotation.options import Options
from studies import audit
from studies.models import Study


def covered(*, annotator: Annotator, study: Study) -> list[Enrolment]:
    """Return the annotator's enrolments, in this study and others, that rest on the same consent."""
    series = consent.current_text(study).series
    enrolments = annotator.enrolments.select_related("campaign__study__consent_text").order_by("pk")
    return [one for one in enrolments if consent.current_text(one.campaign.study).series == series]


@transaction.atomic
def withdraw(*, annotator: Annotator, study: Study) -> bool:
    """Withdraw the annotator's consent; return whether one stood. Labels stay stored but count no more.

    Their screens are asked of others where the campaign's option `reopen_withdrawn` says so. The audit entry
    names the pseudonym and no user: who is behind it is kept in accounts.
    """
    enrolments = covered(annotator=annotator, study=study)
    _lock(enrolments)
    if not consent.withdraw(annotator=annotator, study=study):
        return False
    for enrolment in enrolments:
        assignment.release(annotator=annotator, campaign=enrolment.campaign)
        if enrolment.campaign.options.get("reopen_withdrawn", Options.reopen_withdrawn):
            reopening.free(campaign=enrolment.campaign, annotator_id=annotator.pk, reason=reopening.WITHDRAWN)
    forget(annotator=annotator, campaigns=[enrolment.campaign for enrolment in enrolments])
    for affected in {one.campaign.study_id: one.campaign.study for one in enrolments}.values():
        audit.record(
            by=None,
            action="consent.withdrawn",
            subject=annotator,
            study=affected,
            pseudonym=annotator.pseudonym,
        )
    return True


@transaction.atomic
def agree(*, annotator: Annotator, text: ConsentText, study: Study) -> None:
    """Give consent. After a withdrawal what was answered counts again, where its places are still free."""
    consent.give(annotator=annotator, text=text)
    for enrolment in _lock(covered(annotator=annotator, study=study)):
        reopening.take_back(enrolment)
    claiming.agreed(annotator=annotator, study=study)


def _lock(enrolments: list[Enrolment]) -> list[Enrolment]:
    """Let an answer that is being saved end first, so that none comes to hold a place afterwards."""
    keys = [one.pk for one in enrolments]
    list(Enrolment.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk"))
    return enrolments
