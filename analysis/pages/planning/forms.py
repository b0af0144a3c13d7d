"""The form of a plan."""

from typing import Any

from django import forms

from analysis.models import StudyPlan
from analysis.planning.parameters import PlanParameters
from analysis.planning.plans import LONGEST_HYPOTHESIS


class PlanForm(forms.Form):
    """The hypothesis, the designs to compare, and their assumptions; `make_plan` validates them."""

    hypothesis = forms.CharField(
        max_length=LONGEST_HYPOTHESIS,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Hypothesis",
        help_text="What you expect to find, in words, written before you see any labels.",
    )
    primary_measure = forms.ChoiceField(
        choices=StudyPlan.Measure.choices,
        label="Primary measure",
        help_text="The power of a design is the probability that the 95 % interval of this measure excludes 1.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= PlanParameters.form_fields()

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that were filled in."""
        return {
            name: self.cleaned_data[name]
            for name in PlanParameters.model_fields
            if self.cleaned_data[name] not in (None, "")
        }
