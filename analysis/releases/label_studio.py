"""The labels of a release as Label Studio's JSON, a file and a labelling interface for each campaign.

A task of Label Studio holds all annotations of one screen, and the tables hold them in another order: annotations are
written to a file aside as they are read, and put together screen by screen at the end. In memory stay some tens of
bytes for each annotation.
"""

import hashlib
import json
import tempfile
from array import array
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
    ends: list[np.ndarray] = field(default_factory=list)  # of what was shown, and of the annotation
    length: int = 0

    def add(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Write what was shown and what was answered."""
        screens, ends = [], []
        for shown, annotation in rows:
            middle = self.length + len(shown)
            self.length = middle + len(annotation)
            ends.append((middle, self.length))
            screens.append(int.from_bytes(hashlib.blake2b(shown, digest_size=8).digest(), "little"))
            self.file.write(shown)
            self.file.write(annotation)
        self.screens.append(np.array(screens, dtype=np.uint64))
        self.ends.append(np.array(ends, dtype=np.int64).reshape(-1, 2))


def _write_tasks(path: Path, labels: "_Labels", campaign: CampaignFacts) -> None:
    with tempfile.TemporaryFile(dir=path.parent) as file:
        aside = _Aside(file)
        for rows in labels.of(campaign):
            aside.add(rows)
        with path.open("wb") as tasks:
            tasks.write(b"[")
            for number, text in enumerate(_tasks(aside, labels), start=1):
                tasks.write(b"\n" if number == 1 else b",\n")
                tasks.write(b'{"id":%d,%s' % (number, text))
            tasks.write(b"\n]\n")


def _tasks(aside: _Aside, labels: "_Labels") -> Iterator[bytes]:
    """Yield each task without its opening, in the order in which screens come first."""
    if not aside.screens:
        return
    screens, ends = np.concatenate(aside.screens), np.concatenate(aside.ends)
    begins = np.append(0, ends[:-1, 1])
    _, first, of = np.unique(screens, return_index=True, return_inverse=True)
    order = np.lexsort((np.arange(len(screens)), first[of]))
    bounds = np.append(np.flatnonzero(np.append(True, np.diff(first[of][order]) != 0)), len(order))
    for some in range(0, len(bounds) - 1, _AT_ONCE):
        edges = bounds[some : some + _AT_ONCE + 1].tolist()
        firsts = order[edges[:-1]].tolist()
        shown = labels.data([_read(aside.file, begins[row], ends[row, 0]) for row in firsts])
        for data, start, end in zip(shown, edges[:-1], edges[1:], strict=True):
            rows = order[start:end].tolist()
            answers = b",".join(_read(aside.file, ends[row, 0], ends[row, 1]) for row in rows)
            yield b'"data":%s,"annotations":[%s],"predictions":[]}' % (data, answers)


def _read(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(value: object) -> bytes:
    return _ENCODER.encode(value).encode()


class _Labels:
    """The tables that labels are put together from, read side by side.

    What was shown is written aside as the number of the image's row, −1 for none, and those of its attributes.
    """

    def __init__(self, tables: Mapping[str, Path]) -> None:
        self._tables = tables
        images = pq.read_table(tables["images"], columns=["image", *_OF_IMAGE]).combine_chunks()
        self._images = images
        ids = np.array(images["image"].to_pylist(), dtype=np.bytes_)
        self._by_id = np.argsort(ids)
        self._ids = ids[self._by_id]
        self._sizes = list(zip(*(images[name].to_pylist() for name in ("width", "height")), strict=True))
        self._attributes: dict[str, int] = {}
        self._texts: list[str] = []

    def of(self, campaign: CampaignFacts) -> Iterator[list[tuple[bytes, bytes]]]:
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
                yield list(self._ratings(mine, given))
            else:
                drawn = boxes.between(given["judgement"]) if len(given) else None
                yield list(self._marks(mine, given, drawn))

    def data(self, shown: Sequence[bytes]) -> list[bytes]:
        """Return the data of tasks from what was written aside."""
        numbers = [array("i", one) for one in shown]
        rows = [number[0] for number in numbers if number[0] >= 0]
        facts = iter(self._images.take(pa.array(rows, pa.int64())).to_pylist())
        return [_json(data_of(self._screen(number, facts))) for number in numbers]

    def _screen(self, numbers: Sequence[int], facts: Iterator[dict[str, Any]]) -> Screen:
        attributes = tuple(self._texts[number] for number in numbers[1:])
        if numbers[0] < 0:
            return Screen(0, attributes)
        about = next(facts)
        return Screen(
            number=0,
            attributes=attributes,
            image=about["image"],
            address=f"{_LOCAL_FILES}{about['file']}" if about["file"] else about["image"],
            size=_size(about["width"], about["height"]),
            described={
                "group": about["identity_group"] or "",
                "model": about["model"],
                "condition": about["condition"],
            },
        )

    def _marks(
        self, annotations: pa.RecordBatch, judgements: pa.Table, boxes: pa.Table | None
    ) -> Iterator[tuple[bytes, bytes]]:
        images = annotations["image"].to_pylist()
        places = self._by_id[np.searchsorted(self._ids, np.array(images, dtype=np.bytes_))].tolist()
        rectangles = _rectangles(boxes)
        asked = _by(judgements, "annotation", ("judgement", "attribute", "present"))
        columns = ("annotation", "annotator", "none_of_the_above", "active_seconds")
        rows = zip(*(annotations[name].to_pylist() for name in columns), images, places, strict=True)
        for number, annotator, none, seconds, image, place in rows:
            judged = asked.get(number, [])
            attributes = tuple(attribute for _, attribute, _ in judged)
            screen = Screen(0, attributes, image, size=_size(*self._sizes[place]))
            ticked = {text: rectangles.get(key, []) for key, text, present in judged if present}
            answer = Answer(number, annotator, ticked, none, seconds=seconds)
            yield self._aside(place, attributes), _json(annotation_of(screen, answer))

    def _ratings(self, annotations: pa.RecordBatch, ratings: pa.Table) -> Iterator[tuple[bytes, bytes]]:
        said = "justification" in annotations.schema.names
        texts = annotations["justification"].to_pylist() if said else [None] * len(annotations)
        given = _by(ratings, "annotation", ("attribute", "rating"))
        columns = ("annotation", "annotator", "active_seconds")
        rows = zip(*(annotations[name].to_pylist() for name in columns), texts, strict=True)
        for number, annotator, seconds, text in rows:
            for attribute, rating in given.get(number, []):
                answer = Answer(number, annotator, rating=rating, justification=text or "", seconds=seconds)
                annotation = annotation_of(Screen(0, (attribute,)), answer)
                yield self._aside(-1, (attribute,)), _json(annotation)

    def _aside(self, place: int, attributes: tuple[str, ...]) -> bytes:
        return array("i", [place, *map(self._number, attributes)]).tobytes()

    def _number(self, attribute: str) -> int:
        number = self._attributes.get(attribute)
        if number is None:
            number = self._attributes[attribute] = len(self._texts)
            self._texts.append(attribute)
        return number


def _size(width: int | None, height: int | None) -> tuple[int, int] | None:
    return (width, height) if width and height else None


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
