"""Labelling as production does it: by the verbs that the API's handlers call, and by the API itself.

Both ways have the same methods and raise the same refusals, so that a test can take either.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.test import Client

from accounts import tokens
from accounts.models import Annotator
from annotation.answers.attribute_references import references
from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.assignment import leases
from annotation.campaigns import access
from annotation.models import Annotation, Assignment, Campaign
from foundation.errors import Conflict, DomainError, Forbidden, NotFound

NONE_OF_THEM: Mapping[str, Any] = {"none_of_the_above": True}
ERRORS = {error.status: error for error in (DomainError, Forbidden, NotFound, Conflict)}


@dataclass(frozen=True)
class Submitted:
    """The outcome of a submission as reported to its annotator, and the next task."""

    annotation: Annotation
    shown_status: str
    following: Assignment | None
    why: str  # nothing follows


def ticking_all(leased: Assignment) -> Mapping[str, Any]:
    """Return the answer, as a client sends it, that ticks every attribute of the task with one box each."""
    refs = list(references(leased.task))
    boxes = [{"attribute": ref, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4} for ref in refs]
    return {"ticked": refs, "boxes": boxes, "none_of_the_above": False}


class ByVerbs:
    """The verbs, in the order in which the API's handlers call them."""

    def next_task(
        self, campaign: Campaign, annotator: Annotator, *, now: datetime | None = None
    ) -> Assignment | None:
        """Ask for a task."""
        enrolment = access.own_enrolment(annotator.user, campaign.pk)
        return leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator, now=now)

    def submit(
        self,
        leased: Assignment,
        *,
        by: Annotator,
        answer: Mapping[str, Any] = NONE_OF_THEM,
        submission_id: uuid.UUID | None = None,
        instrument_version: int | None = None,
        now: datetime | None = None,
    ) -> Submitted:
        """Send an answer."""
        sent = SentAnswer(
            user_id=by.user_id,
            public_id=leased.public_id,
            submission_id=submission_id or uuid.uuid4(),
            answer=answer,
            active_seconds=3.0,
            instrument_version=instrument_version,
        )
        saved = submit_and_next(sent, now=now)
        annotation = Annotation.objects.get(pk=saved.annotation_id)
        stored = (annotation.submission_id, annotation.revision)
        assert stored == (saved.submission_id, saved.revision)
        return Submitted(annotation, saved.status, saved.following, saved.why)

    def skip(self, leased: Assignment, *, by: Annotator) -> None:
        """Give a task back."""
        own = access.own_assignment(by.user, leased.public_id)
        leases.skip(assignment=own, annotator=own.annotator)


class OverHttp:
    """The API, called by the client of an annotator who signs in with a token."""

    def __init__(self) -> None:
        self._clients: dict[int, Client] = {}

    def next_task(self, campaign: Campaign, annotator: Annotator) -> Assignment | None:
        """Ask for a task."""
        task = self._post(annotator, f"campaigns/{campaign.pk}/next")
        return self._assignment(task)

    def submit(
        self,
        leased: Assignment,
        *,
        by: Annotator,
        answer: Mapping[str, Any] = NONE_OF_THEM,
        submission_id: uuid.UUID | None = None,
        instrument_version: int | None = None,
    ) -> Submitted:
        """Send an answer."""
        sent = {
            "submission_id": str(submission_id or uuid.uuid4()),
            "answer": answer,
            "active_seconds": 3.0,
            "instrument_version": instrument_version,
        }
        saved = self._post(by, f"assignments/{leased.public_id}/submit", sent)
        assert saved is not None
        annotation = Annotation.objects.get(pk=saved["annotation"])
        assert (str(annotation.submission_id), annotation.revision) == (
            saved["submission_id"],
            saved["revision"],
        )
        return Submitted(annotation, saved["status"], self._assignment(saved["next"]), saved["why"])

    def skip(self, leased: Assignment, *, by: Annotator) -> None:
        """Give a task back."""
        self._post(by, f"assignments/{leased.public_id}/skip")

    def _post(self, annotator: Annotator, path: str, body: object = None) -> dict[str, Any] | None:
        client = self._clients.get(annotator.pk)
        if client is None:
            _, key = tokens.issue(user=annotator.user, name="test", scopes=["annotate"])
            client = self._clients[annotator.pk] = Client(headers={"authorization": f"Bearer {key}"})
        response = client.post(f"/api/v1/{path}", body, content_type="application/json")
        if response.status_code == 204:
            return None
        if response.status_code >= 400:
            error = response.json()["error"]
            raise ERRORS[response.status_code](error["code"], error["message"], fields=error["fields"])
        return response.json()

    @staticmethod
    def _assignment(task: dict[str, Any] | None) -> Assignment | None:
        if task is None:
            return None
        return Assignment.objects.select_related("task").get(public_id=task["assignment"])
