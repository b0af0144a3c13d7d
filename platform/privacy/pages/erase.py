"""Pages to erase oneself: an explanation with confirmation, and a final page that needs no account."""

from typing import Any

from axes.utils import reset_request
from django import forms
from django.contrib.auth import authenticate, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.rights import Capability, requires, signed_in_user
from foundation.errors import Conflict, DomainError
from privacy.erasure import erase, promises
from privacy.pages.own_data import own_annotator
from web.form_page import FormPage

# Reasons against erasure, worded for the person themself.
_REFUSALS = {
    "erasure_before_payment": _(
        "The panel that sent you still has to pay you. Finish your work at the panel or give it back, and "
        "wait until you are paid. Then you can erase everything."
    ),
    "erasure_of_member": _(
        "This account also has a role in studies. Ask an administrator to remove your roles first."
    ),
}


class EraseSelfForm(forms.Form):
    """Confirmation by a checkbox and the password, if any. Wrong passwords count as failed sign-ins."""

    understood = forms.BooleanField(
        label=_("I know that erasing cannot be undone"),
        error_messages={"required": _("Tick this box if you want everything to be erased.")},
    )

    def __init__(self, data: Any, *, user: User, request: HttpRequest) -> None:
        super().__init__(data)
        self._user, self._request = user, request
        if user.has_usable_password():
            self.fields["password"] = forms.CharField(
                label=AuthenticationForm.base_fields["password"].label,
                strip=False,
                widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
            )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if authenticate(self._request, username=self._user.get_username(), password=password) != self._user:
            raise forms.ValidationError(gettext("This is not your password."))
        reset_request(self._request)
        return password


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@method_decorator(never_cache, name="dispatch")
class EraseSelf(FormPage[EraseSelfForm]):
    """Explain the effect of erasure, and erase the annotator after confirmation."""

    template_name = "privacy/own_data/erase.html"
    form_class = EraseSelfForm

    def load(self) -> None:
        self.annotator = own_annotator(self.request)
        self.promise = promises.of_annotator(self.annotator)
        if not self.promise.by_self:
            raise Conflict(
                "erasure_by_lead", gettext("Ask the person who invited you to erase you, and give your code.")
            )
        self.refusal = self._refusal()

    def make_form(self, data: Any) -> EraseSelfForm:
        return EraseSelfForm(data, user=signed_in_user(self.request), request=self.request)

    def call(self) -> HttpResponse:
        try:
            erase.erase_annotator(annotator=self.annotator, by=None)
        except Conflict as error:
            raise DomainError(error.code, str(_REFUSALS.get(error.code, error.message))) from None
        logout(self.request)
        return redirect("own_data:erased")

    def context(self) -> dict[str, Any]:
        return {"promise": self.promise, "refusal": self.refusal, "annotator": self.annotator}

    def _refusal(self) -> str:
        try:
            erase.refuse(self.annotator)
        except Conflict as error:
            return str(_REFUSALS.get(error.code, error.message))
        return ""


@requires(get=Capability.ANYONE)
@never_cache
def erased(request: HttpRequest) -> HttpResponse:
    """Confirm the erasure, and clear unsent answers from the browser's storage."""
    response = render(request, "privacy/own_data/erased.html")
    response["Clear-Site-Data"] = '"storage"'
    return response
