"""The form of a campaign's draft: settings, attributes and images, and what annotators read."""

from typing import Any

from django import forms

from annotation.assignment import quota_rules
from annotation.campaigns.design import CampaignDesign
from annotation.campaigns.planning.texts import has_rated_associations
from annotation.kinds.declaration import Kind
from annotation.kinds.options import FROM_ANSWERS, FROM_ASSOCIATIONS, FROM_CAMPAIGN, Options, names_for
from annotation.kinds.registry import RATING_KINDS, coding_question, kind_of
from annotation.lead.campaigns.quota_form import QuotaRows
from annotation.lead.campaigns.settings_form import (
    EACH_PERSON,
    NOTICES,
    PAY,
    STOP_RULES,
    WITHDRAWN,
    WORKING_OPTIONS,
    WorkingFields,
    working_options,
)
from annotation.models import Campaign
from foundation.errors import DomainError
from generation.models import Condition, Image
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


class CampaignForm(WorkingFields, QuotaRows):
    """Fields of all kinds."""

    option_names: tuple[str, ...] = ()

    annotators_per_task = CampaignDesign.form_field("annotators_per_task", required=True)
    quota_presets = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Required annotators",
        help_text="These rules apply to every screen. If you tick no rule, anybody may answer. The rules use what "
        "people say about themselves; an empty answer, or an answer that a lead has not matched yet, counts "
        "toward no rule.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="The guidelines are shown beside every task. The guidelines must not say what you expect "
        "to find. Examples help: ## begins a heading, - or 1. a line of a list, **two stars** for bold, "
        "*one star* for italics.",
    )

    def __init__(
        self, *args: Any, kind: Kind, study: Study, campaign: Campaign | None = None, **kwargs: Any
    ) -> None:
        self.declared, self.study = kind, study
        kwargs.setdefault("initial", self.initial_of(campaign))
        _, rules = quota_rules.presets_in(quota_rules.stored(campaign) if campaign else ())
        super().__init__(*args, rules=rules, **kwargs)
        self.leave_out_options_of_other_kinds(kind)
        self.stored_options = dict(campaign.options) if campaign else {}
        self._offer_presets()

    @property
    def kind(self) -> str:
        """The key of the kind, as the form sends it."""
        return self.declared.key

    def _offer_presets(self) -> None:
        of_one_group = self.declared.stimuli.of_one_group
        offered = {
            name: preset
            for name, preset in quota_rules.PRESETS.items()
            if of_one_group or not preset.needs_group
        }
        set_choices(self, "quota_presets", [(name, preset.title) for name, preset in offered.items()])

    def initial_of(self, campaign: Campaign | None) -> dict[str, Any]:
        """Return the values of an existing draft, or the defaults of the kind."""
        if campaign is None:
            return {"name": self.declared.campaign_name, "guidelines": self.declared.guidelines}
        options = Options.of(campaign)
        instrument = campaign.instruments.first()
        presets, _ = quota_rules.presets_in(quota_rules.stored(campaign))
        return {
            **{name: getattr(campaign, name) for name in _COLUMNS if name != "guidelines"},
            **{name: getattr(options, name) for name in (*self.option_names, *WORKING_OPTIONS)},
            "guidelines": instrument.guidelines if instrument else self.declared.guidelines,
            "quota_presets": presets,
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        number = cleaned.get("annotators_per_task")
        if number is not None and "quota_presets" not in self.errors:
            self._check_quotas(cleaned, number)
        return cleaned

    def _check_quotas(self, cleaned: dict[str, Any], annotators_per_task: int) -> None:
        if not self.check_rows(cleaned, annotators_per_task=annotators_per_task, kind=self.declared):
            return
        try:
            quota_rules.parse(
                self.quotas(cleaned), annotators_per_task=annotators_per_task, kind=self.declared
            )
        except DomainError as error:
            self.add_error(self.last_row(cleaned) or "quota_presets", error.message)

    def quotas(self, values: dict[str, Any]) -> list[object]:
        """Return the rules that the form names: presets, and those of its rows."""
        return [*(values.get("quota_presets") or ()), *self.rules(values)]

    def settings(self) -> dict[str, Any]:
        """Return the submitted arguments for the verbs that create and change a draft."""
        return self._settings(self.cleaned_data)

    def initial_settings(self) -> dict[str, Any]:
        """Return the same for an empty form."""
        return self._settings(
            {name: self.get_initial_for_field(self.fields[name], name) for name in self.fields}
        )

    def _settings(self, values: dict[str, Any]) -> dict[str, Any]:
        settings = {name: values[name] for name in _COLUMNS if name in values}
        # Settings that the form does not have (set by command or API) do not change.
        unasked_options = {
            name: value for name, value in self.stored_options.items() if name not in self.fields
        }
        options = {name: values[name] for name in self.option_names if values.get(name) not in (None, "", [])}
        options |= {name: value for name, value in working_options(values).items() if value is not None}
        return {**settings, "options": unasked_options | options, "quotas": self.quotas(values)}


class RatingForm(CampaignForm):
    """A visual-attribute rating."""

    option_names = ("attributes",)

    attributes = Options.form_field("attributes", required=True)
    sections = (
        ("Questions", ("name", "attributes")),
        ("Annotators", ("annotators_per_task", "quota_presets", "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("Guidelines", ("guidelines",)),
        PAY,
        STOP_RULES,
        NOTICES,
    )


class ImagesForm(CampaignForm):
    """Fields of all campaigns about images."""

    model_labels = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=Options.declaration("model_labels").label,
        help_text=Options.declaration("model_labels").help,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = Image.objects.filter(study=self.study).order_by("model_label")
        models = list(labels.values_list("model_label", flat=True).distinct())
        set_choices(self, "model_labels", [(label, label or "not named") for label in models])
        # A field with one possible value is not shown.
        if len(models) < 2:
            del self.fields["model_labels"]


class MarkingForm(ImagesForm):
    """A stereotype marking."""

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
    attributes_per_screen = CampaignDesign.form_field("attributes_per_screen", required=True)
    boxes_required = CampaignDesign.form_field("boxes_required", help_text="")
    sections = (
        ("Questions", ("name", "visual_source", "visual_rule", "random_per_stereotype")),
        ("Images", ("model_labels", "images_per_group")),
        ("Screens", ("attributes_per_screen", "boxes_required")),
        ("Annotators", ("annotators_per_task", "quota_presets", "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("Guidelines", ("guidelines",)),
        PAY,
        STOP_RULES,
        NOTICES,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        ratings = study.campaigns.filter(kind__in=RATING_KINDS).exclude(state=Campaign.State.DRAFT)
        sources = [
            (f"{FROM_CAMPAIGN}{rating.slug}", f"Attributes found visual by “{rating.name}”")
            for rating in ratings
        ]
        set_choices(self, "visual_source", [("all", "All stereotypes by the study’s rule"), *sources])
        if not ratings:
            del self.fields["visual_rule"]


class QuestionsForm(ImagesForm):
    """Questions about images, as the kind declares them."""

    option_names = ("condition", "scenarios", "images_per_group", "combinations", "model_labels")

    condition = Options.form_field("condition", required=True)
    scenarios = Options.form_field("scenarios", required=True)
    images_per_group = Options.form_field("images_per_group")
    combinations = Options.form_field("combinations", required=True)
    boxes_required = CampaignDesign.form_field("boxes_required", label="Each answer needs a box in the image")
    sections = (
        ("Questions", ("name", "boxes_required")),
        (
            "Images",
            ("condition", "scenarios", "model_labels", "images_per_group", "combinations"),
        ),
        ("Annotators", ("annotators_per_task", "quota_presets", "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("Guidelines", ("guidelines",)),
        PAY,
        STOP_RULES,
        NOTICES,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        used_conditions = set(self.study.images.order_by().values_list("condition", flat=True).distinct())
        set_choices(
            self,
            "condition",
            [
                (value, label)
                for value, label in Condition.choices
                if value in used_conditions | {Condition.DEFAULT}
            ],
        )
        if used_conditions <= {Condition.DEFAULT}:
            del self.fields["condition"]
        for name in {"scenarios", "images_per_group", "combinations"} - names_for(self.declared):
            del self.fields[name]
        regions = [question.region for question in self.declared.questions if question.region]
        if all(region.required is not None for region in regions):
            del self.fields["boxes_required"]


class TextsForm(CampaignForm):
    """Questions about texts: those that the lead pastes, that people wrote or that models answered."""

    option_names = ("texts", "texts_from", "pairs", "sure_share", "sure_least")

    texts = forms.CharField(
        required=False,
        strip=False,
        label=Options.declaration("texts").label,
        help_text=Options.declaration("texts").help,
        widget=forms.Textarea(attrs={"rows": 12}),
    )
    texts_from = forms.ChoiceField(
        required=False,
        label=Options.declaration("texts_from").label,
        help_text=Options.declaration("texts_from").help,
    )
    pairs = Options.form_field("pairs")
    sure_share = Options.form_field("sure_share")
    sure_least = Options.form_field("sure_least")
    sections = (
        ("Questions", ("name", "texts", "texts_from", "pairs", "sure_share", "sure_least")),
        ("Annotators", ("annotators_per_task", "quota_presets", "lease_minutes")),
        EACH_PERSON,
        WITHDRAWN,
        ("Guidelines", ("guidelines",)),
        PAY,
        STOP_RULES,
        NOTICES,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        opened = self.study.campaigns.exclude(state=Campaign.State.DRAFT).order_by("pk")
        asking = [campaign for campaign in opened if kind_of(campaign).asks_for_texts]
        choices = [(f"{FROM_CAMPAIGN}{campaign.slug}", campaign.name) for campaign in asking]
        if self._reviews:
            choices.insert(0, (FROM_ANSWERS, "Models’ answers, coded by the rules"))
        else:
            del self.fields["sure_share"], self.fields["sure_least"]
        if self._draws:
            choices.insert(0, (FROM_ASSOCIATIONS, "Associations that the judge rated"))
        else:
            del self.fields["pairs"]
        if choices:
            set_choices(self, "texts_from", [("", "None: use the texts above"), *choices])
        else:
            del self.fields["texts_from"]

    @property
    def _reviews(self) -> bool:
        """Whether people can check with it how models' answers were coded."""
        return coding_question(self.declared) is not None and self.study.probe_runs.exists()

    @property
    def _draws(self) -> bool:
        """Whether people can rate the associations that a judge rated."""
        return self.declared.unit == "association" and has_rated_associations(self.study)

    def initial_of(self, campaign: Campaign | None) -> dict[str, Any]:
        initial = super().initial_of(campaign)
        if campaign is None and self._draws:
            initial |= {"texts_from": FROM_ASSOCIATIONS}
        # Two people read each answer independently, and a third if they disagree.
        if campaign is None and self._reviews:
            initial |= {"texts_from": FROM_ANSWERS, "annotators_per_task": 2}
        return initial | {"texts": "\n".join(initial.get("texts", ()))}

    def clean_texts(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["texts"].splitlines() if line.strip()]

    def initial_settings(self) -> dict[str, Any]:
        settings = super().initial_settings()
        settings["options"]["texts"] = str(settings["options"].get("texts", "")).splitlines()
        return settings


def form_of(kind: Kind) -> type[CampaignForm]:
    """Return the form of a kind of campaign."""
    if kind.rates_attributes:
        return RatingForm
    if kind.marks_attributes:
        return MarkingForm
    return TextsForm if kind.stimuli.medium == "text" else QuestionsForm
