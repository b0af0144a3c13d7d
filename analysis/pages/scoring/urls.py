"""Addresses of automated scoring; mounted under /studies/<study>/scoring/."""

from django.urls import path

from analysis.pages.scoring import views

app_name = "scoring"
urlpatterns = [
    path("", views.scorers, name="list"),
    path("new/", views.NewScorer.as_view(), name="new"),
    path("<int:scorer>/", views.scorer, name="scorer"),
    path("<int:scorer>/remove/", views.remove, name="remove"),
    path("<int:scorer>/unrounded/", views.score_unrounded, name="score_unrounded"),
    path("<int:scorer>/go-on/", views.go_on, name="go_on"),
]
