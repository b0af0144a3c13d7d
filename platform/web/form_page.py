"""Views that perform one action: a page with a form, a button, and a button with a confirmation page."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.generic import View

from foundation.errors import DomainError

F = TypeVar("F", bound=forms.BaseForm)


def show_refusal(form: forms.BaseForm, error: DomainError, *, field_of: Callable[[str], str] = str) -> None:
    """Add the messages of `error` to the fields that it names, or to the form.

    `field_of` maps an argument of the called function to a field of the form.
    """
    named = {field_of(name): text for name, text in error.fields.items()}
    by_field = {name: text for name, text in named.items() if name in form.fields}
    for name, text in by_field.items():
        form.add_error(name, text if " " in text else error.message)
    if not by_field:
        form.add_error(None, error.message)


class VerbView(View, ABC):
    """Performs one action, then redirects with a message."""

    leads_to: str  # name of the next URL, whose arguments `place` returns

    @staticmethod
    def before_sign_in(request: HttpRequest) -> None:
        """Hook before a visitor who is not signed in is redirected to the sign-in page."""

    def load(self) -> None:
        """Load the objects that the address names."""

    def place(self) -> tuple[Any, ...]:
        return ()

    def context(self) -> dict[str, Any]:
        """Return the template context in addition to the form."""
        return {}

    @abstractmethod
    def call(self) -> str | HttpResponse:
        """Perform the action; return a message of one sentence, or another response."""

    def redirect_with(self, message: str, to: str, *address: Any) -> HttpResponse:
        messages.success(self.request, message)
        return redirect(to, *address)

    def complete(self) -> HttpResponse:
        outcome = self.call()
        if isinstance(outcome, str):
            return self.redirect_with(outcome, self.leads_to, *self.place())
        return outcome


class FormPage(VerbView, Generic[F]):
    """A page with a form whose submission performs the action.

    If the form is invalid or the action raises DomainError, the form is shown again with errors and status 400.
    """

    http_method_names = ["get", "head", "post"]
    template_name: str
    form_class: type[F]
    form: F
    action = ""  # value of the button that performs the action; other buttons only show the form again

    def make_form(self, data: Any) -> F:
        """Return the form, unbound if `data` is None."""
        return self.form_class(data, self.request.FILES or None)

    def instead(self) -> HttpResponse | None:
        """Return a response to send instead of the form, or None."""
        return None

    def field_of(self, name: str) -> str:
        """Return the form field for an argument of the action."""
        return name

    def get(self, _request: HttpRequest, **_address: Any) -> HttpResponse:
        return self._answer(None)

    def post(self, request: HttpRequest, **_address: Any) -> HttpResponse:
        return self._answer(request.POST)

    def _answer(self, data: Any) -> HttpResponse:
        self.load()
        if other := self.instead():
            return other
        self.form = self.make_form(data)
        sent = data is not None and (not self.action or data.get("action") == self.action)
        if sent and self.form.is_valid():
            try:
                return self.complete()
            except DomainError as error:
                show_refusal(self.form, error, field_of=self.field_of)
        status = 400 if data is not None and self.form.errors else 200
        return render(self.request, self.template_name, {"form": self.form, **self.context()}, status=status)


class Button(VerbView):
    """A button. If the action raises DomainError, the next page shows its message."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, **_address: Any) -> HttpResponse:
        self.load()
        try:
            return self.complete()
        except DomainError as error:
            messages.error(request, error.message)
            return redirect(self.leads_to, *self.place())


class Confirmation(Button):
    """A button with a page that explains the action before it is confirmed."""

    http_method_names = ["get", "head", "post"]
    template_name: str

    def get(self, request: HttpRequest, **_address: Any) -> HttpResponse:
        self.load()
        return render(request, self.template_name, self.context())
