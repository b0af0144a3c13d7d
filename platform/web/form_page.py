"""Views that call one verb: a page with a form, a button, and a button that is confirmed on a page."""

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
    """Put what a verb refused beside the fields it named, or above the form.

    `field_of` says what the form calls an input of the verb.
    """
    named = {field_of(name): text for name, text in error.fields.items()}
    by_field = {name: text for name, text in named.items() if name in form.fields}
    for name, text in by_field.items():
        form.add_error(name, text if " " in text else error.message)
    if not by_field:
        form.add_error(None, error.message)


class VerbView(View, ABC):
    """Calls one verb, says what happened and leads on."""

    leads_to: str  # the name of the next address; `place` has its arguments

    @staticmethod
    def before_sign_in(request: HttpRequest) -> None:
        """Do what is needed before somebody who is not signed in is led to sign in."""

    def load(self) -> None:
        """Look up what the address names."""

    def place(self) -> tuple[Any, ...]:
        return ()

    def context(self) -> dict[str, Any]:
        """Return what the page shows beside the form."""
        return {}

    @abstractmethod
    def call(self) -> str | HttpResponse:
        """Call the verb; return what happened, in one sentence, or where else the person is led."""

    def redirect_with(self, message: str, to: str, *address: Any) -> HttpResponse:
        messages.success(self.request, message)
        return redirect(to, *address)

    def complete(self) -> HttpResponse:
        outcome = self.call()
        if isinstance(outcome, str):
            return self.redirect_with(outcome, self.leads_to, *self.place())
        return outcome


class FormPage(VerbView, Generic[F]):
    """A page with a form; sent, it calls the verb.

    A form that is not valid, or that the verb refuses, is shown again with its errors and status 400.
    """

    http_method_names = ["get", "head", "post"]
    template_name: str
    form_class: type[F]
    form: F
    action = ""  # the value of the button that calls the verb; others show the present form

    def make_form(self, data: Any) -> F:
        """Return the form, unbound where `data` is None."""
        return self.form_class(data, self.request.FILES or None)

    def instead(self) -> HttpResponse | None:
        """Return what is answered where this form is not the one to show."""
        return None

    def field_of(self, name: str) -> str:
        """Return what the form calls an input of the verb."""
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
    """A button. The next page shows the message if the verb refuses."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, **_address: Any) -> HttpResponse:
        self.load()
        try:
            return self.complete()
        except DomainError as error:
            messages.error(request, error.message)
            return redirect(self.leads_to, *self.place())


class Confirmation(Button):
    """A button with a page that says beforehand what it does."""

    http_method_names = ["get", "head", "post"]
    template_name: str

    def get(self, request: HttpRequest, **_address: Any) -> HttpResponse:
        self.load()
        return render(request, self.template_name, self.context())
