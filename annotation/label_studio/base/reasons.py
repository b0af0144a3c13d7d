"""Why an annotation in Label Studio is not a label here, in sentences for leads."""

from collections.abc import Mapping
from typing import Any

from annotation.label_studio.models import LabelStudioAnnotation

State = LabelStudioAnnotation.State

# Reasons of our annotations that were labels and no longer have a valid answer in Label Studio. All other reasons are a
# lead's own: changes in Label Studio do not bring back what a lead excluded.
DELETED_THERE = "deleted in Label Studio"
SKIPPED_THERE = "skipped in Label Studio afterwards"
FLAGGED_THERE = "sent or changed in Label Studio under another’s name"
UNREADABLE_THERE = "changed in Label Studio to something that cannot be read as an answer"
NOBODYS = "its user in Label Studio is not mapped to this annotator"
OURS = frozenset({DELETED_THERE, SKIPPED_THERE, FLAGGED_THERE, UNREADABLE_THERE, NOBODYS})
BECAUSE: Mapping[str, str] = {
    State.DELETED: DELETED_THERE,
    State.SKIPPED: SKIPPED_THERE,
    State.FLAGGED: FLAGGED_THERE,
    State.REFUSED: UNREADABLE_THERE,
}
SURPLUS = "the task had all its annotations, or the campaign’s quotas leave no place for this annotator"

# Reasons of annotations in Label Studio.
NOT_SENT = "its task was not sent from here"
NO_MAKER = "it is unknown who made it"
NOT_ENROLLED = "its annotator does not take part in this campaign"
PAUSED = "its annotator’s part in this campaign is paused"
PUT_OUT = "its annotator was excluded from this campaign"
NO_CONSENT = "its annotator has not agreed to the study’s text"
CLOSED = "it was made or changed after the campaign was closed"
NOT_TAKEN = "it was sent under another’s name, and a lead left it out"
NOT_THEIR_PROJECT = "it was made in the project of another annotator"
ANSWERED_HERE = "its annotator had answered the task here before"
BEING_DELETED = "it is being deleted from Label Studio because it does not count"
WITHDRAWN = "its annotator took back consent, so its content was not kept"
ERASED = "its user was erased, so its content was not kept"

_REFUSED = "refused"


def instead_of_result(reason: str) -> dict[str, str]:
    """Return what the mirror stores instead of a result that it cannot or must not store."""
    return {_REFUSED: reason}


def why_no_result(result: Any) -> str:
    """Return why a mirrored result is missing; "" if it is not missing."""
    if isinstance(result, list):
        return ""
    return str(result.get(_REFUSED, "")) if isinstance(result, dict) else "its result is not a list"
