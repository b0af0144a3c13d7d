from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts.pages import views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="profile"),
    path("sign-in/", views.SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", views.ChangePassword.as_view(), name="password"),
    path("tokens/", views.create_token, name="create_token"),
    path("tokens/<slug:prefix>/revoke/", views.revoke_token, name="revoke_token"),
]
