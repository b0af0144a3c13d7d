"""Addresses of images in the pages of a Label Studio."""

from django.urls import path

from annotation.label_studio import image_view

app_name = "pictures"
urlpatterns = [path("<str:token>", image_view.signed_picture, name="picture")]
