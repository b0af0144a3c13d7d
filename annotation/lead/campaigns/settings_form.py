"""What a lead may change while people work: fields of a draft's form, and a form of their own once it is open."""

from typing import Any

from django import forms

from annotation.kinds.options import Options
from annotation.models import Campaign

# Options that these fields stand for; shares of checks and practice have a page of their own.
WORKING_OPTIONS = (
    "tasks_per_day",
    "sensitive_per_day",
    "edit_minutes",
    "reopen_withdrawn",
    "pay",
    "pay_amount",
    "pay_currency",
    "pay_per",
)
EACH_PERSON = ("Each person", ("tasks_per_day", "sensitive_per_day", "edit_minutes"))
WITHDRAWN = ("When somebody takes back consent", ("reopen_withdrawn",))
PAY = ("Pay", ("pay", "pay_amount", "pay_currency", "pay_per"))


class WorkingFields(forms.Form):
    """Fields that a draft and an open campaign have in common."""

    name = forms.CharField(max_length=120, help_text="For members; annotators never see it.")
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=7 * 24 * 60,
        initial=30,
        label="Minutes per task",
        help_text="A task that is not answered in this time is offered to somebody else.",
    )
    tasks_per_day = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000,
        label="Screens a day, at most",
        help_text="Empty: no limit.",
    )
    sensitive_per_day = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=10_000,
        label="Of these with offensive stereotypes, at most",
        help_text="Screens that ask for a stereotype which the resource’s raters called offensive. Empty: no limit.",
    )
    edit_minutes = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=10_080,
        initial=Options.edit_minutes,
        label="Minutes in which an answer can be corrected",
    )
    reopen_withdrawn = forms.BooleanField(
        required=False,
        initial=True,
        label="Ask their screens of somebody else",
        help_text="Their answers count no more.",
    )
    pay = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="What people get, in your words",
        help_text="Shown with the invitation and at the end.",
    )
    pay_amount = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label="Rate",
        help_text="Statements of pay are reckoned with it, and each person sees their own. Empty: none.",
    )
    pay_currency = forms.CharField(
        required=False,
        max_length=3,
        initial=Options.pay_currency,
        label="Currency",
        help_text="Three letters, as EUR.",
    )
    pay_per = forms.ChoiceField(
        required=False,
        choices=[("hour", "an hour of active work"), ("task", "a submitted screen")],
        initial=Options.pay_per,
        label="For",
    )

    def clean_pay_currency(self) -> str:
        return str(self.cleaned_data["pay_currency"]).strip().upper()


def working_options(values: dict[str, Any]) -> dict[str, Any]:
    """Return these options as they are stored: None for what holds by default."""
    return {
        name: None if values[name] in ("", None) or values[name] == getattr(Options, name) else values[name]
        for name in WORKING_OPTIONS
        if name in values
    }


class SettingsForm(WorkingFields):
    """The settings of a campaign that was opened."""

    sections = (("The campaign", ("name", "lease_minutes")), EACH_PERSON, WITHDRAWN, PAY)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        options = Options.of(campaign)
        kwargs["initial"] = {
            "name": campaign.name,
            "lease_minutes": campaign.lease_minutes,
            **{name: getattr(options, name) for name in WORKING_OPTIONS},
        }
        super().__init__(*args, **kwargs)

    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields under their headings."""
        return [
            (title, [self[name] for name in names if name in self.fields]) for title, names in self.sections
        ]

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

    annotators_per_task = forms.IntegerField(
        min_value=1, max_value=100, label="People per screen", help_text="Each answers it independently."
    )


class CopyForm(forms.Form):
    """What a copy is called, and whether it asks the very same."""

    name = forms.CharField(max_length=120, help_text="For members; annotators never see it.")
    same_draw = forms.BooleanField(
        required=False,
        label="The same draw: the same random attributes, images and orders",
        help_text="Otherwise they are drawn anew. Either way, images that came since are asked as well.",
    )
