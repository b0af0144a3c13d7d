"""The REST API for Label Studio. Everything here is only for leads of the study."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from annotation.campaigns.access import campaign_for
from annotation.label_studio.base import connections, job_queue
from annotation.label_studio.labels import edits
from annotation.label_studio.lead.serializers import (
    AnswerSeenSerializer,
    AnswerVersionSerializer,
    AnswerVersionsSerializer,
    BeginSerializer,
    BridgeSerializer,
    CleanupLineSerializer,
    CleanupSerializer,
    ConfirmationSerializer,
    ConnectionSerializer,
    InvitingSerializer,
    LinkSerializer,
    PersonSerializer,
    RenewalSerializer,
    RestoringSerializer,
    ServerSerializer,
    TokenSerializer,
)
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioServer,
    LabelStudioUser,
)
from annotation.label_studio.overview.history import versions_of
from annotation.label_studio.overview.queries import answers, bridge_of, bridge_summary, candidate
from annotation.label_studio.overview.queries import people as people_of
from annotation.label_studio.people import identity
from annotation.label_studio.pull import cleanup, deletions
from annotation.label_studio.push import image_access, lifecycle
from annotation.models import Campaign
from foundation.errors import NotFound
from jobs.api.views import JobSerializer
from jobs.models import Job
from studies.access import require, studies_visible_to, study_for
from web.api.bodies import checked_body

_WORK: dict[str, Callable[..., Job]] = {
    "push": job_queue.start_push,
    "reconcile": job_queue.start_reconcile,
    "replace": job_queue.start_addresses,
}
_STATE = OpenApiParameter("state", str, description="Return only answers in this state.")


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class ServerList(generics.ListAPIView[LabelStudioServer]):
    """The Label Studio servers of a study; a lead can connect another."""

    serializer_class = ServerSerializer
    queryset = LabelStudioServer.objects.none()

    def get_queryset(self) -> QuerySet[LabelStudioServer]:
        return study_for(self.request, self.kwargs["slug"]).label_studio_servers.all()

    @extend_schema(request=ConnectionSerializer, responses={201: ServerSerializer})
    def post(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        body = checked_body(ConnectionSerializer, request)
        server = connections.connect(study=study, by=signed_in_user(request), **body)
        return Response(ServerSerializer(server).data, status=201)


@requires(get=Capability.CONNECT, patch=Capability.CONNECT, delete=Capability.CONNECT)
class ServerDetail(APIView):
    """One Label Studio server: the result of its last check, changing its token, disconnecting it."""

    @extend_schema(responses=ServerSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(ServerSerializer(server_for(request, pk)).data)

    @extend_schema(request=TokenSerializer, responses=ServerSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        server = server_for(request, pk)
        connections.change_token(
            server=server, by=signed_in_user(request), **checked_body(TokenSerializer, request)
        )
        return Response(ServerSerializer(server_for(request, pk)).data)

    @extend_schema(
        responses={
            204: OpenApiResponse(description="The Label Studio is disconnected and its token is deleted.")
        }
    )
    def delete(self, request: Request, pk: int) -> Response:
        connections.disconnect(server=server_for(request, pk), by=signed_in_user(request))
        return Response(status=204)


@requires(post=Capability.CONNECT)
class ServerCheck(APIView):
    """Check now whether a Label Studio server answers and accepts the token."""

    @extend_schema(request=None, responses=ServerSerializer)
    def post(self, request: Request, pk: int) -> Response:
        connections.check(server=server_for(request, pk))
        return Response(ServerSerializer(server_for(request, pk)).data)


@requires(get=Capability.CONNECT)
class PeopleList(generics.ListAPIView[LabelStudioUser]):
    """The users of a Label Studio server, and the annotators they are here."""

    serializer_class = PersonSerializer
    queryset = LabelStudioUser.objects.none()

    def get_queryset(self) -> QuerySet[LabelStudioUser]:
        rows = people_of(server_for(self.request, self.kwargs["pk"]))
        state = self.request.query_params.get("state")
        return rows.filter(state=state) if state in LabelStudioUser.State.values else rows

    @extend_schema(parameters=[_STATE])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


@requires(post=Capability.CONNECT)
class PersonConfirm(APIView):
    """Match a user with an annotator."""

    @extend_schema(request=ConfirmationSerializer, responses=PersonSerializer)
    def post(self, request: Request, pk: int) -> Response:
        user = user_for(request, pk)
        pseudonym = checked_body(ConfirmationSerializer, request)["annotator"]
        identity.confirm(user=user, annotator=candidate(user.server, pseudonym), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)


@requires(post=Capability.CONNECT)
class PersonInvite(APIView):
    """Make a personal link; the annotator who uses it is matched with this user."""

    @extend_schema(request=InvitingSerializer, responses={201: LinkSerializer})
    def post(self, request: Request, pk: int) -> Response:
        user = user_for(request, pk)
        campaign = campaign_for(request, checked_body(InvitingSerializer, request)["campaign"])
        _, token = identity.invite(user=user, campaign=campaign, by=signed_in_user(request))
        address = request.build_absolute_uri(reverse("annotate:invitation", args=[token]))
        return Response({"address": address}, status=201)


@requires(post=Capability.CONNECT)
class PersonMove(APIView):
    """Leave out a user, also forget their name, or undo the decision who they are; the address names the verb."""

    verb = "ignore"

    @extend_schema(request=None, responses=PersonSerializer)
    def post(self, request: Request, pk: int) -> Response:
        verb = {"ignore": identity.ignore, "undo": identity.undo, "erase": identity.erase}[self.verb]
        verb(user=user_for(request, pk), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)


@requires(get=Capability.CONNECT, post=Capability.CONNECT, delete=Capability.CONNECT)
class CampaignBridge(APIView):
    """A campaign in Label Studio: its status, beginning, ending."""

    @extend_schema(responses=BridgeSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(BridgeSerializer(bridge_summary(bridge_for(request, pk))).data)

    @extend_schema(request=BeginSerializer, responses={201: BridgeSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        body = checked_body(BeginSerializer, request)
        server = server_for(request, body["server"])
        lifecycle.begin_and_push(
            campaign=campaign, server=server, arrangement=body["arrangement"], by=signed_in_user(request)
        )
        return Response(BridgeSerializer(bridge_summary(bridge_for(request, pk))).data, status=201)

    @extend_schema(
        responses={204: OpenApiResponse(description="Labelling in Label Studio has ended. The labels stay.")}
    )
    def delete(self, request: Request, pk: int) -> Response:
        lifecycle.end(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return Response(status=204)


@requires(post=Capability.CONNECT)
class BridgeWork(APIView):
    """Start work that takes longer than a request, and return its job; the address names the work."""

    work = "push"

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, pk: int) -> Response:
        job = _WORK[self.work](bridge=bridge_for(request, pk), by=signed_in_user(request))
        return Response(JobSerializer(job, context={"request": request}).data, status=202)


@requires(post=Capability.CONNECT)
class BridgeRenewal(APIView):
    """Extend the validity of images' addresses."""

    @extend_schema(request=RenewalSerializer, responses=BridgeSerializer)
    def post(self, request: Request, pk: int) -> Response:
        bridge = bridge_for(request, pk)
        image_access.renew(
            bridge=bridge, by=signed_in_user(request), **checked_body(RenewalSerializer, request)
        )
        return Response(BridgeSerializer(bridge_summary(bridge_for(request, pk))).data)


@requires(post=Capability.CONNECT)
class BridgeMissing(APIView):
    """Treat missing answers as deleted, or keep their labels; the address names the decision."""

    decision = "keep"

    @extend_schema(request=None, responses=BridgeSerializer)
    def post(self, request: Request, pk: int) -> Response:
        verb = {"keep": deletions.keep_labels, "confirm": deletions.confirm_deletions}[self.decision]
        verb(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return Response(BridgeSerializer(bridge_summary(bridge_for(request, pk))).data)


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class BridgeCleanup(APIView):
    """Answers in Label Studio that do not count here, by kind and person; deleting them there."""

    @extend_schema(responses=CleanupLineSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        lines = cleanup.lines_of(bridge_for(request, pk))
        return Response(CleanupLineSerializer(lines, many=True).data)

    @extend_schema(request=CleanupSerializer, responses={202: JobSerializer})
    def post(self, request: Request, pk: int) -> Response:
        bridge = bridge_for(request, pk)
        kinds = checked_body(CleanupSerializer, request)["kinds"]
        job = cleanup.start(bridge=bridge, kinds=kinds, by=signed_in_user(request))
        return Response(JobSerializer(job, context={"request": request}).data, status=202)


@requires(get=Capability.CONNECT)
class AnswerList(generics.ListAPIView[LabelStudioAnnotation]):
    """Answers in Label Studio, and their state here."""

    serializer_class = AnswerSeenSerializer
    queryset = LabelStudioAnnotation.objects.none()

    def get_queryset(self) -> QuerySet[LabelStudioAnnotation]:
        state = self.request.query_params.get("state", "")
        known_state = state if state in LabelStudioAnnotation.State.values else ""
        return answers(bridge_for(self.request, self.kwargs["pk"]), state=known_state)

    @extend_schema(parameters=[_STATE])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


@requires(get=Capability.CONNECT)
class AnswerDetail(APIView):
    """One answer with its stored versions, the earliest first."""

    @extend_schema(responses=AnswerVersionsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(_with_versions(_answer_for(request, pk)))


@requires(post=Capability.CONNECT)
class AnswerDecision(APIView):
    """Keep the author's version, accept a version that somebody else sent or changed, or undo the decision; the address
    names the decision. `allow` and `disallow` are other names for `take` and `undo`.
    """

    decision = "keep"

    @extend_schema(request=None, responses=AnswerVersionsSerializer)
    def post(self, request: Request, pk: int) -> Response:
        verb = {"keep": edits.keep, "take": edits.take, "undo": edits.undo}[self.decision]
        verb(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return Response(_with_versions(_answer_for(request, pk)))


@requires(post=Capability.CONNECT)
class AnswerRestoring(APIView):
    """Restore a version as the one that counts. Nothing is written to Label Studio."""

    @extend_schema(request=RestoringSerializer, responses=AnswerVersionsSerializer)
    def post(self, request: Request, pk: int) -> Response:
        mirrored = _answer_for(request, pk)
        edits.restore(
            mirrored=mirrored, by=signed_in_user(request), **checked_body(RestoringSerializer, request)
        )
        return Response(_with_versions(_answer_for(request, pk)))


def _with_versions(answer: LabelStudioAnnotation) -> dict[str, Any]:
    versions = versions_of(answer, answer.project.bridge.campaign)
    return {
        **AnswerSeenSerializer(answer).data,
        "versions": AnswerVersionSerializer(versions.lines, many=True).data,
    }


def server_for(request: Request, pk: int) -> LabelStudioServer:
    """Return the Label Studio server if the person may connect tools to its study."""
    rows = LabelStudioServer.objects.filter(study__in=studies_visible_to(request.user))
    server = rows.select_related("study").filter(pk=pk).first()
    if server is None:
        raise NotFound(
            "server_not_found", "This Label Studio does not exist, or you are not a member of its study."
        )
    require(request, server.study)
    return server


def user_for(request: Request, pk: int) -> LabelStudioUser:
    """Return the user of a Label Studio server if the person may connect tools to its study."""
    rows = LabelStudioUser.objects.filter(server__study__in=studies_visible_to(request.user))
    label_studio_user = rows.select_related("server__study", "annotator").filter(pk=pk).first()
    if label_studio_user is None:
        raise NotFound("user_not_found", "This user does not exist, or you are not a member of the study.")
    require(request, label_studio_user.server.study)
    return label_studio_user


def bridge_for(request: Request, pk: int) -> LabelStudioBridge:
    """Return the campaign's bridge if the person may connect tools to its study."""
    campaign: Campaign = campaign_for(request, pk)
    bridge = bridge_of(campaign)
    if bridge is None:
        raise NotFound("bridge_not_found", "This campaign is not labelled in a Label Studio.")
    bridge.campaign = campaign
    return bridge


def _answer_for(request: Request, pk: int) -> LabelStudioAnnotation:
    rows = LabelStudioAnnotation.objects.filter(
        project__bridge__campaign__study__in=studies_visible_to(request.user)
    ).select_related("project__bridge__campaign__study", "user", "task")
    mirrored = rows.filter(pk=pk).first()
    if mirrored is None:
        raise NotFound(
            "answer_not_found", "This answer does not exist, or you are not a member of the study."
        )
    require(request, mirrored.project.bridge.campaign.study)
    return mirrored
