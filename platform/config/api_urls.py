"""The REST API, version 1: each app contributes its own part."""

from django.urls import include, path

app_name = "api"
urlpatterns = [
    path("", include("annotation.api.urls")),  # the most frequent addresses first
    path("", include("annotation.label_studio.lead.api_urls")),
    path("", include("studies.api.urls")),
    path("", include("jobs.api.urls")),
    path("", include("generation.api.urls")),
    path("", include("analysis.api.urls")),
]
