from django.urls import path

from generation import views

app_name = "generation"
urlpatterns = [
    path("images/", views.images, name="images"),
    path("images/not-made/", views.not_made, name="not_made"),
    path("images/generate/", views.generate, name="generate"),
    path("images/import/", views.import_images, name="import_images"),
]
