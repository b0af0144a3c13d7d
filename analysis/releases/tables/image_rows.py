"""The images of a release: the data of each, and its picture, re-encoded without metadata."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.releases.contents import ImageFacts
from analysis.releases.tables.image_names import published_name
from analysis.releases.tables.lookups import ImageTable, KeyNames
from foundation.errors import NotFound
from generation.images.ids import image_id
from generation.images.reencode import shown_bytes
from generation.images.signed_urls import FULL
from generation.models import Image
from studies.models import Study

FOLDER = "images"
NEVER_HAD = "labels were imported without the picture"
LEFT_OUT = "pictures were left out of this release"
DAMAGED = "its file is damaged"
_AT_ONCE = 2_000
_NUMBERS = ("key", "model", "condition", "group", "width", "height")
# The released part of an image's provenance, without names of machines, folders or addresses.
_SAFE = ("backend", "model_revision", "seed", "index", "pipeline", "scheduler", "dtype", "versions", "drawn")
_SAFE_PARAMETERS = (
    "num_inference_steps",
    "guidance_scale",
    "width",
    "height",
    "negative_prompt",
    "size",
    "quality",
)


class _Image(NamedTuple):
    """The fields that are read for an image; reading model instances would take most of the time."""

    pk: int
    sha256: str
    source_name: str
    model_label: str
    condition: str
    prompt: str
    file: str
    width: int | None
    height: int | None
    provenance: Mapping[str, Any]
    group: str | None
    region: str | None


_READ = (*_Image._fields[:-2], "group__name", "group__region")


@dataclass
class ImageRows:
    """Reads the study's images once; gives rows of the table, and the data about images that labels need."""

    study: Study
    using: str
    folder: Path | None  # folder of pictures; None if they are left out
    files: int = 0
    without_file: Counter[str] = field(default_factory=Counter)
    # Of each page: ids, and numbers in the order of _NUMBERS.
    _ids: list[pa.Array] = field(default_factory=list)
    _numbers: list[NDArray[np.int64]] = field(default_factory=list)
    _codes: dict[str, dict[Any, int]] = field(default_factory=dict)

    def pages(self) -> Iterator[dict[str, list[Any]]]:
        """Yield rows of `images`, writing each picture as its row is made."""
        chosen = Image.objects.using(self.using).filter(study=self.study, retracted_at=None)
        stored_rows = chosen.order_by("pk").values_list(*_READ).iterator(chunk_size=_AT_ONCE)
        while batch := list(islice(stored_rows, _AT_ONCE)):
            images = [_Image(*values) for values in batch]
            rows = [self._row(image) for image in images]
            self._remember(images, rows)
            yield {name: [row[name] for row in rows] for name in rows[0]}

    def table(self) -> ImageTable:
        """Return the data for labels, after all pages were read."""
        numbers = np.concatenate([np.empty((0, len(_NUMBERS)), np.int64), *self._numbers])
        columns = dict(zip(_NUMBERS, numbers.T, strict=True))
        groups = self._codes.get("group", {})
        regions = sorted({region for _, region in groups if region})
        return ImageTable(
            # They were read in the order of their keys.
            ids=KeyNames(
                columns.pop("key").copy(), pa.concat_arrays([pa.array([], pa.string()), *self._ids])
            ),
            **{name: values.copy() for name, values in columns.items()},
            models=pa.array(list(self._codes.get("model", {})), pa.string()),
            conditions=pa.array(list(self._codes.get("condition", {})), pa.string()),
            groups=pa.array([name for name, _ in groups], pa.string()),
            regions=pa.array(regions, pa.string()),
            region_of_group=np.array(
                [regions.index(region) if region else -1 for _, region in groups], dtype=np.int64
            ),
        )

    def facts(self) -> ImageFacts:
        """Return how many images there are and have a file."""
        images = Image.objects.using(self.using).filter(study=self.study)
        return ImageFacts(
            images=self.files + sum(self.without_file.values()),
            files=self.files,
            without_file=dict(sorted(self.without_file.items())),
            models=tuple(sorted(self._codes.get("model", {}))),
            retracted=images.filter(retracted_at__isnull=False).count(),
        )

    def _row(self, image: "_Image") -> dict[str, Any]:
        source = image.sha256 or image.source_name
        name = image_id((source, image.model_label, image.condition, image.group or ""))
        data, reason = self._picture(image)
        path = f"{FOLDER}/{name}.webp" if data is not None else None
        if data is not None and path is not None and self.folder is not None:
            (self.folder / path).write_bytes(data)
            self.files += 1
        else:
            self.without_file[reason] += 1
        return {
            "image": name,
            "model": image.model_label,
            "condition": image.condition,
            "identity_group": image.group,
            "region": image.region or None,
            "prompt": image.prompt or None,
            "file": path,
            "reason": None if data is not None else reason,
            "sha256": hashlib.sha256(data).hexdigest() if data is not None else None,
            "width": image.width,
            "height": image.height,
            "source_name": published_name(image.source_name) if not image.file else None,
            "provenance": _safe(image.provenance),
        }

    def _picture(self, image: "_Image") -> tuple[bytes | None, str]:
        if not image.file:
            return None, NEVER_HAD
        if self.folder is None:
            return None, LEFT_OUT
        try:
            return shown_bytes(Image(sha256=image.sha256, file=image.file), size=FULL), ""
        except NotFound as error:
            return None, DAMAGED if error.code == "image_file_damaged" else error.message

    def _remember(self, images: Sequence["_Image"], rows: Sequence[Mapping[str, Any]]) -> None:
        self._ids.append(pa.array([row["image"] for row in rows], pa.string()))
        numbers = [
            (
                image.pk,
                self._code("model", image.model_label),
                self._code("condition", image.condition),
                self._code("group", (image.group, image.region)) if image.group else -1,
                image.width or 0,
                image.height or 0,
            )
            for image in images
        ]
        self._numbers.append(np.array(numbers, dtype=np.int64))

    def _code(self, column: str, value: Any) -> int:
        codes = self._codes.setdefault(column, {})
        return codes.setdefault(value, len(codes))


def _safe(provenance: Mapping[str, Any]) -> str | None:
    facts = {name: provenance[name] for name in _SAFE if provenance.get(name) not in (None, "", [], {})}
    parameters = provenance.get("parameters")
    if isinstance(parameters, Mapping):
        chosen = {n: parameters[n] for n in _SAFE_PARAMETERS if parameters.get(n) is not None}
        if chosen:
            facts["parameters"] = chosen
    return json.dumps(facts, ensure_ascii=False, sort_keys=True) if facts else None
