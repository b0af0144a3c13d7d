"""How practice looks over HTTP."""

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
    """The running round, or the latest; `passed` is null while it runs."""

    number = serializers.IntegerField()
    passed = serializers.BooleanField(allow_null=True)
    answered = serializers.IntegerField()
    correct = serializers.IntegerField()
    scored = serializers.IntegerField()


class PracticeSerializer(serializers.Serializer[Any]):
    """Where the annotator stands: a round has `tasks`; the share `pass_mark` of right answers passes it."""

    state = serializers.ChoiceField(choices=State.choices)
    tasks = serializers.IntegerField()
    pass_mark = serializers.FloatField()
    rounds_left = serializers.IntegerField()
    round = PracticeRoundSerializer(allow_null=True)


class PracticeAttributeTaskSerializer(serializers.Serializer[Any]):
    """A practice task: shown and answered as a real one."""

    task = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=TASK_KINDS)
    instrument = InstrumentSerializer()
    image = ShownImageSerializer(allow_null=True)
    attributes = ShownAttributeSerializer(many=True)
    boxes_required = serializers.BooleanField()
    practice = PracticeSerializer()


class PracticeQuestionsTaskSerializer(serializers.Serializer[Any]):
    """A practice task of declared questions: shown and answered as a real one."""

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
    """The answer, as `submit` takes it; boxes may be left out."""

    answer = AnswerField()


@extend_schema_field({"oneOf": [{"type": "boolean"}, {"type": "integer"}]})
class GivenField(serializers.JSONField):
    """Ticked or not, or a rating."""


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
    """Whether it is there, or which ratings are right; null where it is not scored."""


class PracticeFeedbackAttributeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    text = serializers.CharField()
    yours = GivenField()
    right = RightField()
    is_right = serializers.BooleanField(allow_null=True)
    explanation = serializers.CharField(allow_blank=True)


class PracticeFeedbackQuestionSerializer(serializers.Serializer[Any]):
    """What was answered to a question (about one `stimulus`), in the shape it was sent in, and what was right.

    `right` lists the answers of which one is enough; of a choice of several exactly these, of a ranking the places in
    the order shown. It is null where the question is not scored.
    """

    question = serializers.CharField()
    stimulus = serializers.CharField(allow_null=True)
    yours = AnswerValueField(allow_null=True)
    right = serializers.ListField(child=CodeField(), allow_null=True)
    is_right = serializers.BooleanField(allow_null=True)
    explanation = serializers.CharField(allow_blank=True)


class PracticeQuestionsFeedbackSerializer(serializers.Serializer[Any]):
    """What was right, question by question, and where the annotator stands after it."""

    correct = serializers.IntegerField()
    scored = serializers.IntegerField()
    questions = PracticeFeedbackQuestionSerializer(many=True)
    practice = PracticeSerializer()


class PracticeAttributesFeedbackSerializer(serializers.Serializer[Any]):
    """What was right, attribute by attribute, and where the annotator stands after it."""

    correct = serializers.IntegerField()
    scored = serializers.IntegerField()
    attributes = PracticeFeedbackAttributeSerializer(many=True)
    practice = PracticeSerializer()


PracticeFeedbackSerializer = PolymorphicProxySerializer(
    component_name="PracticeFeedback",
    serializers=[PracticeAttributesFeedbackSerializer, PracticeQuestionsFeedbackSerializer],
    resource_type_field_name=None,
)
