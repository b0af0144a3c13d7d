"""Boxes in the COCO format: in pixels, with attributes as categories and the annotator of each box."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa

from analysis.releases.contents import CocoFacts
from analysis.releases.formats.writers import json_objects
from analysis.releases.tables.image_rows import FOLDER
from analysis.releases.tables.label_columns import Naming
from analysis.releases.tables.label_pages import Page

PATH = "coco/boxes.json"
_END = "},\n"


class CocoWriter:
    """Collects boxes page by page in a temporary file, because COCO puts images and categories before them."""

    def __init__(self, folder: Path, naming: Naming) -> None:
        self._folder = folder
        self._target = folder / PATH
        self._target.parent.mkdir()
        self._naming = naming
        self._number = 1
        self._left_out = 0
        self._without_file = 0
        self._images = np.zeros(len(naming.images.ids.keys), dtype=bool)
        self._categories = np.zeros(len(naming.attributes.keys), dtype=bool)
        self._pieces: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 -- closed on leaving

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pieces.close()

    def add(self, page: Page, boxes: Mapping[str, Any]) -> None:
        """Add the boxes of a page; `boxes` are their columns in the table of boxes."""
        rows = page.boxes
        annotation = page.judgements["owner"][rows["owner"]]
        key = page.annotations["task__image"][annotation]
        images = self._naming.images
        place = images.ids.places(key)
        has_size = (
            (place >= 0) & (images.width[place] > 0) & (images.height[place] > 0) if len(place) else place < 0
        )
        self._left_out += int((~has_size).sum())
        sized_rows = np.flatnonzero(has_size)
        if not len(sized_rows):
            return
        place = place[sized_rows]
        attribute = page.judgements["attribute"][rows["owner"][sized_rows]]
        category = self._naming.attributes.places(attribute)
        self._images[place] = True
        self._categories[category] = True
        image_columns = images.columns(key[sized_rows])
        sized_index = pa.array(sized_rows)
        width, height = images.width[place], images.height[place]
        x, y, w, h = (
            np.round(rows[name][sized_rows] * scale, 3)
            for name, scale in (("x", width), ("y", height), ("width", width), ("height", height))
        )
        box = json_objects_of_boxes(
            {
                "id": pa.array(np.arange(self._number, self._number + len(sized_rows))),
                "image_id": pa.array(place + 1),
                "category_id": pa.array(category + 1),
                "bbox": (x, y, w, h),
                "area": pa.array(np.round(w * h, 3)),
                "iscrowd": pa.array(np.zeros(len(sized_rows), dtype=np.int64)),
                "box": boxes["box"].take(sized_index),
                "judgement": boxes["judgement"].take(sized_index),
                "annotator": boxes["annotator"].take(sized_index),
                "attribute": boxes["attribute"].take(sized_index),
                "campaign": pa.array([page.campaign.slug] * len(sized_rows), pa.string()),
                "identity_group": image_columns["identity_group"],
            }
        )
        self._pieces.write(box)
        self._number += len(sized_rows)

    def write(self, description: Mapping[str, Any]) -> CocoFacts:
        """Write the file, with facts about the study in `info`."""
        attributes = self._naming.attributes.names
        categories = [
            {"id": int(place) + 1, "name": attributes[int(place)].as_py(), "supercategory": "attribute"}
            for place in np.flatnonzero(self._categories)
        ]
        with self._target.open("wb") as file:
            file.write(b'{"info":' + _json(description) + b',\n"licenses":[],\n"categories":')
            file.write(_json(categories) + b',\n"images":[\n')
            self._write_images(file)
            file.write(b'],\n"annotations":[\n')
            written = self._pieces.tell()
            self._pieces.seek(0)
            shutil.copyfileobj(self._pieces, file)
            if written:
                file.seek(-2, 1)  # the comma behind the last
                file.write(b"\n")
            file.write(b"]}\n")
        return CocoFacts(
            self._number - 1, int(self._images.sum()), len(categories), self._left_out, self._without_file
        )

    def _write_images(self, file: IO[bytes]) -> None:
        images = self._naming.images
        places = np.flatnonzero(self._images)
        for start in range(0, len(places), 10_000):
            batch = places[start : start + 10_000]
            columns = images.columns(images.ids.keys[batch])
            names = [f"{name}.webp" for name in columns["image"].cast(pa.string()).to_pylist()]
            # As in the table of images. COCO requires a name even if there is no such file.
            paths = [f"{FOLDER}/{name}" for name in names]
            files = [path if (self._folder / path).exists() else None for path in paths]
            self._without_file += files.count(None)
            table = pa.table(
                {
                    "id": pa.array(batch + 1),
                    "file_name": pa.array(names),
                    "file": pa.array(files, pa.string()),
                    "width": pa.array(images.width[batch]),
                    "height": pa.array(images.height[batch]),
                    **columns,
                }
            )
            is_last = start + len(batch) == len(places)
            text = json_objects(table, end=_END)
            file.write(text[:-2] + b"\n" if is_last else text)


def json_objects_of_boxes(columns: Mapping[str, Any]) -> bytes:
    """Return COCO annotations; `bbox` is a list, which no column of a table can be here."""
    flat: dict[str, Any] = {}
    for name, values in columns.items():
        if name == "bbox":
            flat |= {f"bbox{index}": pa.array(side) for index, side in enumerate(values)}
        else:
            flat[name] = values
    text = json_objects(pa.table(flat), end=_END)
    for before, after in (
        (b'"bbox0":', b'"bbox":['),
        (b',"bbox1":', b","),
        (b',"bbox2":', b","),
        (b',"bbox3":', b","),
        (b',"area":', b'],"area":'),
    ):
        text = text.replace(before, after)
    return text


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
