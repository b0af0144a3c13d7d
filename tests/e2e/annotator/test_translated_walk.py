"""Read in German, Spanish and Hindi on a telephone, every kind is done from the invitation to the end without English.

English words are those of the catalogues themselves that the language does not use. What a lead writes stays as it is.
"""

import gettext
import os
import re
from pathlib import Path

import pytest

from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation
from catalog.models import Attribute
from foundation.languages import LOCALE, TRANSLATIONS
from generation.images.storage import store_image
from studies.models import Study
from tests.annotation.annotator.questions.test_german import add_practice
from tests.annotation.factories import options_for
from tests.e2e.annotator.steps import link, rating
from tests.e2e.conftest import PHONE
from tests.generation.drawings import drawing

__all__ = ["rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages

PROMPT = "a drum beside a tall hat"
# Names, keys and attributes of pages that are the same in every language.
NAMES = {
    "stereoscope",
    "javascript",
    "label",
    "studio",
    "shift",
    "ctrl",
    "tab",
    "escape",
    "utc",
    "min",
    "api",
}
SHORTEST = 3
READ = """() => {
  const left = "script, style, template, noscript, kbd, code, form.language button";
  const out = [document.title];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) out.push(node.textContent);
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(left)) return;
    for (const name of ["aria-label", "title", "alt", "placeholder", "data-busy", "data-copied", "aria-description"])
      if (node.hasAttribute(name)) out.push(node.getAttribute(name));
    node.childNodes.forEach(walk);
  };
  walk(document.body);
  return out.join(" \\n ");
}"""


def words_in(text: str) -> set[str]:
    plain = re.sub(r"%\(\w+\)[sd]|<[^>]*>|https?://\S+", " ", text)
    return {word.casefold() for word in re.findall(r"[^\W\d_]+", plain) if len(word) >= SHORTEST}


def english_words(language: str) -> set[str]:
    """Return the words of the English texts that the language does not use, and that nothing else shows."""
    english, own = set(), set()
    for domain in ("django", "djangojs", "texts"):
        with (LOCALE / language / "LC_MESSAGES" / f"{domain}.mo").open("rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog
        for key, words in catalogue.items():
            source = key[0] if isinstance(key, tuple) else key
            if source and source != words:
                english |= words_in(source)
                own |= words_in(words)
    return english - own - NAMES


def lead_words() -> set[str]:
    return words_in(" ".join([PROMPT, *Attribute.objects.values_list("text", flat=True)]))


class Walk:
    """Somebody with a telephone, and the English that they met so far."""

    def __init__(self, page, language: str) -> None:
        self.page, self.language = page, language
        self.english = english_words(language) - lead_words()
        self.met: dict[str, list[str]] = {}

    def look(self, name: str) -> None:
        """Read all of a page, titles and labels too."""
        assert self.page.locator("html").get_attribute("lang") == self.language, name
        assert self.page.locator("html").get_attribute("dir") == "ltr", name
        read = words_in(self.page.evaluate(READ))
        left = read & self.english
        if self.language == "hi":  # whatever is written in Latin letters
            left |= {word for word in read - NAMES - lead_words() if re.match("[a-z]", word)} - self.codes()
        if left:
            self.met[name] = sorted(left)
        assert self.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        if PICTURES:
            self.page.screenshot(path=Path(PICTURES) / f"{self.language}-{name}.png", full_page=True)

    def codes(self) -> set[str]:
        return words_in(" ".join(self.page.locator(".nowrap").all_inner_texts()))

    def tap(self, selector: str) -> None:
        self.page.locator(selector).first.tap()

    def onward(self) -> None:
        """Tap the large button of a page."""
        with self.page.expect_navigation():
            self.tap("form.about-you [name=skip], main .button.primary.large")

    def answer(self, *, last: bool = False) -> None:
        """Answer a screen: the first of each answers, or the last; every question that has to be answered."""
        self.page.locator("form.task-form[data-ready]").wait_for()
        if (none := self.page.locator(".none input")).count():
            if last:
                self.tap("[data-attribute] label.choice")
                self.tap("[data-attribute] [data-add]")
            else:
                none.first.check(force=True)
            return
        names = self.page.locator("form.task-form input[type=radio]").evaluate_all(
            "(all) => [...new Set(all.map((one) => one.name))]"
        )
        for place, name in enumerate(names):
            radios = self.page.locator(f"input[type=radio][name='{name}']")
            if not radios.first.locator("xpath=ancestor::fieldset[1]").is_visible():
                continue
            in_order = radios.first.locator("xpath=ancestor::*[@data-row]").count()
            ratings = name == "rating"
            nth = place if in_order else radios.count() - 1 if last and not ratings else 0
            radios.nth(nth).check(force=True)
        for fieldset in self.page.locator("form.task-form fieldset:visible:has(input[type=checkbox])").all():
            boxes = fieldset.locator("input[type=checkbox]")
            boxes.nth(boxes.count() - 1).check(force=True)
        for add in self.page.locator("form.task-form [data-region]:visible [data-add]").all():
            add.tap()
        for area in self.page.locator("form.task-form textarea:visible").all():
            area.fill("…")

    def submit(self) -> None:
        self.tap("[data-submit]")


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
    page.goto(link(campaigns["rubric"]))
    with page.expect_navigation():
        page.locator(f"form.language button[value={language}]").tap()
    for key, campaign in campaigns.items():
        do(walk, campaign, KINDS[key])
    page.goto("/annotate/")
    walk.look("home")
    page.goto("/annotate/time-and-pay/")
    walk.look("pay")
    assert Annotation.objects.values("campaign").distinct().count() == len(KINDS)
    assert walk.met == {}


def do(walk: Walk, campaign, kind) -> None:
    """Do one campaign, from its invitation to its last page."""
    page, key = walk.page, kind.key
    page.goto(link(campaign))
    walk.look(f"{key}-invitation")
    walk.onward()
    for step in ("consent", "about-you", "link"):
        if page.url.rstrip("/").endswith(step):
            walk.look(step)
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


def test_the_search_finds_english(new_page, rating):
    page = new_page(size=PHONE, touch=True)
    page.goto(link(rating))
    assert {"invited", "words"} <= words_in(page.evaluate(READ)) & english_words("es")
