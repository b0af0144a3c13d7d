"""The language of a page: the reader's for annotators and on the landing page, else English."""

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class LanguageMiddleware(LocaleMiddleware):
    """Use the language of the cookie or browser on TRANSLATED_PAGES and below TRANSLATED_PATHS, else English."""

    def process_request(self, request: HttpRequest) -> None:
        path = request.path_info
        if path in settings.TRANSLATED_PAGES or path.startswith(settings.TRANSLATED_PATHS):
            super().process_request(request)
        else:
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
