"""API for the languages of a campaign and the CSV file of its translations."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from annotation.answers.languages import SOURCE_LANGUAGE
from annotation.campaigns.access import campaign_for
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


@requires(get=Capability.SEE_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignLanguages(APIView):
    """The languages of a campaign, English first; leads can add a language."""

    @extend_schema(operation_id="campaigns_languages_list", responses=LanguageSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        return Response(_languages(campaign_for(request, pk)))

    @extend_schema(request=NewLanguageSerializer, responses={201: LanguageSerializer(many=True)})
    def post(self, request: Request, pk: int) -> Response:
        campaign = campaign_for(request, pk)
        body = checked_body(NewLanguageSerializer, request)
        by = signed_in_user(request)
        row = translations.add_language(campaign=campaign, language=body["language"], by=by)
        if reason := body.get("untranslated_reason"):
            translations.leave_untranslated(campaign=campaign, language=row.language, reason=reason, by=by)
        campaign.refresh_from_db()
        return Response(_languages(campaign), status=201)


@requires(get=Capability.SEE_CAMPAIGNS, put=Capability.RUN_CAMPAIGNS)
class CampaignTranslations(APIView):
    """The texts of a campaign with their translations as CSV; leads can upload the completed file."""

    parser_classes = (CsvParser, StorableJSONParser)

    @extend_schema(responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR)})
    def get(self, request: Request, pk: int) -> HttpResponse:
        campaign = campaign_for(request, pk)
        content = files.as_csv(source_texts(campaign), language_states(campaign))
        name = f"{campaign.slug}-translations.csv"
        return recorded_file(content, by=request.user, study=campaign.study, name=name, content_type=CSV)

    @extend_schema(request={"text/csv": OpenApiTypes.STR}, responses=UploadSerializer)
    def put(self, request: Request, pk: int) -> Response:
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
