"""Annotators' answers, as a task of Label Studio.

Label Studio expects rectangles in percent of the image, and accepts only its own users in `completed_by`. So the
annotator is written as a separate text, which Label Studio shows and exports.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.label_studio.format.interface import ATTRIBUTE, IMAGE, NO, YES
from annotation.label_studio.format.names import CONTROLS


@dataclass(frozen=True)
class Rectangle:
    """A box in fractions of the image."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Answer:
    """One submission: marks (ticked attribute → its boxes) or a rating."""

    number: int  # of the submission among all written submissions
    annotator: str
    ticked: Mapping[str, Sequence[Rectangle]] = field(default_factory=dict)
    none_of_the_above: bool | None = None
    rating: int | None = None
    justification: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Screen:
    """The contents of a screen: an image with the attributes asked about, or one attribute to rate (no image)."""

    number: int
    attributes: tuple[str, ...]
    image: str = ""  # name of the image; "" for a rating
    address: str = ""  # the address at which Label Studio loads the file
    size: tuple[int, int] | None = None
    described: Mapping[str, Any] = field(default_factory=dict)  # further data of the task


def task(screen: Screen, answers: Iterable[Answer]) -> dict[str, Any]:
    """Return a task with its annotations, in the format of Label Studio's JSON import."""
    return {
        "id": screen.number,
        "data": data_of(screen),
        "annotations": [annotation_of(screen, answer) for answer in answers],
        "predictions": [],
    }


def data_of(screen: Screen) -> dict[str, Any]:
    """Return a task's data."""
    data: dict[str, Any] = dict(screen.described)
    if not screen.image:
        return data | {"attribute": screen.attributes[0]}
    data |= {"image": screen.address, "image_id": screen.image}
    data["attributes"] = [{"value": text} for text in screen.attributes]
    if screen.size is not None:
        data |= dict(zip(("width", "height"), screen.size, strict=True))
    return data


def annotation_of(screen: Screen, answer: Answer) -> dict[str, Any]:
    """Return one annotation of a task."""
    results = _rated(answer) if answer.rating is not None else _marked(screen, answer)
    stimulus = ATTRIBUTE if answer.rating is not None else IMAGE
    results.append(result_of("annotator", stimulus, "textarea", {"text": [answer.annotator]}))
    for place, result in enumerate(results):
        result["id"] = f"{answer.number}-{place}"
    written: dict[str, Any] = {
        "result": results,
        "was_cancelled": False,
        # Stated explicitly: by default Label Studio marks an imported annotation as ground truth.
        "ground_truth": False,
    }
    if answer.seconds is not None:
        written["lead_time"] = answer.seconds
    return written


def _marked(screen: Screen, answer: Answer) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    if answer.ticked:
        ticked = [text for text in screen.attributes if text in answer.ticked]
        results.append(result_of("present", IMAGE, "choices", {"choices": ticked}))
    for text in screen.attributes:
        for box in answer.ticked.get(text, ()):
            region = result_of("box", IMAGE, "rectanglelabels", _rectangle(box, text)) | {"image_rotation": 0}
            if screen.size is not None:
                region |= {"original_width": screen.size[0], "original_height": screen.size[1]}
            results.append(region)
    if answer.none_of_the_above is not None:
        choice = YES if answer.none_of_the_above else NO
        results.append(result_of("none_of_the_above", IMAGE, "choices", {"choices": [choice]}))
    return results


def _rated(answer: Answer) -> list[dict[str, Any]]:
    results = [result_of("rating", ATTRIBUTE, "choices", {"choices": [str(answer.rating)]})]
    if answer.justification:
        results.append(result_of("justification", ATTRIBUTE, "textarea", {"text": [answer.justification]}))
    return results


def _rectangle(box: Rectangle, text: str) -> dict[str, Any]:
    return {
        "x": box.x * 100,
        "y": box.y * 100,
        "width": box.width * 100,
        "height": box.height * 100,
        "rotation": 0,
        "rectanglelabels": [text],
    }


def result_of(control: str, stimulus: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return one result of an annotation, without its id."""
    return {
        "from_name": CONTROLS[control],
        "to_name": stimulus,
        "type": kind,
        "value": value,
        "origin": "manual",
    }
