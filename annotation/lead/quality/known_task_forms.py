"""Forms of the page of checks and practice. They parse; the verbs decide."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.campaigns.known_tasks import MAX_EXPLANATION, Right
from annotation.kinds.options import Options
from annotation.kinds.registry import RATING_LABELS, RATING_ORDER
from annotation.models import Campaign, KnownAnswer, Task
from catalog.models import Attribute
from web.form_fields import set_queryset

_YES, _NO, _UNSCORED, _LEFT_OUT = "yes", "no", "unscored", "left_out"
_PRESENT: dict[str, bool | None] = {_YES: True, _NO: False, _UNSCORED: None}


@dataclass(frozen=True)
class AnswerRow:
    """The fields of one attribute."""

    attribute: Attribute
    answer: forms.BoundField
    explanation: forms.BoundField


class CheckSettingsForm(forms.Form):
    """The shares of checks and repeats, and the pass mark of practice, in percent."""

    gold_share = forms.FloatField(
        min_value=0,
        max_value=50,
        label="Checks in 100 screens",
        help_text="How many of 100 screens are checks instead of new screens. Enter 0 for no checks.",
    )
    repeat_share = forms.FloatField(
        min_value=0,
        max_value=50,
        label="Repeats in 100 screens",
        help_text="How many of 100 screens repeat a screen that the annotator answered before. Enter 0 for "
        "no repeats.",
    )
    repeat_after = forms.IntegerField(
        min_value=1,
        max_value=1000,
        label="Screens before a repeat",
        help_text="The smallest number of other screens between a screen and its repeat.",
    )
    practice_pass_mark = forms.FloatField(
        min_value=0, max_value=100, label="Right answers to pass practice (%)"
    )
    practice_attempts = forms.IntegerField(
        min_value=1,
        max_value=20,
        label="Tries at practice",
        help_text="Annotators who do not pass within this many tries are paused and see the reason.",
    )

    PERCENT = ("gold_share", "repeat_share", "practice_pass_mark")

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        options = Options.of(campaign)
        return {
            name: f"{100 * getattr(options, name):.4g}" if name in cls.PERCENT else getattr(options, name)
            for name in cls.base_fields
        }

    def options(self) -> dict[str, Any]:
        """Return the options in the format of the verb."""
        return {
            name: value / 100 if name in self.PERCENT else value for name, value in self.cleaned_data.items()
        }


class _KnownForm(forms.Form):
    """Fields for some attributes, named by their keys."""

    def rows(self) -> list[AnswerRow]:
        return [
            AnswerRow(attribute, self[f"answer_{attribute.pk}"], self[f"explanation_{attribute.pk}"])
            for attribute in self.attributes
        ]

    def __init__(
        self,
        *args: Any,
        attributes: Sequence[Attribute],
        answer_field: Callable[[Attribute], forms.Field],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.attributes = attributes
        for attribute in attributes:
            self.fields[f"answer_{attribute.pk}"] = answer_field(attribute)
            self.fields[f"explanation_{attribute.pk}"] = forms.CharField(
                required=False,
                max_length=MAX_EXPLANATION,
                label=f"Explanation for “{attribute.text}”",
                widget=forms.TextInput(attrs={"autocomplete": "off"}),
            )

    def explanations(self) -> dict[Attribute, str]:
        return {
            attribute: text
            for attribute in self.attributes
            if (text := self.cleaned_data[f"explanation_{attribute.pk}"])
        }


class MarkingAnswersForm(_KnownForm):
    """The right answers for an image's attributes; `may_leave_out` while they are being chosen."""

    def __init__(self, *args: Any, may_leave_out: bool = False, **kwargs: Any) -> None:
        self.may_leave_out = may_leave_out
        super().__init__(*args, answer_field=self._answer_field, **kwargs)

    def _answer_field(self, attribute: Attribute) -> forms.Field:
        choices = [(_YES, "Yes"), (_NO, "No"), (_UNSCORED, "Not scored")]
        if self.may_leave_out:
            choices.append((_LEFT_OUT, "Not asked"))
        return forms.ChoiceField(
            choices=choices,
            widget=forms.RadioSelect,
            label=attribute.text,
            initial=choices[-1][0],
        )

    def chosen_attributes(self) -> list[Attribute]:
        return [
            attribute
            for attribute in self.attributes
            if self.cleaned_data[f"answer_{attribute.pk}"] != _LEFT_OUT
        ]

    def answers(self) -> dict[Attribute, Right]:
        return {
            attribute: _PRESENT[self.cleaned_data[f"answer_{attribute.pk}"]]
            for attribute in self.chosen_attributes()
        }

    @staticmethod
    def initial_of(
        known_answers: Iterable[KnownAnswer], attributes: Iterable[Attribute] = ()
    ) -> dict[str, str]:
        """Return the values of the known answers; attributes `asked` without one are not scored."""
        initial = {f"answer_{attribute.pk}": _UNSCORED for attribute in attributes}
        for answer in known_answers:
            initial[f"answer_{answer.attribute_id}"] = _YES if answer.present else _NO
            initial[f"explanation_{answer.attribute_id}"] = answer.explanation
        return initial


class RatingAnswersForm(_KnownForm):
    """The right answers among the five for one attribute."""

    def __init__(self, *args: Any, labels: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        self.labels = labels or RATING_LABELS
        super().__init__(*args, answer_field=self._answer_field, **kwargs)

    def _answer_field(self, attribute: Attribute) -> forms.Field:
        return forms.MultipleChoiceField(
            choices=[(rating, self.labels.get(rating, rating)) for rating in RATING_ORDER],
            widget=forms.CheckboxSelectMultiple,
            label=f"Right answer for “{attribute.text}”",
            required=False,
        )

    def chosen_attributes(self) -> list[Attribute]:
        return list(self.attributes)

    def answers(self) -> dict[Attribute, Right]:
        return {
            attribute: [int(value) for value in self.cleaned_data[f"answer_{attribute.pk}"]]
            for attribute in self.attributes
        }

    @staticmethod
    def initial_of(
        known_answers: Iterable[KnownAnswer],
        attributes: Iterable[Attribute] = (),  # noqa: ARG004
    ) -> dict[str, Any]:
        """Return the values of what is known."""
        initial: dict[str, Any] = {}
        for answer in known_answers:
            initial[f"answer_{answer.attribute_id}"] = [str(rating) for rating in answer.ratings]
            initial[f"explanation_{answer.attribute_id}"] = answer.explanation
        return initial


class PurposeField(forms.ChoiceField):
    """The purpose of a new task."""

    def __init__(self) -> None:
        super().__init__(
            choices=[
                (Task.Purpose.GOLD, "A check, mixed in without notice"),
                (
                    Task.Purpose.PRACTICE,
                    "Practice, before the first real screen, with the right answers shown afterwards",
                ),
            ],
            widget=forms.RadioSelect,
            label="Purpose",
            initial=Task.Purpose.GOLD,
        )


class ChooseAttributeForm(forms.Form):
    """Which attribute a rating's check asks about."""

    attribute = forms.ModelChoiceField(queryset=Attribute.objects.none(), label="Attribute")
    purpose = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, listed: Iterable[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_queryset(self, "attribute", Attribute.objects.filter(pk__in=listed).order_by("text"))
