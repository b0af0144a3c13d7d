"""API for the texts that annotators read in a campaign: their versions, languages and translations."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.rights import Capability, requires, signed_in_user
from annotation.answers.languages import SOURCE_LANGUAGE
from annotation.api.serializers import InstrumentSerializer
from annotation.campaigns.access import campaign_for
from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.languages import files, translations
from annotation.campaigns.instruments.languages.progress import language_states
from annotation.campaigns.instruments.languages.sources import source_texts
from annotation.models import Campaign
from studies.audit.files import CSV, recorded_file
from web.api.bodies import checked_body, raw_body
from web.api.parsers import StorableJSONParser


class CsvParser(BaseParser):
    """Accepts a CSV file unparsed; reads at most one byte more than allowed."""

    media_type = "text/csv"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        return io.BytesIO(stream.read(files.LARGEST_FILE + 1))


class LanguageSerializer(serializers.Serializer[Any]):
    """A language of a campaign, with the numbers of missing texts and of outdated translations."""

    language = serializers.CharField()
    texts = serializers.IntegerField()
    missing = serializers.IntegerField()
    outdated = serializers.IntegerField()
    complete = serializers.BooleanField()
    untranslated_reason = serializers.CharField(allow_blank=True)
    offered = serializers.BooleanField()


class NewLanguageSerializer(serializers.Serializer[Any]):
    """A language to add; with a reason, missing texts stay in English."""

    language = serializers.CharField()
    untranslated_reason = serializers.CharField(required=False)


class UploadSerializer(serializers.Serializer[Any]):
    """The number of texts stored for each language, and how many of these translate an earlier source."""

    changed = serializers.DictField(child=serializers.IntegerField())
    outdated = serializers.IntegerField()


class WordsSerializer(serializers.Serializer[Any]):
    """The texts for annotators; omitted texts stay unchanged."""

    guidelines = serializers.CharField(required=False)
    statement = serializers.CharField(required=False)
    labels = serializers.DictField(child=serializers.CharField(), required=False)


class VersionSerializer(InstrumentSerializer):
    """A version of the texts for annotators, and the number of annotations made with it."""

    annotations = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class CampaignTextViewSet(ViewSet):
    """The texts of a campaign for annotators."""

    lookup_value_converter = "int"

    @requires(get=Capability.SEE_CAMPAIGNS)
    @extend_schema(responses=VersionSerializer(many=True))
    @action(detail=True)
    def instruments(self, request: Request, pk: int) -> Response:
        """The versions of the texts for annotators, newest first; leads can create the next version."""
        campaign_versions = versions.versions(campaign_for(request, pk))
        return Response([_version(version.instrument, version.annotations) for version in campaign_versions])

    @requires(post=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=WordsSerializer, responses={201: VersionSerializer})
    @instruments.mapping.post
    def revise(self, request: Request, pk: int) -> Response:
        """Create the next version of the texts for annotators."""
        campaign = campaign_for(request, pk)
        instrument = versions.revise(
            campaign=campaign, by=signed_in_user(request), **checked_body(WordsSerializer, request)
        )
        return Response(_version(instrument, instrument.annotations.count()), status=201)

    @requires(get=Capability.SEE_CAMPAIGNS)
    @extend_schema(responses=LanguageSerializer(many=True))
    @action(detail=True)
    def languages(self, request: Request, pk: int) -> Response:
        """The languages of a campaign, English first; leads can add a language."""
        return Response(_languages(campaign_for(request, pk)))

    @requires(post=Capability.RUN_CAMPAIGNS)
    @extend_schema(request=NewLanguageSerializer, responses={201: LanguageSerializer(many=True)})
    @languages.mapping.post
    def add_language(self, request: Request, pk: int) -> Response:
        """Add a language to a campaign."""
        campaign = campaign_for(request, pk)
        body = checked_body(NewLanguageSerializer, request)
        by = signed_in_user(request)
        row = translations.add_language(campaign=campaign, language=body["language"], by=by)
        if reason := body.get("untranslated_reason"):
            translations.leave_untranslated(campaign=campaign, language=row.language, reason=reason, by=by)
        campaign.refresh_from_db()
        return Response(_languages(campaign), status=201)

    @requires(get=Capability.SEE_CAMPAIGNS)
    @extend_schema(responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR)})
    @action(detail=True, parser_classes=(CsvParser, StorableJSONParser))
    def translations(self, request: Request, pk: int) -> HttpResponse:
        """The texts of a campaign with their translations as CSV; leads can upload the completed file."""
        campaign = campaign_for(request, pk)
        content = files.as_csv(source_texts(campaign), language_states(campaign))
        name = f"{campaign.slug}-translations.csv"
        return recorded_file(content, by=request.user, study=campaign.study, name=name, content_type=CSV)

    @requires(put=Capability.RUN_CAMPAIGNS)
    @extend_schema(request={"text/csv": OpenApiTypes.STR}, responses=UploadSerializer)
    @translations.mapping.put
    def upload_translations(self, request: Request, pk: int) -> Response:
        """Upload the completed file of translations."""
        campaign = campaign_for(request, pk)
        if isinstance(request.data, io.BytesIO):
            source = request.data
        else:
            raw_body(serializers.Serializer, request)  # refuses every field in JSON
            source = io.BytesIO()
        uploaded = translations.upload(
            campaign=campaign, source=source, name="translations.csv", by=signed_in_user(request)
        )
        return Response({"changed": dict(uploaded.changed), "outdated": uploaded.outdated})


def _version(instrument: Any, annotations: int) -> dict[str, Any]:
    serializer = VersionSerializer({**vars(instrument), "annotations": annotations})
    return dict(serializer.data)


def _languages(campaign: Campaign) -> list[dict[str, Any]]:
    english = {
        "language": SOURCE_LANGUAGE,
        "texts": len(source_texts(campaign)),
        "missing": 0,
        "outdated": 0,
        "complete": True,
        "untranslated_reason": "",
        "offered": campaign.opened_at is not None,
    }
    others = [
        {
            "language": state.code,
            "texts": len(state.texts),
            "missing": state.missing,
            "outdated": state.outdated,
            "complete": state.complete,
            "untranslated_reason": state.row.untranslated_reason,
            "offered": state.offered,
        }
        for state in language_states(campaign)
    ]
    return [english, *others]
