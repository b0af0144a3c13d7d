"""Addresses of the API for Label Studio."""

from django.urls import path

from annotation.label_studio.lead import api
from annotation.label_studio.pull.views import LabelStudioWebhook
from web.api.routers import TwinRouter

router = TwinRouter()
router.register("studies/<slug:slug>/label-studio", api.StudyServerViewSet, "study-label-studio")
router.register("label-studio", api.ServerViewSet, "label-studio")
router.register("label-studio/people", api.PersonViewSet, "label-studio-person")
router.register("label-studio/answers", api.AnswerViewSet, "label-studio-answer")
router.register("campaigns", api.BridgeViewSet, "label-studio-bridge")

urlpatterns = [
    path("webhooks/label-studio", LabelStudioWebhook.as_view(), name="webhook-label-studio"),
    path("webhooks/label-studio/", LabelStudioWebhook.as_view(schema=None)),
    *router.urls,
]
