from django.urls import path

from generation import run_views, views

app_name = "generation"
urlpatterns = [
    path("images/", views.images, name="images"),
    path("images/not-made/", views.not_made, name="not_made"),
    path("images/generate/", run_views.generate, name="generate"),
    path("images/generate/estimate/", run_views.estimate, name="estimate"),
    path("images/runs/<int:run>/go-on/", run_views.go_on, name="go_on"),
    path("images/import/", views.import_images, name="import_images"),
]
