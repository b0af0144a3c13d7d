"""The REST API for Label Studio. Everything here is only for leads of the study."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet, ViewSet

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

_STATE = OpenApiParameter("state", str, description="Return only answers in this state.")

Handler = Callable[..., Response]


def _verb(responses: Any, *, request: Any = None, below: str = "") -> Callable[[Handler], Any]:
    """Make a method an action: a POST to an address with the name of the method, for people who may connect tools."""

    def make(handler: Handler) -> Any:
        address = below + handler.__name__.replace("_", "-")
        verb = action(detail=True, methods=["post"], url_path=address)(handler)
        described = extend_schema(request=request, responses=responses)(verb)
        return requires(post=Capability.CONNECT)(described)

    return make


@requires(get=Capability.CONNECT)
class StudyServerViewSet(ListModelMixin, GenericViewSet[LabelStudioServer]):
    """The Label Studio servers of a study; a lead can connect another."""

    serializer_class = ServerSerializer
    queryset = LabelStudioServer.objects.none()

    def get_queryset(self) -> QuerySet[LabelStudioServer]:
        return study_for(self.request, self.kwargs["slug"]).label_studio_servers.all()

    @requires(post=Capability.CONNECT)
    @extend_schema(request=ConnectionSerializer, responses={201: ServerSerializer})
    def create(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        body = checked_body(ConnectionSerializer, request)
        server = connections.connect(study=study, by=signed_in_user(request), **body)
        return Response(ServerSerializer(server).data, status=201)


class ServerViewSet(GenericViewSet[Any]):
    """One Label Studio server: the result of its last check, changing its token, disconnecting it."""

    serializer_class = ServerSerializer
    queryset = LabelStudioServer.objects.none()
    lookup_value_converter = "int"

    @requires(get=Capability.CONNECT)
    def retrieve(self, request: Request, pk: int) -> Response:
        return Response(ServerSerializer(server_for(request, pk)).data)

    @requires(patch=Capability.CONNECT)
    @extend_schema(request=TokenSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        server = server_for(request, pk)
        connections.change_token(
            server=server, by=signed_in_user(request), **checked_body(TokenSerializer, request)
        )
        return Response(ServerSerializer(server_for(request, pk)).data)

    @requires(delete=Capability.CONNECT)
    @extend_schema(
        responses={
            204: OpenApiResponse(description="The Label Studio is disconnected and its token is deleted.")
        }
    )
    def destroy(self, request: Request, pk: int) -> Response:
        connections.disconnect(server=server_for(request, pk), by=signed_in_user(request))
        return Response(status=204)

    @_verb(ServerSerializer)
    def check(self, request: Request, pk: int) -> Response:
        """Check now whether a Label Studio server answers and accepts the token."""
        connections.check(server=server_for(request, pk))
        return Response(ServerSerializer(server_for(request, pk)).data)

    @requires(get=Capability.CONNECT)
    @extend_schema(parameters=[_STATE], responses=PersonSerializer(many=True))
    @action(detail=True, url_path="people/")
    def people(self, request: Request, pk: int) -> Response:
        """The users of a Label Studio server, and the annotator with whom each is matched."""
        rows = people_of(server_for(request, pk))
        state = request.query_params.get("state")
        page = self.paginate_queryset(
            rows.filter(state=state) if state in LabelStudioUser.State.values else rows
        )
        return self.get_paginated_response(PersonSerializer(page, many=True).data)


class PersonViewSet(ViewSet):
    """Decisions about the users of a Label Studio server."""

    lookup_value_converter = "int"

    @_verb(PersonSerializer, request=ConfirmationSerializer)
    def confirm(self, request: Request, pk: int) -> Response:
        """Match a user with an annotator."""
        user = user_for(request, pk)
        pseudonym = checked_body(ConfirmationSerializer, request)["annotator"]
        identity.confirm(user=user, annotator=candidate(user.server, pseudonym), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)

    @_verb({201: LinkSerializer}, request=InvitingSerializer)
    def invite(self, request: Request, pk: int) -> Response:
        """Make a personal link; the annotator who uses it is matched with this user."""
        user = user_for(request, pk)
        campaign = campaign_for(request, checked_body(InvitingSerializer, request)["campaign"])
        _, token = identity.invite(user=user, campaign=campaign, by=signed_in_user(request))
        address = request.build_absolute_uri(reverse("annotate:invitation", args=[token]))
        return Response({"address": address}, status=201)

    @_verb(PersonSerializer)
    def ignore(self, request: Request, pk: int) -> Response:
        """Leave out the answers of a user, existing and future ones."""
        identity.ignore(user=user_for(request, pk), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)

    @_verb(PersonSerializer)
    def undo(self, request: Request, pk: int) -> Response:
        """Undo the decision about a user. Until the next decision, the user's answers do not count."""
        identity.undo(user=user_for(request, pk), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)

    @_verb(PersonSerializer)
    def erase(self, request: Request, pk: int) -> Response:
        """Forget the name of a user, and leave out their answers permanently."""
        identity.erase(user=user_for(request, pk), by=signed_in_user(request))
        return Response(PersonSerializer(user_for(request, pk)).data)


class BridgeViewSet(GenericViewSet[Any]):
    """A campaign in Label Studio: its status, beginning, ending."""

    lookup_value_converter = "int"

    @requires(get=Capability.CONNECT)
    @extend_schema(responses=BridgeSerializer)
    @action(detail=True, url_path="label-studio/")
    def status(self, request: Request, pk: int) -> Response:
        return _status(request, pk)

    @requires(post=Capability.CONNECT)
    @extend_schema(request=BeginSerializer, responses={201: BridgeSerializer})
    @status.mapping.post
    def begin(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        body = checked_body(BeginSerializer, request)
        server = server_for(request, body["server"])
        lifecycle.begin_and_push(
            campaign=campaign, server=server, arrangement=body["arrangement"], by=signed_in_user(request)
        )
        return _status(request, pk, status=201)

    @requires(delete=Capability.CONNECT)
    @extend_schema(
        responses={204: OpenApiResponse(description="Labelling in Label Studio has ended. The labels stay.")}
    )
    @status.mapping.delete
    def end(self, request: Request, pk: int) -> Response:
        lifecycle.end(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return Response(status=204)

    @_verb({202: JobSerializer}, below="label-studio/")
    def push(self, request: Request, pk: int) -> Response:
        """Start a job that sends the campaign to Label Studio; later, it sends only what is new or has changed."""
        job = job_queue.start_push(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return _started(request, job)

    @_verb({202: JobSerializer}, below="label-studio/")
    def reconcile(self, request: Request, pk: int) -> Response:
        """Start a job that compares everything in Label Studio with what is stored here."""
        job = job_queue.start_reconcile(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return _started(request, job)

    @_verb({202: JobSerializer}, below="label-studio/")
    def replace_addresses(self, request: Request, pk: int) -> Response:
        """Start a job that replaces the addresses of all images, so that earlier addresses stop working."""
        job = job_queue.start_addresses(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return _started(request, job)

    @_verb(BridgeSerializer, request=RenewalSerializer, below="label-studio/")
    def renew_addresses(self, request: Request, pk: int) -> Response:
        """Extend the time for which the addresses of images are valid."""
        bridge = bridge_for(request, pk)
        image_access.renew(
            bridge=bridge, by=signed_in_user(request), **checked_body(RenewalSerializer, request)
        )
        return _status(request, pk)

    @_verb(BridgeSerializer, below="label-studio/")
    def keep_labels(self, request: Request, pk: int) -> Response:
        """Keep the labels of answers that are missing in Label Studio."""
        deletions.keep_labels(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return _status(request, pk)

    @_verb(BridgeSerializer, below="label-studio/")
    def confirm_deletions(self, request: Request, pk: int) -> Response:
        """Treat answers that are missing in Label Studio as deleted."""
        deletions.confirm_deletions(bridge=bridge_for(request, pk), by=signed_in_user(request))
        return _status(request, pk)

    @requires(get=Capability.CONNECT)
    @extend_schema(responses=CleanupLineSerializer(many=True))
    @action(detail=True, url_path="label-studio/cleanup", pagination_class=None)
    def cleanup(self, request: Request, pk: int) -> Response:
        """The numbers of answers in Label Studio that do not count here, by kind and person."""
        lines = cleanup.lines_of(bridge_for(request, pk))
        return Response(CleanupLineSerializer(lines, many=True).data)

    @requires(post=Capability.CONNECT)
    @extend_schema(request=CleanupSerializer, responses={202: JobSerializer})
    @cleanup.mapping.post
    def start_cleanup(self, request: Request, pk: int) -> Response:
        """Delete answers in Label Studio that do not count here."""
        bridge = bridge_for(request, pk)
        kinds = checked_body(CleanupSerializer, request)["kinds"]
        return _started(request, cleanup.start(bridge=bridge, kinds=kinds, by=signed_in_user(request)))

    @requires(get=Capability.CONNECT)
    @extend_schema(parameters=[_STATE], responses=AnswerSeenSerializer(many=True))
    @action(detail=True, url_path="label-studio/answers/")
    def answers(self, request: Request, pk: int) -> Response:
        """Answers in Label Studio, and their state here."""
        state = request.query_params.get("state", "")
        known_state = state if state in LabelStudioAnnotation.State.values else ""
        page = self.paginate_queryset(answers(bridge_for(request, pk), state=known_state))
        return self.get_paginated_response(AnswerSeenSerializer(page, many=True).data)


class AnswerViewSet(ViewSet):
    """Decisions about the versions of an answer in Label Studio."""

    lookup_value_converter = "int"

    @requires(get=Capability.CONNECT)
    @extend_schema(responses=AnswerVersionsSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        """One answer with its stored versions, the earliest first."""
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer)
    def keep(self, request: Request, pk: int) -> Response:
        """Keep the author's version; without one, leave the answer out."""
        edits.keep(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer)
    def take(self, request: Request, pk: int) -> Response:
        """Accept the current version although somebody else sent or changed it."""
        edits.take(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer)
    def undo(self, request: Request, pk: int) -> Response:
        """Undo the decision about an answer."""
        edits.undo(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer)
    def allow(self, request: Request, pk: int) -> Response:
        """Another name for `take`."""
        edits.take(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer)
    def disallow(self, request: Request, pk: int) -> Response:
        """Another name for `undo`."""
        edits.undo(mirrored=_answer_for(request, pk), by=signed_in_user(request))
        return _versions(request, pk)

    @_verb(AnswerVersionsSerializer, request=RestoringSerializer)
    def restore(self, request: Request, pk: int) -> Response:
        """Choose the version that counts. Nothing is written to Label Studio."""
        mirrored = _answer_for(request, pk)
        edits.restore(
            mirrored=mirrored, by=signed_in_user(request), **checked_body(RestoringSerializer, request)
        )
        return _versions(request, pk)


def _status(request: Request, pk: int, *, status: int = 200) -> Response:
    """Respond with the campaign's bridge, read again from the database."""
    return Response(BridgeSerializer(bridge_summary(bridge_for(request, pk))).data, status=status)


def _started(request: Request, job: Job) -> Response:
    return Response(JobSerializer(job, context={"request": request}).data, status=202)


def _versions(request: Request, pk: int) -> Response:
    """Respond with the answer and its versions, read again from the database."""
    answer = _answer_for(request, pk)
    versions = versions_of(answer, answer.project.bridge.campaign)
    lines = AnswerVersionSerializer(versions.lines, many=True).data
    return Response({**AnswerSeenSerializer(answer).data, "versions": lines})


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
