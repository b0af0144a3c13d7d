"""Addresses of results for programs."""

from django.urls import path

from analysis.api import associations, releases, results

urlpatterns = [
    path(
        "studies/<slug:slug>/probe-runs/<int:pk>/associations/",
        associations.RunAssociations.as_view(),
        name="probe-run-associations",
    ),
    path("studies/<slug:slug>/results/", results.StudyResults.as_view(), name="results"),
    path("studies/<slug:slug>/results", results.StudyResults.as_view(schema=None)),
    path(
        "studies/<slug:slug>/results/<slug:table>.csv", results.ResultsTable.as_view(), name="results-table"
    ),
    path("studies/<slug:slug>/releases/", releases.Releases.as_view(), name="releases"),
    path("studies/<slug:slug>/releases/<int:version>/", releases.OneRelease.as_view(), name="release"),
    path("studies/<slug:slug>/releases/check/", releases.ReleaseCheck.as_view(), name="release-check"),
    path(
        "studies/<slug:slug>/releases/<int:version>/set-aside/",
        releases.SetAside.as_view(),
        name="release-set-aside",
    ),
    path(
        "studies/<slug:slug>/releases/<int:version>/download/",
        releases.ReleaseDownload.as_view(),
        name="release-download",
    ),
]
