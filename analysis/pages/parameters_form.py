"""The parameters of a report as a form."""

from typing import Any

from django import forms

from analysis.results.parameters import (
    MOST_RESAMPLES,
    MOST_TOP_K,
    PRESET_WORDS,
    PRESETS,
    RESAMPLES,
    Parameters,
    parameters_of,
)
from catalog.raters import RaterPools
from foundation.errors import DomainError
from studies.models import Study


class ParametersForm(forms.Form):
    """What an analyst may choose. A field left out takes the study's own number."""

    preset = forms.ChoiceField(
        label="Preset",
        choices=[("", "None: the choices below"), *PRESET_WORDS.items()],
        required=False,
        help_text="“As published” replaces the choices below that the published analysis of ViSAGe made: two "
        "raters of one pool, ‘none of the above’ as a random attribute, two stereotypes for θ, stored "
        "offensiveness.",
    )
    none_of_the_above = forms.ChoiceField(
        label="‘None of the above’",
        choices=[("ignore", "is left out"), ("as_random", "counts as a random attribute, as published")],
        required=False,
    )
    min_raters = forms.IntegerField(
        label="Raters who make a stereotype", min_value=1, max_value=1000, required=False
    )
    rater_pools = forms.ChoiceField(label="Raters counted", choices=RaterPools.choices, required=False)
    min_stereotypes = forms.IntegerField(
        label="Stereotypes a group needs for θ", min_value=1, max_value=1000, required=False
    )
    offensiveness_source = forms.ChoiceField(
        label="Offensiveness from",
        choices=[("stored", "the stored mean"), ("ratings", "the ratings")],
        required=False,
    )
    not_offensive = forms.TypedChoiceField(
        label="“Not offensive” counts as", choices=[("-1", "−1"), ("0", "0")], coerce=int, required=False
    )
    without_annotators = forms.CharField(
        label="Without annotators", required=False, help_text="Pseudonyms, separated by spaces."
    )
    target_precision = forms.FloatField(
        label="Precision of a machine",
        required=False,
        help_text="A share below 1. Attributes whose interval reaches it can be left to the machine.",
        widget=forms.NumberInput(attrs={"min": "0.01", "max": "0.99", "step": "0.01"}),
    )
    top_k = forms.IntegerField(
        label="Salient attributes of a group", min_value=1, max_value=MOST_TOP_K, required=False
    )
    salient_among = forms.ChoiceField(
        label="Captions are searched for",
        choices=[("visual", "the visual attributes"), ("all", "all attributes")],
        required=False,
    )
    # Not asked for here, but carried on: computing anew must not change what a report is about.
    campaigns = forms.MultipleChoiceField(label="Campaigns", required=False, widget=forms.MultipleHiddenInput)
    resamples = forms.IntegerField(label="Resamples", min_value=100, max_value=MOST_RESAMPLES, required=False)
    seed = forms.IntegerField(label="Seed", min_value=0, required=False)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        if "initial" in kwargs:
            given = kwargs["initial"]
            kwargs["initial"] = given | {"without_annotators": " ".join(given.get("without_annotators", []))}
        super().__init__(*args, **kwargs)
        self.study = study
        choices = [(campaign.slug, campaign.name) for campaign in study.campaigns.order_by("pk")]
        field = self.fields["campaigns"]
        assert isinstance(field, forms.MultipleChoiceField)  # as declared above
        field.choices = choices

    def parameters(self) -> Parameters:
        """Return what was chosen, or raise DomainError naming the first wrong field."""
        if not self.is_valid():
            name, errors = next(iter(self.errors.items()))
            label = self.fields[name].label if name in self.fields else name
            raise DomainError("invalid_parameter", f"{label}: {errors[0]}", fields={name: str(errors[0])})
        chosen = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        # Every field of a form has a value: where a preset is chosen, it says more.
        chosen = {
            name: chosen[name] for name in chosen.keys() - PRESETS.get(chosen.get("preset", ""), {}).keys()
        }
        chosen["without_annotators"] = str(chosen.get("without_annotators", "")).split()
        chosen.setdefault("resamples", RESAMPLES)
        return parameters_of(self.study, **chosen)
