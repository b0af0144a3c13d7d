"""The landing page, which redirects signed-in people to their work."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_noop

from accounts.rights import Capability, requires

# Names of the demo’s accounts on the landing page, which is translated.
DEMO_ROLES = (gettext_noop("lead"), gettext_noop("analyst"), gettext_noop("annotator"))


@requires(get=Capability.ANYONE)
def home(request: HttpRequest) -> HttpResponse:
    """Show the landing page, or redirect a signed-in person to their work."""
    if request.user.is_authenticated:
        user = request.user
        works_on_studies = (
            user.is_superuser or user.is_lead or user.is_analyst or user.study_memberships.exists()
        )
        return redirect("studies:list" if works_on_studies else "annotate:home")
    return render(
        request, "front/landing.html", {"demo_accounts": settings.DEMO_ACCOUNTS if settings.DEMO else []}
    )
