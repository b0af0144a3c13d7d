"""The texts of the task's scripts, in the reader's language."""

from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JavaScriptCatalog


@cache
def script_words(language: str) -> dict[str, Any]:
    """Return the catalogue of the scripts; empty for English, which they contain."""
    if language == settings.LANGUAGE_CODE:
        return {}
    view = JavaScriptCatalog()
    view.translation = DjangoTranslation(
        language, domain="djangojs", localedirs=[str(path) for path in settings.LOCALE_PATHS]
    )
    return view.get_catalog()
