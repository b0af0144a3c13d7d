"""Drawings of invented figures: no weights, and the truth of each image is known."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from catalog.attributes import normalise
from foundation.errors import DomainError
from generation.backends.base import Drawn, ImageRequest, Model, Parameters
from generation.backends.sketch.drawing import PARTS, draw

_DEFAULT_PROBABILITY = 0.1


def sketch_attributes() -> tuple[str, ...]:
    """Return the attributes that can be drawn."""
    return PARTS


class SketchModel:
    """Draws each attribute with its probability for the group, and in any case what the prompt names."""

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
    """Parameters: `probabilities` {group: {attribute: p}} and `default_probability` for all others."""

    name: ClassVar[str] = "sketch"
    title: ClassVar[str] = "sketch: drawings of invented figures"
    needs_model_id: ClassVar[bool] = False
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:
        unknown = sorted(set(parameters) - {"probabilities", "default_probability"})
        if unknown:
            raise _wrong(unknown[0], f"Sketch has no parameter “{unknown[0]}”.")
        by_group = parameters.get("probabilities", {})
        if not isinstance(by_group, Mapping) or not all(
            isinstance(value, Mapping) for value in by_group.values()
        ):
            raise _wrong(
                "probabilities", "The probabilities must be given as {group: {attribute: probability}}."
            )
        cleaned: dict[str, dict[str, float]] = {}
        for group, attributes in by_group.items():
            if group not in groups:
                raise _wrong("probabilities", f"The study has no group “{group}” (in probabilities).")
            cleaned[group] = {}
            for text, probability in attributes.items():
                attribute = normalise(str(text))
                if attribute not in PARTS:
                    raise _wrong(
                        "probabilities", f"Sketch cannot draw “{text}”; it can draw {', '.join(PARTS)}."
                    )
                cleaned[group][attribute] = _probability(f"{group}: {attribute}", probability)
        default = _probability(
            "default_probability", parameters.get("default_probability", _DEFAULT_PROBABILITY)
        )
        return {"probabilities": cleaned, "default_probability": default}

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:  # noqa: ARG002
        return SketchModel(parameters)


def _share(seed: int, attribute: str) -> float:
    """Return a number in [0, 1) of this seed and attribute alone: attributes appear independently."""
    digest = hashlib.sha256(f"appears:{seed}:{attribute}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def _named(request: ImageRequest) -> set[str]:
    words = request.prompt.lower()
    return {part for part in PARTS if part == request.attribute or re.search(rf"\b{part}\b", words)}


def _probability(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _wrong(
            "probabilities", f"The probability of {name} must be a number from 0 to 1, not {value!r}."
        )
    return float(value)


def _wrong(parameter: str, message: str) -> DomainError:
    return DomainError("parameter_invalid", message, fields={parameter: message})
