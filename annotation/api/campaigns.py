"""API for campaigns: creating drafts, reading, changing, copying, opening and closing campaigns."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.rights import Capability, requires, signed_in_user
from annotation.api.serializers import (
    CampaignProgressSerializer,
    CampaignSerializer,
    EnrolmentSerializer,
    NewCampaignSerializer,
)
from annotation.campaigns import clone, extension, lifecycle
from annotation.campaigns.access import campaign_for
from annotation.campaigns.design import CampaignDesign
from annotation.launch.checklist import open_in_languages
from annotation.lead.campaigns.progress import shown_progress
from annotation.models import Campaign
from studies.access import study_for
from web.api.bodies import ParameterSetSerializer, checked_body

_MOVE = extend_schema(
    description="Change the state of a campaign, as the last part of the address says.",
    request=None,
    responses=CampaignSerializer,
)


class ChangesSerializer(ParameterSetSerializer):
    """Settings of a running campaign. Omitted options keep their value; null restores an option's default."""

    parameters = CampaignDesign
    names = ("name", "lease_minutes")

    options = serializers.DictField(required=False)


class CopySerializer(ParameterSetSerializer):
    """A copy of a campaign. `same_draw` keeps the seed, so that tasks and their order are the same."""

    parameters = CampaignDesign
    names = ("name",)

    same_draw = serializers.BooleanField(default=False)


class ExtensionSerializer(ParameterSetSerializer):
    parameters = CampaignDesign
    names = needed = ("annotators_per_task",)


@requires(get=Capability.SEE_CAMPAIGNS)
class StudyCampaignViewSet(ListModelMixin, GenericViewSet[Campaign]):
    """A study's campaigns, newest first; leads can draft another."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()

    def get_queryset(self) -> QuerySet[Campaign]:
        study = study_for(self.request, self.kwargs["slug"])
        return study.campaigns.select_related("study").prefetch_related("quota_rules")

    @requires(post=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=NewCampaignSerializer, responses={201: CampaignSerializer})
    def create(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        settings = checked_body(NewCampaignSerializer, request)
        draft = lifecycle.create(study=study, by=signed_in_user(request), **settings)
        return Response(CampaignSerializer(draft).data, status=201)


class CampaignViewSet(GenericViewSet[Any]):
    """One campaign's settings and state; leads can change the settings of a running campaign."""

    serializer_class = CampaignSerializer
    queryset = Campaign.objects.none()
    lookup_value_converter = "int"

    @requires(get=Capability.SEE_CAMPAIGNS)
    def retrieve(self, request: Request, pk: int) -> Response:
        return Response(CampaignSerializer(campaign_for(request, pk)).data)

    @requires(patch=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=ChangesSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        changes = checked_body(ChangesSerializer, request)
        changed = lifecycle.change_settings(campaign=campaign, by=signed_in_user(request), **changes)
        return Response(CampaignSerializer(changed).data)

    @requires(get=Capability.SEE_CAMPAIGNS)
    @extend_schema(responses=CampaignProgressSerializer)
    @action(detail=True, url_path="progress/")
    def progress(self, request: Request, pk: int) -> Response:
        """A campaign's progress; for a large campaign, as of `counted_at`."""
        progress = shown_progress(campaign_for(request, pk))
        return Response(CampaignProgressSerializer(progress).data)

    @requires(get=Capability.SEE_QUALITY)
    @extend_schema(responses=EnrolmentSerializer(many=True))
    @action(detail=True, url_path="annotators/")
    def annotators(self, request: Request, pk: int) -> Response:
        """The annotators of a campaign, by pseudonym."""
        page = self.paginate_queryset(campaign_for(request, pk).enrolments.select_related("annotator"))
        return self.get_paginated_response(EnrolmentSerializer(page, many=True).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=CopySerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def copies(self, request: Request, pk: int) -> Response:
        """Draft a copy of a campaign."""
        campaign = campaign_for(request, pk)
        draft = clone.clone(
            campaign=campaign, by=signed_in_user(request), **checked_body(CopySerializer, request)
        )
        return Response(CampaignSerializer(draft).data, status=201)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=ExtensionSerializer, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def extend(self, request: Request, pk: int) -> Response:
        """Change the number of annotators for each task."""
        campaign = campaign_for(request, pk)
        body = checked_body(ExtensionSerializer, request)
        extended = extension.extend(campaign=campaign, by=signed_in_user(request), **body)
        return Response(CampaignSerializer(extended).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @_MOVE
    @action(detail=True, methods=["post"])
    def open(self, request: Request, pk: int) -> Response:
        moved = open_in_languages(campaign=campaign_for(request, pk), by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @_MOVE
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: int) -> Response:
        moved = lifecycle.pause(campaign=campaign_for(request, pk), by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @_MOVE
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Response:
        moved = lifecycle.resume(campaign=campaign_for(request, pk), by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @_MOVE
    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: int) -> Response:
        moved = lifecycle.close(campaign=campaign_for(request, pk), by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)

    @requires(post=Capability.RUN_CAMPAIGNS)
    @_MOVE
    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, pk: int) -> Response:
        moved = lifecycle.reopen(campaign=campaign_for(request, pk), by=signed_in_user(request))
        return Response(CampaignSerializer(moved).data)
