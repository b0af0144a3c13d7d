"""A lead's coding of one answer, with a reason. The newest override counts instead of all other codings."""

from django.db import transaction

from accounts.models import User
from foundation.errors import Conflict, DomainError
from generation.models import Answer, Coding
from generation.probing.coding import CODES
from studies import audit

VERSION = "1"
LONGEST_REASON = 300  # characters


@transaction.atomic
def override_answer(*, answer: Answer, outcome: str, reason: str, by: User) -> Coding:
    """Override the coding of an answer to a choice. Raises `outcome_unknown`, `reason_missing` or
    `answer_has_no_choice`."""
    reason = " ".join(reason.replace("\0", "").split())
    if outcome not in CODES:
        raise _wrong("outcome", "outcome_unknown", f"Choose one of {', '.join(CODES)}.")
    if not reason:
        raise _wrong("reason", "reason_missing", "Explain why your coding should replace all other codings.")
    if len(reason) > LONGEST_REASON:
        raise _wrong("reason", "reason_too_long", f"Enter a reason of at most {LONGEST_REASON} characters.")
    # Two simultaneous overrides get different numbers.
    answer = Answer.objects.select_for_update(of=("self",)).select_related("run__study").get(pk=answer.pk)
    if answer.outcome != Answer.Outcome.DONE or answer.order == Answer.Order.NONE:
        raise Conflict(
            "answer_has_no_choice",
            "Only a model’s answer to a choice between two options can be overridden.",
        )
    earlier = answer.codings.filter(coder=Coding.Coder.OVERRIDE).count()
    coding = Coding.objects.create(
        answer=answer,
        coder=Coding.Coder.OVERRIDE,
        version=VERSION,
        source=str(earlier + 1),
        outcome=outcome,
        code=CODES[outcome],
        sure=True,
        reason=reason,
        created_by=by,
    )
    study = answer.run.study
    audit.record(
        by=by, action="answer.overridden", subject=answer, study=study, outcome=outcome, reason=reason
    )
    return coding


def _wrong(field: str, code: str, message: str) -> DomainError:
    return DomainError(code, message, fields={field: message})
