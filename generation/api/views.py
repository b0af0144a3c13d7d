"""A study's images in the REST API, for its members."""

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers

from accounts.rights import Capability, requires
from generation.images.contact_sheet import ImageFilter
from generation.images.signed_urls import image_url
from generation.models import Image
from studies.access import study_for


class ImageSerializer(serializers.ModelSerializer[Image]):
    """An image and its metadata. `url` works without sign-in until it expires."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    group = serializers.CharField(source="group.name", default=None, read_only=True)
    attribute = serializers.CharField(source="attribute.text", default=None, read_only=True)
    phrase = serializers.CharField(source="phrase.name", default=None, read_only=True)
    model = serializers.CharField(source="model_label", read_only=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Image
        fields: ClassVar = [
            "id",
            "group",
            "model",
            "condition",
            "attribute",
            "phrase",
            "prompt",
            "url",
            "width",
            "height",
            "sha256",
            "source_name",
            "provenance",
            "retracted_at",
            "retracted_reason",
            "created_at",
        ]
        read_only_fields = fields

    def get_url(self, image: Image) -> str | None:
        request = self.context["request"]
        url = image_url(image, viewer=f"user:{request.user.pk}")
        return request.build_absolute_uri(url) if url else None


@requires(get=Capability.SEE_IMAGES)
@extend_schema(
    parameters=[
        OpenApiParameter(name, OpenApiTypes.STR, description=f"Return only images of this {name}.")
        for name in ("group", "model", "condition", "attribute", "phrase")
    ]
)
class StudyImages(generics.ListAPIView[Image]):
    """The images of a study, newest first, for its leads and analysts."""

    serializer_class = ImageSerializer
    queryset = Image.objects.none()  # only tells the schema the type of the items

    def get_queryset(self) -> QuerySet[Image]:
        study = study_for(self.request, self.kwargs["study"])
        images = Image.objects.filter(study=study).select_related("group", "attribute", "phrase")
        return ImageFilter.parse(self.request.query_params).of(images)
