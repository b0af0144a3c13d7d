"""The promises to an annotator about erasure, and whether annotators may erase themselves."""

from dataclasses import dataclass

from accounts.models import Annotator
from privacy.erasure import answers, consents
from studies import consent
from studies.models import Study


@dataclass(frozen=True)
class OwnPromise:
    """The effect of erasing oneself, without names of studies."""

    by_self: bool
    kept: int  # number of studies whose answers are kept under a nameless code
    deleted: int  # number of studies whose answers are deleted


def of_annotator(annotator: Annotator) -> OwnPromise:
    """Return the effect of erasure on the annotator's answers in all studies."""
    studies = answers.studies_of(annotator)
    labels = [answers.promise_of(annotator, study) for study in studies]
    return OwnPromise(
        by_self=all(may_erase_self(annotator, study) for study in studies),
        kept=labels.count(answers.Labels.SEVER),
        deleted=labels.count(answers.Labels.DELETE),
    )


def may_erase_self(annotator: Annotator, study: Study) -> bool:
    """Return whether a study lets this person erase themself, according to any version they agreed to.

    A promise remains valid when the text changes or the person withdraws. If they never agreed to any version, the
    current text decides.
    """
    for agreed in (consents.binding(annotator, study), consents.withdrawn(annotator, study)):
        if promised := set(agreed.values_list("text__may_erase_self", flat=True)):
            return True in promised
    return consent.current_text(study).may_erase_self
