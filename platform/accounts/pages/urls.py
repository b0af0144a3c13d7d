from django.urls import path

from accounts.pages import providers, sign_in, views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="profile"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign_in"),
    path("sign-out/", providers.SignOut.as_view(), name="sign_out"),
    path("signed-out/", providers.signed_out, name="signed_out"),
    path("linked/<int:account>/end/", providers.unlink, name="unlink"),
    path("sessions/", sign_in.sessions, name="sessions"),
    path("sessions/end/", sign_in.end_other_sessions, name="end_other_sessions"),
    path("sessions/<int:session>/end/", sign_in.end_session, name="end_session"),
    path("password/", views.ChangePassword.as_view(), name="password"),
    path("tokens/", views.create_token, name="create_token"),
    path("tokens/<slug:prefix>/revoke/", views.revoke_token, name="revoke_token"),
]
