"""The form of a campaign's draft: settings, attributes and images, and what annotators read."""

from typing import Any

from django import forms

from accounts.errors import DomainError
from annotation import quota_rules
from annotation.guidelines import DEFAULTS
from annotation.models import Campaign
from annotation.options import FROM_CAMPAIGN, Options
from annotation.settings_form import (
    EACH_PERSON,
    PAY,
    WITHDRAWN,
    WORKING_OPTIONS,
    WorkingFields,
    working_options,
)
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


class CampaignForm(WorkingFields):
    """What both kinds have."""

    kind: str = ""
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    option_names: tuple[str, ...] = ()

    annotators_per_task = forms.IntegerField(
        min_value=1, max_value=100, initial=3, help_text="How many people answer each screen, independently."
    )
    quotas = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label="Who has to be among them",
        help_text="One rule per line, kept for every screen; empty: anybody. For example: "
        "at_least 1 gender != man · at_most 2 languages = English | French · "
        "at_least 1 region_of_origin = group.region · distinct nationality. "
        "Who leaves a field empty counts for no rule on it.",
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
        return {
            **{name: getattr(campaign, name) for name in _COLUMNS if name != "guidelines"},
            **{name: getattr(options, name) for name in (*cls.option_names, *WORKING_OPTIONS)},
            "guidelines": instrument.guidelines if instrument else DEFAULTS[cls.kind].guidelines,
            "quotas": "\n".join(quota_rules.line(rule) for rule in quota_rules.stored(campaign)),
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        number = cleaned.get("annotators_per_task")
        if number is not None and "quotas" in cleaned:
            try:
                quota_rules.parse(_lines(cleaned["quotas"]), annotators_per_task=number, kind=self.kind)
            except DomainError as error:
                self.add_error("quotas", error.message)
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
        return {**settings, "options": kept | options, "quotas": _lines(values.get("quotas") or "")}


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
        ("Of whom", ("annotators_per_task", "quotas", "lease_minutes")),
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
        ("Of whom", ("annotators_per_task", "quotas", "lease_minutes")),
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


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


FORMS: dict[str, type[CampaignForm]] = {form.kind: form for form in (RatingForm, MarkingForm)}
