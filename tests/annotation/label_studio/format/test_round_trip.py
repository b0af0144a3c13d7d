"""Labels written as Label Studio tasks and read back give the same judgements and boxes."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.imports.boxes import BoxFormat, boxes_of, parse_numbers
from annotation.label_studio.format.interface import labelling_interface
from annotation.label_studio.format.reader import read_export
from annotation.label_studio.format.writer import Answer, Rectangle, Screen, task

ATTRIBUTES = ("tall hat", "blue scarf", "drum", "“quoted” & <odd>")
EXACT = 1e-12


@st.composite
def rectangles(draw) -> Rectangle:
    """Draw boxes that our database accepts: inside the image, some touching its edges."""
    x, y = (draw(st.floats(0, 0.99)) for _ in "xy")
    width = draw(st.floats(1e-3, 1 - x) | st.just(1 - x)) if x < 0.99 else 1 - x
    height = draw(st.floats(1e-3, 1 - y) | st.just(1 - y)) if y < 0.99 else 1 - y
    return Rectangle(x, y, width, height)


@st.composite
def answers(draw) -> Answer:
    ticked = draw(st.dictionaries(st.sampled_from(ATTRIBUTES), st.lists(rectangles(), max_size=3)))
    return Answer(
        number=draw(st.integers(1, 10**9)),
        annotator=draw(st.sampled_from(["a1", "a2", "a3"])),
        ticked=ticked,
        none_of_the_above=draw(st.sampled_from([None, not ticked])),
        seconds=draw(st.none() | st.floats(0, 1e6)),
    )


def read(tasks):
    file = io.BytesIO(json.dumps(tasks).encode())
    return read_export(file, file_name="export.json")


def boxes(cell: str) -> list[Rectangle]:
    found, repairs = boxes_of(parse_numbers(cell), BoxFormat.PERCENT, None)
    assert not repairs
    return [Rectangle(box.x, box.y, box.width, box.height) for box in found]


@pytest.mark.database_free
@settings(deadline=None)
@given(st.lists(answers(), min_size=1, max_size=4))
def test_marks_and_boxes_survive_a_round_trip(given_answers):
    screen = Screen(
        7, ATTRIBUTES, "v1", "/images/v1.png", (512, 384), {"group": "Velmari", "model": "sketch"}
    )
    export = read([task(screen, given_answers)])
    assert not export.table.unreadable
    columns = export.table.columns
    rows = list(zip(*(columns[name] for name in ("screen", "attribute", "present", "box")), strict=True))
    expected = []
    for place, answer in enumerate(given_answers, start=1):
        expected += [(f"1/{place}", text, answer.ticked.get(text)) for text in ATTRIBUTES]
        if answer.none_of_the_above is not None:
            expected.append((f"1/{place}", "none of the above", [] if answer.none_of_the_above else None))
    assert [(screen, text, present) for screen, text, present, _ in rows] == [
        (screen, text, "no" if drawn is None else "yes") for screen, text, drawn in expected
    ]
    for (*_, cell), (*_, drawn) in zip(rows, expected, strict=True):
        for found, wanted in zip(boxes(cell), drawn or [], strict=True):
            for name in ("x", "y", "width", "height"):
                assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=EXACT)
    seconds = [answer.seconds for answer in given_answers]
    of_screen = dict(zip(columns["screen"], columns["seconds"], strict=True))
    assert [float(cell) if cell else None for cell in of_screen.values()] == seconds
    assert set(columns["group"]) == {"Velmari"}
    assert set(columns["image"]) == {"v1"}
    assert (set(columns["image_width"]), set(columns["image_height"])) == ({"512"}, {"384"})


@pytest.mark.database_free
@settings(deadline=None)
@given(rating=st.integers(1, 5), justification=st.text(st.characters(codec="utf-8"), max_size=30))
def test_ratings_survive_a_round_trip(rating, justification):
    answer = Answer(1, "a1", rating=rating, justification=justification)
    export = read([task(Screen(1, ("kind",)), [answer])])
    assert export.rates
    assert list(export.table.columns["rating"]) == [str(rating)]
    assert list(export.table.columns["attribute"]) == ["kind"]
    assert list(export.table.columns["justification"]) == [justification]


@pytest.mark.database_free
@pytest.mark.parametrize("rates", [True, False])
def test_label_studio_accepts_the_written_tasks(rates):
    interface = pytest.importorskip("label_studio_sdk.label_interface").LabelInterface
    written = labelling_interface(rates=rates, statement='Which of "these" & those < is it?')
    label_interface = interface(written)
    assert label_interface.validate() is None
    answer = (
        Answer(1, "a1", rating=3, justification="?")
        if rates
        else Answer(1, "a1", {"tall hat": [Rectangle(0.1, 0.1, 0.9, 0.2)]}, none_of_the_above=False)
    )
    screen = Screen(1, ("tall hat", "drum"), *(() if rates else ("v1", "/v1.png", (10, 10))))
    made = task(screen, [answer])
    assert made["annotations"][0]["ground_truth"] is False
    assert "completed_by" not in made["annotations"][0]
    assert label_interface.validate_annotation(made["annotations"][0])


@pytest.mark.database_free
def test_writing_the_same_twice_gives_the_same_bytes():
    screen = Screen(3, ATTRIBUTES, "v1", "/v1.png", (10, 10))
    answer = Answer(1, "a1", {"drum": [Rectangle(0.1, 0.2, 0.3, 0.4)]})
    made = [json.dumps(task(screen, [answer])) for _ in range(2)]
    assert made[0] == made[1]
    numbers = [result["id"] for result in json.loads(made[0])["annotations"][0]["result"]]
    assert len(set(numbers)) == len(numbers)
