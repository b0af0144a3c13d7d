"""A person who uses a campaign on a phone in another language, and the English words that they see."""

import os
import re
from pathlib import Path

from catalog.models import Attribute
from tests.e2e.conftest import PHONE
from tests.foundation.catalogues import DOMAINS, compiled

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
  const left = "script, style, template, noscript, kbd, code, body [lang]";
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
    """Return the words of the English texts that the language's own texts do not use, except NAMES."""
    english, own = set(), set()
    for source, words in compiled(language, *DOMAINS):
        if source != words:
            english |= words_in(source)
        own |= words_in(words)
    return english - own - NAMES


def lead_words() -> set[str]:
    return words_in(" ".join([PROMPT, *Attribute.objects.values_list("text", flat=True)]))


class Walk:
    """A person with a phone, and the English words seen so far."""

    def __init__(self, page, language: str, *, names: str = "") -> None:
        """`names` are words of the study, of a panel or of the person, which are the same in every language."""
        self.page, self.language = page, language
        self.left_as_is = lead_words() | words_in(names)
        self.english = english_words(language) - self.left_as_is
        self.met: dict[str, list[str]] = {}

    def look(self, name: str) -> None:
        """Read a whole page, including titles and labels."""
        assert self.page.locator("html").get_attribute("lang") == self.language, name
        assert self.page.locator("html").get_attribute("dir") == "ltr", name
        read = words_in(self.page.evaluate(READ))
        left = read & self.english
        if self.language == "hi":  # all words in Latin letters
            left |= {
                word for word in read - NAMES - self.left_as_is if re.match("[a-z]", word)
            } - self.codes()
        if left:
            self.met[name] = sorted(left)
        assert self.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        if PICTURES:
            self.page.screenshot(path=Path(PICTURES) / f"{self.language}-{name}.png", full_page=True)

    def codes(self) -> set[str]:
        return words_in(" ".join(self.page.locator(".nowrap").all_inner_texts()))

    def begin(self, address: str) -> None:
        """Open an invitation and choose the language."""
        self.page.goto(address)
        with self.page.expect_navigation():
            self.page.locator(f"form.language button[value={self.language}]").tap()

    def tap(self, selector: str) -> None:
        self.page.locator(selector).first.tap()

    def onward(self) -> None:
        """Tap the large button of a page."""
        self.onward_by("form.about-you [name=skip], main .button.primary.large")

    def onward_by(self, selector: str) -> None:
        """Tap an element that leads to another page."""
        with self.page.expect_navigation():
            self.tap(selector)

    def answer(self, *, last: bool = False) -> None:
        """Answer a screen: the first answer of each question, or the last; all required questions."""
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
        for area in self.page.locator("form.task-form textarea:visible:not([inert] *)").all():
            area.fill("…")

    def submit(self) -> None:
        self.tap("[data-submit]")
