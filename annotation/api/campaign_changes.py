"""API for changing a campaign: settings, copies, annotators per task, texts for annotators."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from annotation.api.serializers import CampaignSerializer, InstrumentSerializer
from annotation.api.views import CampaignDetail
from annotation.campaigns import clone, extension, lifecycle
from annotation.campaigns.access import campaign_for
from annotation.campaigns.design import CampaignDesign
from annotation.campaigns.instruments import versions
from web.api.bodies import ParameterSetSerializer, checked_body


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


class WordsSerializer(serializers.Serializer[Any]):
    """The texts for annotators; omitted texts stay unchanged."""

    guidelines = serializers.CharField(required=False)
    statement = serializers.CharField(required=False)
    labels = serializers.DictField(child=serializers.CharField(), required=False)


class VersionSerializer(InstrumentSerializer):
    """A version of the texts for annotators, and the number of annotations made with it."""

    annotations = serializers.IntegerField()
    created_at = serializers.DateTimeField()


@requires(get=Capability.SEE_CAMPAIGNS, patch=Capability.RUN_CAMPAIGNS)
class CampaignSettings(CampaignDetail):
    """One campaign's settings and state; leads can change the settings of a running campaign."""

    @extend_schema(request=ChangesSerializer, responses=CampaignSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        changes = checked_body(ChangesSerializer, request)
        changed = lifecycle.change_settings(campaign=campaign, by=signed_in_user(request), **changes)
        return Response(CampaignSerializer(changed).data)


@requires(post=Capability.RUN_CAMPAIGNS)
class CampaignCopies(APIView):
    """Draft a copy of a campaign."""

    @extend_schema(request=CopySerializer, responses={201: CampaignSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        draft = clone.clone(
            campaign=campaign, by=signed_in_user(request), **checked_body(CopySerializer, request)
        )
        return Response(CampaignSerializer(draft).data, status=201)


@requires(post=Capability.RUN_CAMPAIGNS)
class CampaignExtension(APIView):
    """Change the number of annotators for each task."""

    @extend_schema(request=ExtensionSerializer, responses=CampaignSerializer)
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        body = checked_body(ExtensionSerializer, request)
        extended = extension.extend(campaign=campaign, by=signed_in_user(request), **body)
        return Response(CampaignSerializer(extended).data)


@requires(get=Capability.SEE_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignInstruments(APIView):
    """The versions of the texts for annotators, newest first; leads can create the next version."""

    @extend_schema(operation_id="campaigns_instruments_list", responses=VersionSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        campaign_versions = versions.versions(campaign_for(request, pk))
        return Response([_version(version.instrument, version.annotations) for version in campaign_versions])

    @extend_schema(request=WordsSerializer, responses={201: VersionSerializer})
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        instrument = versions.revise(
            campaign=campaign, by=signed_in_user(request), **checked_body(WordsSerializer, request)
        )
        return Response(_version(instrument, instrument.annotations.count()), status=201)


def _version(instrument: Any, annotations: int) -> dict[str, Any]:
    serializer = VersionSerializer({**vars(instrument), "annotations": annotations})
    return dict(serializer.data)
