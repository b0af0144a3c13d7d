"""Readers of German see no English sentence in any kind of campaign.

Texts by leads are not translated: consent, support, and guidelines once they are changed.
"""

import html
import re

import pytest
from django.urls import reverse

from annotation.answers.questions.known_answers import answers_of
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.instruments import versions
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import TextQuestion
from annotation.kinds.registry import KINDS
from annotation.simulation.questions import QuestionTruth, answer_questions
from catalog.models import Attribute
from foundation.languages import TRANSLATIONS, translations
from tests.annotation.factories import add_prompted_images, options_for
from tests.annotation.labelling.production_paths import ByVerbs, ticking_all
from tests.foundation.catalogues import compiled

pytestmark = pytest.mark.django_db
TRUTH = QuestionTruth(seed=1)
_FEW_WORDS = 3  # shorter texts may be the same in both languages


def texts_of(kind: Kind) -> list[dict[str, str]]:
    """Return the kind's texts for annotators by language, without its guidelines."""
    found = [kind.work]
    for question in kind.questions:
        found.append(question.label)
        for name in ("points", "answers"):
            found += [one.label for one in getattr(question, name, ())]
        found += [texts for name in ("none", "tie") if (texts := getattr(question, name, None))]
    return found


def sentences_of(kind: Kind) -> set[str]:
    """Return the kind's texts for annotators in English."""
    return set(kind.guidelines.split("\n\n")) | {texts["en"] for texts in texts_of(kind)}


def sentences_of_pages() -> set[str]:
    texts = {message.source for message in compiled("de", "django")}
    plain = {" ".join(re.sub(r"<[^>]+>", "", text).split()) for text in texts if "%(" not in text}
    return {text for text in plain if len(text.split()) >= _FEW_WORDS}


def text_of(page) -> str:
    body = re.sub(r"<(script|style).*?</\1>", " ", page.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def campaign_of(kind: Kind, study, lead):
    add_prompted_images(study, ["a {id} house", "a {id} boat"], models=("north", "south", "east"))
    draft = lifecycle.create(study=study, name="Questions", kind=kind.key, by=lead, options=options_for(kind))
    return lifecycle.open_(campaign=draft, by=lead)


def add_practice(campaign, kind: Kind, lead) -> None:
    given = {"campaign": campaign, "purpose": "practice", "by": lead}
    if kind.about_attributes:
        drum = Attribute.objects.get(text="drum")
        image = campaign.study.images.first() if kind.marks_attributes else None
        right = True if kind.marks_attributes else [4, 5]
        known_tasks.add(
            **given, content=known_tasks.TaskContent(image=image, attributes=[drum]), answers={drum: right}
        )
        return
    shown = known_tasks.as_screen(known_tasks.screens_of(campaign)[0]).stimuli
    answers = {}
    for part in known_tasks.screen_parts(kind, len(shown)):
        question = kind.question(part.question)
        if question.type == "rank":
            answers[part] = list(range(1, len(shown) + 1 - kind.stimuli.prompt_shown))
        elif question.when is None:
            answers[part] = answers_of(question, ("s1", "s2"))[-1:]
    known_tasks.add(**given, content=known_tasks.TaskContent(stimuli=shown), answers=answers)


def fields_of(payload) -> dict[str, object]:
    """Return the fields of a form that answers a practice task."""
    if "questions" not in payload:
        return {"rating": "5", "none_of_the_above": "1"}
    answered = answer_questions(payload, TRUTH, lambda *parts: TRUTH.generator("a form", *parts))["answers"]
    fields: dict[str, object] = {}
    for name, value in answered.items():
        if isinstance(value, dict):
            fields |= {f"answers.{name}.{ref}": str(one) for ref, one in value.items()}
        elif isinstance(value, list):
            fields[f"answers.{name}"] = [str(one) for one in value] or "none"
        else:
            fields[f"answers.{name}"] = str(value)
    return fields


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_readers_of_german_see_no_english_sentence(kind, study, lead, join):
    campaign = campaign_of(kind, study, lead)
    client = join(campaign)
    client.cookies["stereoscope_language"] = "de"
    pages = {}

    def go(name, *more, **form):
        address = reverse(f"annotate:{name}", args=[campaign.pk, *more])
        pages[name] = client.post(address, form, follow=True) if form else client.get(address)
        assert pages[name].status_code == 200, name
        return pages[name]

    task = go("task").context["payload"]
    leased = ByVerbs().next_task(campaign, client.enrolment.annotator)
    if "questions" in task:
        answer = answer_questions(task, TRUTH, lambda *parts: TRUTH.generator(*parts))
    else:
        answer = ticking_all(leased) if kind.marks_attributes else {"rating": 4}
    ByVerbs().submit(leased, by=client.enrolment.annotator, answer=answer)
    go("answers")
    go("done")
    if kind.knowable:
        add_practice(campaign, kind, lead)
        other = join(campaign)
        other.cookies["stereoscope_language"] = "de"
        client = other
        go("practice")
        practised = go("practice_task").context["payload"]
        go("practice_answer", practised["task"], **fields_of(practised))
    english = sentences_of(kind) | sentences_of_pages()
    left = {
        name: sorted(one for one in english if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text_of(page)))
        for name, page in pages.items()
    }
    assert {name: found for name, found in left.items() if found} == {}
    assert pages["task"].context["payload"]["instrument"]["guidelines"] == kind.guidelines_in["de"]


def test_the_search_finds_what_is_left_in_english(study, lead, join):
    kind = next(kind for kind in KINDS.values() if kind.rates_attributes)
    campaign = campaign_of(kind, study, lead)
    text = text_of(join(campaign).get(reverse("annotate:task", args=[campaign.pk])))
    assert kind.statement in text
    assert "Take a break" in text
    assert "Take a break" in sentences_of_pages()


def test_texts_written_by_a_lead_are_shown_unchanged(study, lead, join):
    kind = next(kind for kind in KINDS.values() if kind.rates_attributes)
    campaign = campaign_of(kind, study, lead)
    labels = kind.labels | {"5": "Definitely"}
    versions.revise(campaign=campaign, by=lead, guidelines="Look twice.", statement=None, labels=labels)
    client = join(campaign)
    client.cookies["stereoscope_language"] = "de"
    instrument = client.get(reverse("annotate:task", args=[campaign.pk])).context["payload"]["instrument"]
    assert (instrument["guidelines"], instrument["labels"]) == ("Look twice.", labels)
    assert instrument["statement"] == "Das lässt sich in einem Bild zeigen."


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_every_text_of_a_kind_is_in_every_language(kind):
    assert set(kind.guidelines_in) == set(TRANSLATIONS)
    for guidelines in kind.guidelines_in.values():
        assert guidelines.count("\n\n") == kind.guidelines.count("\n\n")
    for texts in texts_of(kind):
        assert set(texts) == {"en", *TRANSLATIONS}


def test_texts_of_a_study_are_kept_and_the_rest_comes_from_the_catalogue():
    label = {"en": "What differs?", "de": "Worin liegt der Unterschied?"}
    question = TextQuestion(name="difference", label=label)
    assert question.label == {**translations("What differs?"), **label}
    own = TextQuestion(name="own", label={"en": "Which hat?", "de": "Welcher Hut?"})
    assert own.label == {"en": "Which hat?", "de": "Welcher Hut?"}
