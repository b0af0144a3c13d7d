"""The REST API, version 1: each app brings its own part."""

from django.urls import include, path

app_name = "api"
urlpatterns = [
    path("", include("annotation.api_urls")),  # first what is asked for most
    path("", include("studies.api_urls")),
    path("", include("jobs.api_urls")),
    path("", include("generation.api_urls")),
    path("", include("analysis.api_urls")),
    path("", include("analysis.score_api_urls")),
]
