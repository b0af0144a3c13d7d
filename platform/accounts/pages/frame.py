"""The frame of account pages: which of the two a person sees, and in which language."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.module_loading import import_string

from accounts.sign_in import second_factor


def base_template(user: Any) -> str:
    """Annotators keep their quiet frame; everyone else has the site's navigation."""
    works_on_studies = user.works_on_studies or import_string(settings.STUDY_GROUPS)(user)
    return "web/base.html" if works_on_studies else "web/base_annotator.html"


def account_frame(request: HttpRequest) -> dict[str, Callable[[], Any]]:
    """Return what templates of django-allauth's pages ask for when they need it."""
    return {
        "account_frame": lambda: base_template(request.user),
        "second_factor_missing": lambda: second_factor.is_missing(request),
        "second_factor_required": lambda: second_factor.is_required(request.user),
    }


def in_language_of_frame(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Answer people who work on studies in English: only the frame of annotators is translated."""

    @wraps(view)
    def viewed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and base_template(request.user) == "web/base.html":
            translation.activate(settings.LANGUAGE_CODE)
        return view(request, *args, **kwargs)

    return viewed
