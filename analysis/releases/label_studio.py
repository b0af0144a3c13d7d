"""The labels of a release as Label Studio's JSON, a file and a labelling interface for each campaign.

A task of Label Studio holds all annotations of one screen, and the tables hold them in another order: annotations are
written to a file aside as they are read, and put together screen by screen at the end. In memory stay some tens of
bytes for each annotation.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.releases.contents import CampaignFacts
from annotation.label_studio.writing import (
    Answer,
    Rectangle,
    Screen,
    annotation_of,
    data_of,
    labelling_interface,
)
from annotation.models import Campaign

FOLDER = "label_studio"
_AT_ONCE = 2048  # annotations
# Where Label Studio serves files of this machine from, the release's folder being its document root.
_LOCAL_FILES = "/data/local-files/?d="
_OF_IMAGE = ("identity_group", "model", "condition", "file", "width", "height")


def write_label_studio(
    *, folder: Path, tables: Mapping[str, Path], campaigns: Sequence[CampaignFacts]
) -> list[Path]:
    """Write `label_studio/<campaign>.json` and `.xml` from the Parquet tables; return the files."""
    into = folder / FOLDER
    into.mkdir(exist_ok=True)
    written = []
    labels = _Labels(tables)
    for campaign in campaigns:
        path = into / f"{campaign.slug}.json"
        _write_tasks(path, labels, campaign)
        interface = into / f"{campaign.slug}.xml"
        interface.write_text(_interface(campaign), encoding="utf-8", newline="\n")
        written += [path, interface]
    return written


def _interface(campaign: CampaignFacts) -> str:
    newest = campaign.guidelines[0] if campaign.guidelines else None
    return labelling_interface(
        rates=campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT,
        statement=newest.statement if newest else campaign.name,
        labels=newest.labels if newest and newest.labels else None,
    )


@dataclass(eq=False)
class _Aside:
    """Annotations in the order they are read, and where each begins."""

    file: IO[bytes]
    screens: list[np.ndarray] = field(default_factory=list)  # what tells one screen from another
    ends: list[np.ndarray] = field(default_factory=list)  # of a screen's data, and of the annotation
    length: int = 0

    def add(self, rows: Sequence[tuple[Screen, Answer]]) -> None:
        screens, ends = np.empty(len(rows), dtype=np.uint64), np.empty((len(rows), 2), dtype=np.int64)
        for place, (screen, answer) in enumerate(rows):
            data = _json(data_of(screen))
            annotation = _json(annotation_of(screen, answer))
            self.file.write(data)
            self.file.write(annotation)
            ends[place] = self.length + len(data), self.length + len(data) + len(annotation)
            self.length = int(ends[place, 1])
            screens[place] = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
        self.screens.append(screens)
        self.ends.append(ends)


def _write_tasks(path: Path, labels: "_Labels", campaign: CampaignFacts) -> None:
    with tempfile.TemporaryFile(dir=path.parent) as file:
        aside = _Aside(file)
        for rows in labels.of(campaign):
            aside.add(rows)
        with path.open("wb") as tasks:
            tasks.write(b"[")
            for number, text in enumerate(_tasks(aside), start=1):
                tasks.write(b"\n" if number == 1 else b",\n")
                tasks.write(b'{"id":%d,%s' % (number, text))
            tasks.write(b"\n]\n")


def _tasks(aside: _Aside) -> Iterator[bytes]:
    """Yield each task without its opening, in the order in which screens come first."""
    if not aside.screens:
        return
    screens, ends = np.concatenate(aside.screens), np.concatenate(aside.ends)
    begins = np.append(0, ends[:-1, 1])
    _, first, of = np.unique(screens, return_index=True, return_inverse=True)
    order = np.lexsort((np.arange(len(screens)), first[of]))
    bounds = np.flatnonzero(np.append(True, np.diff(first[of][order]) != 0))
    for start, end in zip(bounds, np.append(bounds[1:], len(order)), strict=True):
        rows = order[start:end].tolist()
        data = _read(aside.file, begins[rows[0]], ends[rows[0], 0])
        answers = b",".join(_read(aside.file, ends[row, 0], ends[row, 1]) for row in rows)
        yield b'"data":%s,"annotations":[%s],"predictions":[]}' % (data, answers)


def _read(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(value: object) -> bytes:
    return _ENCODER.encode(value).encode()


class _Labels:
    """The tables that labels are put together from, read side by side."""

    def __init__(self, tables: Mapping[str, Path]) -> None:
        self._tables = tables
        self._images = pq.read_table(tables["images"], columns=["image", *_OF_IMAGE]).combine_chunks()
        self._image_ids = self._images["image"].combine_chunks() if len(self._images) else None

    def of(self, campaign: CampaignFacts) -> Iterator[list[tuple[Screen, Answer]]]:
        """Yield what was shown and answered in a campaign, submission by submission."""
        rates = campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT
        answers = _Following(self._tables["ratings" if rates else "judgements"], "annotation")
        boxes = _Following(self._tables["boxes"], "judgement")
        for batch in pq.ParquetFile(self._tables["annotations"]).iter_batches(_AT_ONCE):
            mine = batch.filter(pc.equal(batch["campaign"], campaign.slug))
            if not len(mine):
                continue
            given = answers.between(mine["annotation"])
            if rates:
                yield list(_ratings(mine, given))
            else:
                drawn = boxes.between(given["judgement"]) if len(given) else None
                yield list(self._marks(mine, given, drawn))

    def _marks(
        self, annotations: pa.RecordBatch, judgements: pa.Table, boxes: pa.Table | None
    ) -> Iterator[tuple[Screen, Answer]]:
        shown = self._shown(annotations["image"])
        rectangles = _rectangles(boxes)
        asked = _by(judgements, "annotation", ("judgement", "attribute", "present"))
        columns = ("annotation", "annotator", "image", "none_of_the_above", "active_seconds")
        rows = zip(*(annotations[name].to_pylist() for name in columns), shown, strict=True)
        for number, annotator, image, none, seconds, about in rows:
            judged = asked.get(number, [])
            screen = Screen(
                number=0,
                attributes=tuple(attribute for _, attribute, _ in judged),
                image=image,
                address=f"{_LOCAL_FILES}{about['file']}" if about["file"] else image,
                size=(about["width"], about["height"]) if about["width"] and about["height"] else None,
                described={
                    "group": about["identity_group"] or "",
                    "model": about["model"],
                    "condition": about["condition"],
                },
            )
            ticked = {text: rectangles.get(key, []) for key, text, present in judged if present}
            yield screen, Answer(number, annotator, ticked, none, seconds=seconds)

    def _shown(self, images: pa.Array) -> list[dict[str, Any]]:
        places = pc.index_in(images, value_set=self._image_ids)
        rows: list[dict[str, Any]] = self._images.take(places).select(_OF_IMAGE).to_pylist()
        return rows


def _ratings(annotations: pa.RecordBatch, ratings: pa.Table) -> Iterator[tuple[Screen, Answer]]:
    texts = (
        annotations["justification"].to_pylist()
        if "justification" in annotations.schema.names
        else [None] * len(annotations)
    )
    given = _by(ratings, "annotation", ("attribute", "rating"))
    columns = ("annotation", "annotator", "active_seconds")
    rows = zip(*(annotations[name].to_pylist() for name in columns), texts, strict=True)
    for number, annotator, seconds, text in rows:
        for attribute, rating in given.get(number, []):
            answer = Answer(number, annotator, rating=rating, justification=text or "", seconds=seconds)
            yield Screen(0, (attribute,)), answer


def _rectangles(boxes: pa.Table | None) -> dict[int, list[Rectangle]]:
    if boxes is None:
        return {}
    drawn = _by(boxes, "judgement", ("x", "y", "width", "height"))
    return {key: [Rectangle(*numbers) for numbers in found] for key, found in drawn.items()}


def _by(rows: pa.Table, key: str, columns: Sequence[str]) -> dict[int, list[tuple[Any, ...]]]:
    """Return the rows by the number of what they belong to."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    values = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    for owner, row in zip(rows[key].to_pylist(), values, strict=True):
        found.setdefault(owner, []).append(row)
    return found


class _Following:
    """A table in the order of a number, read as far as another one is."""

    def __init__(self, path: Path, key: str) -> None:
        self._key = key
        self._file = pq.ParquetFile(path)
        self._batches = self._file.iter_batches(4 * _AT_ONCE)
        self._rest = self._file.schema_arrow.empty_table()

    def between(self, numbers: pa.Array | pa.ChunkedArray) -> pa.Table:
        """Return the rows whose number is among these, which come in order; what lies before them is passed by."""
        ends = pc.min_max(numbers)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        parts = [self._rest]
        last = self._last(self._rest)
        while last <= high:
            batch = next(self._batches, None)
            if batch is None:
                break
            if last < low:
                parts.clear()
            parts.append(pa.Table.from_batches([batch]))
            last = self._last(parts[-1])
        table = pa.concat_tables(parts)
        keys = table[self._key].to_numpy()
        begin, end = np.searchsorted(keys, [low, high + 1])
        self._rest = table.slice(int(end))
        return table.slice(int(begin), int(end - begin))

    def _last(self, table: pa.Table) -> int:
        return int(table[self._key][-1].as_py()) if len(table) else -1
