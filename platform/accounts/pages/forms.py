"""Forms for people's details about themselves and for API tokens."""

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.forms import LoginForm, ResetPasswordForm, ResetPasswordKeyForm
from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts import profiles
from accounts.models import AnnotatorProfile, ApiToken, User
from accounts.profile_codes import codes
from foundation.errors import DomainError
from web.form_fields import set_choices

if TYPE_CHECKING:
    _ProfileModelForm = forms.ModelForm[AnnotatorProfile]
else:
    _ProfileModelForm = forms.ModelForm


class SuggestingInput(forms.TextInput):
    """A text field with suggestions, which may be ignored."""

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


class ProfileForm(_ProfileModelForm):
    """Details about oneself: every field is optional and explains why the question is asked."""

    languages = forms.CharField(
        label=_("Languages"),
        required=False,
        max_length=600,
        help_text=_(
            "A word can mean different things in different languages. Put commas between the languages."
        ),
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
            "gender": _(
                "Choose a suggestion or use your own words. Each picture should be seen by people of more than "
                "one gender."
            ),
            "region_of_origin": _(
                "The part of the world you identify with. What people notice depends on where they grew up."
            ),
            "nationality": _(
                "Your country helps us to show each picture to people from more than one country."
            ),
            "country_of_residence": _("Where you live shapes what looks ordinary to you."),
            "age_band": _("People of different ages may understand some things differently."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        profile = self.instance
        for name in codes.CODED:
            self.initial[name] = profiles.shown(profile, name)
            if name != "languages":
                longest = profiles.LENGTHS[name]
                self.fields[name].widget = SuggestingInput(codes.labels(name), {"maxlength": longest})
            if note := _understood(profile, name):
                self.fields[name].help_text = f"{self.fields[name].help_text} {note}"
        choices = [("", _("Prefer not to say")), *AnnotatorProfile.AgeBand.choices]
        set_choices(self, "age_band", choices)

    def clean_languages(self) -> list[str]:
        try:
            return profiles.parse_languages(self.cleaned_data["languages"].split(","))
        except DomainError as error:
            raise forms.ValidationError(error.message) from None

    def describe(self) -> AnnotatorProfile:
        """Save the details of the annotator."""
        return profiles.describe(annotator=self.instance.annotator, **self.cleaned_data)


def not_understood(profile: AnnotatorProfile, field: str) -> bool:
    """Return whether a stored answer has no code, so that it counts toward no quota rule."""
    if profile.pk is None or not profile.words.get(field):
        return False
    stored = getattr(profile, field)
    return not stored or codes.UNCODED in stored


def _understood(profile: AnnotatorProfile, field: str) -> str:
    """Show how a stored answer is counted, so that the person can correct it."""
    if profile.pk is None or not profile.words.get(field):
        return ""
    stored = getattr(profile, field)
    stored_codes = [
        code for code in (stored if isinstance(stored, list) else [stored]) if code and code != codes.UNCODED
    ]
    if not stored_codes:
        own_words = gettext(
            "Your answer is in your own words, so it does not count toward rules about who sees a picture."
        )
        choose = gettext(
            "If one of the suggestions fits, choose it. If no suggestion fits, use your own words."
        )
        return f"{own_words} {choose}"
    names = ", ".join(codes.label(field, code) for code in stored_codes)
    return gettext("Your answer counts as: %(names)s.") % {"names": names}


class SignInForm(LoginForm):
    """User name and password, with the field names and labels of Django's own form."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = capfirst(User._meta.get_field("username").verbose_name)
        self.fields["login"].widget.attrs = {
            "autocomplete": "username",
            "autocapitalize": "none",
            "autofocus": True,
        }
        self.fields["password"].label = AuthenticationForm.base_fields["password"].label
        self.fields["password"].help_text = ""
        self.fields["password"].widget.attrs.pop("placeholder")

    def add_prefix(self, field_name: str) -> str:
        return "username" if field_name == "login" else field_name


class ForgottenPasswordForm(ResetPasswordForm):
    """The address for a letter with a link to choose a new password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        email = self.fields["email"]
        email.label = gettext("E-mail address")
        email.help_text = gettext("The e-mail address that an administrator entered for your account.")
        email.widget.attrs = {"autocomplete": "email"}


class NewPasswordForm(ResetPasswordKeyForm):
    """A new password, twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in (
            ("password1", gettext("New password")),
            ("password2", gettext("Repeat the new password")),
        ):
            self.fields[name].label = label
            self.fields[name].widget.attrs = {"autocomplete": "new-password"}
        self.fields["password1"].help_text = password_validators_help_text_html()


class ThrottledPasswordChangeForm(PasswordChangeForm):
    """A new password for a person who knows the old one. Wrong tries count together with those of signing in."""

    def __init__(self, user: User, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self._request = request

    def clean_old_password(self) -> str:
        old: str = self.cleaned_data["old_password"]
        if authenticate(self._request, username=self.user.get_username(), password=old) != self.user:
            raise forms.ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old


class ApiTokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        help_text=_("The program that will use the token, such as “nightly export”."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        choices=ApiToken.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[ApiToken.Scope.READ],
    )
    expires_on = forms.DateField(
        label=_("Last day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_(
            "The token works until the end of this day. If empty, the token works until you revoke it."
        ),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["expires_on"].initial = timezone.localdate() + timedelta(days=90)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        # It also prevents a second token when the page that shows the key is reloaded.
        if self.user.api_tokens.filter(name=name, revoked_at=None).exists():
            raise forms.ValidationError(
                gettext("You already have a token of this name. Revoke that token, or choose another name.")
            )
        return name

    def clean_expires_on(self) -> datetime | None:
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        if day < timezone.localdate():
            raise forms.ValidationError(gettext("This day is in the past. Choose today or later."))
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))
