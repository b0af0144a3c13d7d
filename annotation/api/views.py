"""API for campaigns and labelling. Each handler loads objects, calls one verb and serializes the result."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import translation
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ApiToken
from accounts.rights import Capability, requires, signed_in_user
from annotation.annotator.payload import leased_payload, task_payload
from annotation.answers import validation
from annotation.answers.languages import read_as
from annotation.answers.submission import SentAnswer, submit_and_next
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
from annotation.launch.waivers import open_in_languages
from annotation.lead.campaigns.progress import shown_progress
from annotation.models import Campaign, Enrolment, QualityAction, QualityEvent
from annotation.quality import enforcement
from annotation.quality.sentences import for_annotator
from studies.access import study_for
from web.api.bodies import checked_body, raw_body
from web.api.negotiation import JsonOnly


@requires(get=Capability.SEE_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignList(generics.ListAPIView[Campaign]):
    """A study's campaigns, newest first; leads can draft another."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()

    def get_queryset(self) -> QuerySet[Campaign]:
        study = study_for(self.request, self.kwargs["slug"])
        return study.campaigns.select_related("study").prefetch_related("quota_rules")

    @extend_schema(request=NewCampaignSerializer, responses={201: CampaignSerializer})
    def post(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        settings = checked_body(NewCampaignSerializer, request)
        draft = lifecycle.create(study=study, by=signed_in_user(request), **settings)
        return Response(CampaignSerializer(draft).data, status=201)


class CampaignDetail(generics.RetrieveAPIView[Campaign]):
    """One campaign's settings and state."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()

    def get_object(self) -> Campaign:
        return campaign_for(self.request, self.kwargs["pk"])


@requires(get=Capability.SEE_CAMPAIGNS)
class CampaignProgressView(APIView):
    """A campaign's progress; for a large campaign, as of `counted_at`."""

    @extend_schema(responses=CampaignProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        progress = shown_progress(campaign_for(request, pk))
        return Response(CampaignProgressSerializer(progress).data)


@requires(get=Capability.SEE_QUALITY)
class CampaignAnnotators(generics.ListAPIView[Enrolment]):
    """The annotators of a campaign, by pseudonym."""

    serializer_class = EnrolmentSerializer
    queryset = Enrolment.objects.none()

    def get_queryset(self) -> QuerySet[Enrolment]:
        return campaign_for(self.request, self.kwargs["pk"]).enrolments.select_related("annotator")


_VERBS = {
    "open": open_in_languages,
    "pause": lifecycle.pause,
    "resume": lifecycle.resume,
    "close": lifecycle.close,
    "reopen": lifecycle.reopen,
}


@requires(post=Capability.RUN_CAMPAIGNS)
class CampaignMove(APIView):
    """Change a campaign's state; the address names the verb."""

    verb = "open"

    @extend_schema(request=None, responses=CampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        moved = _VERBS[self.verb](campaign=campaign, by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)


@requires(post=Capability.ANNOTATE)
class NextTask(APIView):
    """Lease the next task, or get the open task again."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(
        request=None,
        responses={
            200: TaskSerializer,
            204: OpenApiResponse(description="There are no more tasks for you, or no more today."),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        enrolment = read_as(own_enrolment(request.user, pk))
        leased = leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)
        return Response(status=204) if leased is None else Response(task_payload(leased))


@requires(post=Capability.ANNOTATE)
class Submit(APIView):
    """Save or correct an answer. It is stored before the response; repeating the request is safe."""

    unsafe_scope = ApiToken.Scope.ANNOTATE
    content_negotiation_class = JsonOnly

    @extend_schema(request=SubmissionSerializer, responses=SavedSerializer)
    def post(self, request: Request, public_id: UUID) -> Response:
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
class Skip(APIView):
    """Return a task unanswered; it is not offered to you again."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(request=None, responses={204: OpenApiResponse(description="Skipped.")})
    def post(self, request: Request, public_id: UUID) -> Response:
        assignment = own_assignment(request.user, public_id)
        leases.skip(assignment=assignment, annotator=assignment.annotator)
        return Response(status=204)


@requires(post=Capability.ANNOTATE)
class ReportImage(APIView):
    """Report that the task's image should not be shown. A second report replaces the first."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(request=ReportSerializer, responses={201: ReportSerializer})
    def post(self, request: Request, public_id: UUID) -> Response:
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


def _judged(answered: dict[str, Any], events: list[QualityEvent]) -> dict[str, Any]:
    """Return the response with the consequences of the campaign's quality rules: a pause or a warning."""
    if any(event.action == QualityAction.PAUSE for event in events):
        answered |= {"next": None, "why": "annotator_paused"}
    warnings = [for_annotator(event) for event in events if event.action == QualityAction.WARN]
    return answered | {"warning": " ".join(warnings)}
