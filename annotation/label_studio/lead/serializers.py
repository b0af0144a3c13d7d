"""A campaign in Label Studio as JSON, without tokens and secrets."""

from datetime import datetime
from typing import Any, ClassVar

from rest_framework import serializers

from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioServer,
    LabelStudioUser,
)
from annotation.label_studio.overview import advice
from annotation.label_studio.overview.queries import BridgeShown
from annotation.label_studio.pull.cleanup import KINDS


class ServerSerializer(serializers.ModelSerializer[LabelStudioServer]):
    """A Label Studio server of a study, and the problem at its last use, if any."""

    what_to_do = serializers.SerializerMethodField()

    @staticmethod
    def get_what_to_do(server: LabelStudioServer) -> str:
        return advice.what_to_do(server.problem)

    class Meta:
        model = LabelStudioServer
        fields: ClassVar = [
            "id",
            "url",
            "version",
            "checked_at",
            "problem",
            "problem_text",
            "what_to_do",
            "created_at",
        ]
        read_only_fields = fields


class ConnectionSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=300)
    token = serializers.CharField(max_length=2000, write_only=True)


class TokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(max_length=2000, write_only=True)


class BeginSerializer(serializers.Serializer[Any]):
    server = serializers.IntegerField()
    arrangement = serializers.ChoiceField(
        choices=LabelStudioBridge.Arrangement.choices, default=LabelStudioBridge.Arrangement.PER_SLOT
    )


class RenewalSerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(min_value=1, max_value=366)


class ProjectSerializer(serializers.Serializer[Any]):
    """One project in Label Studio, for the `slot` or the `annotator`, or for everybody if both are empty."""

    id = serializers.IntegerField(source="project.external_id")
    slot = serializers.IntegerField(source="project.slot", allow_null=True)
    annotator = serializers.SerializerMethodField()
    address = serializers.CharField()
    sent = serializers.IntegerField()
    answered = serializers.IntegerField()
    counted = serializers.IntegerField()

    @staticmethod
    def get_annotator(line: Any) -> str | None:
        project: LabelStudioProject = line.project
        return project.annotator.pseudonym if project.annotator else None


class BridgeSerializer(serializers.Serializer[BridgeShown]):
    """The status of a campaign in Label Studio; `states` counts its annotations by state."""

    server = serializers.IntegerField(source="bridge.server_id")
    arrangement = serializers.ChoiceField(
        source="bridge.arrangement", choices=LabelStudioBridge.Arrangement.choices
    )
    problem = serializers.CharField(source="bridge.problem")
    problem_text = serializers.CharField(source="bridge.problem_text")
    problem_at = serializers.DateTimeField(source="bridge.problem_at", allow_null=True)
    what_to_do = serializers.CharField()
    images_until = serializers.SerializerMethodField()
    pushed_at = serializers.DateTimeField(source="bridge.pushed_at", allow_null=True)
    event_at = serializers.DateTimeField(source="bridge.event_at", allow_null=True)
    reconciled_at = serializers.DateTimeField(source="bridge.reconciled_at", allow_null=True)
    tasks = serializers.IntegerField()
    behind = serializers.ListField(child=serializers.CharField())
    unasked = serializers.IntegerField(
        help_text="Number of missing answers for which Label Studio asks nobody."
    )
    held = serializers.IntegerField(
        help_text="Number of answers that are no longer in Label Studio and wait for a lead’s decision "
        "whether they were deleted."
    )
    undecided = serializers.IntegerField(
        source="flagged",
        help_text="Number of answers sent or changed by somebody other than their author that wait for a "
        "lead’s decision.",
    )
    told = serializers.BooleanField(
        help_text="Whether Label Studio notifies this server of answers when they are submitted."
    )
    events_waiting = serializers.IntegerField()
    people_waiting = serializers.IntegerField()
    states = serializers.DictField(source="counts", child=serializers.IntegerField())
    projects = ProjectSerializer(many=True)
    jobs = serializers.SerializerMethodField()

    @staticmethod
    def get_images_until(summary: BridgeShown) -> datetime | None:
        return None if summary.images == "none" else summary.bridge.images_until

    @staticmethod
    def get_jobs(summary: BridgeShown) -> list[int]:
        return [job.pk for job in summary.jobs]


class CleanupLineSerializer(serializers.Serializer[Any]):
    """The number of one person's answers of a kind; `person` is a pseudonym, empty if it is not known."""

    kind = serializers.ChoiceField(choices=list(KINDS))
    person = serializers.CharField()
    answers = serializers.IntegerField()


class CleanupSerializer(serializers.Serializer[Any]):
    kinds = serializers.MultipleChoiceField(choices=list(KINDS), allow_empty=False)
    confirm = serializers.BooleanField(
        help_text="True: these answers are permanently deleted from Label Studio."
    )

    @staticmethod
    def validate_confirm(value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("Confirm that you want to delete these answers.")
        return value


class PersonSerializer(serializers.ModelSerializer[LabelStudioUser]):
    """A user of Label Studio: only for leads, because of the name."""

    annotator = serializers.CharField(source="annotator.pseudonym", read_only=True, default=None)
    invited = serializers.SerializerMethodField()

    @staticmethod
    def get_invited(user: LabelStudioUser) -> bool:
        return user.invitation_id is not None

    class Meta:
        model = LabelStudioUser
        fields: ClassVar = [
            "id",
            "external_id",
            "name",
            "state",
            "annotator",
            "invited",
            "decided_at",
            "seen_at",
        ]
        read_only_fields = fields


class ConfirmationSerializer(serializers.Serializer[Any]):
    annotator = serializers.CharField(max_length=64, help_text="The pseudonym of somebody who has joined.")


class InvitingSerializer(serializers.Serializer[Any]):
    campaign = serializers.IntegerField()


class LinkSerializer(serializers.Serializer[Any]):
    """A personal link, which is shown only once."""

    address = serializers.CharField()


class AnswerSeenSerializer(serializers.ModelSerializer[LabelStudioAnnotation]):
    """An annotation in Label Studio when last read, and its state here; `annotation` is our own annotation."""

    project = serializers.IntegerField(source="project.external_id", read_only=True)
    user = serializers.IntegerField(source="user_id", read_only=True, allow_null=True)
    annotation = serializers.IntegerField(source="annotation_id", read_only=True, allow_null=True)
    allowed = serializers.BooleanField(
        read_only=True, help_text="Whether a lead accepted the version that somebody else sent."
    )

    class Meta:
        model = LabelStudioAnnotation
        fields: ClassVar = [
            "id",
            "external_id",
            "external_task",
            "project",
            "user",
            "made_at",
            "changed_at",
            "deleted_at",
            "state",
            "reason",
            "edit",
            "allowed",
            "annotation",
        ]
        read_only_fields = fields


class AnswerVersionSerializer(serializers.Serializer[Any]):
    """A stored version of an answer. `own`: its author sent it."""

    version = serializers.CharField(source="version.digest")
    changed_at = serializers.DateTimeField(source="version.changed_at")
    updated_by = serializers.IntegerField(source="version.updated_by", allow_null=True)
    says = serializers.CharField()
    own = serializers.BooleanField()
    current = serializers.BooleanField(help_text="Whether this version is in Label Studio now.")
    counts = serializers.BooleanField()


class AnswerVersionsSerializer(AnswerSeenSerializer):
    """An answer with its stored versions, the earliest first."""

    versions = AnswerVersionSerializer(many=True, read_only=True)

    class Meta(AnswerSeenSerializer.Meta):
        fields: ClassVar = [*AnswerSeenSerializer.Meta.fields, "versions"]
        read_only_fields = fields


class RestoringSerializer(serializers.Serializer[Any]):
    version = serializers.CharField(
        max_length=64, help_text="The version, as named in the list of the answer’s versions."
    )
