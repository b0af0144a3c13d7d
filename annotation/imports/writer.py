"""Write parsed labels into the database, from annotators to boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
from django.utils import timezone

from annotation.imports.annotators import imported_annotators
from annotation.imports.campaign import set_sizes
from annotation.imports.cells import Codes, Mask
from annotation.imports.marks import Marks, StudyImage
from annotation.imports.ratings import Ratings
from annotation.imports.screens import Screens, split_screens
from annotation.kinds.registry import kind_of
from annotation.models import (
    Annotation,
    Box,
    Campaign,
    CampaignAttribute,
    Judgement,
    Task,
    TaskAttribute,
)
from catalog.imports.resources import attribute_ids
from foundation.database.bulk import allocate_keys, insert, new_uuids
from generation.models import Image
from studies.models import Study, StudyAssociation
from studies.protocol import attribute_roles


@dataclass(frozen=True)
class LoadSummary:
    """The number of rows written, by kind."""

    campaign: Campaign
    annotators: int
    images: int
    tasks: int
    annotations: int
    judgements: int
    none_of_the_above: int
    boxes: int

    def line(self) -> str:
        """Return the numbers as a line of plain text."""
        parts = [
            f"{self.annotations:,} annotations by {self.annotators:,} annotators on {self.tasks:,} tasks",
            f"{self.judgements:,} judgements",
        ]
        if kind_of(self.campaign).marks_attributes:
            parts += [
                f"{self.none_of_the_above:,} answers to 'none of the above'",
                f"{self.boxes:,} boxes",
                f"{self.images:,} new images",
            ]
        return f"{self.campaign.name}: {', '.join(parts)}"


@dataclass(frozen=True)
class _AnswerColumns:
    """The columns of annotations, with one value per screen."""

    screens: Screens
    task_of_screen: Codes
    annotator: list[int]  # keys
    none: list[bool | None]
    justification: list[str]
    seconds: list[float | None]
    submitted_at: list[datetime | None]
    language: list[str | None]


def load_marks(
    *, campaign: Campaign, marks: Marks, study_images: dict[tuple[str, str], StudyImage]
) -> LoadSummary:
    """Write accepted marks: each row becomes one judgement, or one answer to 'none of the above'."""
    rows = np.flatnonzero(marks.reading.accepted)
    attributes = attribute_ids(texts={text for text in marks.attribute.of(_asked(rows, marks)) if text})
    annotators = imported_annotators(campaign, marks.annotator.of(rows))
    images, created = _images(campaign.study, marks, rows, study_images)
    key = _combined(marks.annotator.codes, marks.image.codes, marks.screen, marks.language.codes)
    screens = split_screens(rows, key, marks.attribute.codes, marks.is_none)
    is_question = ~marks.is_none[screens.order]
    task_rows, task_of_screen = _group_tasks(screens, marks.image.codes, marks.attribute.codes, is_question)
    attribute_key = _keys_of(marks.attribute.values, attributes)
    tasks = _insert_tasks(
        campaign,
        images=[images[code] for code in marks.image.codes[screens.first_rows[task_rows]]],
        attributes_of_tasks=[
            attribute_key[_asked(_rows_of(screens, screen), marks, codes=True)] for screen in task_rows
        ],
        answer_counts=np.bincount(task_of_screen, minlength=len(task_rows)),
    )
    columns = _mark_columns(marks, screens, task_of_screen, annotators, is_question)
    annotations = _insert_annotations(campaign, tasks, columns)
    judged = screens.order[is_question]
    screen_of_judgement = screens.of_row[is_question]
    boxes = _insert_marks(marks, judged, annotations[screen_of_judgement], attribute_key)
    _insert_planned(campaign, marks, judged, attribute_key)
    set_sizes(campaign, np.bincount(screen_of_judgement, minlength=len(screens)), task_of_screen)
    return LoadSummary(
        campaign=campaign,
        annotators=len(annotators),
        images=created,
        tasks=len(task_rows),
        annotations=len(screens),
        judgements=len(judged),
        none_of_the_above=int((~is_question).sum()),
        boxes=boxes,
    )


def _insert_marks(marks: Marks, judged: Codes, annotations: Codes, attribute_key: Codes) -> int:
    """Write a judgement for each row in `judged`, with its boxes; return the number of boxes."""
    judgements = _insert_judgements(
        annotations=annotations,
        attributes=attribute_key[marks.attribute.codes[judged]],
        present=marks.present[judged].tolist(),
        rating=None,
    )
    key_of_row = np.zeros(len(marks.reading.table), dtype=np.int64)
    key_of_row[judged] = judgements
    return _insert_boxes(marks, key_of_row)


def _mark_columns(
    marks: Marks, screens: Screens, task_of_screen: Codes, annotators: dict[str, int], is_question: Mask
) -> _AnswerColumns:
    first_rows = screens.first_rows
    has_none = np.zeros(len(screens), dtype=bool)
    says_none = np.zeros(len(screens), dtype=bool)
    has_none[screens.of_row[~is_question]] = True
    says_none[screens.of_row[~is_question & marks.present[screens.order]]] = True
    return _AnswerColumns(
        screens=screens,
        task_of_screen=task_of_screen,
        annotator=[annotators[name] for name in marks.annotator.of(first_rows)],
        none=[bool(says) if has else None for has, says in zip(has_none, says_none, strict=True)],
        justification=[""] * len(screens),
        seconds=marks.seconds.of(first_rows),
        submitted_at=marks.submitted_at.of(first_rows),
        language=marks.language.of(first_rows),
    )


def load_ratings(
    *, campaign: Campaign, ratings: Ratings, regions: dict[str, str] | None = None
) -> LoadSummary:
    """Write accepted ratings, each as an annotation. `regions`: annotators' published regions, by name."""
    rows = np.flatnonzero(ratings.reading.accepted)
    attributes = attribute_ids(texts=set(ratings.attribute.of(rows)))
    annotators = imported_annotators(campaign, ratings.annotator.of(rows), regions or {})
    screens = Screens(rows, np.arange(len(rows) + 1))
    attribute_key = _keys_of(ratings.attribute.values, attributes)
    task_of_screen, codes = pd.factorize(ratings.attribute.codes[rows])
    tasks = _insert_tasks(
        campaign,
        images=[None] * len(codes),
        attributes_of_tasks=[attribute_key[code : code + 1] for code in codes],
        answer_counts=np.bincount(task_of_screen, minlength=len(codes)),
    )
    annotations = _insert_annotations(
        campaign,
        tasks,
        _AnswerColumns(
            screens=screens,
            task_of_screen=task_of_screen.astype(np.int64),
            annotator=[annotators[name] for name in ratings.annotator.of(rows)],
            none=[None] * len(rows),
            justification=ratings.justification.of(rows),
            seconds=ratings.seconds.of(rows),
            submitted_at=ratings.submitted_at.of(rows),
            language=ratings.language.of(rows),
        ),
    )
    _insert_judgements(
        annotations=annotations,
        attributes=attribute_key[ratings.attribute.codes[rows]],
        present=None,
        rating=ratings.rating.of(rows),
    )
    set_sizes(campaign, np.ones(len(rows), dtype=np.int64), task_of_screen.astype(np.int64))
    return LoadSummary(campaign, len(annotators), 0, len(codes), len(rows), len(rows), 0, 0)


def _combined(*codes: Codes) -> Codes:
    together = codes[0]
    for further in codes[1:]:
        together = together * (int(further.max(initial=0)) + 1) + further
    return together


def _rows_of(screens: Screens, screen: int) -> Codes:
    return screens.order[screens.starts[screen] : screens.starts[screen + 1]]


def _asked(rows: Codes, marks: Marks, *, codes: bool = False) -> Codes:
    question_rows = rows[~marks.is_none[rows]]
    return marks.attribute.codes[question_rows] if codes else question_rows


def _keys_of(texts: Sequence[str], keys: dict[str, int]) -> Codes:
    return np.array([keys.get(text, -1) for text in texts], dtype=np.int64)


def _group_tasks(
    screens: Screens, images: Codes, attributes: Codes, is_question: Mask
) -> tuple[Codes, Codes]:
    """Return each task's first screen and each screen's task; a task is an image with a set of attributes."""
    by_attribute = np.lexsort((attributes[screens.order], screens.of_row))
    codes = np.where(is_question, attributes[screens.order], -1)[by_attribute]
    task_numbers: dict[tuple[int, bytes], int] = {}
    first_screens: list[int] = []
    task_of_screen = np.empty(len(screens), dtype=np.int64)
    bounds = screens.starts.tolist()
    for screen, image in enumerate(images[screens.first_rows].tolist()):
        key = image, codes[bounds[screen] : bounds[screen + 1]].tobytes()
        task = task_numbers.setdefault(key, len(task_numbers))
        if task == len(first_screens):
            first_screens.append(screen)
        task_of_screen[screen] = task
    return np.array(first_screens, dtype=np.int64), task_of_screen


def _images(
    study: Study, marks: Marks, rows: Codes, study_images: dict[tuple[str, str], StudyImage]
) -> tuple[dict[int, int], int]:
    """Return the key of each image by code, and the number of images created (without a file)."""
    codes, first_positions = np.unique(marks.image.codes[rows], return_index=True)
    in_order = np.argsort(first_positions, kind="stable")
    keys: dict[int, int] = {}
    new_images: list[tuple[int, int]] = []  # (code, row)
    for code, row in zip(codes[in_order].tolist(), rows[first_positions[in_order]].tolist(), strict=True):
        value = marks.image.values[code]
        if value in study_images:
            keys[code] = study_images[value].pk
        else:
            new_images.append((code, row))
    created = _insert_images(study, marks, new_images)
    keys.update((code, key) for (code, _), key in zip(new_images, created, strict=True))
    return keys, len(new_images)


def _insert_images(study: Study, marks: Marks, new_images: Sequence[tuple[int, int]]) -> list[int]:
    """Write images without a file, given as (code, first row that shows the image); return their keys."""
    groups = dict(study.groups.values_list("name", "pk"))
    created = allocate_keys(Image, len(new_images))
    at = np.array([row for _, row in new_images], dtype=np.int64)
    names = [marks.image.values[code] for code, _ in new_images]
    sizes = [marks.sizes.get(code, (None, None)) for code, _ in new_images]
    empty = [""] * len(new_images)
    insert(
        Image,
        {
            "id": created,
            "public_id": new_uuids(len(new_images)),
            "study_id": [study.pk] * len(new_images),
            "group_id": [groups[name] for name in marks.group.of(at)],
            "condition": marks.condition.of(at),
            "model_label": [model for _, model in names],
            "source_name": [name for name, _ in names],
            "width": [width for width, _ in sizes],
            "height": [height for _, height in sizes],
            "prompt": empty,
            "sha256": empty,
            "file": empty,
            "provenance": [{"imported": True}] * len(new_images),
            "retracted_reason": empty,
        },
    )
    return created


def _insert_tasks(
    campaign: Campaign,
    *,
    images: Sequence[int | None],
    attributes_of_tasks: Sequence[Codes],
    answer_counts: Codes,
) -> Codes:
    count = len(images)
    keys = allocate_keys(Task, count)
    screen_of_image: dict[int | None, int] = {}
    screens = []
    for image in images:
        screens.append(screen_of_image.get(image, 0) if image is not None else 0)
        screen_of_image[image] = screen_of_image.get(image, 0) + 1
    insert(
        Task,
        {
            "id": keys,
            "public_id": new_uuids(count),
            "campaign_id": [campaign.pk] * count,
            "image_id": images,
            "screen": screens,
            "wanted": answer_counts.tolist(),
            "withdrawn": [False] * count,
        },
    )
    lengths = [len(attributes) for attributes in attributes_of_tasks]
    if sum(lengths):
        insert(
            TaskAttribute,
            {
                "task_id": np.repeat(keys, lengths).tolist(),
                "attribute_id": np.concatenate(attributes_of_tasks).tolist(),
                "position": [position for length in lengths for position in range(length)],
            },
        )
    return np.array(keys, dtype=np.int64)


def _insert_annotations(campaign: Campaign, tasks: Codes, answers: _AnswerColumns) -> Codes:
    count = len(answers.screens)
    keys = allocate_keys(Annotation, count)
    now = timezone.now()
    insert(
        Annotation,
        {
            "id": keys,
            "submission_id": new_uuids(count),
            "campaign_id": [campaign.pk] * count,
            "task_id": tasks[answers.task_of_screen].tolist(),
            "annotator_id": answers.annotator,
            "revision": [1] * count,
            "is_latest": [True] * count,
            "status": [Annotation.Status.ACCEPTED.value] * count,
            "status_reason": [""] * count,
            "none_of_the_above": answers.none,
            "justification": answers.justification,
            "active_seconds": answers.seconds,
            "submitted_at": [moment or now for moment in answers.submitted_at],
            "language": answers.language,
        },
    )
    return np.array(keys, dtype=np.int64)


def _insert_judgements(
    *, annotations: Codes, attributes: Codes, present: list[bool] | None, rating: list[int] | None
) -> Codes:
    count = len(annotations)
    keys = allocate_keys(Judgement, count)
    insert(
        Judgement,
        {
            "id": keys,
            "annotation_id": annotations.tolist(),
            "attribute_id": attributes.tolist(),
            "present": present or [None] * count,
            "rating": rating or [None] * count,
        },
    )
    return np.array(keys, dtype=np.int64)


def _insert_boxes(marks: Marks, key_of_row: Codes) -> int:
    boxes = [(key, box) for row, box in marks.boxes if (key := int(key_of_row[row]))]
    insert(
        Box,
        {
            "judgement_id": [key for key, _ in boxes],
            "x": [box.x for _, box in boxes],
            "y": [box.y for _, box in boxes],
            "width": [box.width for _, box in boxes],
            "height": [box.height for _, box in boxes],
            "clipped": [box.clipped for _, box in boxes],
        },
    )
    return len(boxes)


def _insert_planned(campaign: Campaign, marks: Marks, judged: Codes, attribute_key: Codes) -> None:
    """Write the attributes asked about each group, with their roles in the frozen study."""
    study = campaign.study
    groups = dict(study.groups.values_list("name", "pk"))
    stereotype_pairs = set(
        attribute_roles.stereotypes_of(study, StudyAssociation.objects.filter(study=study)).values_list(
            "group", "attribute"
        )
    )
    width = len(marks.attribute.values)
    pairs = np.unique(marks.group.codes[judged] * width + marks.attribute.codes[judged])
    planned = [
        (groups[marks.group.values[pair // width]], int(attribute_key[pair % width]))
        for pair in pairs.tolist()
    ]
    insert(
        CampaignAttribute,
        {
            "campaign_id": [campaign.pk] * len(planned),
            "group_id": [group for group, _ in planned],
            "attribute_id": [attribute for _, attribute in planned],
            "role": [
                attribute_roles.STEREOTYPE if pair in stereotype_pairs else attribute_roles.RANDOM
                for pair in planned
            ],
        },
    )
