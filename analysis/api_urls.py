"""Addresses of results for programs."""

from django.urls import path

from analysis import api

urlpatterns = [
    path("studies/<slug:slug>/results/", api.Results.as_view(), name="results"),
    path("studies/<slug:slug>/results", api.Results.as_view(schema=None)),
    path("studies/<slug:slug>/results/<slug:table>.csv", api.ResultsTable.as_view(), name="results-table"),
]
