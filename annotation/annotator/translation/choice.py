"""Reading a campaign in another language: a separate step, because all texts change."""

from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language_info
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import enrolment_for, step_before_work
from annotation.answers.languages import offered, page_language
from annotation.campaigns.instruments.languages import translations
from foundation.errors import DomainError


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def language(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Explain what changes with the language, and change it after confirmation."""
    enrolment = enrolment_for(request, campaign_id)
    refused = False
    if request.method == "POST":
        try:
            enrolment = translations.choose(enrolment=enrolment, language=request.POST.get("language", ""))
        except DomainError:
            refused = True
        else:
            step = step_before_work(enrolment)
            onward = redirect(step) if step else redirect("annotate:task", campaign_id)
            onward.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                cast(str, enrolment.language),
                max_age=settings.LANGUAGE_COOKIE_AGE,
                samesite="Lax",
                secure=request.is_secure(),
            )
            return onward
    context = {
        "campaign_id": campaign_id,
        "choices": [(code, get_language_info(code)["name_local"]) for code in offered(enrolment.campaign)],
        "current": page_language(),
        "refused": refused,
    }
    return render(
        request, "annotation/annotator/change_language.html", context, status=400 if refused else 200
    )
