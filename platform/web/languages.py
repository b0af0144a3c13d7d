"""Which language a page is in: the reader's for annotators, English for everyone else."""

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

# Only what is translated as a whole may say that it is: a page half in one language is read wrongly aloud.
TRANSLATED = (
    "/annotate/",
    "/account/sign-in/",
    "/language/",
    "/api/v1/assignments/",
    "/api/v1/campaigns/",
)


class LanguageMiddleware(LocaleMiddleware):
    """Take the language from the cookie or the browser, on addresses whose pages are translated."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(TRANSLATED):
            super().process_request(request)
        else:
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
