"""Campaigns and labelling over HTTP. Each handler finds, calls one verb, renders."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Annotator, ApiToken, User
from annotation.annotator.payload import leased_payload, shown_status, task_payload
from annotation.answers import edit_window, validation
from annotation.answers.fast_path import submit_and_next
from annotation.answers.submission import Answer, submit
from annotation.api.serializers import (
    CampaignProgressSerializer,
    CampaignSerializer,
    EnrolmentSerializer,
    NewCampaignSerializer,
    ReportSerializer,
    SavedSerializer,
    SubmissionSerializer,
    TaskSerializer,
)
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.campaigns.access import campaign_for, own_assignment, own_enrolment
from annotation.campaigns.images import reports
from annotation.lead.campaigns.progress import shown_progress
from annotation.models import Campaign, Enrolment, QualityAction, QualityEvent
from annotation.quality import enforcement
from annotation.quality.sentences import for_annotator
from foundation.errors import DomainError
from studies.access import LEAD, study_for
from web.api.negotiation import JsonOnly

NOTHING_LEFT = "nothing_left"
ENOUGH_FOR_TODAY = "enough_for_today"


class CampaignList(generics.ListAPIView[Campaign]):
    """A study's campaigns, newest first; a lead can draft another."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()

    def get_queryset(self) -> QuerySet[Campaign]:
        study = study_for(self.request.user, self.kwargs["slug"])
        return study.campaigns.select_related("study").prefetch_related("quota_rules")

    @extend_schema(request=NewCampaignSerializer, responses={201: CampaignSerializer})
    def post(self, request: Request, slug: str) -> Response:
        study = study_for(request.user, slug, role=LEAD)
        settings = NewCampaignSerializer(data=request.data)
        settings.is_valid(raise_exception=True)
        draft = lifecycle.create(study=study, by=_person(request), **settings.validated_data)
        return Response(CampaignSerializer(draft).data, status=201)


class CampaignDetail(generics.RetrieveAPIView[Campaign]):
    """One campaign's settings and state."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()

    def get_object(self) -> Campaign:
        return campaign_for(self.request.user, self.kwargs["pk"])


class CampaignProgressView(APIView):
    """How far a campaign is; a large one as of `counted_at`."""

    @extend_schema(responses=CampaignProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        found = shown_progress(campaign_for(request.user, pk))
        return Response(CampaignProgressSerializer(found).data)


class CampaignAnnotators(generics.ListAPIView[Enrolment]):
    """Who takes part, by pseudonym."""

    serializer_class = EnrolmentSerializer
    queryset = Enrolment.objects.none()

    def get_queryset(self) -> QuerySet[Enrolment]:
        return campaign_for(self.request.user, self.kwargs["pk"]).enrolments.select_related("annotator")


class CampaignMove(APIView):
    """Change a campaign's state; the address names the verb."""

    verb = "open_"

    @extend_schema(request=None, responses=CampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request.user, pk, role=LEAD)
        moved = getattr(lifecycle, self.verb)(campaign=campaign, by=_person(request))
        return Response(CampaignSerializer(moved).data)


class NextTask(APIView):
    """Lease the next task, or get the open one again."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(
        request=None,
        responses={
            200: TaskSerializer,
            204: OpenApiResponse(description="Nothing is left for you, or enough for today."),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        enrolment = own_enrolment(request.user, pk)
        leased = leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)
        return Response(status=204) if leased is None else Response(task_payload(leased))


class Submit(APIView):
    """Save an answer, or correct one. Answered after the answer is on disk; safe to repeat."""

    unsafe_scope = ApiToken.Scope.ANNOTATE
    content_negotiation_class = JsonOnly

    @extend_schema(request=SubmissionSerializer, responses=SavedSerializer)
    def post(self, request: Request, public_id: UUID) -> Response:
        data = request.data if isinstance(request.data, dict) else {}
        sent, active = validation.submission_id(data.get("submission_id")), data.get("active_seconds")
        saved = submit_and_next(
            user_id=_person(request).pk,
            public_id=public_id,
            submission_id=sent,
            parse=lambda task: Answer.parse(data.get("answer"), task),
            active_seconds=validation.seconds(active),
            instrument_version=validation.instrument_version(data.get("instrument_version")),
        )
        if saved is None:
            return self._with_care(request, public_id, sent, data)
        following: dict[str, Any] | None
        if saved.following is not None:
            following, why = leased_payload(saved.following, saved.campaign), ""
        else:
            following, why = self._next(saved.campaign, Annotator(pk=saved.annotator_id))
        found = {"annotation": saved.annotation_id, "submission_id": str(sent), "revision": 1}
        answered = {**found, "status": "accepted", "next": following, "why": why}
        if saved.ruled:
            events = enforcement.after_answer(annotation_id=saved.annotation_id)
        else:
            events = enforcement.now_and_then(campaign=saved.campaign, annotator_id=saved.annotator_id)
        return Response(_judged(answered, events))

    def _with_care(self, request: Request, public_id: UUID, sent: UUID, data: dict[str, Any]) -> Response:
        """Take in what is not plain: a retry, a correction, a late answer."""
        mine = own_assignment(request.user, public_id)
        edit_window.refuse_late(mine, sent)
        saved = submit(
            assignment=mine,
            annotator=mine.annotator,
            submission_id=sent,
            answer=Answer.parse(data.get("answer"), mine.task),
            active_seconds=validation.seconds(data.get("active_seconds")),
            instrument_version=validation.instrument_version(data.get("instrument_version")),
        )
        following, why = self._next(mine.task.campaign, mine.annotator)
        answered = {
            "annotation": saved.pk,
            "submission_id": str(saved.submission_id),
            "revision": saved.revision,
            "status": shown_status(saved),
            "next": following,
            "why": why,
        }
        return Response(_judged(answered, enforcement.after_answer(annotation_id=saved.pk)))

    @staticmethod
    def _next(campaign: Campaign, annotator: Any) -> tuple[dict[str, Any] | None, str]:
        # The answer is saved: that no further task is given out must not look like a failure to save it.
        try:
            leased = leases.next_assignment(campaign=campaign, annotator=annotator)
        except DomainError as refusal:
            return None, refusal.code
        if leased is not None:
            return task_payload(leased), ""
        more = leases.more_tomorrow(campaign, annotator.pk)
        return None, ENOUGH_FOR_TODAY if more else NOTHING_LEFT


class Skip(APIView):
    """Give a task back unanswered; it is not offered to you again."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(request=None, responses={204: OpenApiResponse(description="Skipped.")})
    def post(self, request: Request, public_id: UUID) -> Response:
        mine = own_assignment(request.user, public_id)
        leases.skip(assignment=mine, annotator=mine.annotator)
        return Response(status=204)


class Report(APIView):
    """Tell the lead that the task's image should not be shown. Again replaces what was said before."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(request=ReportSerializer, responses={201: ReportSerializer})
    def post(self, request: Request, public_id: UUID) -> Response:
        mine = own_assignment(request.user, public_id)
        data = request.data if isinstance(request.data, dict) else {}
        kept = reports.report(
            assignment=mine,
            annotator=mine.annotator,
            reason=str(data.get("reason") or ""),
            details=str(data.get("details") or ""),
        )
        return Response({"reason": kept.reason, "details": kept.details}, status=201)


def _judged(answered: dict[str, Any], events: list[QualityEvent]) -> dict[str, Any]:
    """Add to an answer that is saved what the campaign's quality rules make of how this annotator works."""
    if any(event.action == QualityAction.PAUSE for event in events):
        answered |= {"next": None, "why": "annotator_paused"}
    warnings = [for_annotator(event) for event in events if event.action == QualityAction.WARN]
    return answered | {"warning": " ".join(warnings)}


def _person(request: Request) -> User:
    assert isinstance(request.user, User)  # HasScope lets nobody else in
    return request.user
