"""Base template and language of account pages, for annotators and for everyone else."""

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
    """Return the base template: annotators keep their quiet frame, everyone else has the site's navigation."""
    works_on_studies = user.works_on_studies or import_string(settings.STUDY_GROUPS)(user)
    return "web/base.html" if works_on_studies else "web/base_annotator.html"


def account_frame(request: HttpRequest) -> dict[str, Callable[[], Any]]:
    """Return lazy template variables for django-allauth's pages: base template and second-factor state."""
    return {
        "account_frame": lambda: base_template(request.user),
        "second_factor_missing": lambda: second_factor.is_missing(request),
        "second_factor_required": lambda: second_factor.is_required(request.user),
    }


def in_language_of_frame(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Use English for people who work on studies, because only annotators' pages are translated."""

    @wraps(view)
    def viewed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and base_template(request.user) == "web/base.html":
            translation.activate(settings.LANGUAGE_CODE)
        return view(request, *args, **kwargs)

    return viewed
