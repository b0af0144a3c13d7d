"""The pages of django-allauth that this server has, under allauth's names for them.

Its pages for signing up and for changing e-mail addresses are left out: administrators create accounts.
"""

from allauth.account import views
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from django.urls import path, re_path

from accounts.pages import providers, saml, second_factors, sign_in

urlpatterns = [
    path("sign-in/", sign_in.SignIn.as_view(), name="account_login"),
    path("sign-out/", providers.SignOut.as_view(), name="account_logout"),
    path("oidc/", providers.oidc_sign_in, name="oidc_sign_in"),
    path("oidc/link/", providers.oidc_link, name="oidc_link"),
    path("oidc/callback/", providers.oidc_callback, name="oidc_callback"),
    path("saml/", saml.saml_sign_in, name="saml_sign_in"),
    path("saml/link/", saml.saml_link, name="saml_link"),
    path("saml/acs/", saml.saml_acs, name="saml_acs"),
    path("saml/finish/", saml.saml_finish, name="saml_finish"),
    path("saml/metadata/", saml.saml_metadata, name="saml_metadata"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("confirm/", views.reauthenticate, name="account_reauthenticate"),
    path("password/forgotten/", sign_in.ForgottenPassword.as_view(), name="account_reset_password"),
    path("password/forgotten/sent/", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/new/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        sign_in.NewPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path("sign-in/passkey/", second_factors.SignInWithPasskey.as_view(), name="mfa_login_webauthn"),
    path("second-factor/", second_factors.SecondFactors.as_view(), name="mfa_index"),
    path("second-factor/enter/", second_factors.Enter.as_view(), name="mfa_authenticate"),
    path("second-factor/confirm/", factors.reauthenticate, name="mfa_reauthenticate"),
    path(
        "second-factor/confirm/passkey/",
        second_factors.ConfirmWithPasskey.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path("second-factor/app/", second_factors.SetUpApp.as_view(), name="mfa_activate_totp"),
    path("second-factor/app/remove/", second_factors.RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path("second-factor/passkeys/add/", second_factors.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "second-factor/passkeys/<int:pk>/name/",
        second_factors.RenamePasskey.as_view(),
        name="mfa_edit_webauthn",
    ),
    path(
        "second-factor/passkeys/<int:pk>/remove/",
        second_factors.RemovePasskey.as_view(),
        name="mfa_remove_webauthn",
    ),
    path("second-factor/codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "second-factor/codes/new/", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"
    ),
    path(
        "second-factor/codes/file/",
        recovery_codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
]
