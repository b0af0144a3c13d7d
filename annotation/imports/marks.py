"""Parse, check and repair a table of marks on images, in memory."""

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from annotation.imports.boxes import UNMARKED, ParsedBox, boxes_of, parse_numbers
from annotation.imports.cells import (
    CodedColumn,
    Codes,
    Mask,
    Reading,
    choice_parser,
    moments,
    name_parser,
    parse_language,
    parse_moment,
    parse_seconds,
)
from annotation.imports.column_map import BOX_COLUMNS, ColumnMap
from annotation.imports.repeats import Questions, settle_repeats
from catalog.attributes import normalise
from generation.models import Condition

V = TypeVar("V")

NORMALISED = "attribute normalised (case, spaces)"
_SUFFIX = re.compile(r"\w{1,5}")
_ROLES = {"stereotype": "stereotype", "random": "random", "": ""}


@dataclass(frozen=True)
class StudyImage:
    """An image that the study already has."""

    pk: int
    group: str
    model: str
    condition: str
    size: tuple[int, int] | None


@dataclass(frozen=True)
class Marks:
    """The parsed rows of a table of marks. Arrays cover all rows; only accepted rows are valid."""

    reading: Reading
    image: CodedColumn[tuple[str, str]]  # (name, model)
    group: CodedColumn[str]
    condition: CodedColumn[str]
    attribute: CodedColumn[str]
    annotator: CodedColumn[str]
    role: CodedColumn[str]
    screen: Codes
    present: Mask
    is_none: Mask
    sizes: dict[int, tuple[int, int]]  # of images, by image code
    submitted_at: CodedColumn[dt.datetime | None]
    seconds: CodedColumn[float | None]
    language: CodedColumn[str | None]
    boxes: list[tuple[int, ParsedBox]] = field(default_factory=list)  # (row index, box) in file order


def read_marks(
    reading: Reading,
    column_map: ColumnMap,
    *,
    groups: Collection[str] | None,
    study_images: Mapping[tuple[str, str], StudyImage],
) -> Marks:
    """Read all rows; `groups` are the groups that rows may name (None: any).

    `study_images` are the study's images by (name, model), and by (name, "") for unique names.
    """
    columns = column_map.columns
    reading.reject_blank([columns[name] for name in ("image", "group", "attribute") if name in columns])
    attribute = read_attribute(reading, column_map)
    names = reading.coded(reading.cells(columns["image"]), name_parser("image", 500))
    image = _images(names, optional_column(reading, column_map, "model", _label, column_map.model))
    words = dict.fromkeys(column_map.no, False) | dict.fromkeys(column_map.yes, True)
    present = reading.coded(reading.cells(columns["present"]), choice_parser("present", words))
    conditions = {str(condition): str(condition) for condition in Condition.values}
    read_condition = choice_parser("condition", conditions)
    marks = Marks(
        reading=reading,
        image=image,
        group=_groups(reading, column_map, groups),
        condition=optional_column(reading, column_map, "condition", read_condition, column_map.condition),
        attribute=attribute,
        annotator=reading.coded(reading.cells(columns["annotator"]), name_parser("annotator", 200)).merged(),
        role=optional_column(reading, column_map, "role", choice_parser("role", _ROLES), ""),
        screen=_screens(reading, column_map),
        present=present.where(lambda value: value is True),
        is_none=attribute.where(lambda value: value == column_map.none_text),
        sizes=_sizes(reading, column_map, image, study_images),
        submitted_at=optional_column(reading, column_map, "submitted_at", parse_moment, None),
        seconds=optional_column(reading, column_map, "seconds", parse_seconds, None),
        language=optional_column(reading, column_map, "language", parse_language, None),
    )
    _reject_contradictions(reading, marks, study_images)
    marks = replace(marks, boxes=_boxes(reading, column_map, marks))
    settle_repeats(reading, _questions(marks), check_places=True)
    return marks


def _questions(marks: Marks) -> Questions:
    return Questions(
        annotator=marks.annotator.codes,
        place=marks.image.codes,
        question=marks.attribute.codes,
        screen=marks.screen,
        ends_screen=marks.is_none,
        moment=moments(marks.submitted_at),
    )


def group_of_file(image: str) -> str:
    """Return the group in a file name: `United KingdomUK` for `folder/United KingdomUK3.png`."""
    name = image.replace("\\", "/").rsplit("/", 1)[-1]
    numbered, _, suffix = name.rpartition(".")
    end = len(numbered)
    while end and numbered[end - 1].isdecimal():
        end -= 1
    group = numbered[:end].strip()
    if not group or not _SUFFIX.fullmatch(suffix):
        raise ValueError(f"no group in the file name “{name[:60]}”")
    return group


def read_attribute(reading: Reading, column_map: ColumnMap) -> CodedColumn[str]:
    """Read and normalise the attributes; changed attributes count as repaired."""
    cells = reading.cells(column_map.columns["attribute"])
    attribute = reading.coded(cells, normalise)
    changed = [
        value is not None and value != cell
        for cell, value in zip(pd.factorize(cells)[1], attribute.values, strict=True)
    ]
    if any(changed):
        reading.note_repair(np.array(changed, dtype=bool)[attribute.codes], NORMALISED)
    return attribute.merged()


def optional_column(
    reading: Reading, column_map: ColumnMap, name: str, parse: Callable[[str], V], otherwise: V
) -> CodedColumn[V]:
    """Read a column if it is mapped; without it, every row has the value `otherwise`."""
    if name not in column_map.columns:
        return CodedColumn(np.zeros(len(reading.table), dtype=np.int64), [otherwise])
    return reading.coded(reading.cells(column_map.columns[name]), parse)


def _groups(reading: Reading, column_map: ColumnMap, groups: Collection[str] | None) -> CodedColumn[str]:
    parse_name = name_parser("group", 120)

    def parse(cell: str) -> str:
        group = group_of_file(cell) if column_map.group_from_image else parse_name(cell)
        if groups is not None and group not in groups:
            raise ValueError(f"unknown group “{group[:60]}”")
        return group

    column = column_map.columns["image" if column_map.group_from_image else "group"]
    return reading.coded(reading.cells(column), parse).merged()


def _label(cell: str) -> str:
    label = cell.strip()
    if len(label) > 120 or not label.isprintable():
        raise ValueError("model longer than 120 characters, or with a control character")
    return label


def _images(names: CodedColumn[str], models: CodedColumn[str]) -> CodedColumn[tuple[str, str]]:
    width = len(models.values)
    codes, pairs = pd.factorize(names.codes * width + models.codes)
    values = [(names.values[pair // width], models.values[pair % width]) for pair in pairs]
    return CodedColumn(codes.astype(np.int64), values).merged()


def _screens(reading: Reading, column_map: ColumnMap) -> Codes:
    if "screen" not in column_map.columns:
        return np.zeros(len(reading.table), dtype=np.int64)
    return np.asarray(pd.factorize(reading.cells(column_map.columns["screen"]))[0], dtype=np.int64)


def _reject_contradictions(
    reading: Reading, marks: Marks, study_images: Mapping[tuple[str, str], StudyImage]
) -> None:
    image, group = marks.image, marks.group
    codes = {name: code for code, name in enumerate(group.values)}
    # The required group of each image's rows: -1 for a new image, -2 if no row names the image's group.
    group_of_image = np.array(
        [codes.get(study_images[i].group, -2) if i in study_images else -1 for i in image.values],
        dtype=np.int64,
    )
    expected = group_of_image[image.codes]
    reading.reject((expected != -1) & (expected != group.codes), "the image shows another group in the study")
    _reject_changing(reading, image.codes, group.codes, "the image has another group in an earlier row")
    _reject_changing(
        reading, image.codes, marks.condition.codes, "the image has another condition in an earlier row"
    )
    pair = group.codes * len(marks.attribute.values) + marks.attribute.codes
    _reject_changing(
        reading, pair, marks.role.codes, "the attribute has another role for the group in an earlier row"
    )


def _reject_changing(reading: Reading, keys: Codes, codes: Codes, reason: str) -> None:
    accepted = np.flatnonzero(reading.accepted)
    first_codes = pd.Series(codes[accepted]).groupby(keys[accepted]).transform("first").to_numpy()
    changed = np.zeros(len(codes), dtype=bool)
    changed[accepted[first_codes != codes[accepted]]] = True
    if changed.any():
        reading.reject(changed, reason)


def _sizes(
    reading: Reading,
    column_map: ColumnMap,
    image: CodedColumn[tuple[str, str]],
    study_images: Mapping[tuple[str, str], StudyImage],
) -> dict[int, tuple[int, int]]:
    """Return the size of each image by code: from its row, else from the map, else from the study."""
    sizes: dict[int, tuple[int, int]] = {}
    for code, value in enumerate(image.values):
        size = column_map.image_size or (study_images[value].size if value in study_images else None)
        if size is not None:
            sizes[code] = size
    if "image_width" in column_map.columns and "image_height" in column_map.columns:
        widths = reading.coded(reading.cells(column_map.columns["image_width"]), _side)
        heights = reading.coded(reading.cells(column_map.columns["image_height"]), _side)
        accepted = np.flatnonzero(reading.accepted)
        codes, first_positions = np.unique(image.codes[accepted], return_index=True)
        rows = accepted[first_positions]
        for code, width, height in zip(codes, widths.of(rows), heights.of(rows), strict=True):
            if width and height:
                sizes[int(code)] = (width, height)
    return sizes


def _side(cell: str) -> int | None:
    if not cell.strip():
        return None
    if not cell.strip().isdecimal() or not 0 < int(cell) <= 100_000:
        raise ValueError(f"the size of the image is “{cell[:40]}”, not a number of pixels")
    return int(cell)


def _boxes(reading: Reading, column_map: ColumnMap, marks: Marks) -> list[tuple[int, ParsedBox]]:
    columns = column_map.columns
    if "box" in columns:
        cells = reading.cells(columns["box"])
    elif "box_1" in columns:
        parts = [reading.cells(columns[name]) for name in BOX_COLUMNS]
        cells = np.array([" ".join(row) for row in zip(*parts, strict=True)], dtype=object)
    else:
        return []
    numbers = reading.coded(cells, parse_numbers)
    with_box = reading.accepted & numbers.where(bool)
    unmarked = with_box & ~(marks.present & ~marks.is_none)
    if unmarked.any():
        reading.note_repair(unmarked, UNMARKED)
    all_boxes: list[tuple[int, ParsedBox]] = []
    repaired: dict[str, list[int]] = {}
    refused: dict[str, list[int]] = {}
    for row in np.flatnonzero(with_box & ~unmarked):
        size = marks.sizes.get(int(marks.image.codes[row]))
        try:
            row_boxes, repairs = boxes_of(numbers.values[numbers.codes[row]], column_map.box_format, size)
        except ValueError as error:
            refused.setdefault(str(error), []).append(row)
            continue
        all_boxes += [(int(row), box) for box in row_boxes]
        for how in repairs:
            repaired.setdefault(how, []).append(row)
    for why, rows in refused.items():
        reading.reject(_mask(rows, len(cells)), why)
    for how, rows in repaired.items():
        reading.note_repair(_mask(rows, len(cells)), how)
    return all_boxes


def _mask(rows: list[int], length: int) -> Mask:
    mask = np.zeros(length, dtype=bool)
    mask[rows] = True
    return mask
