from django.urls import path

from generation.pages import signed_images

app_name = "images"
urlpatterns = [path("<str:token>", signed_images.image, name="image")]
