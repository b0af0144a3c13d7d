"""Addresses for people from panels, below those of annotators."""

from django.urls import path

from annotation.recruitment.panel import views

app_name = "panel"
urlpatterns = [
    path("events/<uuid:panel>/", views.events, name="events"),
    path("<uuid:recruitment>/", views.arrive, name="arrive"),
    path("<uuid:recruitment>/refused/", views.refused, name="refused"),
    path("<uuid:recruitment>/welcome/", views.welcome, name="welcome"),
    path("<uuid:recruitment>/end/", views.end, name="end"),
    path("<uuid:recruitment>/stop/", views.stop, name="stop"),
    path("<uuid:recruitment>/return/", views.return_to_panel, name="return"),
]
