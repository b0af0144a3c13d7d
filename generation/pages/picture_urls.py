from django.urls import path

from generation.pages import pictures

app_name = "images"
urlpatterns = [path("<str:token>", pictures.image, name="image")]
