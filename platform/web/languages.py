"""Which language a page is in: the reader's for annotators, English for everyone else."""

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class LanguageMiddleware(LocaleMiddleware):
    """Take the language from the cookie or the browser, on addresses below TRANSLATED_PATHS."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(settings.TRANSLATED_PATHS):
            super().process_request(request)
        else:
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
