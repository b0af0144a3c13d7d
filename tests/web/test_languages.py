"""The settings list the addresses whose pages follow the reader's language; all other pages are in English."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.translation import get_language

from web.languages import LanguageMiddleware


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("/annotate/", "de"),
        ("/annotate/7/", "de"),
        ("/", "de"),
        ("/account/sign-in/", "de"),
        ("/account/", "de"),
        ("/studies/annotate/", "en"),
    ],
)
def test_the_language_is_the_readers_on_translated_addresses_only(path, language):
    request = RequestFactory(HTTP_ACCEPT_LANGUAGE="de").get(path)
    LanguageMiddleware(lambda _: HttpResponse()).process_request(request)
    assert get_language() == language


def test_another_list_of_addresses_is_followed(settings):
    settings.TRANSLATED_PATHS = ("/studies/",)
    request = RequestFactory(HTTP_ACCEPT_LANGUAGE="de").get("/studies/isles/")
    LanguageMiddleware(lambda _: HttpResponse()).process_request(request)
    assert get_language() == "de"
