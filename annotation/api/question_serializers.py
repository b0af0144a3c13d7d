"""How tasks of declared questions look over HTTP, and answers to them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

_TYPES = ("scale", "choice", "compare", "rank", "text", "span")
LAYOUTS = [
    ("one", "one image or text"),
    ("side_by_side", "two, beside each other"),
    ("grid", "three or more"),
]


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class CodeField(serializers.JSONField):
    """The code of an answer: a number of a scale, else a word."""


_VALUES: list[dict[str, Any]] = [
    {"type": "integer", "description": "a scale: the code of a point"},
    {"type": "string", "description": "a choice: a code; a comparison: s1, s2 or tie; a text"},
    {"type": "array", "items": {"type": "string"}, "description": "a choice of several: their codes"},
    {
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
        "description": "words: their places in the text",
    },
]
_OF_STIMULI: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"anyOf": _VALUES},
    "description": "a ranking: the place of each stimulus from 1; a question asked of each stimulus: its value",
}


@extend_schema_field({"anyOf": [*_VALUES, _OF_STIMULI]})
class AnswerValueField(serializers.JSONField):
    """The value of one question."""


class StimulusImageSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)


class StimulusSerializer(serializers.Serializer[Any]):
    """An image or a text, by the name (`s1`, `s2`, …) under which answers refer to it."""

    ref = serializers.CharField()
    image = StimulusImageSerializer(required=False)
    text = serializers.CharField(required=False)


class ConditionSerializer(serializers.Serializer[Any]):
    """The question is asked after one of these answers to an earlier one; answers as they are sent."""

    question = serializers.CharField()
    answers = serializers.ListField(child=CodeField())


class RegionSerializer(serializers.Serializer[Any]):
    """A place in the image that is asked for with an answer: `after` lists which answers, empty for all."""

    shape = serializers.ChoiceField(choices=[("box", "a rectangle"), ("point", "a point")])
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field of that name
    after = serializers.ListField(child=CodeField())


class ScalePointSerializer(serializers.Serializer[Any]):
    """A point of a scale; one that stands `apart`, such as “Unsure”, has no place among the others."""

    code = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    apart = serializers.BooleanField()


class CodedAnswerSerializer(serializers.Serializer[Any]):
    """An answer to choose; one that stands `alone` is chosen with no other."""

    code = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    alone = serializers.BooleanField()


class QuestionSerializer(serializers.Serializer[Any]):
    """One question; which further fields there are depends on its type."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=[(name, name) for name in _TYPES])
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field of that name
    each = serializers.BooleanField(help_text="Asked about each stimulus, not once for the screen.")
    when = ConditionSerializer(allow_null=True)
    region = RegionSerializer(allow_null=True)
    points = ScalePointSerializer(many=True, required=False)
    answers = CodedAnswerSerializer(many=True, required=False)
    several = serializers.BooleanField(required=False, help_text="Several answers can be chosen.")
    tie = serializers.CharField(
        required=False, allow_null=True, help_text="The label of a tie; null if ties are not allowed."
    )
    ties = serializers.BooleanField(required=False, help_text="Several stimuli may have the same place.")
    longest = serializers.IntegerField(
        required=False, help_text="The largest number of characters of a text."
    )
    none = serializers.CharField(
        required=False, allow_null=True, help_text="The label of “no word”; null where it is no answer."
    )


class PlaceSerializer(serializers.Serializer[Any]):
    """A rectangle or, without `width` and `height`, a point, in fractions of the image from its top left corner."""

    stimulus = serializers.CharField()
    x = serializers.FloatField(min_value=0, max_value=1)
    y = serializers.FloatField(min_value=0, max_value=1)
    width = serializers.FloatField(required=False)
    height = serializers.FloatField(required=False)


class QuestionAnswersSerializer(serializers.Serializer[Any]):
    """The value of each question that is asked, and the places that belong to it, by the question's name.

    A scale: its code. A choice: a code, or a list of codes. A comparison: `s1`, `s2` or `tie`. A ranking: the place of
    each stimulus from 1, where those that share a place leave the next ones out (1, 1, 3). A text: the text. Words: a
    list of their places from 0 in the text split at spaces, empty for none. Of each stimulus: an object of such values.
    """

    answers = serializers.DictField(child=AnswerValueField())
    regions = serializers.DictField(child=PlaceSerializer(many=True), required=False)
