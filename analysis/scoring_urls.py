"""Addresses of automated scoring; mounted under /studies/<study>/scoring/."""

from django.urls import path

from analysis.views import scoring

app_name = "scoring"
urlpatterns = [
    path("", scoring.scorers, name="list"),
    path("new/", scoring.new, name="new"),
    path("<int:scorer>/", scoring.scorer, name="scorer"),
    path("<int:scorer>/remove/", scoring.remove, name="remove"),
    path("<int:scorer>/unrounded/", scoring.score_unrounded, name="score_unrounded"),
    path("<int:scorer>/go-on/", scoring.go_on, name="go_on"),
]
