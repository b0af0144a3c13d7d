"""On a phone, every kind is answered with the picture or text in view, without scrolling back or jumps."""

import json
import os
from pathlib import Path

import pytest

from annotation.kinds.registry import KINDS
from annotation.models import Judgement
from tests.e2e.annotator.phone.campaigns import open_campaign
from tests.e2e.annotator.phone.thumb import Thumb, answer_screen
from tests.e2e.annotator.steps import join

__all__ = ["open_campaign"]
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the screens and for measurements
SIZES = {
    "390x844": {"width": 390, "height": 844},
    "360x640": {"width": 360, "height": 640},
    "844x390": {"width": 844, "height": 390},
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_answered_without_scrolling_back(new_page, open_campaign, kind, size):
    page = new_page(size=SIZES[size], touch=True)
    join(page, open_campaign(kind))
    thumb = Thumb(page)
    picture(page, f"{kind}-{size}-1")
    answer_screen(thumb)
    picture(page, f"{kind}-{size}-2")
    report(thumb, f"{kind}-{size}")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    assert not page.locator(".keys").is_visible() or page.locator("summary .for-fingers").is_visible()
    assert page.locator("kbd:visible").count() == 0
    seen = min(share for step in thumb.steps for share in step.shares)
    assert seen >= 0.9, [step for step in thumb.steps if min(step.shares) < 0.9]
    assert thumb.scrolled_back == 0
    for part in ("judged", "answers", "submit", "tapped"):
        assert max(step.moved[part] for step in thumb.steps) <= 1, part
    submit = page.locator("[data-submit]")
    at = thumb.reach(submit)
    with page.expect_response(lambda response: response.url.rstrip("/").endswith("/submit")) as answer:
        page.touchscreen.tap(at["x"], at["y"])
    assert answer.value.status == 200
    assert Judgement.objects.exists()


def picture(page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def report(thumb: Thumb, name: str) -> None:
    if not PICTURES:
        return
    measured = {
        "taps": len(thumb.steps),
        "least_in_view": min(share for step in thumb.steps for share in step.shares),
        "smallest": min(min(size) for step in thumb.steps for size in step.sizes),
        "scrolled_back": thumb.scrolled_back,
        "moved": {part: max(step.moved[part] for step in thumb.steps) for part in thumb.steps[0].moved},
        "scrolled": thumb.scrolled,
    }
    with (Path(PICTURES) / "measured.jsonl").open("a") as file:
        file.write(json.dumps({"screen": name, **measured}) + "\n")
