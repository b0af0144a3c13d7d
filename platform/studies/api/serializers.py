"""Serializers of studies."""

from typing import ClassVar

from rest_framework import serializers

from studies.models import Study


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study in a list."""

    resource = serializers.CharField(source="resource.slug", read_only=True, default=None, allow_null=True)

    class Meta:
        model = Study
        fields: ClassVar = [
            "slug",
            "name",
            "description",
            "protocol",
            "resource",
            "simulated",
            "min_raters",
            "rater_pools",
            "min_stereotypes",
            "most_stereotypes",
            "seed",
            "frozen_at",
            "created_at",
        ]
        read_only_fields = fields


class StudyDetailSerializer(StudySerializer):
    """A study by itself."""

    groups = serializers.IntegerField(source="number_of_groups", read_only=True)
    members = serializers.IntegerField(source="number_of_members", read_only=True)

    class Meta(StudySerializer.Meta):
        fields: ClassVar = [*StudySerializer.Meta.fields, "parameters", "groups", "members"]
        read_only_fields = fields
