"""Drawings of invented figures, without weights; the attributes of each image are known."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from catalog.attributes import normalise
from foundation.parameters import parameter
from generation.backends.base import Drawn, ImageRequest, Model, Parameters
from generation.backends.parameters import BackendParameters, parameter_invalid
from generation.backends.sketch.drawing import PARTS, draw


class SketchParameters(BackendParameters):
    """Parameters of drawings: the probability of each attribute."""

    backend: ClassVar[str] = "Sketch"

    probabilities: dict[str, dict[str, Any]] = parameter(
        {},
        expected="given as {group: {attribute: probability}}",
        label="Probabilities by group",
        help="How often each attribute appears in images of a group. Other attributes have the default probability.",
    )
    default_probability: float = parameter(
        0.1,
        ge=0,
        le=1,
        label="Probability of each attribute",
        help="How often each attribute appears. To set probabilities by group, use the generate command.",
    )


def sketch_attributes() -> tuple[str, ...]:
    """Return the attributes that can be drawn."""
    return PARTS


class SketchModel:
    """Draws each attribute with its probability for the group, and always the attribute that the prompt names."""

    revision = ""

    def __init__(self, parameters: Parameters) -> None:
        self._by_group: dict[str, dict[str, float]] = parameters["probabilities"]
        self._default: float = parameters["default_probability"]

    def draw(self, request: ImageRequest) -> Drawn:
        """Draw one figure; `provenance["drawn"]` holds its attributes and their boxes."""
        probabilities = self._by_group.get(request.group or "", {})
        chosen = {
            attribute
            for attribute in PARTS
            if _share(request.seed, attribute) < probabilities.get(attribute, self._default)
        }
        drawing = draw(seed=request.seed, attributes=chosen | _named(request))
        return Drawn(
            data=drawing.png,
            provenance={"drawn": list(drawing.drawn), "versions": {"pillow": version("pillow")}},
        )


class SketchBackend:
    """Draws figures with Pillow according to `SketchParameters`."""

    name: ClassVar[str] = "sketch"
    title: ClassVar[str] = "sketch: drawings of invented figures"
    needs_model_id: ClassVar[bool] = False
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:
        cleaned = SketchParameters.read(parameters).model_dump()
        cleaned["probabilities"] = _by_group(cleaned["probabilities"], groups)
        return cleaned

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:  # noqa: ARG002
        return SketchModel(parameters)


def _share(seed: int, attribute: str) -> float:
    """Return a number in [0, 1) derived from seed and attribute only, so that attributes are independent."""
    digest = hashlib.sha256(f"appears:{seed}:{attribute}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def _named(request: ImageRequest) -> set[str]:
    words = request.prompt.lower()
    return {part for part in PARTS if part == request.attribute or re.search(rf"\b{part}\b", words)}


def _by_group(
    probabilities: Mapping[str, Mapping[str, Any]], groups: Sequence[str]
) -> dict[str, dict[str, float]]:
    cleaned: dict[str, dict[str, float]] = {}
    for group, attributes in probabilities.items():
        if group not in groups:
            raise parameter_invalid("probabilities", f"The study has no group “{group}” (in probabilities).")
        cleaned[group] = {}
        for text, probability in attributes.items():
            attribute = normalise(str(text))
            if attribute not in PARTS:
                message = f"Sketch cannot draw “{text}”; it can draw {', '.join(PARTS)}."
                raise parameter_invalid("probabilities", message)
            if (
                isinstance(probability, bool)
                or not isinstance(probability, int | float)
                or not 0 <= probability <= 1
            ):
                message = (
                    f"The probability of {group}: {attribute} must be a number from 0 to 1, not "
                    f"{probability!r}."
                )
                raise parameter_invalid("probabilities", message)
            cleaned[group][attribute] = float(probability)
    return cleaned
