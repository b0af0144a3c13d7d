from django.urls import path

from generation.pages import images, runs

app_name = "generation"
urlpatterns = [
    path("images/", images.images, name="images"),
    path("images/not-made/", images.not_made, name="not_made"),
    path("images/generate/", runs.Generate.as_view(), name="generate"),
    path("images/generate/estimate/", runs.estimate, name="estimate"),
    path("images/runs/<int:run>/go-on/", runs.go_on, name="go_on"),
    path("images/import/", images.ImportImages.as_view(), name="import_images"),
]
