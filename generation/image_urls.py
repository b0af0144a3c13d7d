from django.urls import path

from generation import image_views

app_name = "images"
urlpatterns = [path("<str:token>", image_views.image, name="image")]
