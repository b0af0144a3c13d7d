"""Serializers for practice."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from annotation.api.question_serializers import (
    LAYOUTS,
    AnswerValueField,
    CodeField,
    QuestionSerializer,
    StimulusSerializer,
)
from annotation.api.serializers import (
    AnswerField,
    InstrumentSerializer,
    ShownAttributeSerializer,
    ShownImageSerializer,
)
from annotation.assignment.eligibility import State
from annotation.kinds.registry import TASK_KINDS


class PracticeRoundSerializer(serializers.Serializer[Any]):
    """The running or latest round; `passed` is null while it runs."""

    number = serializers.IntegerField()
    passed = serializers.BooleanField(allow_null=True)
    answered = serializers.IntegerField()
    correct = serializers.IntegerField()
    scored = serializers.IntegerField()


class PracticeSerializer(serializers.Serializer[Any]):
    """The annotator's progress. A round has `tasks` tasks; a share `pass_mark` of right answers passes it."""

    state = serializers.ChoiceField(choices=State.choices)
    tasks = serializers.IntegerField()
    pass_mark = serializers.FloatField()
    rounds_left = serializers.IntegerField()
    round = PracticeRoundSerializer(allow_null=True)


class PracticeAttributeTaskSerializer(serializers.Serializer[Any]):
    """A practice task, shown and answered like a real task."""

    task = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=TASK_KINDS)
    instrument = InstrumentSerializer()
    image = ShownImageSerializer(allow_null=True)
    attributes = ShownAttributeSerializer(many=True)
    boxes_required = serializers.BooleanField()
    practice = PracticeSerializer()


class PracticeQuestionsTaskSerializer(serializers.Serializer[Any]):
    """A practice task of declared questions, shown and answered like a real task."""

    task = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=TASK_KINDS)
    instrument = InstrumentSerializer()
    layout = serializers.ChoiceField(choices=LAYOUTS)
    stimuli = StimulusSerializer(many=True)
    prompt = serializers.CharField(allow_null=True)
    questions = QuestionSerializer(many=True)
    practice = PracticeSerializer()


PracticeTaskSerializer = PolymorphicProxySerializer(
    component_name="PracticeTask",
    serializers=[PracticeAttributeTaskSerializer, PracticeQuestionsTaskSerializer],
    resource_type_field_name=None,
)


class PracticeSubmissionSerializer(serializers.Serializer[Any]):
    """The answer, as for `submit`; boxes can be omitted."""

    answer = AnswerField()


@extend_schema_field({"oneOf": [{"type": "boolean"}, {"type": "integer"}]})
class GivenField(serializers.JSONField):
    """Whether the attribute was ticked, or the rating."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "boolean"},
            {"type": "array", "items": {"type": "integer"}},
            {"type": "null"},
        ]
    }
)
class RightField(serializers.JSONField):
    """Whether the attribute is present, or the right ratings; null if not scored."""


class PracticeFeedbackAttributeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    text = serializers.CharField()
    yours = GivenField()
    right = RightField()
    is_right = serializers.BooleanField(allow_null=True)
    explanation = serializers.CharField(allow_blank=True)


class PracticeFeedbackQuestionSerializer(serializers.Serializer[Any]):
    """The answer to a question (about one `stimulus`), in the shape that was sent, and the right answer.

    `right` lists the answers of which one is enough; for a choice of several, all answers to choose; for a
    ranking, the places in the order shown. It is null if the question is not scored.
    """

    question = serializers.CharField()
    stimulus = serializers.CharField(allow_null=True)
    yours = AnswerValueField(allow_null=True)
    right = serializers.ListField(child=CodeField(), allow_null=True)
    is_right = serializers.BooleanField(allow_null=True)
    explanation = serializers.CharField(allow_blank=True)


class PracticeQuestionsFeedbackSerializer(serializers.Serializer[Any]):
    """Feedback on each question, and the annotator's progress after the answer."""

    correct = serializers.IntegerField()
    scored = serializers.IntegerField()
    questions = PracticeFeedbackQuestionSerializer(many=True)
    practice = PracticeSerializer()


class PracticeAttributesFeedbackSerializer(serializers.Serializer[Any]):
    """Feedback on each attribute, and the annotator's progress after the answer."""

    correct = serializers.IntegerField()
    scored = serializers.IntegerField()
    attributes = PracticeFeedbackAttributeSerializer(many=True)
    practice = PracticeSerializer()


PracticeFeedbackSerializer = PolymorphicProxySerializer(
    component_name="PracticeFeedback",
    serializers=[PracticeAttributesFeedbackSerializer, PracticeQuestionsFeedbackSerializer],
    resource_type_field_name=None,
)
