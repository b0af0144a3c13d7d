"""Addresses of the API for results, releases and scorers."""

from collections.abc import Mapping

from django.urls import path
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ViewSetMixin

from analysis.api import associations, releases, results, scoring


class Router(SimpleRouter):
    """Also maps POST on an object to the action `go_on` of its viewset."""

    def get_method_map(self, viewset: type[ViewSetMixin], method_map: Mapping[str, str]) -> dict[str, str]:
        going_on = {"post": "go_on"} if "retrieve" in method_map.values() else {}
        return super().get_method_map(viewset, {**method_map, **going_on})


router = Router(use_regex_path=False)
router.register("studies/<slug:slug>/releases", releases.ReleaseViewSet, "release")
router.register("studies/<slug:slug>/scorers", scoring.ScorerViewSet, "scorer")

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
    *router.urls,
]
