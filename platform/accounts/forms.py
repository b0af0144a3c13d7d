"""What people type about themselves and their API tokens."""

from datetime import datetime, time, timedelta
from typing import Any, ClassVar

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import profiles
from accounts.errors import DomainError
from accounts.models import AnnotatorProfile, ApiToken, User
from accounts.places import GENDERS, REGIONS, countries


class SuggestingInput(forms.TextInput):
    """A text field with suggestions, none of which has to be taken."""

    template_name = "accounts/suggesting_input.html"

    def __init__(self, suggestions: tuple[str, ...], attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"autocomplete": "off", **(attrs or {})})
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        options_id = f"{context['widget']['attrs'].get('id', name)}_suggestions"
        context["widget"]["attrs"]["list"] = options_id
        context["widget"] |= {"options_id": options_id, "suggestions": self.suggestions}
        return context


class ProfileForm(forms.ModelForm):
    """About you: every field optional, each saying why it is asked."""

    languages = forms.CharField(
        label=_("Languages"),
        required=False,
        max_length=600,
        help_text=_("A word means different things in different languages. Put commas between several."),
    )

    class Meta:
        model = AnnotatorProfile
        fields: ClassVar = list(AnnotatorProfile.FIELDS)
        labels: ClassVar = {
            "gender": _("Gender"),
            "region_of_origin": _("Region you come from"),
            "nationality": _("Nationality"),
            "country_of_residence": _("Country you live in"),
            "age_band": _("Age"),
        }
        help_texts: ClassVar = {
            "gender": _("In your own words. Each picture should be seen by people of more than one gender."),
            "region_of_origin": _(
                "The part of the world you identify with. What one notices depends on where one grew up."
            ),
            "nationality": _("So that the people who see a picture do not all come from one country."),
            "country_of_residence": _("Where you live shapes what looks ordinary to you."),
            "age_band": _("Some things are read differently by people of different ages."),
        }
        widgets: ClassVar = {
            "gender": SuggestingInput(GENDERS),
            "region_of_origin": SuggestingInput(REGIONS),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("nationality", "country_of_residence"):
            self.fields[name].widget = SuggestingInput(countries(), {"maxlength": 80})
        self.fields["age_band"].choices = [  # type: ignore[attr-defined]
            ("", _("Prefer not to say")),
            *AnnotatorProfile.AgeBand.choices,
        ]
        if isinstance(languages := self.initial.get("languages"), list):
            self.initial["languages"] = ", ".join(languages)

    def clean_languages(self) -> list[str]:
        try:
            return profiles.parse_languages(self.cleaned_data["languages"].split(","))
        except DomainError as error:
            raise forms.ValidationError(error.message) from None

    def describe(self) -> AnnotatorProfile:
        """Save what was said."""
        return profiles.describe(annotator=self.instance.annotator, **self.cleaned_data)


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(max_length=80, help_text="What will use it, such as “nightly export”.")
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=ApiToken.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[ApiToken.Scope.READ],
    )
    expires_on = forms.DateField(
        label="Stops working after",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="The whole day counts. Empty: until you revoke it.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["expires_on"].initial = timezone.localdate() + timedelta(days=90)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        # Also what keeps a reload of the page that shows the key from making a second token.
        if self.user.api_tokens.filter(name=name, revoked_at=None).exists():
            raise forms.ValidationError("You have a token of this name; revoke it or choose another name.")
        return name

    def clean_expires_on(self) -> datetime | None:
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        if day < timezone.localdate():
            raise forms.ValidationError("This day is over; choose today or later.")
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))
