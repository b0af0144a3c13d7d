from django.urls import path

from generation.api import answers, probes, views

_RUN = "studies/<slug:slug>/probe-runs/<int:pk>/"
urlpatterns = [
    path("studies/<slug:study>/images/", views.StudyImages.as_view(), name="study-images"),
    path("studies/<slug:slug>/probe-runs/", probes.ProbeRuns.as_view(), name="probe-runs"),
    path(_RUN, probes.OneProbeRun.as_view(), name="probe-run"),
    path(f"{_RUN}go-on/", probes.ProbeRunGoOn.as_view(), name="probe-run-go-on"),
    path(f"{_RUN}answers/", answers.RunAnswers.as_view(), name="probe-run-answers"),
    path("answers/<int:pk>/overrides/", answers.Overrides.as_view(), name="answer-overrides"),
]
