"""The form of a campaign's draft: settings, attributes and images, and what annotators read."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.assignment import quota_rules
from annotation.campaigns.design import CampaignDesign
from annotation.kinds import attribute_likert, stereotype_marking
from annotation.kinds.options import FROM_CAMPAIGN, Options
from annotation.kinds.registry import KINDS, RATING_KINDS, kind_of
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
from web.form_fields import set_choices

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
    option_names: tuple[str, ...] = ()

    annotators_per_task = CampaignDesign.form_field("annotators_per_task", required=True)
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
        rates = kind_of(self).rates_attributes
        offered = {
            name: preset for name, preset in quota_rules.PRESETS.items() if not (rates and preset.needs_group)
        }
        set_choices(self, "quota_presets", [(name, preset.title) for name, preset in offered.items()])
        _, other_rules = quota_rules.presets_in(quota_rules.stored(campaign) if campaign else ())
        if other_rules:
            choices = [(quota_rules.line(rule), quota_rules.in_words(rule)) for rule in other_rules]
            set_choices(self, "quota_kept", choices)
        else:
            del self.fields["quota_kept"]

    @classmethod
    def initial_of(cls, campaign: Campaign | None) -> dict[str, Any]:
        """Return the values of an existing draft, or the defaults of the kind."""
        if campaign is None:
            return {"name": KINDS[cls.kind].campaign_name, "guidelines": KINDS[cls.kind].guidelines}
        options = Options.of(campaign)
        instrument = campaign.instruments.first()
        presets, other_rules = quota_rules.presets_in(quota_rules.stored(campaign))
        return {
            **{name: getattr(campaign, name) for name in _COLUMNS if name != "guidelines"},
            **{name: getattr(options, name) for name in (*cls.option_names, *WORKING_OPTIONS)},
            "guidelines": instrument.guidelines if instrument else KINDS[cls.kind].guidelines,
            "quota_presets": presets,
            "quota_kept": [quota_rules.line(rule) for rule in other_rules],
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
        unasked_options = {
            name: value for name, value in self.stored_options.items() if name not in self.fields
        }
        options = {name: values[name] for name in self.option_names if values.get(name) not in (None, "", [])}
        options |= {name: value for name, value in working_options(values).items() if value is not None}
        return {**settings, "options": unasked_options | options, "quotas": _quotas(values)}


class RatingForm(CampaignForm):
    """A visual-attribute rating."""

    kind = attribute_likert.KIND.key
    option_names = ("attributes",)

    attributes = Options.form_field("attributes", required=True)
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

    kind = stereotype_marking.KIND.key
    option_names = (
        "visual_source",
        "visual_rule",
        "random_per_stereotype",
        "images_per_group",
        "model_labels",
    )

    visual_source = forms.ChoiceField(
        label=Options.declaration("visual_source").label, help_text=Options.declaration("visual_source").help
    )
    visual_rule = Options.form_field("visual_rule", required=True)
    random_per_stereotype = Options.form_field("random_per_stereotype", required=True)
    images_per_group = Options.form_field("images_per_group")
    model_labels = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=Options.declaration("model_labels").label,
        help_text=Options.declaration("model_labels").help,
    )
    attributes_per_screen = CampaignDesign.form_field("attributes_per_screen", required=True)
    boxes_required = CampaignDesign.form_field("boxes_required", help_text="")
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
        ratings = study.campaigns.filter(kind__in=RATING_KINDS).exclude(state=Campaign.State.DRAFT)
        sources = [
            (f"{FROM_CAMPAIGN}{rating.slug}", f"Those found visual by “{rating.name}”") for rating in ratings
        ]
        set_choices(self, "visual_source", [("all", "Every stereotype by the study’s rule"), *sources])
        labels = (
            Image.objects.filter(study=study).order_by("model_label").values_list("model_label", flat=True)
        )
        models = list(labels.distinct())
        set_choices(self, "model_labels", [(label, label or "not named") for label in models])
        # Questions with one possible answer are not asked.
        if len(models) < 2:
            del self.fields["model_labels"]
        if not ratings:
            del self.fields["visual_rule"]


def _quotas(values: Mapping[str, Any]) -> list[object]:
    """Return the rules that the form names: presets, those kept, and one that is put together here."""
    rules: list[object] = [*(values.get("quota_presets") or ()), *(values.get("quota_kept") or ())]
    if values.get("quota_kind"):
        texts = (values.get("quota_values") or "").split(",")
        rules.append(
            {
                "kind": values["quota_kind"],
                "k": values.get("quota_number"),
                "field": values.get("quota_field"),
                "negated": values.get("quota_relation") == "!=",
                "values": [text.strip() for text in texts if text.strip()],
            }
        )
    return rules


FORMS: dict[str, type[CampaignForm]] = {form.kind: form for form in (RatingForm, MarkingForm)}
