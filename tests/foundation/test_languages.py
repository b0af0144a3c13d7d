"""The catalogues of every language are complete, keep their placeholders, and contain no English."""

import re
import shutil
import subprocess

import polib
import pytest
from django.conf import settings
from django.utils import translation

from accounts import consent_texts
from foundation.languages import LANGUAGES, TRANSLATIONS, Language, built_in, of_locale, translations
from tests.foundation.catalogues import DOMAINS, compiled, messages, path_of

# The same in every language: names, and keys of a keyboard.
NAMES = {
    *("Label", "Studio", "Stereoscope", "JavaScript", "API", "UUID", "submission_id", "active_seconds"),
    *("Shift", "Ctrl", "Tab", "Escape", "D"),
    *("CSV", "JSON"),
}
SAME = {"in Label Studio", " min", "No", "Text %(number)s"}
SAME_IN = {
    "de": {"Browser", "Name", "Passkey"},
    "es": {"Ctrl"},
    "hi": {"Ctrl", "Delete", "Enter", "Shift", "Space"},  # as on keyboards sold in India
}
DEVANAGARI = re.compile(r"[\u0900-\u097f]")
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%d|%%")
_TAG = re.compile(r"<[^>]*>")


CATALOGUES = [(language, domain) for language in TRANSLATIONS for domain in DOMAINS]


@pytest.mark.parametrize(("language", "domain"), CATALOGUES)
class TestCatalogue:
    """Each catalogue separately."""

    def test_nothing_is_empty_or_fuzzy(self, language, domain):
        written = polib.pofile(str(path_of(language, domain, "po")), check_for_duplicates=True)
        assert [entry.msgid for entry in written if entry.fuzzy or entry.obsolete] == []
        assert [message.source for message in messages(written) if not message.words.strip()] == []

    def test_what_servers_read_is_what_was_written(self, language, domain, tmp_path):
        path = path_of(language, domain, "po")
        assert sorted(messages(polib.pofile(str(path)))) == sorted(compiled(language, domain))
        if shutil.which("msgfmt"):
            subprocess.run(["msgfmt", "--check-format", "-o", tmp_path / "checked.mo", path], check=True)

    def test_placeholders_and_tags_are_those_of_the_source(self, language, domain):
        for source, words in compiled(language, domain):
            given, kept = set(_PLACEHOLDER.findall(source)), set(_PLACEHOLDER.findall(words))
            assert kept == given or kept - given == {"%(count)s"}, source
            assert sorted(_TAG.findall(source)) == sorted(_TAG.findall(words)), source

    def test_no_english_is_left(self, language, domain):
        same = [
            one.source
            for one in compiled(language, domain)
            if one.words == one.source
            and one.source not in SAME | SAME_IN[language]
            and re.search(r"[a-z]{2}", _bare(one.source))
        ]
        assert same == []


def _bare(text: str) -> str:
    return _TAG.sub(" ", _PLACEHOLDER.sub(" ", text))


@pytest.mark.parametrize("domain", DOMAINS)
def test_hindi_is_written_in_devanagari(domain):
    for source, words in compiled("hi", domain):
        if source in SAME_IN["hi"]:
            continue
        assert set(re.findall(r"[A-Za-z_]+", _bare(words))) <= NAMES, source
        assert DEVANAGARI.search(words) or not re.search("[a-z]{2}", _bare(source)), source


def test_settings_offer_the_languages_of_the_table():
    assert dict(settings.LANGUAGES) == {code: one.name for code, one in LANGUAGES.items()}


def test_a_language_is_a_draft_until_somebody_reviewed_it():
    assert Language("eo", "Esperanto", "Esperanto").is_draft
    assert not Language("eo", "Esperanto", "Esperanto", reviewed="A. Speaker, 2026-11-23").is_draft
    assert not LANGUAGES["en"].is_draft


@pytest.mark.parametrize(
    ("locale", "code"), [("es-mx", "es"), ("hi", "hi"), ("en-gb", "en"), ("ja", "en"), (None, "en")]
)
def test_a_locale_is_read_in_the_language_it_belongs_to(locale, code):
    assert of_locale(locale) == code


class TestBuiltInTexts:
    """Consent, content notice and support in the platform's built-in texts."""

    @pytest.mark.parametrize("name", ["DEFAULT_BODY", "DEFAULT_NOTICE", "DEFAULT_SUPPORT"])
    def test_they_are_in_every_language_with_every_paragraph(self, name):
        text = getattr(consent_texts, name)
        found = translations(text)
        assert set(found) == set(TRANSLATIONS)
        for words in found.values():
            assert words.count("\n\n") == text.count("\n\n")
            headings = [part.heading for part in consent_texts.parts(text)]
            assert [bool(part.heading) for part in consent_texts.parts(words)] == [
                bool(one) for one in headings
            ]

    def test_a_text_with_one_paragraph_of_somebody_elses_is_not_translated(self):
        assert built_in(f"{consent_texts.DEFAULT_NOTICE}\n\nWrite to us.", "es") is None


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_language_is_written_from_left_to_right(language):
    with translation.override(language):
        assert not translation.get_language_bidi()
