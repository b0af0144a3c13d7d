"""Addresses of Label Studio's integration in the API, with and without a slash at the end."""

from annotation.api.urls import with_slash_twin
from annotation.label_studio.lead import api
from annotation.label_studio.pull.webhook_view import LabelStudioWebhook

urlpatterns = [
    *with_slash_twin("webhooks/label-studio", LabelStudioWebhook, "webhook-label-studio"),
    *with_slash_twin("studies/<slug:slug>/label-studio/", api.ServerList, "label-studio-list"),
    *with_slash_twin("label-studio/<int:pk>/", api.ServerDetail, "label-studio-detail"),
    *with_slash_twin("label-studio/<int:pk>/check", api.ServerCheck, "label-studio-check"),
    *with_slash_twin("label-studio/<int:pk>/people/", api.PeopleList, "label-studio-people"),
    *with_slash_twin("label-studio/people/<int:pk>/confirm", api.PersonConfirm, "label-studio-confirm"),
    *with_slash_twin("label-studio/people/<int:pk>/invite", api.PersonInvite, "label-studio-invite"),
    *(
        pattern
        for verb in ("ignore", "undo", "erase")
        for pattern in with_slash_twin(
            f"label-studio/people/<int:pk>/{verb}", api.PersonMove, f"label-studio-{verb}", verb=verb
        )
    ),
    *with_slash_twin("campaigns/<int:pk>/label-studio/", api.CampaignBridge, "campaign-label-studio"),
    *(
        pattern
        for work, name in (("push", "push"), ("reconcile", "reconcile"), ("replace", "replace-addresses"))
        for pattern in with_slash_twin(
            f"campaigns/<int:pk>/label-studio/{name}",
            api.BridgeWork,
            f"label-studio-{name}",
            work=work,
        )
    ),
    *with_slash_twin(
        "campaigns/<int:pk>/label-studio/renew-addresses",
        api.BridgeRenewal,
        "label-studio-renew-addresses",
    ),
    *(
        pattern
        for name, decision in (("keep-labels", "keep"), ("confirm-deletions", "confirm"))
        for pattern in with_slash_twin(
            f"campaigns/<int:pk>/label-studio/{name}",
            api.BridgeMissing,
            f"label-studio-{name}",
            decision=decision,
        )
    ),
    *with_slash_twin("campaigns/<int:pk>/label-studio/cleanup", api.BridgeCleanup, "label-studio-cleanup"),
    *with_slash_twin("campaigns/<int:pk>/label-studio/answers/", api.AnswerList, "label-studio-answers"),
    *with_slash_twin("label-studio/answers/<int:pk>/", api.AnswerDetail, "label-studio-answer"),
    *(
        pattern
        for name, decision in (
            ("keep", "keep"),
            ("take", "take"),
            ("undo", "undo"),
            ("allow", "take"),
            ("disallow", "undo"),
        )
        for pattern in with_slash_twin(
            f"label-studio/answers/<int:pk>/{name}",
            api.AnswerDecision,
            f"label-studio-{name}",
            decision=decision,
        )
    ),
    *with_slash_twin("label-studio/answers/<int:pk>/restore", api.AnswerRestoring, "label-studio-restore"),
]
