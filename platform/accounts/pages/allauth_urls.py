"""The pages of django-allauth that we serve, under the names that it gives them.

Its pages for signing up and for changing e-mail addresses are left out: administrators make accounts.
"""

from allauth.account import views
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as apps
from django.urls import path, re_path

from accounts.pages import providers, sign_in

urlpatterns = [
    path("sign-in/", sign_in.SignIn.as_view(), name="account_login"),
    path("sign-out/", providers.SignOut.as_view(), name="account_logout"),
    path("oidc/", providers.oidc_sign_in, name="oidc_sign_in"),
    path("oidc/link/", providers.oidc_link, name="oidc_link"),
    path("oidc/callback/", providers.oidc_callback, name="oidc_callback"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("confirm/", views.reauthenticate, name="account_reauthenticate"),
    path("password/forgotten/", sign_in.ForgottenPassword.as_view(), name="account_reset_password"),
    path("password/forgotten/sent/", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/new/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        sign_in.NewPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path("second-factor/", factors.index, name="mfa_index"),
    path("second-factor/enter/", factors.authenticate, name="mfa_authenticate"),
    path("second-factor/confirm/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("second-factor/app/", sign_in.SetUpApp.as_view(), name="mfa_activate_totp"),
    path("second-factor/app/remove/", apps.deactivate_totp, name="mfa_deactivate_totp"),
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
