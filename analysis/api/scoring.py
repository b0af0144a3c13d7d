"""Scorers, their scores and captions over HTTP."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.rights import Capability, requires, signed_in_user
from analysis.models import AttributeScore, Caption, Scorer, TextScore
from analysis.pages.scoring.views import scorer_of
from analysis.scoring import launch, overview
from analysis.scoring.backends.model_files import short_name
from analysis.scoring.parameters import KINDS
from jobs.models import Job
from studies.access import study_for
from web.api.bodies import checked_body


class NewScorerSerializer(serializers.Serializer[object]):
    """The scorer to start; omitted parameters take their defaults."""

    kind = serializers.CharField(max_length=20, help_text=f"One of {', '.join(KINDS)}.")
    model_id = serializers.CharField(required=False, allow_blank=True, max_length=300, default="")
    parameters = serializers.DictField(required=False, default=dict)
    model_label = serializers.CharField(required=False, allow_blank=True, max_length=110, default="")


class StartedSerializer(serializers.Serializer[object]):
    """The scorer, and the job that computes the missing scores."""

    scorer = serializers.IntegerField()
    job = serializers.IntegerField()


class ScorerSerializer(serializers.ModelSerializer[Scorer]):
    """One configuration of automated scoring."""

    kind = serializers.CharField()
    model = serializers.SerializerMethodField()
    revision = serializers.CharField(source="model_revision")
    encoder = serializers.CharField(allow_null=True)
    job = serializers.IntegerField(source="job_id", allow_null=True)

    class Meta:
        model = Scorer
        fields: ClassVar = [
            "id",
            "kind",
            "model_label",
            "model",
            "revision",
            "parameters",
            "encoder",
            "price_in",
            "price_out",
            "budget",
            "spent",
            "job",
            "created_at",
        ]
        read_only_fields = fields

    def get_model(self, scorer: Scorer) -> str:
        """The model without a path of the server."""
        return short_name(scorer.model_id)

    def to_representation(self, instance: Scorer) -> dict[str, Any]:
        fields = super().to_representation(instance)
        paths = ("pretrained", "clip", "clip_pretrained")
        fields["parameters"] = {
            name: short_name(value) if name in paths and value else value
            for name, value in fields["parameters"].items()
        }
        return fields


class ScorerDetailSerializer(serializers.Serializer[object]):
    """A scorer and its progress: how many of its images, or captions, are done and how many failed."""

    scorer = ScorerSerializer()
    state = serializers.CharField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    total = serializers.IntegerField()
    unit = serializers.CharField()
    written = serializers.IntegerField()


class AttributeScoreSerializer(serializers.ModelSerializer[AttributeScore]):
    image = serializers.UUIDField(source="image.public_id")
    attribute = serializers.CharField(source="attribute.text")

    class Meta:
        model = AttributeScore
        fields: ClassVar = ["image", "attribute", "probability", "cosine"]
        read_only_fields = fields


class CaptionSerializer(serializers.ModelSerializer[Caption]):
    image = serializers.UUIDField(source="image.public_id")

    class Meta:
        model = Caption
        fields: ClassVar = ["id", "image", "position", "text"]
        read_only_fields = fields


class TextScoreSerializer(serializers.ModelSerializer[TextScore]):
    image = serializers.UUIDField(source="caption.image.public_id")
    text = serializers.CharField(source="caption.text")

    class Meta:
        model = TextScore
        fields: ClassVar = ["caption", "image", "text", "label", "score"]
        read_only_fields = fields


@requires(get=Capability.SEE_RESULTS)
class ScorerViewSet(ListModelMixin, GenericViewSet[Any]):
    """The scorers of a study, newest first, and starting one."""

    serializer_class = ScorerSerializer
    queryset = Scorer.objects.none()
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Scorer]:
        study = study_for(self.request, self.kwargs["slug"])
        return Scorer.objects.filter(study=study).select_related("encoder")

    @requires(post=Capability.RUN_MODELS)
    @extend_schema(request=NewScorerSerializer, responses={202: StartedSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Score in the background what this configuration has not scored yet. Leads only."""
        user = signed_in_user(request)
        study = study_for(request, slug)
        settings = checked_body(NewScorerSerializer, request)
        label = settings.pop("model_label")
        scorer = launch.plan_scorer(study=study, by=user, label=label, **settings)
        job = launch.start(scorer=scorer, by=user)
        return _started(scorer, job)

    @requires(get=Capability.SEE_RESULTS)
    @extend_schema(responses=ScorerDetailSerializer)
    def retrieve(self, request: Request, slug: str, pk: int) -> Response:
        """One scorer of a study and its progress."""
        scorer = scorer_of(study_for(request, slug), pk)
        return Response(ScorerDetailSerializer(overview.line_of(scorer)).data)

    @requires(post=Capability.RUN_MODELS)
    @extend_schema(operation_id="studies_scorers_go_on", request=None, responses={202: StartedSerializer})
    def go_on(self, request: Request, slug: str, pk: int) -> Response:
        """Compute the missing scores. Leads only."""
        scorer = scorer_of(study_for(request, slug), pk)
        return _started(scorer, launch.start(scorer=scorer, by=signed_in_user(request)))

    @requires(delete=Capability.RUN_MODELS)
    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, pk: int) -> Response:
        """Remove the scorer and all its scores. Leads only."""
        scorer = scorer_of(study_for(request, slug), pk)
        launch.remove_scorer(scorer=scorer, by=signed_in_user(request))
        return Response(status=204)

    @requires(get=Capability.SEE_RESULTS)
    @extend_schema(responses=AttributeScoreSerializer(many=True))
    @action(detail=True)
    def scores(self, request: Request, slug: str, pk: int) -> Response:
        """The scores that a CLIP scorer gave each image and attribute. Retracted images are left out."""
        rows = scorer_of(study_for(request, slug), pk).attribute_scores.filter(image__retracted_at=None)
        page = self.paginate_queryset(rows.select_related("image", "attribute"))
        return self.get_paginated_response(AttributeScoreSerializer(page, many=True).data)

    @requires(get=Capability.SEE_RESULTS)
    @extend_schema(responses=CaptionSerializer(many=True))
    @action(detail=True)
    def captions(self, request: Request, slug: str, pk: int) -> Response:
        """The captions that a scorer wrote. Retracted images are left out."""
        rows = scorer_of(study_for(request, slug), pk).captions.filter(image__retracted_at=None)
        page = self.paginate_queryset(rows.select_related("image"))
        return self.get_paginated_response(CaptionSerializer(page, many=True).data)

    @requires(get=Capability.SEE_RESULTS)
    @extend_schema(responses=TextScoreSerializer(many=True))
    @action(detail=True, url_path="text-scores")
    def text_scores(self, request: Request, slug: str, pk: int) -> Response:
        """The scores that a classifier gave captions. Captions of retracted images are left out."""
        rows = scorer_of(study_for(request, slug), pk).text_scores.filter(caption__image__retracted_at=None)
        page = self.paginate_queryset(rows.select_related("caption__image"))
        return self.get_paginated_response(TextScoreSerializer(page, many=True).data)


def _started(scorer: Scorer, job: Job) -> Response:
    return Response({"scorer": scorer.pk, "job": job.pk}, status=202)
