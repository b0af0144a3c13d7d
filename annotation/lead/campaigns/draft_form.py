"""The form of a campaign's draft: settings, attributes and images, and what annotators read."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.assignment import quota_rules
from annotation.kinds.defaults import DEFAULTS
from annotation.kinds.options import FROM_CAMPAIGN, Options
from annotation.lead.campaigns.settings_form import (
    EACH_PERSON,
    PAY,
    WITHDRAWN,
    WORKING_OPTIONS,
    WorkingFields,
    working_options,
)
from annotation.models import Campaign
from foundation.errors import DomainError
from generation.models import Image
from studies.models import Study

_NAMES = {
    Campaign.Kind.ATTRIBUTE_LIKERT: "Which attributes can be seen",
    Campaign.Kind.STEREOTYPE_MARKING: "What the images show",
}
_COLUMNS = (
    "name",
    "annotators_per_task",
    "lease_minutes",
    "attributes_per_screen",
    "boxes_required",
    "guidelines",
)
QUOTA_FIELDS = (
    "quota_presets",
    "quota_kept",
    "quota_kind",
    "quota_number",
    "quota_field",
    "quota_relation",
    "quota_values",
)
PROFILE_FIELDS = [(name, words.capitalize()) for name, words in quota_rules.FIELD_WORDS.items()]


class CampaignForm(WorkingFields):
    """What both kinds have."""

    kind: str = ""
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    option_names: tuple[str, ...] = ()

    annotators_per_task = forms.IntegerField(
        min_value=1, max_value=100, initial=3, help_text="How many people answer each screen, independently."
    )
    quota_presets = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Who has to be among them",
        help_text="Applies to every screen; if none is ticked, anybody may answer. People count by what they say about "
        "themselves. An empty field, or an answer that a lead has not matched yet, counts toward no rule.",
    )
    quota_kept = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Your other rules"
    )
    quota_kind = forms.ChoiceField(
        required=False,
        label="Add another rule",
        choices=[("", "No further rule"), ("at_least", "At least"), ("at_most", "At most")],
    )
    quota_number = forms.IntegerField(required=False, min_value=0, max_value=100, label="How many people")
    quota_field = forms.ChoiceField(required=False, label="Whose", choices=PROFILE_FIELDS)
    quota_relation = forms.ChoiceField(
        required=False, label="Relation", choices=[("=", "is one of"), ("!=", "is given and is not one of")]
    )
    quota_values = forms.CharField(
        required=False,
        max_length=2_000,
        label="Values",
        help_text="Names or codes, separated by commas: “Kenya, Uganda” or “KEN, UGA”. They are stored as codes.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="Shown beside every task. It must not tell what you expect to find. Examples help: "
        "## begins a heading, - or 1. a line of a list, **two stars** stand for strong, *one* for emphasis.",
    )

    def __init__(self, *args: Any, study: Study, campaign: Campaign | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("initial", self.initial_of(campaign))
        super().__init__(*args, **kwargs)
        self.study = study
        self.stored_options = dict(campaign.options) if campaign else {}
        self._offer_quotas(campaign)

    def _offer_quotas(self, campaign: Campaign | None) -> None:
        rates = self.kind == Campaign.Kind.ATTRIBUTE_LIKERT
        offered = {name: one for name, one in quota_rules.PRESETS.items() if not (rates and one.needs_group)}
        self.fields["quota_presets"].choices = [(name, one.title) for name, one in offered.items()]  # type: ignore[attr-defined]
        _, others = quota_rules.presets_in(quota_rules.stored(campaign) if campaign else ())
        if others:
            kept = [(quota_rules.line(rule), quota_rules.in_words(rule)) for rule in others]
            self.fields["quota_kept"].choices = kept  # type: ignore[attr-defined]
        else:
            del self.fields["quota_kept"]

    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields under their headings."""
        return [
            (title, [self[name] for name in names if name in self.fields]) for title, names in self.sections
        ]

    @classmethod
    def initial_of(cls, campaign: Campaign | None) -> dict[str, Any]:
        """Return the values of an existing draft, or the defaults of the kind."""
        if campaign is None:
            return {"name": _NAMES[Campaign.Kind(cls.kind)], "guidelines": DEFAULTS[cls.kind].guidelines}
        options = Options.of(campaign)
        instrument = campaign.instruments.first()
        presets, others = quota_rules.presets_in(quota_rules.stored(campaign))
        return {
            **{name: getattr(campaign, name) for name in _COLUMNS if name != "guidelines"},
            **{name: getattr(options, name) for name in (*cls.option_names, *WORKING_OPTIONS)},
            "guidelines": instrument.guidelines if instrument else DEFAULTS[cls.kind].guidelines,
            "quota_presets": presets,
            "quota_kept": [quota_rules.line(rule) for rule in others],
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        number = cleaned.get("annotators_per_task")
        if number is not None and not self.errors.keys() & set(QUOTA_FIELDS):
            try:
                quota_rules.parse(_quotas(cleaned), annotators_per_task=number, kind=self.kind)
            except DomainError as error:
                self.add_error(
                    "quota_values" if cleaned.get("quota_kind") else "quota_presets", error.message
                )
        return cleaned

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verbs that create and change a draft, as they were filled in."""
        return self._settings(self.cleaned_data)

    def initial_settings(self) -> dict[str, Any]:
        """Return the same of a form nobody has filled in yet."""
        return self._settings(
            {name: self.get_initial_for_field(self.fields[name], name) for name in self.fields}
        )

    def _settings(self, values: dict[str, Any]) -> dict[str, Any]:
        settings = {name: values[name] for name in _COLUMNS if name in values}
        # What the form does not ask (set by command or API) stays as it is.
        kept = {name: value for name, value in self.stored_options.items() if name not in self.fields}
        options = {name: values[name] for name in self.option_names if values.get(name) not in (None, "", [])}
        options |= {name: value for name, value in working_options(values).items() if value is not None}
        return {**settings, "options": kept | options, "quotas": _quotas(values)}


class RatingForm(CampaignForm):
    """A visual-attribute rating."""

    kind = Campaign.Kind.ATTRIBUTE_LIKERT
    option_names = ("attributes",)

    attributes = forms.ChoiceField(
        choices=[
            ("stereotypes", "Stereotypes by the study’s rule"),
            ("all", "Everything the resource lists for the chosen groups"),
        ],
        initial="stereotypes",
        label="Attributes to rate",
    )
    sections = (
        ("What is asked", ("name", "attributes")),
        ("Of whom", ("annotators_per_task", *QUOTA_FIELDS, "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("What they read", ("guidelines",)),
        PAY,
    )


class MarkingForm(CampaignForm):
    """A stereotype marking."""

    kind = Campaign.Kind.STEREOTYPE_MARKING
    option_names = (
        "visual_source",
        "visual_rule",
        "random_per_stereotype",
        "images_per_group",
        "model_labels",
    )

    visual_source = forms.ChoiceField(
        label="Which stereotypes are asked",
        help_text="Only an attribute that can be seen can be marked on an image.",
    )
    visual_rule = forms.ChoiceField(
        choices=[("unanimous", "everybody rated it 4 or 5"), ("majority", "more than half rated it 4 or 5")],
        initial="unanimous",
        label="An attribute counts as visual when",
        help_text="Used with a rating campaign only.",
    )
    random_per_stereotype = forms.IntegerField(
        min_value=0,
        max_value=20,
        initial=1,
        label="Random attributes per stereotype",
        help_text="Drawn among visual attributes that are not listed for the group: the baseline of θ.",
    )
    images_per_group = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100_000,
        label="Images per group and model",
        help_text="Empty: all.",
    )
    model_labels = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Models", help_text="None ticked: all."
    )
    attributes_per_screen = forms.IntegerField(min_value=1, max_value=5, initial=5)
    boxes_required = forms.BooleanField(
        required=False, initial=True, label="Each ticked attribute needs at least one box on the image"
    )
    sections = (
        ("What is asked", ("name", "visual_source", "visual_rule", "random_per_stereotype")),
        ("About which images", ("model_labels", "images_per_group")),
        ("How", ("attributes_per_screen", "boxes_required")),
        ("Of whom", ("annotators_per_task", *QUOTA_FIELDS, "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("What they read", ("guidelines",)),
        PAY,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        ratings = study.campaigns.filter(kind=Campaign.Kind.ATTRIBUTE_LIKERT).exclude(
            state=Campaign.State.DRAFT
        )
        self.fields["visual_source"].choices = [  # type: ignore[attr-defined]
            ("all", "Every stereotype by the study’s rule"),
            *((f"{FROM_CAMPAIGN}{one.slug}", f"Those found visual by “{one.name}”") for one in ratings),
        ]
        labels = (
            Image.objects.filter(study=study).order_by("model_label").values_list("model_label", flat=True)
        )
        models = list(labels.distinct())
        self.fields["model_labels"].choices = [(label, label or "not named") for label in models]  # type: ignore[attr-defined]
        # Questions with one possible answer are not asked.
        if len(models) < 2:
            del self.fields["model_labels"]
        if not ratings:
            del self.fields["visual_rule"]


def _quotas(values: Mapping[str, Any]) -> list[object]:
    """Return the rules that the form names: presets, those kept, and one that is put together here."""
    rules: list[object] = [*(values.get("quota_presets") or ()), *(values.get("quota_kept") or ())]
    if values.get("quota_kind"):
        named = (values.get("quota_values") or "").split(",")
        rules.append(
            {
                "kind": values["quota_kind"],
                "k": values.get("quota_number"),
                "field": values.get("quota_field"),
                "negated": values.get("quota_relation") == "!=",
                "values": [one.strip() for one in named if one.strip()],
            }
        )
    return rules


FORMS: dict[str, type[CampaignForm]] = {form.kind: form for form in (RatingForm, MarkingForm)}
