"""Addresses of campaigns and labelling: each answers with and without a slash, the schema shows one."""

from django.urls import URLPattern, path
from rest_framework.views import APIView

from annotation.api import campaign_changes, practice, views
from annotation.label_studio.lead import api as label_studio
from annotation.label_studio.webhook_api import LabelStudioWebhook


def _both(route: str, view: type[APIView], name: str, **initkwargs: object) -> list[URLPattern]:
    """Return `route` as promised, and its twin with or without the slash: a POST survives no redirect."""
    twin = route.removesuffix("/") if route.endswith("/") else f"{route}/"
    return [
        path(route, view.as_view(**initkwargs), name=name),
        path(twin, view.as_view(schema=None, **initkwargs)),
    ]


_MOVES = {"open": "open_", "pause": "pause", "resume": "resume", "close": "close", "reopen": "reopen"}

urlpatterns = [
    # First what is asked for most: addresses are tried in this order.
    *_both("assignments/<uuid:public_id>/submit", views.Submit, "assignment-submit"),
    *_both("campaigns/<int:pk>/next", views.NextTask, "campaign-next"),
    *_both("studies/<slug:slug>/campaigns/", views.CampaignList, "campaign-list"),
    *_both("campaigns/<int:pk>/", campaign_changes.CampaignSettings, "campaign-detail"),
    *_both("campaigns/<int:pk>/progress/", views.CampaignProgressView, "campaign-progress"),
    *_both("campaigns/<int:pk>/annotators/", views.CampaignAnnotators, "campaign-annotators"),
    *_both("campaigns/<int:pk>/copies", campaign_changes.CampaignCopies, "campaign-copies"),
    *_both("campaigns/<int:pk>/extend", campaign_changes.CampaignExtension, "campaign-extend"),
    *_both("campaigns/<int:pk>/instruments", campaign_changes.CampaignInstruments, "campaign-instruments"),
    *(
        pattern
        for move, verb in _MOVES.items()
        for pattern in _both(f"campaigns/<int:pk>/{move}", views.CampaignMove, f"campaign-{move}", verb=verb)
    ),
    *_both("campaigns/<int:pk>/practice/next", practice.PracticeNext, "practice-next"),
    *_both("practice/<uuid:public_id>/answer", practice.PracticeAnswer, "practice-answer"),
    *_both("webhooks/label-studio", LabelStudioWebhook, "webhook-label-studio"),
    *_both("studies/<slug:slug>/label-studio/", label_studio.ServerList, "label-studio-list"),
    *_both("label-studio/<int:pk>/", label_studio.ServerDetail, "label-studio-detail"),
    *_both("label-studio/<int:pk>/check", label_studio.ServerCheck, "label-studio-check"),
    *_both("label-studio/<int:pk>/people/", label_studio.PeopleList, "label-studio-people"),
    *_both("label-studio/people/<int:pk>/confirm", label_studio.PersonConfirm, "label-studio-confirm"),
    *_both("label-studio/people/<int:pk>/invite", label_studio.PersonInvite, "label-studio-invite"),
    *(
        pattern
        for verb in ("ignore", "undo", "erase")
        for pattern in _both(
            f"label-studio/people/<int:pk>/{verb}", label_studio.PersonMove, f"label-studio-{verb}", verb=verb
        )
    ),
    *_both("campaigns/<int:pk>/label-studio/", label_studio.CampaignBridge, "campaign-label-studio"),
    *(
        pattern
        for work, name in (("push", "push"), ("reconcile", "reconcile"), ("replace", "replace-addresses"))
        for pattern in _both(
            f"campaigns/<int:pk>/label-studio/{name}",
            label_studio.BridgeWork,
            f"label-studio-{name}",
            work=work,
        )
    ),
    *_both(
        "campaigns/<int:pk>/label-studio/renew-addresses",
        label_studio.BridgeRenewal,
        "label-studio-renew-addresses",
    ),
    *(
        pattern
        for name, decision in (("keep-labels", "keep"), ("confirm-deletions", "confirm"))
        for pattern in _both(
            f"campaigns/<int:pk>/label-studio/{name}",
            label_studio.BridgeMissing,
            f"label-studio-{name}",
            decision=decision,
        )
    ),
    *_both("campaigns/<int:pk>/label-studio/cleanup", label_studio.BridgeCleanup, "label-studio-cleanup"),
    *_both("campaigns/<int:pk>/label-studio/answers/", label_studio.AnswerList, "label-studio-answers"),
    *_both("label-studio/answers/<int:pk>/", label_studio.AnswerDetail, "label-studio-answer"),
    *(
        pattern
        for name, what in (
            ("keep", "keep"),
            ("take", "take"),
            ("undo", "undo"),
            ("allow", "take"),
            ("disallow", "undo"),
        )
        for pattern in _both(
            f"label-studio/answers/<int:pk>/{name}",
            label_studio.AnswerDecision,
            f"label-studio-{name}",
            what=what,
        )
    ),
    *_both("label-studio/answers/<int:pk>/restore", label_studio.AnswerRestoring, "label-studio-restore"),
    *_both("assignments/<uuid:public_id>/skip", views.Skip, "assignment-skip"),
    *_both("assignments/<uuid:public_id>/report", views.Report, "assignment-report"),
]
