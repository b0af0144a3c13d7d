"""The truth for simulated annotators: attributes of images, as drawn or from a table."""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from catalog.attributes import normalise
from foundation.errors import DomainError
from generation.backends.sketch.backend import sketch_attributes
from generation.models import Image

_IMAGE, _GROUP, _ATTRIBUTE, _PROBABILITY = "image", "identity_group", "attribute", "p"


@dataclass(frozen=True)
class Sight:
    """The presence of an attribute in an image, and its place in fractions of the image."""

    present: bool
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Truth:
    """Probabilities by image and attribute, by group and attribute, or by attribute alone (ratings).

    Without a table, the provenance of `sketch` images lists what was drawn, and an attribute counts as visual
    when `sketch` can draw it.
    """

    seed: int
    probabilities: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, *, seed: int) -> Self:
        """Read a CSV file with the columns attribute, p and, except for ratings, image or identity_group."""
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                return cls(seed=seed, probabilities=dict(_rows(csv.DictReader(file), path.name)))
        except OSError as error:
            raise DomainError("truth_unreadable", f"{path} cannot be read: {error.strerror}.") from error
        except (UnicodeDecodeError, csv.Error):
            raise DomainError("truth_unreadable", f"{path.name} is not a CSV file in UTF-8.") from None

    def sight(self, image: Image, attribute: str) -> Sight:
        """Return the presence and place of `attribute` in `image`, the same for all annotators."""
        drawn = {shape["attribute"]: shape for shape in image.provenance.get("drawn", ())}
        p = self._probability(image, attribute)
        present = attribute in drawn if p is None else _share(self.seed, image.public_id, attribute) < p
        box = drawn.get(attribute) or self._made_up_box(image, attribute)
        return Sight(present, *(float(box[name]) for name in ("x", "y", "width", "height")))

    def visual(self, attribute: str) -> bool:
        """Return whether `attribute` can be depicted."""
        p = self.probabilities.get(("", attribute))
        if p is None:
            return attribute in sketch_attributes()
        return _share(self.seed, "visual", attribute) < p

    def _probability(self, image: Image, attribute: str) -> float | None:
        keys = (str(image.public_id), image.group.name if image.group is not None else "", "")
        for key in keys:
            if (p := self.probabilities.get((key, attribute))) is not None:
                return p
        if "drawn" in image.provenance:
            return None
        if self.probabilities:
            return 0.0
        raise DomainError(
            "truth_missing",
            "What these images show is not known. Give a table of what they show (--truth FILE).",
        )

    def _made_up_box(self, image: Image, attribute: str) -> dict[str, float]:
        def share(name: str) -> float:
            return _share(self.seed, image.public_id, attribute, name)

        width, height = 0.15 + 0.35 * share("width"), 0.15 + 0.35 * share("height")
        return {
            "x": share("x") * (1 - width),
            "y": share("y") * (1 - height),
            "width": width,
            "height": height,
        }


def _rows(reader: "csv.DictReader[str]", name: str) -> Iterable[tuple[tuple[str, str], float]]:
    missing = sorted({_ATTRIBUTE, _PROBABILITY} - set(reader.fieldnames or ()))
    if missing:
        raise DomainError("truth_columns", f"{name} has no column {' and no column '.join(missing)}.")
    for row in reader:
        where = f"{name}, line {reader.line_num}"
        try:
            p = float(row[_PROBABILITY] or "")
        except ValueError:
            p = -1.0
        if not 0 <= p <= 1:
            raise DomainError("truth_row", f"{where}: p must be a number from 0 to 1.", fields={"p": where})
        try:
            attribute = normalise(row[_ATTRIBUTE] or "")
        except DomainError as error:
            raise DomainError("truth_row", f"{where}: {error.message}", fields={"attribute": where}) from None
        yield (row.get(_IMAGE) or row.get(_GROUP) or "", attribute), p


def _share(*parts: object) -> float:
    """Return a pseudo-random number in [0, 1) determined by `parts`."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
