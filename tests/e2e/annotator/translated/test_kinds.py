"""On a phone in German, Spanish and Hindi, every kind shows no English from the invitation to the end.

English words are those of the catalogues that the language itself does not use. A lead's texts are not translated.
"""

import pytest

from accounts.models import AnnotatorProfile
from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation
from foundation.languages import TRANSLATIONS
from generation.images.storage import store_image
from studies.models import Study
from tests.annotation.annotator.questions.test_german import add_practice
from tests.annotation.factories import options_for
from tests.e2e.annotator.steps import link, rating
from tests.e2e.annotator.translated.walk import PROMPT, READ, Walk, english_words, words_in
from tests.e2e.conftest import PHONE
from tests.generation.drawings import drawing

__all__ = ["rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def campaigns(study, lead) -> dict[str, object]:
    """An open campaign of each kind, about images of one scenario by three models."""
    number = 0
    for group in study.groups.order_by("name"):
        for model in ("north", "south", "west"):
            number += 1
            data = drawing(number, "drum", "tall hat")
            image = store_image(study=study, data=data, group=group, model_label=model, prompt=PROMPT).image
            type(image).objects.filter(pk=image.pk).update(scenario="drummer")
    Study.objects.filter(pk=study.pk).update(simulated=False)
    opened = {}
    for key, kind in KINDS.items():
        options = options_for(kind) | ({"texts": ["…", "…!"]} if kind.stimuli.medium == "text" else {})
        if kind.about_attributes:
            options = {}
        draft = lifecycle.create(study=study, name=key, kind=key, by=lead, options=options)
        opened[key] = lifecycle.open_(campaign=draft, by=lead)
        if kind.knowable:
            add_practice(opened[key], kind, lead)
    return opened


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_kind_is_done_on_a_telephone_without_a_word_of_english(new_page, campaigns, language):
    page = new_page(size=PHONE, touch=True)
    walk = Walk(page, language)
    walk.begin(link(campaigns["rubric"]))
    for key, campaign in campaigns.items():
        do(walk, campaign, KINDS[key])
    page.goto("/annotate/")
    walk.look("home")
    page.goto("/annotate/time-and-pay/")
    walk.look("pay")
    assert AnnotatorProfile.objects.get().nationality  # entered during the walk
    assert Annotation.objects.values("campaign").distinct().count() == len(KINDS)
    assert walk.met == {}


def do(walk: Walk, campaign, kind) -> None:
    """Complete one campaign, from its invitation to its last page."""
    page, key = walk.page, kind.key
    page.goto(link(campaign))
    walk.look(f"{key}-invitation")
    walk.onward()
    for step in ("consent", "about-you", "link"):
        if page.url.rstrip("/").endswith(step):
            walk.look(step)
            if step == "about-you":
                describe_oneself(walk)
            else:
                walk.onward()
    if kind.knowable:
        page.goto(f"/annotate/{campaign.pk}/practice/")
        walk.look(f"{key}-practice")
        walk.onward()
        walk.answer(last=True)
        walk.look(f"{key}-practice-task")
        with page.expect_navigation():
            walk.submit()
        walk.look(f"{key}-feedback")
    page.goto(f"/annotate/{campaign.pk}/")
    walk.answer()
    walk.look(f"{key}-task")
    with page.expect_response(lambda response: response.url.rstrip("/").endswith("/submit")):
        walk.submit()
    page.wait_for_timeout(50)
    walk.look(f"{key}-saved")
    page.goto(f"/annotate/{campaign.pk}/answers/")
    walk.look(f"{key}-answers")
    page.goto(f"/annotate/{campaign.pk}/done/")
    walk.look(f"{key}-done")


def describe_oneself(walk: Walk) -> None:
    """Choose a country by its name in the language, and save."""
    country = walk.page.locator("#id_nationality_suggestions option").nth(5).get_attribute("value")
    walk.page.locator("[name=nationality]").fill(country)
    walk.onward_by("form.about-you .button:not([name])")


def test_the_search_finds_english(new_page, rating):
    page = new_page(size=PHONE, touch=True)
    page.goto(link(rating))
    assert {"invited", "words"} <= words_in(page.evaluate(READ)) & english_words("es")
