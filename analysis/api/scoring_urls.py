"""Addresses of scorers and scores for programs."""

from django.urls import path

from analysis.api import scoring

_ONE = "studies/<slug:slug>/scorers/<int:pk>/"
urlpatterns = [
    path("studies/<slug:slug>/scorers/", scoring.Scorers.as_view(), name="scorers"),
    path(_ONE, scoring.OneScorer.as_view(), name="scorer"),
    path(f"{_ONE}scores/", scoring.AttributeScores.as_view(), name="scorer-scores"),
    path(f"{_ONE}captions/", scoring.Captions.as_view(), name="scorer-captions"),
    path(f"{_ONE}text-scores/", scoring.TextScores.as_view(), name="scorer-text-scores"),
]
