"""Addresses of results for programs."""

from django.urls import path

from analysis import api, release_api

urlpatterns = [
    path("studies/<slug:slug>/results/", api.Results.as_view(), name="results"),
    path("studies/<slug:slug>/results", api.Results.as_view(schema=None)),
    path("studies/<slug:slug>/results/<slug:table>.csv", api.ResultsTable.as_view(), name="results-table"),
    path("studies/<slug:slug>/releases/", release_api.Releases.as_view(), name="releases"),
    path("studies/<slug:slug>/releases/<int:version>/", release_api.OneRelease.as_view(), name="release"),
    path("studies/<slug:slug>/releases/check/", release_api.ReleaseCheck.as_view(), name="release-check"),
    path(
        "studies/<slug:slug>/releases/<int:version>/set-aside/",
        release_api.SetAside.as_view(),
        name="release-set-aside",
    ),
    path(
        "studies/<slug:slug>/releases/<int:version>/download/",
        release_api.ReleaseDownload.as_view(),
        name="release-download",
    ),
]
