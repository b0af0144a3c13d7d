"""Addresses of the API for campaigns and labelling."""

from annotation.api import assignments, campaigns, texts
from web.api.routers import TwinRouter

router = TwinRouter()
router.register("assignments", assignments.AssignmentViewSet, "assignment")
router.register("campaigns", assignments.CampaignTaskViewSet, "campaign-task")
router.register("practice", assignments.PracticeTaskViewSet, "practice-task")
router.register("studies/<slug:slug>/campaigns", campaigns.StudyCampaignViewSet, "study-campaign")
router.register("campaigns", campaigns.CampaignViewSet, "campaign")
router.register("campaigns", texts.CampaignTextViewSet, "campaign-text")

# The most frequent requests come first, because Django tries addresses in this order.
_FREQUENT = ("assignments/<uuid:public_id>/submit", "campaigns/<int:pk>/next")
urlpatterns = sorted(router.urls, key=lambda entry: str(entry.pattern) not in _FREQUENT)
