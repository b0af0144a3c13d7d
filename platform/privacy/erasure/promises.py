"""What an annotator was promised for the day on which they are erased, and whether they may do it themselves."""

from dataclasses import dataclass

from accounts.models import Annotator
from privacy.erasure import answers
from studies import consent
from studies.models import Study


@dataclass(frozen=True)
class OwnPromise:
    """What erasing oneself would do. It names no study."""

    by_self: bool
    kept: int  # studies whose answers are kept under a nameless code
    deleted: int  # studies whose answers are deleted


def of_annotator(annotator: Annotator) -> OwnPromise:
    """Return what becomes of somebody's answers, over all their studies."""
    studies = answers.studies_of(annotator)
    labels = [answers.promise_of(annotator, study) for study in studies]
    return OwnPromise(
        by_self=all(may_erase_self(annotator, study) for study in studies),
        kept=labels.count(answers.Labels.SEVER),
        deleted=labels.count(answers.Labels.DELETE),
    )


def may_erase_self(annotator: Annotator, study: Study) -> bool:
    """Return whether a study lets this person erase themself: a version they agreed to says so.

    A promise that was given stays; without any consent, the current text decides.
    """
    promised = set(consent.rests_on(annotator, study).values_list("text__may_erase_self", flat=True))
    return True in promised if promised else consent.current_text(study).may_erase_self
