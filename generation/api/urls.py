from django.urls import path
from rest_framework.routers import SimpleRouter

from generation.api import answers, probes, views

router = SimpleRouter(use_regex_path=False)
router.register("studies/<slug:slug>/probe-runs", probes.ProbeRunViewSet, "probe-run")

urlpatterns = [
    path("studies/<slug:study>/images/", views.StudyImages.as_view(), name="study-images"),
    *router.urls,
    path("answers/<int:pk>/overrides/", answers.Overrides.as_view(), name="answer-overrides"),
]
