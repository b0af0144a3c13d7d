"""Addresses of campaigns and labelling, with and without a trailing slash; the schema lists one form."""

from django.urls import URLPattern, path
from rest_framework.views import APIView

from annotation.api import campaign_changes, languages, practice, views


def with_slash_twin(route: str, view: type[APIView], name: str, **initkwargs: object) -> list[URLPattern]:
    """Return `route` and its twin with or without the slash, because a redirect would lose a POST."""
    twin = route.removesuffix("/") if route.endswith("/") else f"{route}/"
    return [
        path(route, view.as_view(**initkwargs), name=name),
        path(twin, view.as_view(schema=None, **initkwargs)),
    ]


_MOVES = ("open", "pause", "resume", "close", "reopen")

urlpatterns = [
    # The most frequent requests come first, because addresses are tried in this order.
    *with_slash_twin("assignments/<uuid:public_id>/submit", views.Submit, "assignment-submit"),
    *with_slash_twin("campaigns/<int:pk>/next", views.NextTask, "campaign-next"),
    *with_slash_twin("studies/<slug:slug>/campaigns/", views.CampaignList, "campaign-list"),
    *with_slash_twin("campaigns/<int:pk>/", campaign_changes.CampaignSettings, "campaign-detail"),
    *with_slash_twin("campaigns/<int:pk>/progress/", views.CampaignProgressView, "campaign-progress"),
    *with_slash_twin("campaigns/<int:pk>/annotators/", views.CampaignAnnotators, "campaign-annotators"),
    *with_slash_twin("campaigns/<int:pk>/copies", campaign_changes.CampaignCopies, "campaign-copies"),
    *with_slash_twin("campaigns/<int:pk>/extend", campaign_changes.CampaignExtension, "campaign-extend"),
    *with_slash_twin(
        "campaigns/<int:pk>/instruments", campaign_changes.CampaignInstruments, "campaign-instruments"
    ),
    *with_slash_twin("campaigns/<int:pk>/languages", languages.CampaignLanguages, "campaign-languages"),
    *with_slash_twin(
        "campaigns/<int:pk>/translations", languages.CampaignTranslations, "campaign-translations"
    ),
    *(
        pattern
        for move in _MOVES
        for pattern in with_slash_twin(
            f"campaigns/<int:pk>/{move}", views.CampaignMove, f"campaign-{move}", verb=move
        )
    ),
    *with_slash_twin("campaigns/<int:pk>/practice/next", practice.PracticeNext, "practice-next"),
    *with_slash_twin("practice/<uuid:public_id>/answer", practice.PracticeAnswer, "practice-answer"),
    *with_slash_twin("assignments/<uuid:public_id>/skip", views.Skip, "assignment-skip"),
    *with_slash_twin("assignments/<uuid:public_id>/report", views.ReportImage, "assignment-report"),
]
