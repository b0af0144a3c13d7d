"""A person who answers with one thumb: taps visible controls, and only scrolls down.

Measurements are collected in `steps`: the visible share of each picture or text when an answer is tapped,
and how far the tap moves the picture, the tapped control, the other answers and Submit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The tappable area, which nothing covers: below the sticky pictures, above the row of Submit.
SEE = """() => {
  const bar = document.querySelector(".sticky-actions").getBoundingClientRect();
  const screen = { top: 0, bottom: Math.min(bar.top, innerHeight), left: 0, right: innerWidth };
  const share = (element) => {
    const box = element.getBoundingClientRect();
    const width = Math.min(box.right, screen.right) - Math.max(box.left, screen.left);
    const height = Math.min(box.bottom, screen.bottom) - Math.max(box.top, screen.top);
    return width <= 0 || height <= 0 ? 0 : (width * height) / (box.width * box.height);
  };
  const place = (element) => {
    const { left, top, bottom } = element.getBoundingClientRect();
    return { left, top, bottom };
  };
  const judged = [...document.querySelectorAll(".layer > img, .text-stimulus, .rating [data-question]")];
  const all = [...document.querySelectorAll("form.task-form .choice, .place, .word")];
  return {
    judged: judged.map((one) => ({
      ...place(one), share: share(one), width: one.clientWidth, height: one.clientHeight,
    })),
    answers: all.filter((one) => one.offsetParent).map(place),
    asked: [...document.querySelectorAll("[data-asked]:not([hidden])")].map((one) => one.dataset.asked),
    submit: place(document.querySelector("[data-submit]")),
    bottom: screen.bottom,
    scrolled: scrollY,
  };
}"""
AT = """(element) => {
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const hit = document.elementFromPoint(x, y);
  const seen = hit !== null && (element.contains(hit) || hit.contains(element));
  return { x, y, bottom: top + height, seen, over: hit?.outerHTML.slice(0, 90) };
}"""


@dataclass(frozen=True)
class Step:
    """One tap on an answer."""

    name: str
    shares: tuple[float, ...]  # visible share of each picture or text
    sizes: tuple[tuple[float, float], ...]
    moved: Mapping[str, float]  # in CSS pixels, by the element that moved


@dataclass
class Thumb:
    """A phone, and the measurements on it."""

    page: Any
    steps: list[Step] = field(default_factory=list)
    scrolled_back: float = 0.0
    scrolled: float = 0.0

    def see(self) -> dict[str, Any]:
        return self.page.evaluate(SEE)

    def reach(self, target: Any) -> dict[str, Any]:
        """Scroll down until the target is above the row of Submit, and return its position."""
        for _ in range(20):
            at = target.evaluate(AT)
            hidden_by = at["bottom"] - self.see()["bottom"]
            if hidden_by <= 0:
                break
            self.page.evaluate("(by) => scrollBy({ top: by, behavior: 'instant' })", hidden_by + 8)
        at = target.evaluate(AT)
        assert at["seen"], f"{target} is hidden at {at}"
        return at

    def tap(self, target: Any, name: str) -> None:
        """Tap an answer, and measure."""
        at = self.reach(target)
        before = self.see()
        self.page.touchscreen.tap(at["x"], at["y"])
        self.page.wait_for_timeout(60)
        after, there = self.see(), target.evaluate(AT)
        self.keep(name, before, after, abs(there["y"] - at["y"]))

    def keep(self, name: str, before: dict[str, Any], after: dict[str, Any], tapped: float = 0.0) -> None:
        same = before["asked"] == after["asked"]
        moved = {
            "judged": _farthest(before["judged"], after["judged"]),
            # A dependent question appears in its place, and those below it move.
            "answers": _farthest(before["answers"], after["answers"]) if same else 0.0,
            "submit": abs(before["submit"]["top"] - after["submit"]["top"]),
            "tapped": tapped,
        }
        judged = after["judged"]
        sizes = tuple((one["width"], one["height"]) for one in judged)
        self.steps.append(Step(name, tuple(round(one["share"], 2) for one in judged), sizes, moved))
        self.scrolled_back = max(self.scrolled_back, self.scrolled - after["scrolled"])
        self.scrolled = after["scrolled"]

    def mark(self, shape: str, *corners: tuple[float, float]) -> None:
        """Tap points of the first picture, given in fractions of it."""
        picture = self.page.locator(".layer > img").first
        box = picture.bounding_box()
        before = self.see()
        size = min(box["width"], box["height"])
        left = box["x"] + (box["width"] - size) / 2
        for x, y in corners:
            self.page.touchscreen.tap(left + x * size, box["y"] + y * size)
        self.page.wait_for_timeout(60)
        self.keep(f"draw {shape}", before, self.see())


def _farthest(before: list[dict[str, float]], after: list[dict[str, float]]) -> float:
    if len(before) != len(after):
        before, after = before[: len(after)], after[: len(before)]
    return max(
        (
            max(abs(one["top"] - two["top"]), abs(one["left"] - two["left"]))
            for one, two in zip(before, after, strict=True)
        ),
        default=0.0,
    )


def answer_screen(thumb: Thumb) -> None:
    """Answer all questions of a screen from top to bottom; each answer of a question is tapped once."""
    page = thumb.page
    if page.locator("[data-attributes]").count():
        return _mark_attributes(thumb)
    if page.locator("[name=rating]").count():
        for place, label in enumerate(page.locator("fieldset.choices .choice").all()):
            thumb.tap(label, f"answer {place + 1}")
        return thumb_writes(thumb, page.locator("[data-justification] textarea"))
    return _answer_questions(thumb)


def _mark_attributes(thumb: Thumb) -> None:
    rows = thumb.page.locator("[data-attribute]")
    for number in range(rows.count()):
        thumb.tap(rows.nth(number).locator("label.choice"), f"tick {number + 1}")
        left = 0.02 + 0.19 * number
        thumb.mark("box", (left, 0.1), (left + 0.16, 0.6))
        assert thumb.page.locator("[data-overlay] [data-box]").count() == number + 1


def _answer_questions(thumb: Thumb) -> None:
    page, answered = thumb.page, set()
    while True:
        names = page.locator("[data-asked]:visible:not([inert])").evaluate_all(
            "(all) => all.map((one) => one.dataset.asked)"
        )
        name = next((name for name in names if name not in answered), None)
        if name is None:
            return
        answered.add(name)
        asked = page.locator(f"[data-asked='{name}']")
        for place, row in enumerate(asked.locator("[data-row]").all()):
            thumb.tap(row.locator(".place").nth(place), f"{name} {place + 1}")
        for place, label in enumerate(asked.locator(".word, .choice").all()):
            if label.locator("[value=none]").count() and asked.locator(".word, [type=checkbox]").count():
                continue  # it would clear the others
            thumb.tap(label, f"{name} {place + 1}")
        if asked.locator("textarea:visible").count():
            thumb_writes(thumb, asked.locator("textarea"))
        if asked.locator("[data-region]:visible").count():
            thumb.mark("place", (0.4, 0.4))


def thumb_writes(thumb: Thumb, area: Any) -> None:
    thumb.tap(area, "write")
    area.fill("Because of the hat.")
