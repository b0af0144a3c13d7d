"""Serializers for tasks of declared questions and for answers to them."""

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
    """The code of an answer: a number for a scale, otherwise a word."""


_VALUES: list[dict[str, Any]] = [
    {"type": "integer", "description": "for a scale: the code of a point"},
    {
        "type": "string",
        "description": "for a choice: a code; for a comparison: s1, s2 or tie; for a text: the text",
    },
    {
        "type": "array",
        "items": {"type": "string"},
        "description": "for a choice of several answers: their codes",
    },
    {
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
        "description": "for words: their places in the text",
    },
]
_OF_STIMULI: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"anyOf": _VALUES},
    "description": "for a ranking: the place of each stimulus, counted from 1; for a question asked about "
    "each stimulus: the answer about it",
}


@extend_schema_field({"anyOf": [*_VALUES, _OF_STIMULI]})
class AnswerValueField(serializers.JSONField):
    """The value of one question."""


class StimulusImageSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)


class StimulusSerializer(serializers.Serializer[Any]):
    """An image or a text, with the name (`s1`, `s2`, …) that answers use for it."""

    ref = serializers.CharField()
    image = StimulusImageSerializer(required=False)
    text = serializers.CharField(required=False)


class ConditionSerializer(serializers.Serializer[Any]):
    """A condition: the question is asked only after one of these answers to an earlier question."""

    question = serializers.CharField()
    answers = serializers.ListField(child=CodeField())


class RegionSerializer(serializers.Serializer[Any]):
    """A place to mark in the image; `after` lists the answers that ask for it, empty for all answers."""

    shape = serializers.ChoiceField(choices=[("box", "a rectangle"), ("point", "a point")])
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field of that name
    after = serializers.ListField(child=CodeField())


class ScalePointSerializer(serializers.Serializer[Any]):
    """A point of a scale; a point that is `apart`, such as “Unsure”, has no position among the others."""

    code = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    apart = serializers.BooleanField()


class CodedAnswerSerializer(serializers.Serializer[Any]):
    """An answer to choose; an answer that is `alone` cannot be combined with others."""

    code = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    alone = serializers.BooleanField()


class QuestionSerializer(serializers.Serializer[Any]):
    """One question; the optional fields depend on its type."""

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
        required=False,
        allow_null=True,
        help_text="The label of “no word”; null if “no word” is not a possible answer.",
    )


class PlaceSerializer(serializers.Serializer[Any]):
    """A rectangle, or a point (without `width` and `height`), in fractions of the image from the top left."""

    stimulus = serializers.CharField()
    x = serializers.FloatField(min_value=0, max_value=1)
    y = serializers.FloatField(min_value=0, max_value=1)
    width = serializers.FloatField(required=False)
    height = serializers.FloatField(required=False)


class QuestionAnswersSerializer(serializers.Serializer[Any]):
    """The value of each question asked, and the places that belong to it, by the question's name.

    A scale: the code of a point. A choice: a code, or a list of codes. A comparison: `s1`, `s2` or `tie`. A
    ranking: the place of each stimulus from 1; tied stimuli share a place and the next places are skipped
    (1, 1, 3). A text: the text. Words: a list of their positions from 0 in the text split at spaces, empty
    for none. A question about each stimulus: an object with such a value for each.
    """

    answers = serializers.DictField(child=AnswerValueField())
    regions = serializers.DictField(child=PlaceSerializer(many=True), required=False)
