"""Forms of the pages about Label Studio. They parse; the verbs decide."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django import forms

from accounts.pages.forms import SuggestingInput
from annotation.label_studio.models import LabelStudioBridge, LabelStudioServer, LabelStudioUser
from annotation.label_studio.overview.queries import NAMES
from annotation.label_studio.pull.cleanup import KINDS, USUAL, Line
from annotation.models import Campaign
from web.form_fields import set_choices, set_queryset

_WHERE_TOKENS_ARE = (
    "You find the token in Label Studio under Account & Settings, Access Token. The token is stored "
    "encrypted and never shown again."
)


def _token() -> forms.CharField:
    # Hidden while it is typed or pasted, and never sent back with the page.
    return forms.CharField(
        max_length=2000,
        label="Access token",
        help_text=_WHERE_TOKENS_ARE,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class ConnectForm(forms.Form):
    """The address of a Label Studio server, and its token."""

    url = forms.CharField(
        max_length=300,
        label="Address",
        help_text="The address that you open in your browser, such as https://labels.example.org.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "placeholder": "https://"}),
    )
    token = _token()


class TokenForm(forms.Form):
    """Another token for the same Label Studio server."""

    token = _token()


class BeginForm(forms.Form):
    """The Label Studio server, and the arrangement of the campaign in it."""

    server = forms.ModelChoiceField(LabelStudioServer.objects.none(), label="Label Studio", empty_label=None)
    arrangement = forms.ChoiceField(
        choices=LabelStudioBridge.Arrangement.choices,
        initial=LabelStudioBridge.Arrangement.PER_SLOT,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose an arrangement."},
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        servers = campaign.study.label_studio_servers.all()
        set_queryset(self, "server", servers)
        self.initial.setdefault("server", servers.first())


class RenewForm(forms.Form):
    """How long addresses of images are valid."""

    days = forms.IntegerField(min_value=1, max_value=366, initial=30, label="Days from now")


class CleanupForm(forms.Form):
    """What is deleted in Label Studio, with the lead's confirmation."""

    kinds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="What to delete",
        error_messages={"required": "Choose what to delete."},
    )
    sure = forms.BooleanField(
        label="Yes, delete these answers from Label Studio permanently",
        error_messages={"required": "Confirm that you want to delete these answers."},
    )

    def __init__(self, *args: Any, lines: Iterable[Line], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        numbers = Counter[str]()
        for line in lines:
            numbers[line.kind] += line.answers
        choices = [(kind, f"{label} ({numbers[kind]:,})") for kind, label in KINDS.items() if numbers[kind]]
        set_choices(self, "kinds", choices)
        self.fields["kinds"].initial = [kind for kind in USUAL if numbers[kind]]


class AnnotatorForm(forms.Form):
    """The annotator of a Label Studio user."""

    annotator = forms.CharField(
        max_length=64, label="Pseudonym", help_text="The pseudonym of somebody who has joined."
    )

    def __init__(self, *args: Any, pseudonyms: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotator"].widget = SuggestingInput(pseudonyms, {"maxlength": "64"})


class InviteForm(forms.Form):
    """The campaign of a personal link."""

    campaign = forms.ModelChoiceField(Campaign.objects.none(), empty_label=None)

    def __init__(self, *args: Any, server: LabelStudioServer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bridged = server.study.campaigns.filter(label_studio__server=server).exclude(
            state=Campaign.State.CLOSED
        )
        self.campaigns = bridged.order_by("-pk")
        set_queryset(self, "campaign", self.campaigns)


class AnswerFilter(forms.Form):
    """Filters of the list of answers."""

    state = forms.ChoiceField(required=False, choices=[("", "All"), *NAMES.items()])
    q = forms.CharField(required=False, label="Person")


class PeopleFilter(forms.Form):
    """Filters of the list of users."""

    state = forms.ChoiceField(required=False, choices=[("", "All"), *LabelStudioUser.State.choices])
    q = forms.CharField(required=False, label="Name or pseudonym")


def chosen(form: forms.Form, name: str) -> str:
    """Return a filter's value; "" if it is invalid."""
    form.is_valid()
    return str(form.cleaned_data.get(name) or "")
