"""The form by which a lead sets a quality rule."""

from typing import Any

from django import forms

from annotation.models import QualityAction, QualityMeasure
from annotation.quality.rules import MOST_SCREENS, MOST_SECONDS

_SECONDS = QualityMeasure.MEDIAN_SECONDS


class QualityRuleForm(forms.Form):
    """A threshold as people write it: in percent, or in seconds."""

    measure = forms.ChoiceField(choices=QualityMeasure.choices)
    threshold = forms.FloatField(
        min_value=0,
        max_value=MOST_SECONDS,
        label="Threshold, in % or seconds",
        help_text="The least that is asked; of the most frequent answer the most that is taken.",
    )
    minimum = forms.IntegerField(
        min_value=1,
        max_value=MOST_SCREENS,
        initial=10,
        label="From how many screens on",
        help_text="Before it rests on as many nobody is judged by it.",
    )
    action = forms.ChoiceField(choices=QualityAction.choices, label="Then")

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that sets the rule."""
        given = dict(self.cleaned_data)
        if given["measure"] != _SECONDS:
            given["threshold"] /= 100
        return given
