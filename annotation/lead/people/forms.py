"""Forms of the pages of invitation links. They parse; the verbs decide."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from annotation.people.invitations import MOST_AT_ONCE
from annotation.people.letters import LONGEST_MESSAGE
from annotation.people.link_states import StateCount
from annotation.people.recipients import Recipient, from_lines, from_table
from foundation.languages import ENGLISH, LANGUAGES
from foundation.tables.reader import read_table
from web.form_fields import set_choices

_TABLE_BYTES = 1024 * 1024


class ExpiryForm(forms.Form):
    """How long links work."""

    days = forms.IntegerField(
        min_value=1,
        max_value=366,
        initial=14,
        required=False,
        label="Days until expiry",
        help_text="Leave empty for a link that never expires.",
    )

    def expires_at(self) -> datetime | None:
        """Return when links stop working; None if they never do."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


class InvitationForm(ExpiryForm):
    """A link for one person or for several."""

    label = forms.CharField(
        max_length=120,
        required=False,
        label="Your note",
        help_text="Who the link is for. Only leads of this study see the note.",
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=1,
        label="How many people may join with the link",
        help_text="If you enter 1, you make a personal link, and the person can return with it at any time.",
    )
    field_order = ("label", "limit", "days")

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that invites."""
        return {
            "label": self.cleaned_data["label"],
            "limit": self.cleaned_data["limit"],
            "expires_at": self.expires_at(),
        }


class LetterForm(forms.Form):
    """The lead's additions to letters."""

    language = forms.ChoiceField(
        choices=[
            (language.code, language.english_name + ", draft translation" * language.is_draft)
            for language in LANGUAGES.values()
        ],
        initial=ENGLISH,
        required=False,
        label="Language of the e-mails",
    )
    message = forms.CharField(
        required=False,
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Your own first lines",
        help_text="Say who you are and why you write, in the language of the e-mails. Do not say what the "
        "study tests.",
    )

    def text(self) -> dict[str, str]:
        """Return the lead's choices for the letters."""
        return {
            "language": self.cleaned_data["language"] or ENGLISH,
            "message": self.cleaned_data["message"],
        }


class PersonalLinksForm(ExpiryForm, LetterForm):
    """People who get a personal link each: typed, or from a table."""

    labels = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": "Ada Example, ada@example.org\nBo Example"}),
        label="People, one a line",
        help_text=f"A note, an e-mail address, or both, for at most {MOST_AT_ONCE} people. Only leads of "
        "this study see the notes and addresses.",
    )
    table = forms.FileField(
        required=False,
        label="Or a table",
        help_text="CSV or Excel with a header: a column “name” or “note”, and a column “email” with the "
        "addresses to write to.",
    )
    field_order = ("labels", "table", "days", "language", "message")

    def recipients(self) -> list[Recipient]:
        """Return the people of both fields."""
        recipients = from_lines(self.cleaned_data["labels"])
        if upload := self.cleaned_data["table"]:
            recipients += from_table(read_table(upload, name=upload.name, max_bytes=_TABLE_BYTES))
        return recipients

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that invites."""
        return {"recipients": self.recipients(), "expires_at": self.expires_at()}


class AddressForm(LetterForm):
    """The address of the letter with one link."""

    address = forms.CharField(max_length=254, label="E-mail address")
    field_order = ("address", "language", "message")


class LinkFilter(forms.Form):
    """Which links are listed."""

    state = forms.ChoiceField(required=False, label="State")
    q = forms.CharField(required=False, max_length=120, label="Note")

    def offer(self, counts: list[StateCount]) -> None:
        """Offer the existing states, with the number of links in each."""
        choices = [(count.state, f"{count.label} ({count.number:,})") for count in counts]
        set_choices(self, "state", [("", "All"), *choices])
