"""Second factors of a person: the list, an authenticator app, passkeys, and the pages that request them."""

import json
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.utils import is_mfa_enabled
from allauth.mfa.webauthn import views as webauthn
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from accounts.sign_in import codes, passkeys, second_factor


@requires(get=Capability.SIGNED_IN)
class SecondFactors(IndexView):
    """Show the person's second factors, and those that they can add."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        keys = Authenticator.objects.filter(user=self.request.user, type=Authenticator.Type.WEBAUTHN)
        return {
            **super().get_context_data(**context),
            "passkeys": keys.order_by("created_at"),
            "can_use_passkeys": passkeys.are_possible(self.request),
            "has_all_passkeys": len(keys) >= passkeys.MOST_PER_PERSON,
            "site": passkeys.site_with_passkeys(self.request),
        }


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
class SetUpApp(ActivateTOTPView):
    """Set up an authenticator app; the first code proves that the person has it."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        app = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        codes.use_once(authenticator=app, code=form.cleaned_data["code"])
        second_factor.confirm(request=self.request, user=self.request.user)
        return response


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
class RemoveApp(DeactivateTOTPView):
    """Remove the authenticator app, and explain the consequences."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**context),
            "is_last": second_factor.is_last(self.authenticator),
        }


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
@method_decorator(never_cache, name="dispatch")
class AddPasskey(webauthn.AddWebAuthnView):
    """Add a passkey; its answer proves that the person has it."""

    def get_context_data(self, **_context: Any) -> dict[str, Any]:
        context = super().get_context_data()
        options = context["js_data"]["creation_options"]
        # Stored on the device if possible, so that it can sign in alone; otherwise it is a second factor.
        choice = {**options["publicKey"]["authenticatorSelection"], "residentKey": "preferred"}
        options = {"publicKey": {**options["publicKey"], "authenticatorSelection": choice}}
        return {
            **context,
            "options": json.dumps(options),
            "can_use_passkeys": passkeys.are_possible(self.request),
            "site": passkeys.site_with_passkeys(self.request),
        }

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        second_factor.confirm(request=self.request, user=self.request.user)
        return response


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
class RenamePasskey(webauthn.EditWebAuthnView):
    """Give a passkey another name."""

    success_url = reverse_lazy("mfa_index")


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
class RemovePasskey(webauthn.RemoveWebAuthnView):
    """Remove a passkey, and explain the consequences."""

    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return {**super().get_context_data(**context), "is_last": second_factor.is_last(self.object)}


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
@method_decorator(never_cache, name="dispatch")
class Enter(AuthenticateView):
    """Request the second factor between the password and the first page."""

    def get_context_data(self, **_context: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data()
        user = self.stage.login.user
        if is_mfa_enabled(user, [Authenticator.Type.WEBAUTHN]):
            context["options"] = json.dumps(context["js_data"]["request_options"])
        context["has_app"] = is_mfa_enabled(user, [Authenticator.Type.TOTP])
        return context


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
@method_decorator(never_cache, name="dispatch")
class ConfirmWithPasskey(webauthn.ReauthenticateWebAuthnView):
    """Request a passkey before an important change, or because the session has not seen one yet."""

    def form_invalid(self, form: Any) -> HttpResponse:
        # Not on the sign-in page, to which allauth would redirect.
        page: HttpResponse = self.render_to_response({**self.get_context_data(), "form": form})
        return page

    def get_context_data(self, **_context: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data()
        return {**context, "options": json.dumps(context["js_data"]["request_options"])}


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
@method_decorator(never_cache, name="dispatch")
class SignInWithPasskey(webauthn.LoginWebAuthnView):
    """Sign in with a passkey alone: GET gives the browser a challenge, POST takes the answer."""

    def form_invalid(self, form: Any) -> HttpResponse:  # noqa: ARG002
        get_adapter().add_message(self.request, messages.ERROR, message=passkeys.REFUSED)
        page = reverse("account_login")
        after = self.request.POST.get("next", "")
        return redirect(f"{page}?{urlencode({'next': after})}" if after else page)
