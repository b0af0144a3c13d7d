"""The landing page, and where a person who is signed in goes from it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what this is; send someone signed in to their work."""
    if request.user.is_authenticated:
        annotator_only = not (request.user.is_superuser or request.user.is_lead or request.user.is_analyst)
        return redirect("annotate:home" if annotator_only else "studies:list")
    return render(
        request, "front/landing.html", {"demo_accounts": settings.DEMO_ACCOUNTS if settings.DEMO else []}
    )
