"""Forms of the settings a lead may change while people work, shared with the draft's form."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import slugify

from annotation.campaigns.design import CampaignDesign
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options, names_for
from annotation.kinds.registry import kind_of
from annotation.models import Campaign

# Options of these fields; shares of checks and practice have a separate page.
WORKING_OPTIONS = (
    "screens_per_person",
    "tasks_per_day",
    "sensitive_per_day",
    "edit_minutes",
    "reopen_withdrawn",
    "pay",
    "pay_amount",
    "pay_currency",
    "pay_per",
    "pay_budget",
    "stop_at_budget",
    "stop_on",
    "stop_complete",
    "stop_half_width",
    "stop_least",
    "stop_every",
    "stop_by",
    "notices",
    "stuck_hours",
    "junk_share",
)
EACH_PERSON = ("Each person", ("screens_per_person", "tasks_per_day", "sensitive_per_day", "edit_minutes"))
WITHDRAWN = ("Withdrawals", ("reopen_withdrawn",))
PAY = ("Pay", ("pay", "pay_amount", "pay_currency", "pay_per", "pay_budget"))
STOP_RULES = (
    "Stop rules",
    (
        "stop_at_budget",
        "stop_on",
        "stop_complete",
        "stop_half_width",
        "stop_least",
        "stop_every",
        "stop_by",
    ),
)
# Sections that are unfolded at first.
_UNFOLDED = {"Questions", "Images", "Annotators", "Campaign"}
_VALUES_SHOWN = 3
_LONGEST_VALUE = 60  # letters
NOTICES = ("Notices", ("notices", "stuck_hours", "junk_share"))


@dataclass(frozen=True)
class FormSection:
    """Fields under a heading; the page can fold them, and `values` then summarises them."""

    title: str
    fields: tuple[forms.BoundField, ...]

    @property
    def key(self) -> str:
        return slugify(self.title)

    @property
    def is_open(self) -> bool:
        """Return whether the section is unfolded at first: common settings, and fields with errors."""
        return self.title in _UNFOLDED or any(bound.errors for bound in self.fields)

    @property
    def values(self) -> str:
        """Return the first values of the section in words."""
        texts = [text for bound in self.fields if (text := _in_words(bound))]
        more = f" · {len(texts) - _VALUES_SHOWN} more" if len(texts) > _VALUES_SHOWN else ""
        return " · ".join(texts[:_VALUES_SHOWN]) + more or "Nothing set"


def _in_words(bound: forms.BoundField) -> str:
    """Return a field's label and value; "" if it is not set."""
    value, label = bound.value(), str(bound.label)
    if value in (None, "", [], (), False):
        return ""
    if isinstance(bound.field, forms.BooleanField):
        return label
    if isinstance(bound.field, forms.ChoiceField):
        chosen = {str(key) for key in (value if isinstance(value, list | tuple) else [value])}
        pairs = bound.field.widget.choices
        return f"{label}: {', '.join(str(text) for key, text in pairs if str(key) in chosen)}"
    text = str(value)
    return f"{label}: {len(text.split()):,} words" if len(text) > _LONGEST_VALUE else f"{label}: {text}"


class WorkingFields(forms.Form):
    """Fields shared by drafts and opened campaigns."""

    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()

    name = CampaignDesign.form_field("name", required=True)
    lease_minutes = CampaignDesign.form_field("lease_minutes", required=True)
    screens_per_person = Options.form_field("screens_per_person")
    tasks_per_day = Options.form_field("tasks_per_day")
    sensitive_per_day = Options.form_field("sensitive_per_day")
    edit_minutes = Options.form_field("edit_minutes")
    reopen_withdrawn = Options.form_field("reopen_withdrawn")
    pay = Options.form_field("pay", widget=forms.Textarea(attrs={"rows": 2}))
    pay_amount = Options.form_field("pay_amount")
    pay_currency = Options.form_field("pay_currency")
    pay_per = Options.form_field("pay_per")
    pay_budget = Options.form_field("pay_budget")
    stop_at_budget = Options.form_field("stop_at_budget")
    stop_on = Options.form_field("stop_on", widget=forms.DateTimeInput(attrs={"type": "datetime-local"}))
    stop_complete = Options.form_field("stop_complete")
    stop_half_width = Options.form_field("stop_half_width")
    stop_least = Options.form_field("stop_least")
    stop_every = Options.form_field("stop_every")
    stop_by = Options.form_field("stop_by")
    notices = Options.form_field("notices")
    stuck_hours = Options.form_field("stuck_hours")
    junk_share = Options.form_field("junk_share")

    def parts(self) -> list[FormSection]:
        """Return the fields under their headings."""
        sections = (
            FormSection(title, tuple(self[name] for name in names if name in self.fields))
            for title, names in self.sections
        )
        return [section for section in sections if section.fields]

    def clean_pay_currency(self) -> str:
        return str(self.cleaned_data["pay_currency"]).strip().upper()

    def leave_out_options_of_other_kinds(self, kind: Kind) -> None:
        """Remove the fields of options that campaigns of this kind do not have."""
        for name in set(WORKING_OPTIONS) - names_for(kind):
            del self.fields[name]


def working_options(values: dict[str, Any]) -> dict[str, Any]:
    """Return these options in stored form: None for defaults."""
    return {name: _stored(name, values[name]) for name in WORKING_OPTIONS if name in values}


def _stored(name: str, value: Any) -> Any:
    value = tuple(value) if isinstance(value, list) else value
    if value in ("", None) or value == Options.default(name):
        return None
    return list(value) if isinstance(value, tuple) else value


class SettingsForm(WorkingFields):
    """The settings of a campaign that was opened."""

    sections = (("Campaign", ("name", "lease_minutes")), EACH_PERSON, WITHDRAWN, PAY, STOP_RULES, NOTICES)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        options = Options.of(campaign)
        kwargs["initial"] = {
            "name": campaign.name,
            "lease_minutes": campaign.lease_minutes,
            **{name: getattr(options, name) for name in WORKING_OPTIONS},
        }
        super().__init__(*args, **kwargs)
        self.leave_out_options_of_other_kinds(kind_of(campaign))

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `lifecycle.change_settings`."""
        values = self.cleaned_data
        return {
            "name": values["name"],
            "lease_minutes": values["lease_minutes"],
            "options": working_options(values),
        }


class ExtensionForm(forms.Form):
    """How many people answer each screen from now on."""

    annotators_per_task = CampaignDesign.form_field(
        "annotators_per_task", required=True, initial=None, label="People per screen"
    )


class CopyForm(forms.Form):
    """The name of a copy, and whether it keeps the draw."""

    name = CampaignDesign.form_field("name", required=True)
    same_draw = forms.BooleanField(
        required=False,
        label="Use the same random attributes, images and orders",
        help_text="Otherwise, random attributes, images and orders are drawn again. In both cases, images "
        "that were added after the original campaign was planned are included.",
    )
