"""Places in the pictures: boxes and points for the answers that ask for them, by mouse and by keys."""

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.questions.payloads import asking, choice, region, scale
from tests.annotation.annotator.scripts.questions.steps import announced, press, sent
from tests.annotation.annotator.scripts.steps import open_task, says, submissions

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

BOX = "[data-overlay=box] [data-box]"
POINT = "[data-overlay=point] [data-point]"


def on_screen(page, x: float, y: float, picture: int = 1) -> tuple[float, float]:
    """Return where a point of a square picture is on the screen: it may be letter-boxed, from the top."""
    box = page.locator(f"[data-stimulus=s{picture}] [data-image]").bounding_box()
    side = min(box["width"], box["height"])
    return box["x"] + (box["width"] - side) / 2 + x * side, box["y"] + y * side


def click(page, x: float, y: float, picture: int = 1) -> None:
    """Click on a picture, in fractions of it."""
    page.mouse.click(*on_screen(page, x, y, picture))


def places(page, server) -> dict[str, list[dict]]:
    """Return the regions that are sent, rounded."""
    regions = sent(page, server)["regions"]
    return {
        name: [
            {key: one if key == "stimulus" else round(one, 2) for key, one in place.items()}
            for place in given
        ]
        for name, given in regions.items()
    }


def test_a_place_is_asked_after_the_answers_that_name_it(page, server):
    open_task(page, server, asking(choice(region=region(after=("hands", "face")))))
    part = page.locator("[data-region]")
    assert part.is_hidden()
    press(page, "1")
    assert part.is_visible()
    press(page, "3")
    assert part.is_hidden()


def test_a_box_is_drawn_and_sent_with_its_question(page, server):
    open_task(page, server, asking(choice(region=region())))
    press(page, "1")
    click(page, 0.2, 0.2)
    click(page, 0.6, 0.7)
    assert page.locator(BOX).count() == 1
    assert places(page, server) == {
        "fault": [{"stimulus": "s1", "x": 0.2, "y": 0.2, "width": 0.4, "height": 0.5}]
    }


def test_points_are_set_dragged_and_deleted(page, server):
    open_task(page, server, asking(choice(region=region("point"))))
    press(page, "2")
    click(page, 0.25, 0.5)
    click(page, 0.75, 0.5)
    assert page.locator(POINT).count() == 2
    page.mouse.move(*on_screen(page, 0.75, 0.5))
    page.mouse.down()
    page.mouse.move(*on_screen(page, 0.5, 0.25), steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Delete point 1").click()
    assert places(page, server) == {"fault": [{"stimulus": "s1", "x": 0.5, "y": 0.25}]}


def test_by_keys_alone_a_point_is_set_and_moved(page, server):
    open_task(page, server, asking(choice(region=region("point"))))
    press(page, "1", "b", "ArrowLeft", "ArrowLeft", "ArrowUp")
    announced(page, "Point added; arrow keys move it.")
    label = page.locator(POINT).get_attribute("aria-label")
    assert label == "Point 1, What is wrong?: 48 % from the left, 49 % from the top"
    assert places(page, server) == {"fault": [{"stimulus": "s1", "x": 0.48, "y": 0.49}]}


def test_by_keys_alone_a_box_is_set_moved_resized_and_deleted(page, server):
    open_task(page, server, asking(choice(region=region())))
    press(page, "1", "b", "ArrowRight", "Shift+ArrowDown")
    press(page, "b", "Delete")
    assert places(page, server) == {
        "fault": [{"stimulus": "s1", "x": 0.31, "y": 0.3, "width": 0.3, "height": 0.31}]
    }


def test_undo_removes_a_place_and_redo_restores_it(page, server):
    open_task(page, server, asking(choice(region=region("point"))))
    press(page, "1")
    click(page, 0.5, 0.5)
    page.get_by_role("button", name="Undo").click()
    assert page.locator(POINT).count() == 0
    press(page, "Control+y")
    assert page.locator(POINT).count() == 1


def test_nothing_is_drawn_before_an_answer_asks_for_it(page, server):
    open_task(page, server, asking(choice(region=region("point"))))
    click(page, 0.5, 0.5)
    announced(page, "Answer first; then mark the place in the picture.")
    assert page.locator(POINT).count() == 0


def test_places_of_an_answer_that_asks_for_none_are_not_sent(page, server):
    open_task(page, server, asking(choice(region=region("point", after=("hands",)))))
    press(page, "1")
    click(page, 0.5, 0.5)
    page.get_by_label("Nothing").check()
    assert page.locator(POINT).count() == 0
    assert sent(page, server) == {"answers": {"fault": "nothing"}, "regions": {}}


def test_a_required_place_is_asked_for(page, server):
    open_task(page, server, asking(choice(region=region(required=True, after=("hands",)))))
    press(page, "1", "Enter")
    says(page, "Not submitted yet: a place is missing.")
    page.get_by_text("Mark the place in the picture.").wait_for()
    assert page.evaluate("document.activeElement.textContent").strip().startswith("Add a box")
    assert submissions(server) == []
    press(page, "b")
    assert list(places(page, server)) == ["fault"]


def test_each_picture_has_its_own_places(page, server):
    open_task(page, server, asking(choice(each=True, region=region("point", after=("hands",))), pictures=2))
    press(page, "1", "1")
    click(page, 0.5, 0.5, picture=2)
    click(page, 0.25, 0.5, picture=1)
    page.get_by_role("group", name="What is wrong? Picture 1").get_by_label("Face").check()
    until(page, lambda: page.locator(POINT).count() == 1)
    assert places(page, server) == {"fault": [{"stimulus": "s2", "x": 0.5, "y": 0.5}]}


def test_boxes_and_points_of_two_questions_coexist(page, server):
    asked = [choice(region=region("box")), scale(region=region("point"))]
    open_task(page, server, asking(*asked))
    press(page, "1")
    click(page, 0.1, 0.1)
    click(page, 0.4, 0.4)
    page.get_by_label("Poor").check()
    click(page, 0.8, 0.8)
    assert places(page, server) == {
        "fault": [{"stimulus": "s1", "x": 0.1, "y": 0.1, "width": 0.3, "height": 0.3}],
        "quality": [{"stimulus": "s1", "x": 0.8, "y": 0.8}],
    }


@pytest.mark.parametrize("shape", ["box", "point"])
def test_places_given_earlier_are_shown_again(page, server, shape):
    place = {"stimulus": "s1", "x": 0.5, "y": 0.25}
    if shape == "box":
        place |= {"width": 0.25, "height": 0.25}
    answer = {"answers": {"fault": "hands"}, "regions": {"fault": [place]}}
    payload = asking(choice(region=region(shape)), answer=answer)
    open_task(page, server, payload, revising={"place": 1, "of": 1})
    assert page.locator(BOX if shape == "box" else POINT).count() == 1
    assert sent(page, server) == answer
