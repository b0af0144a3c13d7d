"""Addresses of releases; mounted under /studies/<study>/releases/."""

from django.urls import path

from analysis.views import releases

app_name = "releases"
urlpatterns = [
    path("", releases.releases, name="list"),
    path("build/", releases.build, name="build"),
    path("<int:version>/", releases.release, name="release"),
    path("<int:version>/download/", releases.download, name="download"),
    path("<int:version>/set-aside/", releases.set_aside, name="set_aside"),
    path("<int:version>/remove-files/", releases.remove_files, name="remove_files"),
]
