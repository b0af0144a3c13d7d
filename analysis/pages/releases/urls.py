"""Addresses of releases; mounted under /studies/<study>/releases/."""

from django.urls import path

from analysis.pages.releases import views

app_name = "releases"
urlpatterns = [
    path("", views.releases, name="list"),
    path("build/", views.build, name="build"),
    path("<int:version>/", views.release, name="release"),
    path("<int:version>/download/", views.download, name="download"),
    path("<int:version>/set-aside/", views.set_aside, name="set_aside"),
    path("<int:version>/remove-files/", views.remove_files, name="remove_files"),
]
