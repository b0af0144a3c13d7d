"""Everything annotators read is in each of their languages, and untranslated pages are marked as English."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.translation import override
from django.utils.translation.template import templatize

from annotation.annotator.translation.scripts import script_words
from annotation.campaigns.instruments import versions
from foundation.languages import TRANSLATIONS
from tests.annotation.annotator.test_onboarding import invite
from tests.foundation.catalogues import compiled
from tests.web.markup import compact

ROOT = Path(__file__).resolve().parents[3]
ANNOTATOR = ROOT / "annotation"
PLATFORM = ROOT / "platform"
WEB = PLATFORM / "web" / "templates"
# Frames of leads, analysts and operators, whose pages are in English.
ENGLISH = {
    *("plot.html", "progress.html", "progress_segments.html"),
    "base.html",
    "gallery.html",
    "api_docs.html",
    "pagination.html",
    "key_pagination.html",
    "data_table.html",
}
TEMPLATES = [
    *sorted((ANNOTATOR / "templates" / "annotation" / "annotator").rglob("*.html")),
    *sorted((ANNOTATOR / "recruitment" / "templates" / "recruitment" / "panel").rglob("*.html")),
    # Second factors are for people who work on studies.
    *sorted(
        path for path in (PLATFORM / "accounts" / "templates").rglob("*.html") if "mfa" not in path.parts
    ),
    *sorted((PLATFORM / "privacy" / "templates" / "privacy" / "own_data").rglob("*.html")),
    *sorted(path for path in WEB.rglob("*.html") if path.name not in ENGLISH),
    PLATFORM / "front" / "templates" / "front" / "landing.html",
]
SOURCES = [ROOT / folder for folder in ("platform", "annotation", "generation", "analysis")]
SCRIPTS = sorted((ANNOTATOR / "static" / "annotation" / "annotator").rglob("*.js"))
# The same in every language.
NAMES = {"Stereoscope", "Tab", "doctype", "html", "sts"}
MARKED = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
SPOKEN = re.compile(
    r'\b(?:aria-label|alt|title|placeholder|data-busy|data-copied)="([^"{]*[A-Za-z]{2}[^"{]*)"'
)
TRANSLATED = re.compile(
    r"\{% blocktranslate.*?\{% endblocktranslate %\}|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL
)
# Tags whose arguments are read by people; a tone is not.
ARGUMENTS = re.compile(r"\{% (?:notice|empty_state|page_header|copyable|content_warning) ([^%]*)%\}")


@pytest.fixture(scope="module", params=TRANSLATIONS)
def translated(request) -> dict[str, set[str]]:
    """The texts that a language has, by catalogue, as a server reads them."""
    return {
        domain: {message.source for message in compiled(request.param, domain) if message.words}
        for domain in ("django", "djangojs")
    }


def untranslated(text: str) -> list[str]:
    """Return the words of a template that nothing translates."""
    found = list(SPOKEN.findall(text))
    for arguments in ARGUMENTS.findall(text):
        words = re.findall(r'(?<!_\()"([^"]*)"', arguments)
        found += [one for one in words if one not in {"info", "good", "warn", "bad"}]
    # A block's name or class is no word: only its text is read.
    text = re.sub(r"\{% block (?:main_class|body_class|shell_class|lang) %\}.*?\{% endblock %\}", "", text)
    bare = re.sub(r"<(?:[^<>\"]|\"[^\"]*\")*>", " ", TRANSLATED.sub(" ", text))
    return found + [word for word in re.findall(r"[A-Za-z]{2,}", bare) if word not in NAMES]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_word_of_an_annotators_page_is_left_untranslated(path):
    text = path.read_text(encoding="utf-8").replace("<!doctype html>", "")
    assert untranslated(text) == []


def test_nearly_every_template_that_annotators_read_is_searched():
    """The search covers every base template of annotators, and every page that extends one."""
    frames = re.compile(
        r'extends "web/(?:base_annotator|base_plain|base_frame|outage|error)\.html"|extends base_template'
    )
    extending = {
        path
        for folder in SOURCES
        for path in folder.rglob("*.html")
        if frames.search(path.read_text(encoding="utf-8"))
    }
    assert len(extending) > 25
    assert {path.name for path in extending - set(TEMPLATES) if "mfa" not in path.parts} <= ENGLISH


def test_the_search_for_untranslated_words_finds_them():
    assert untranslated('<p>Plain words</p>{% notice "warn" "Title" %}<img alt="A hat">') == [
        "A hat",
        "Title",
        "Plain",
        "words",
    ]


def of_template(path: Path) -> set[str]:
    source = templatize(path.read_text(encoding="utf-8"))
    calls = re.findall(
        r"gettext\(u?('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\"\"\".*?\"\"\")", source, re.DOTALL
    )
    return {" ".join(str(ast.literal_eval(one)).split("\n")) for one in calls}


def of_python(path: Path) -> set[str]:
    calls = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    )
    named = (
        node for node in calls if isinstance(node.func, ast.Name) and node.func.id in MARKED and node.args
    )
    return {node.args[0].value for node in named if isinstance(node.args[0], ast.Constant)}


@cache
def marked() -> dict[str, str]:
    """Return every text that is marked for translation anywhere, with the file it is in."""
    found = {}
    for folder in SOURCES:
        for path in (*folder.rglob("*.html"), *folder.rglob("templates/**/*.txt")):
            found |= dict.fromkeys(of_template(path), path.name)
        for path in folder.rglob("*.py"):
            found |= dict.fromkeys(of_python(path), path.name)
    return found


def test_every_text_that_is_marked_for_translation_is_translated(translated):
    missing = {words: name for words, name in marked().items() if words and words not in translated["django"]}
    assert missing == {}


def test_the_words_of_templates_and_views_are_found():
    assert "Take a break" in of_template(ANNOTATOR / "templates/annotation/annotator/task/task.html")
    assert "This task is not yours, or no longer exists." in of_python(ANNOTATOR / "annotator" / "access.py")


def test_every_word_of_the_scripts_is_translated(translated):
    said = {
        words
        for path in SCRIPTS
        for words in re.findall(r'gettext\("((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8"))
    }
    assert len(said) > 40
    assert sorted(said - translated["djangojs"]) == []


def test_scripts_take_all_texts_from_the_catalogue():
    sentences = re.compile(r'(?<!gettext\()"([A-Z][^"]* [^"]*[.…])"|`[A-Z][a-z]+ [^`]*\$\{')
    for path in SCRIPTS:
        code = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        code = re.sub(r'ngettext\("[^"]*", "[^"]*"', "", code)
        assert sentences.findall(code) == [], path.name


REFUSALS = {"DomainError", "Conflict", "Forbidden", "NotFound"}
# Modules that refuse annotators: answers, assignment, practice, invitations and profiles.
REFUSING = [
    ANNOTATOR / "annotator",
    *(
        ANNOTATOR / "answers" / name
        for name in ("submission.py", "submission_rules.py", "validation.py", "questions")
    ),
    *(
        ANNOTATOR / "assignment" / name
        for name in ("leases.py", "eligibility.py", "slots.py", "selection.py")
    ),
    ANNOTATOR / "quality" / "practice",
    PLATFORM / "studies" / "consent.py",
]


def test_every_sentence_that_refuses_an_annotator_is_translated(translated):
    paths = [path for place in REFUSING for path in (place.rglob("*.py") if place.is_dir() else [place])]
    said = {
        node.args[1].value
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in REFUSALS
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    assert len(said) >= 15
    assert sorted(said - translated["django"]) == []


def test_a_browser_that_asks_for_german_gets_pages_wholly_in_german(join, marking):
    client = join(marking)
    text = client.get(
        reverse("annotate:task", args=[marking.pk]), headers={"accept-language": "de"}
    ).content.decode()
    assert '<html lang="de" dir="ltr">' in text
    for words in ("Abschicken", "Nichts davon", "Pause machen", 'id="words"', "Rahmen"):
        assert words in text
    # The statement is the kind's own, which has it in German; what a lead writes stays as it is.
    assert "Was davon zeigt das Bild, und wo?" in text
    versions.revise(campaign=marking, statement="Which can you see?", by=None)
    text = client.get(
        reverse("annotate:task", args=[marking.pk]), headers={"accept-language": "de"}
    ).content.decode()
    assert "Which can you see?" in text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", ("Enviar", "Nada de lo anterior", "¿Qué muestra de esto la imagen y dónde?")),
        ("hi", ("भेजें", "इनमें से कुछ नहीं", "तस्वीर इनमें से क्या दिखाती है, और कहाँ?")),
    ],
)
def test_pages_say_which_language_they_are_in(join, marking, language, words):
    answer = join(marking).get(
        reverse("annotate:task", args=[marking.pk]), headers={"accept-language": language}
    )
    text = answer.content.decode()
    assert f'<html lang="{language}" dir="ltr">' in text
    assert [one for one in words if one not in text] == []


def test_a_chosen_language_overrides_that_of_the_browser(client, marking):
    address = invite(marking)
    assert ">Deutsch</button>" in compact(client.get(address).content.decode())
    answer = client.post(reverse("set_language"), {"language": "de", "next": address})
    assert answer.url == address
    assert "Sie sind eingeladen" in client.get(address, headers={"accept-language": "en"}).content.decode()
    client.post(reverse("set_language"), {"language": "en", "next": address})
    assert "You are invited" in client.get(address, headers={"accept-language": "de"}).content.decode()


def test_a_refusal_reaches_a_program_of_an_annotator_in_their_language(join, marking):
    client = join(marking)
    payload = client.get(reverse("annotate:task", args=[marking.pk])).context["payload"]
    address = reverse("api:assignment-submit", args=[payload["assignment"]])
    body = {"submission_id": "5f0c3c1e-58a5-4d7b-9a55-0a3b8c1d2e4f", "answer": {}}
    answer = client.post(address, body, content_type="application/json", headers={"accept-language": "de"})
    assert "Kreuzen Sie an, was das Bild zeigt" in str(answer.json()["error"]["fields"])


def test_pages_that_are_not_translated_do_not_say_that_they_are(lead_client, study):
    text = lead_client.get("/studies/", headers={"accept-language": "de"}).content.decode()
    assert '<html lang="en"' in text
    assert "Abmelden" not in text


def test_english_pages_carry_no_catalogue():
    assert script_words("en") == {}
    with override("de"):
        assert script_words("de")["%(count)s box"] == ["%(count)s Rahmen", "%(count)s Rahmen"]
