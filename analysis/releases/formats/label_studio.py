"""The labels of a release as Label Studio's JSON, a file and a labelling interface for each campaign.

A task of Label Studio contains all annotations of one screen, but the tables have another order. Annotations are
therefore written to a temporary file as they are read, and joined screen by screen at the end. This needs some tens of
bytes of memory for each annotation.
"""

import os
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.releases.contents import CampaignFacts
from analysis.releases.formats.label_studio_marks import mark_texts
from annotation.kinds.registry import kind_of
from annotation.label_studio.format.interface import labelling_interface
from annotation.label_studio.format.writer import Answer, Screen, annotation_of, data_of

FOLDER = "label_studio"
_AT_ONCE = 2048  # annotations
# The path from which Label Studio serves local files, with the release's folder as its document root.
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
        rates=kind_of(campaign).rates_attributes,
        statement=newest.statement if newest else campaign.name,
        labels=newest.labels if newest and newest.labels else None,
    )


@dataclass(frozen=True, eq=False)
class _AnnotationBatch:
    """Some annotations: the contents of each screen as consecutive numbers, their count, and its JSON."""

    # For each annotation, the row of the image (−1: none) and the numbers of its attributes.
    screen_numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]
    texts: pa.Array


@dataclass(eq=False)
class _Spool:
    """Annotations in the order of reading, and the end of each."""

    texts: IO[bytes]
    screen_numbers: IO[bytes]
    screens: list[NDArray[np.int64]] = field(default_factory=list)  # what distinguishes screens
    ends: list[NDArray[np.int64]] = field(default_factory=list)  # in `texts`, in bytes
    screen_ends: list[NDArray[np.int64]] = field(default_factory=list)  # in `screen_numbers`, in numbers

    def add(self, batch: _AnnotationBatch) -> None:
        """Write stimuli and answers."""
        self.screens.append(_fingerprints(batch.screen_numbers, batch.lengths))
        self.ends.append(
            _end(self.ends) + np.cumsum(pc.binary_length(batch.texts).to_numpy(), dtype=np.int64)
        )
        self.screen_ends.append(_end(self.screen_ends) + np.cumsum(batch.lengths, dtype=np.int64))
        self.screen_numbers.write(batch.screen_numbers.astype("<i4").tobytes())
        for start in range(0, len(batch.texts), _AT_ONCE):
            self.texts.write("".join(batch.texts[start : start + _AT_ONCE].to_pylist()).encode())


def _end(ends: Sequence[NDArray[np.int64]]) -> int:
    return int(ends[-1][-1]) if ends else 0


def _fingerprints(numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 64 bits for each run of numbers, equal for equal runs (the mixing is that of SplitMix64)."""
    begins = np.cumsum(lengths) - lengths
    place = np.arange(len(numbers)) - np.repeat(begins, lengths)
    mixed = (numbers.astype(np.uint64) << np.uint64(16)) ^ place.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.add.reduceat(mixed ^ (mixed >> np.uint64(31)), begins)


def _write_tasks(path: Path, labels: "_Labels", campaign: CampaignFacts) -> None:
    with tempfile.TemporaryFile(dir=path.parent) as texts, tempfile.TemporaryFile(dir=path.parent) as screens:
        spool = _Spool(texts, screens)
        for batch in labels.of(campaign):
            spool.add(batch)
        with path.open("wb") as tasks:
            tasks.write(b"[")
            for number, text in enumerate(_tasks(spool, labels), start=1):
                tasks.write(b"\n" if number == 1 else b",\n")
                tasks.write(b'{"id":%d,%s' % (number, text))
            tasks.write(b"\n]\n")


def _tasks(spool: _Spool, labels: "_Labels") -> Iterator[bytes]:
    """Yield each task without its opening, in the order in which screens come first."""
    if not spool.screens:
        return
    screens = np.concatenate(spool.screens)
    texts, screen_numbers = (
        _SpooledPieces(*spooled)
        for spooled in ((spool.texts, spool.ends, 1), (spool.screen_numbers, spool.screen_ends, 4))
    )
    _, first_rows, of = np.unique(screens, return_index=True, return_inverse=True)
    order = np.lexsort((np.arange(len(screens)), first_rows[of]))
    bounds = np.append(np.flatnonzero(np.append(True, np.diff(first_rows[of][order]) != 0)), len(order))
    for start_screen in range(0, len(bounds) - 1, _AT_ONCE):
        edges = bounds[start_screen : start_screen + _AT_ONCE + 1].tolist()
        data = labels.data([screen_numbers[row] for row in order[edges[:-1]].tolist()])
        for task, start, end in zip(data, edges[:-1], edges[1:], strict=True):
            answers = b",".join([texts[row] for row in order[start:end].tolist()])
            yield b'"data":%s,"annotations":[%s],"predictions":[]}' % (task, answers)


class _SpooledPieces:
    """Spooled data, read piece by piece; `ends` counts units of `unit` bytes."""

    def __init__(self, file: IO[bytes], ends: Sequence[NDArray[np.int64]], unit: int) -> None:
        file.flush()
        self._descriptor = file.fileno()
        self._ends = np.concatenate([np.zeros(1, np.int64), *ends]) * unit

    def __getitem__(self, row: int) -> bytes:
        begin, end = self._ends[row : row + 2].tolist()
        return os.pread(self._descriptor, end - begin, begin)


class _Labels:
    """The tables that labels are put together from, read side by side.

    A screen is spooled as the number of the image's row, −1 for none, and the numbers of its attributes.
    """

    def __init__(self, tables: Mapping[str, Path]) -> None:
        self._tables = tables
        images = pq.read_table(tables["images"], columns=["image", *_OF_IMAGE]).combine_chunks()
        self._images = images
        ids = np.array(images["image"].to_pylist(), dtype=np.bytes_)
        self._by_id = np.argsort(ids)
        self._ids = ids[self._by_id]
        sides = [pc.fill_null(images[name], 0).to_numpy() for name in ("width", "height")]
        self._sizes = np.stack(sides, axis=1)
        self._attributes: dict[str, int] = {}
        self._texts: list[str] = []

    def of(self, campaign: CampaignFacts) -> Iterator[_AnnotationBatch]:
        """Yield the screens and answers of a campaign."""
        rates = kind_of(campaign).rates_attributes
        answers = _TableCursor(self._tables["ratings" if rates else "judgements"], "annotation")
        boxes = _TableCursor(self._tables["boxes"], "judgement")
        for batch in pq.ParquetFile(self._tables["annotations"]).iter_batches(_AT_ONCE):
            annotations = batch.filter(pc.equal(batch["campaign"], campaign.slug))
            if not len(annotations):
                continue
            answered = answers.between(annotations["annotation"])
            if rates:
                yield self._ratings(annotations, answered)
            else:
                yield self._marks(
                    annotations, answered, boxes.between(answered["judgement"]) if len(answered) else None
                )

    def data(self, screens: Sequence[bytes]) -> list[bytes]:
        """Return the data of tasks from their spooled screens."""
        numbers = [array("i", screen) for screen in screens]
        rows = [number[0] for number in numbers if number[0] >= 0]
        facts = iter(self._images.take(pa.array(rows, pa.int64())).to_pylist())
        return [orjson.dumps(data_of(self._screen(number, facts))) for number in numbers]

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
    ) -> _AnnotationBatch:
        images = np.array(annotations["image"].to_pylist(), dtype=np.bytes_)
        places = self._by_id[np.searchsorted(self._ids, images)]
        texts = mark_texts(annotations, judgements, boxes, sizes=self._sizes[places])
        owner = np.searchsorted(annotations["annotation"].to_numpy(), judgements["annotation"].to_numpy())
        attribute_counts = np.bincount(owner, minlength=len(places))
        attributes = self._numbers(judgements["attribute"])
        return _AnnotationBatch(
            np.insert(attributes, np.cumsum(attribute_counts) - attribute_counts, places),
            1 + attribute_counts,
            texts,
        )

    def _ratings(self, annotations: pa.RecordBatch, ratings: pa.Table) -> _AnnotationBatch:
        has_justifications = "justification" in annotations.schema.names
        justifications = (
            annotations["justification"].to_pylist() if has_justifications else [None] * len(annotations)
        )
        columns = (annotations[name].to_pylist() for name in ("annotation", "annotator", "active_seconds"))
        about = {number: details for number, *details in zip(*columns, justifications, strict=True)}
        texts = []
        rating_columns = (ratings[name].to_pylist() for name in ("annotation", "attribute", "rating"))
        for number, attribute, rating in zip(*rating_columns, strict=True):
            annotator, seconds, text = about[number]
            answer = Answer(number, annotator, rating=rating, justification=text or "", seconds=seconds)
            texts.append(orjson.dumps(annotation_of(Screen(0, (attribute,)), answer)).decode())
        screen_numbers = np.stack([np.full(len(texts), -1), self._numbers(ratings["attribute"])], axis=1)
        return _AnnotationBatch(screen_numbers.ravel(), np.full(len(texts), 2), pa.array(texts, pa.string()))

    def _numbers(self, attributes: pa.ChunkedArray) -> NDArray[np.int64]:
        """Return the number of each attribute; new ones get the next."""
        encoded = attributes.combine_chunks().dictionary_encode()
        for text in encoded.dictionary.to_pylist():
            if text not in self._attributes:
                self._attributes[text] = len(self._texts)
                self._texts.append(text)
        numbers = np.array(
            [self._attributes[text] for text in encoded.dictionary.to_pylist()], dtype=np.int64
        )
        attribute_numbers: NDArray[np.int64] = numbers[encoded.indices.to_numpy()]
        return attribute_numbers


def _size(width: int | None, height: int | None) -> tuple[int, int] | None:
    return (width, height) if width and height else None


class _TableCursor:
    """A table sorted by a number, read in step with another table."""

    def __init__(self, path: Path, key: str) -> None:
        self._key = key
        self._file = pq.ParquetFile(path)
        self._batches = self._file.iter_batches(4 * _AT_ONCE)
        self._rest = self._file.schema_arrow.empty_table()

    def between(self, numbers: pa.Array | pa.ChunkedArray) -> pa.Table:
        """Return the rows with these numbers, which are in order; earlier rows are skipped."""
        ends = pc.min_max(numbers)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        parts = [self._rest]
        last_number = self._last(self._rest)
        while last_number <= high:
            batch = next(self._batches, None)
            if batch is None:
                break
            if last_number < low:
                parts.clear()
            parts.append(pa.Table.from_batches([batch]))
            last_number = self._last(parts[-1])
        table = pa.concat_tables(parts)
        keys = table[self._key].to_numpy()
        begin, end = np.searchsorted(keys, [low, high + 1])
        self._rest = table.slice(int(end))
        return table.slice(int(begin), int(end - begin))

    def _last(self, table: pa.Table) -> int:
        return int(table[self._key][-1].as_py()) if len(table) else -1
