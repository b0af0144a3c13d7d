"""Addresses of images in the pages of a Label Studio."""

from django.urls import path

from annotation.bridge import picture_views

app_name = "pictures"
urlpatterns = [path("<str:token>", picture_views.shown, name="picture")]
