"""API for annotators: tasks, answers, practice."""

from typing import Any
from uuid import UUID

from django.utils import translation
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.models import ApiToken
from accounts.rights import Capability, requires, signed_in_user
from annotation.annotator.payload import leased_payload, task_payload
from annotation.annotator.practice.payload import feedback_payload, practice_task_payload
from annotation.answers import validation
from annotation.answers.languages import read_as
from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.api.practice_serializers import (
    PracticeFeedbackSerializer,
    PracticeSubmissionSerializer,
    PracticeTaskSerializer,
)
from annotation.api.serializers import (
    ReportSerializer,
    SavedSerializer,
    SubmissionSerializer,
    TaskSerializer,
)
from annotation.assignment import leases
from annotation.campaigns.access import own_assignment, own_enrolment
from annotation.campaigns.images import reports
from annotation.models import QualityAction, QualityEvent
from annotation.quality import enforcement
from annotation.quality.practice import rounds
from annotation.quality.practice.progress import practice_of
from annotation.quality.sentences import for_annotator
from web.api.bodies import raw_body
from web.api.negotiation import JsonOnly


class AssignmentViewSet(ViewSet):
    """Your tasks."""

    unsafe_scope = ApiToken.Scope.ANNOTATE
    lookup_field = "public_id"
    lookup_value_converter = "uuid"

    @requires(post=Capability.ANNOTATE)
    @extend_schema(request=SubmissionSerializer, responses=SavedSerializer)
    @action(detail=True, methods=["post"], content_negotiation_class=JsonOnly)
    def submit(self, request: Request, public_id: UUID) -> Response:
        """Save or correct an answer. It is stored before the response; repeating the request is safe."""
        data = raw_body(SubmissionSerializer, request)
        sent = SentAnswer(
            user_id=signed_in_user(request).pk,
            public_id=public_id,
            submission_id=validation.submission_id(data.get("submission_id")),
            answer=data.get("answer"),
            active_seconds=validation.seconds(data.get("active_seconds")),
            instrument_version=validation.instrument_version(data.get("instrument_version")),
        )
        saved = submit_and_next(sent)
        translation.activate(saved.language)
        following = saved.following
        answered = {
            "annotation": saved.annotation_id,
            "submission_id": str(saved.submission_id),
            "revision": saved.revision,
            "status": saved.status,
            "next": None if following is None else leased_payload(following, saved.campaign),
            "why": saved.why,
        }
        if saved.has_rules:
            events = enforcement.after_answer(annotation_id=saved.annotation_id)
        else:
            events = enforcement.now_and_then(campaign=saved.campaign, annotator_id=saved.annotator_id)
        return Response(_judged(answered, events))

    @requires(post=Capability.ANNOTATE)
    @extend_schema(request=None, responses={204: OpenApiResponse(description="Skipped.")})
    @action(detail=True, methods=["post"])
    def skip(self, request: Request, public_id: UUID) -> Response:
        """Return a task unanswered; it is not offered to you again."""
        assignment = own_assignment(request.user, public_id)
        leases.skip(assignment=assignment, annotator=assignment.annotator)
        return Response(status=204)

    @requires(post=Capability.ANNOTATE)
    @extend_schema(request=ReportSerializer, responses={201: ReportSerializer})
    @action(detail=True, methods=["post"])
    def report(self, request: Request, public_id: UUID) -> Response:
        """Report that the task's image should not be shown. A second report replaces the first."""
        assignment = own_assignment(request.user, public_id)
        data = raw_body(ReportSerializer, request)
        image_report, *_ = reports.report(
            assignment=assignment,
            annotator=assignment.annotator,
            reason=str(data.get("reason") or ""),
            details=str(data.get("details") or ""),
            stimulus=str(data.get("stimulus") or ""),
        )
        return Response({"reason": image_report.reason, "details": image_report.details}, status=201)


class CampaignTaskViewSet(ViewSet):
    """Your next tasks in a campaign."""

    unsafe_scope = ApiToken.Scope.ANNOTATE
    lookup_value_converter = "int"

    @requires(post=Capability.ANNOTATE)
    @extend_schema(
        request=None,
        responses={
            200: TaskSerializer,
            204: OpenApiResponse(description="There are no more tasks for you, or no more today."),
        },
    )
    @action(detail=True, methods=["post"])
    def next(self, request: Request, pk: int) -> Response:
        """Lease the next task, or get the open task again."""
        enrolment = read_as(own_enrolment(request.user, pk))
        leased = leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)
        return Response(status=204) if leased is None else Response(task_payload(leased))

    @requires(post=Capability.ANNOTATE)
    @extend_schema(
        request=None,
        responses={
            200: PracticeTaskSerializer,
            204: OpenApiResponse(description="No practice is due. Ask for the next real task."),
        },
    )
    @action(detail=True, methods=["post"], url_path="practice/next")
    def next_practice(self, request: Request, pk: int) -> Response:
        """Get the next practice task; the first task starts a round."""
        enrolment = read_as(own_enrolment(request.user, pk))
        task = rounds.next_task(campaign=enrolment.campaign, annotator=enrolment.annotator)
        if task is None:
            return Response(status=204)
        standing = practice_of(enrolment)
        return Response(practice_task_payload(task, annotator_id=enrolment.annotator_id, standing=standing))


class PracticeTaskViewSet(ViewSet):
    """Your practice tasks."""

    unsafe_scope = ApiToken.Scope.ANNOTATE
    lookup_field = "public_id"
    lookup_value_converter = "uuid"

    @requires(post=Capability.ANNOTATE)
    @extend_schema(request=PracticeSubmissionSerializer, responses=PracticeFeedbackSerializer)
    @action(detail=True, methods=["post"])
    def answer(self, request: Request, public_id: UUID) -> Response:
        """Answer a practice task and get feedback; sending the same answer again returns the same feedback."""
        user = signed_in_user(request)
        task = rounds.own_task(user.pk, public_id)
        enrolment = read_as(own_enrolment(user, task.campaign_id))
        data = raw_body(PracticeSubmissionSerializer, request)
        practice_answer = rounds.answer(task=task, annotator=enrolment.annotator, data=data.get("answer"))
        enrolment.refresh_from_db(fields=["state"])  # failing the last round pauses the enrolment
        return Response(feedback_payload(practice_answer, standing=practice_of(enrolment)))


def _judged(answered: dict[str, Any], events: list[QualityEvent]) -> dict[str, Any]:
    """Return the response with the consequences of the campaign's quality rules: a pause or a warning."""
    if any(event.action == QualityAction.PAUSE for event in events):
        answered |= {"next": None, "why": "annotator_paused"}
    warnings = [for_annotator(event) for event in events if event.action == QualityAction.WARN]
    return answered | {"warning": " ".join(warnings)}
