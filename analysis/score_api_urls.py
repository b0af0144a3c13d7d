"""Addresses of scorers and scores for programs."""

from django.urls import path

from analysis import score_api

_ONE = "studies/<slug:slug>/scorers/<int:pk>/"
urlpatterns = [
    path("studies/<slug:slug>/scorers/", score_api.Scorers.as_view(), name="scorers"),
    path(_ONE, score_api.OneScorer.as_view(), name="scorer"),
    path(f"{_ONE}scores/", score_api.AttributeScores.as_view(), name="scorer-scores"),
    path(f"{_ONE}captions/", score_api.Captions.as_view(), name="scorer-captions"),
    path(f"{_ONE}text-scores/", score_api.TextScores.as_view(), name="scorer-text-scores"),
]
