"""Serializers for campaigns, their progress, tasks and submissions."""

from typing import Any, ClassVar

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from annotation.api.question_serializers import (
    LAYOUTS,
    QuestionAnswersSerializer,
    QuestionSerializer,
    StimulusSerializer,
)
from annotation.assignment import quota_rules
from annotation.campaigns.design import CampaignDesign
from annotation.kinds.registry import KINDS, TASK_KINDS
from annotation.models import Campaign, Enrolment, ImageReport
from web.api.bodies import ParameterSetSerializer


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign, for members of the study."""

    study = serializers.CharField(source="study.slug", read_only=True)
    quotas = serializers.SerializerMethodField()

    @staticmethod
    def get_quotas(campaign: Campaign) -> list[str]:
        return [quota_rules.line(rule) for rule in quota_rules.stored(campaign)]

    class Meta:
        model = Campaign
        fields: ClassVar = [
            "id",
            "study",
            "slug",
            "name",
            "kind",
            "state",
            "annotators_per_task",
            "attributes_per_screen",
            "boxes_required",
            "lease_minutes",
            "seed",
            "options",
            "quotas",
            "cloned_from",
            "imported",
            "created_at",
            "opened_at",
            "closed_at",
        ]
        read_only_fields = fields


class NewCampaignSerializer(ParameterSetSerializer):
    """A new draft; `annotation.campaigns.lifecycle.create` checks the rest."""

    parameters = CampaignDesign
    names = ("annotators_per_task", "attributes_per_screen", "boxes_required", "lease_minutes")

    name = serializers.CharField(max_length=120)
    kind = serializers.CharField(
        max_length=40, help_text=f"One of {', '.join(KINDS)}, or a kind that the study declares for itself."
    )
    options = serializers.DictField(required=False)
    guidelines = serializers.CharField(required=False)
    quotas = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text=f"Presets ({', '.join(quota_rules.PRESETS)}), lines over codes such as "
        "'at_least 1 gender != man', or objects with kind, field, k, values, negated, matches_group.",
    )


class GroupProgressSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    tasks = serializers.IntegerField()
    slots = serializers.IntegerField()
    accepted = serializers.IntegerField()


class DayProgressSerializer(serializers.Serializer[Any]):
    day = serializers.DateField()
    submitted = serializers.IntegerField()


class CampaignProgressSerializer(serializers.Serializer[Any]):
    """Numbers of tasks by state, of slots (places for one annotator on one task), and of annotations."""

    tasks = serializers.IntegerField()
    untouched = serializers.IntegerField()
    begun = serializers.IntegerField()
    complete = serializers.IntegerField()
    withdrawn = serializers.IntegerField()
    slots = serializers.IntegerField()
    free = serializers.IntegerField()
    accepted = serializers.IntegerField()
    leased = serializers.IntegerField()
    surplus = serializers.IntegerField()
    excluded = serializers.IntegerField()
    revisions = serializers.IntegerField()
    share = serializers.FloatField()
    finished = serializers.BooleanField()
    groups = GroupProgressSerializer(many=True)
    days = DayProgressSerializer(many=True)
    counted_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When these numbers were counted; null if they were counted for this response.",
    )


class EnrolmentSerializer(serializers.ModelSerializer[Enrolment]):
    """An annotator's participation in a campaign: a pseudonym and a state, without personal data."""

    pseudonym = serializers.CharField(source="annotator.pseudonym", read_only=True)
    origin = serializers.CharField(source="annotator.origin", read_only=True)

    class Meta:
        model = Enrolment
        fields: ClassVar = ["pseudonym", "origin", "state", "joined_at"]
        read_only_fields = fields


class ShownAttributeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    text = serializers.CharField()


class ShownImageSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)


class InstrumentSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    guidelines = serializers.CharField()
    statement = serializers.CharField()
    labels = serializers.DictField(child=serializers.CharField())


class PaySoFarSerializer(serializers.Serializer[Any]):
    """The annotator's pay so far, and the rate that was used."""

    amount = serializers.CharField()
    currency = serializers.CharField()
    rate = serializers.CharField()
    per = serializers.ChoiceField(choices=[("hour", "an hour of active work"), ("task", "a submitted task")])


class StandingSerializer(serializers.Serializer[Any]):
    """The annotator's progress; `pay` is included with a requested task if a rate is set."""

    done = serializers.IntegerField()
    left = serializers.IntegerField()
    pay = PaySoFarSerializer(required=False)


class BoxSerializer(serializers.Serializer[Any]):
    """A box in fractions of the image's width and height, from its top left corner."""

    attribute = serializers.CharField()
    x = serializers.FloatField()
    y = serializers.FloatField()
    width = serializers.FloatField()
    height = serializers.FloatField()


class AttributeAnswerSerializer(serializers.Serializer[Any]):
    """Marks (`ticked`, `boxes`, `none_of_the_above`) or a rating (`rating`, `justification`)."""

    ticked = serializers.ListField(child=serializers.CharField(), required=False)
    boxes = BoxSerializer(many=True, required=False)
    none_of_the_above = serializers.BooleanField(required=False)
    rating = serializers.IntegerField(min_value=1, max_value=5, required=False)
    justification = serializers.CharField(required=False)


class LeasedTaskSerializer(serializers.Serializer[Any]):
    """The fields of every task."""

    assignment = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=TASK_KINDS)
    expires_at = serializers.DateTimeField()
    instrument = InstrumentSerializer()
    progress = StandingSerializer()


class AttributeTaskSerializer(LeasedTaskSerializer):
    """A task about attributes to mark in an image or to rate, with all that its annotator may know."""

    image = ShownImageSerializer(allow_null=True)
    attributes = ShownAttributeSerializer(many=True)
    boxes_required = serializers.BooleanField()
    answer = AttributeAnswerSerializer(allow_null=True)


class QuestionsTaskSerializer(LeasedTaskSerializer):
    """A task with questions about images or texts, with all that its annotator may know."""

    layout = serializers.ChoiceField(choices=LAYOUTS)
    stimuli = StimulusSerializer(many=True)
    prompt = serializers.CharField(allow_null=True)
    questions = QuestionSerializer(many=True)
    answer = QuestionAnswersSerializer(allow_null=True)


TaskSerializer = PolymorphicProxySerializer(
    component_name="Task",
    serializers=[AttributeTaskSerializer, QuestionsTaskSerializer],
    resource_type_field_name=None,
)


@extend_schema_field(TaskSerializer)
class TaskField(serializers.JSONField):
    """A task of either kind, from `annotation.annotator.payload`."""


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="Answer",
        serializers=[AttributeAnswerSerializer, QuestionAnswersSerializer],
        resource_type_field_name=None,
    )
)
class AnswerField(serializers.JSONField):
    """An answer, accepted unchanged; `annotation.answers.validation` checks it against the task."""


class SubmissionSerializer(serializers.Serializer[Any]):
    """A submission. The client creates a new `submission_id` for each, so that retries are recognised."""

    submission_id = serializers.UUIDField()
    answer = AnswerField()
    active_seconds = serializers.FloatField(required=False, allow_null=True, min_value=0)
    instrument_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="The version of the guidelines that came with the task; if left out, the latest.",
    )


class SavedSerializer(serializers.Serializer[Any]):
    """The saved annotation and the next task; if `next` is null, `why` is a code for the reason.

    `warning` is a message to the annotator about the quality of their work, usually empty.
    """

    annotation = serializers.IntegerField()
    submission_id = serializers.UUIDField()
    revision = serializers.IntegerField()
    status = serializers.CharField()
    next = TaskField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    warning = serializers.CharField(allow_blank=True)


class ReportSerializer(serializers.Serializer[Any]):
    """A reason why an image should not be shown; `other` needs `details`."""

    reason = serializers.ChoiceField(choices=ImageReport.Reason.choices)
    details = serializers.CharField(required=False, allow_blank=True, max_length=1000)
    stimulus = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="One of several images, by its `ref`; if left out, all images of the task.",
    )
