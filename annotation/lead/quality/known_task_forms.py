"""Forms of the page of checks and practice. They parse; the verbs decide."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.campaigns.known_tasks import MAX_EXPLANATION, Right
from annotation.kinds.defaults import RATING_LABELS, RATING_ORDER
from annotation.kinds.options import Options
from annotation.models import Campaign, KnownAnswer, Task
from catalog.models import Attribute
from foundation.errors import DomainError

_YES, _NO, _UNSCORED, _LEFT_OUT = "yes", "no", "unscored", "left_out"
_PRESENT: dict[str, bool | None] = {_YES: True, _NO: False, _UNSCORED: None}


@dataclass(frozen=True)
class Row:
    """The fields of one attribute."""

    attribute: Attribute
    answer: forms.BoundField
    explanation: forms.BoundField


class CheckSettingsForm(forms.Form):
    """How often checks and repeats come, and what passes practice. Shares in percent."""

    gold_share = forms.FloatField(
        min_value=0,
        max_value=50,
        label="Checks, of 100 screens",
        help_text="How often one comes in place of a new screen; 0: never.",
    )
    repeat_share = forms.FloatField(
        min_value=0,
        max_value=50,
        label="Repeats, of 100 screens",
        help_text="How often somebody gets a screen of theirs once more; 0: never.",
    )
    repeat_after = forms.IntegerField(
        min_value=1,
        max_value=1000,
        label="Screens before a repeat",
        help_text="At least so many others lie between.",
    )
    practice_pass_mark = forms.FloatField(min_value=0, max_value=100, label="To pass practice, % right")
    practice_attempts = forms.IntegerField(
        min_value=1,
        max_value=20,
        label="Tries at practice",
        help_text="Who does not pass in so many is paused, and told why.",
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
        """Return the options as the verb takes them."""
        return {
            name: value / 100 if name in self.PERCENT else value for name, value in self.cleaned_data.items()
        }


class _KnownForm(forms.Form):
    """Fields for some attributes, named by their keys."""

    def rows(self) -> list[Row]:
        return [Row(one, self[f"answer_{one.pk}"], self[f"explanation_{one.pk}"]) for one in self.attributes]

    def __init__(self, *args: Any, attributes: Sequence[Attribute], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.attributes = attributes
        for one in attributes:
            self.fields[f"answer_{one.pk}"] = self.answer_field(one)
            self.fields[f"explanation_{one.pk}"] = forms.CharField(
                required=False,
                max_length=MAX_EXPLANATION,
                label=f"Why, for “{one.text}”",
                widget=forms.TextInput(attrs={"autocomplete": "off"}),
            )

    def answer_field(self, attribute: Attribute) -> forms.Field:
        raise NotImplementedError

    def show_refusal(self, error: DomainError) -> None:
        """Put what the verb refused beside the fields it named, or above the form."""
        placed = set()
        for name, text in error.fields.items():
            field = {"answers": "answer", "explanations": "explanation"}.get(name.partition(".")[0])
            target = f"{field}_{name.partition('.')[2]}"
            if target in self.fields:
                self.add_error(target, text)
                placed.add(text)
            elif name in self.fields:
                self.add_error(name, text)
                placed.add(text)
        left = [text for text in dict.fromkeys(error.fields.values()) if text not in placed]
        if left or not placed:
            self.add_error(None, " ".join(left) or error.message)

    def explanations(self) -> dict[Attribute, str]:
        return {one: text for one in self.attributes if (text := self.cleaned_data[f"explanation_{one.pk}"])}

    def answers(self) -> dict[Attribute, Right]:
        """Return what is right of each attribute asked."""
        raise NotImplementedError


class MarkingAnswersForm(_KnownForm):
    """What is right of a picture's attributes; `may_leave_out` when they are still being chosen."""

    def __init__(self, *args: Any, may_leave_out: bool = False, **kwargs: Any) -> None:
        self.may_leave_out = may_leave_out
        super().__init__(*args, **kwargs)

    def answer_field(self, attribute: Attribute) -> forms.Field:
        choices = [(_YES, "Yes"), (_NO, "No"), (_UNSCORED, "Not scored")]
        if self.may_leave_out:
            choices.append((_LEFT_OUT, "Not asked"))
        return forms.ChoiceField(
            choices=choices,
            widget=forms.RadioSelect,
            label=attribute.text,
            initial=choices[-1][0],
        )

    def asked(self) -> list[Attribute]:
        return [one for one in self.attributes if self.cleaned_data[f"answer_{one.pk}"] != _LEFT_OUT]

    def answers(self) -> dict[Attribute, Right]:
        return {one: _PRESENT[self.cleaned_data[f"answer_{one.pk}"]] for one in self.asked()}

    @staticmethod
    def initial_of(known: Iterable[KnownAnswer], asked: Iterable[Attribute] = ()) -> dict[str, str]:
        """Return the values of what is known; attributes `asked` without a known answer are not scored."""
        found = {f"answer_{one.pk}": _UNSCORED for one in asked}
        for answer in known:
            found[f"answer_{answer.attribute_id}"] = _YES if answer.present else _NO
            found[f"explanation_{answer.attribute_id}"] = answer.explanation
        return found


class RatingAnswersForm(_KnownForm):
    """Which of the five answers are right for one attribute."""

    def __init__(self, *args: Any, labels: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        self.labels = labels or RATING_LABELS
        super().__init__(*args, **kwargs)

    def answer_field(self, attribute: Attribute) -> forms.Field:
        return forms.MultipleChoiceField(
            choices=[(one, self.labels.get(one, one)) for one in RATING_ORDER],
            widget=forms.CheckboxSelectMultiple,
            label=f"Right for “{attribute.text}”",
            required=False,
        )

    def asked(self) -> list[Attribute]:
        return list(self.attributes)

    def answers(self) -> dict[Attribute, Right]:
        return {
            one: [int(value) for value in self.cleaned_data[f"answer_{one.pk}"]] for one in self.attributes
        }

    @staticmethod
    def initial_of(known: Iterable[KnownAnswer], asked: Iterable[Attribute] = ()) -> dict[str, Any]:  # noqa: ARG004
        """Return the values of what is known."""
        found: dict[str, Any] = {}
        for answer in known:
            found[f"answer_{answer.attribute_id}"] = [str(one) for one in answer.ratings]
            found[f"explanation_{answer.attribute_id}"] = answer.explanation
        return found


class PurposeField(forms.ChoiceField):
    """What a new task is for."""

    def __init__(self) -> None:
        super().__init__(
            choices=[
                (Task.Purpose.GOLD, "A check: mixed in unseen"),
                (Task.Purpose.PRACTICE, "Practice: before real screens, with the right answers after it"),
            ],
            widget=forms.RadioSelect,
            label="What it is for",
            initial=Task.Purpose.GOLD,
        )


class ChooseAttributeForm(forms.Form):
    """Which attribute a rating's check asks about."""

    attribute = forms.ModelChoiceField(queryset=Attribute.objects.none(), label="Attribute")
    purpose = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, listed: Iterable[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["attribute"].queryset = Attribute.objects.filter(pk__in=listed).order_by("text")  # type: ignore[attr-defined]
