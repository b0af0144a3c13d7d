"""The parameters of a report as a form."""

from typing import Any

from django import forms

from analysis.results.parameters import PRESET_WORDS, PRESETS, Parameters, parameters_of
from foundation.errors import DomainError
from studies.models import Study


class ParametersForm(forms.Form):
    """The parameters that an analyst can choose; an empty field takes the study's value."""

    preset = forms.ChoiceField(
        label="Preset",
        choices=[("", "None: use the choices below"), *PRESET_WORDS.items()],
        required=False,
        help_text="“As published” uses the choices of the published analysis of ViSAGe instead of the "
        "choices below: two raters of one pool, ‘none of the above’ as a random attribute, two stereotypes "
        "for θ, and stored offensiveness.",
    )
    # Hidden, but passed on, so that computing again does not change a report's campaigns.
    campaigns = forms.MultipleChoiceField(label="Campaigns", required=False, widget=forms.MultipleHiddenInput)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        if "initial" in kwargs:
            stored = kwargs["initial"]
            kwargs["initial"] = stored | {
                "without_annotators": " ".join(stored.get("without_annotators", []))
            }
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields |= Parameters.form_fields(Parameters.model_fields.keys() - {"campaigns"})
        names = [name for name in Parameters.model_fields if name not in {"resamples", "seed"}]
        self.order_fields(["preset", *names, "resamples", "seed"])
        field = self.fields["campaigns"]
        assert isinstance(field, forms.MultipleChoiceField)  # declared above
        field.choices = [(campaign.slug, campaign.name) for campaign in study.campaigns.order_by("pk")]

    def parameters(self) -> Parameters:
        """Return the chosen parameters; raise DomainError naming the first invalid field."""
        if not self.is_valid():
            name, errors = next(iter(self.errors.items()))
            label = self.fields[name].label if name in self.fields else name
            raise DomainError("invalid_parameter", f"{label}: {errors[0]}", fields={name: str(errors[0])})
        chosen = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        # Every field has a value, but those of the preset take precedence.
        chosen = {
            name: chosen[name] for name in chosen.keys() - PRESETS.get(chosen.get("preset", ""), {}).keys()
        }
        chosen["without_annotators"] = str(chosen.get("without_annotators", "")).split()
        return parameters_of(self.study, **chosen)
