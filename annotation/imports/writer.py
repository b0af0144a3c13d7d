"""Labels that were read go into the database, from the annotators to the boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from annotation.imports.annotators import imported_annotators
from annotation.imports.cells import Codes
from annotation.imports.marks import KnownImage, Marks
from annotation.imports.ratings import Ratings
from annotation.imports.screens import Screens, split
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
from foundation.errors import DomainError
from generation.models import Image
from studies.models import Study, StudyAssociation
from studies.protocol import attribute_roles

_MOST_PER_TASK = 100
_LONGEST_NAME = 120
_MOST_PER_SCREEN = 5


@dataclass(frozen=True)
class Loaded:
    """How many rows of each kind a load wrote."""

    campaign: Campaign
    annotators: int
    images: int
    tasks: int
    annotations: int
    judgements: int
    none_of_the_above: int
    boxes: int

    def line(self) -> str:
        """Return what was written as a plain line for a console."""
        parts = [
            f"{self.annotations:,} annotations by {self.annotators:,} annotators on {self.tasks:,} tasks",
            f"{self.judgements:,} judgements",
        ]
        if self.campaign.kind == Campaign.Kind.STEREOTYPE_MARKING:
            parts += [
                f"{self.none_of_the_above:,} answers to 'none of the above'",
                f"{self.boxes:,} boxes",
                f"{self.images:,} new images",
            ]
        return f"{self.campaign.name}: {', '.join(parts)}"


@dataclass(frozen=True)
class _Answers:
    """What both kinds of campaign share: who answered which task when."""

    screens: Screens
    task_of_screen: Codes
    annotator: list[int]  # key, of each screen
    none: list[bool | None]
    justification: list[str]
    seconds: list[float | None]
    submitted_at: list[datetime | None]


def create_campaign(*, study: Study, kind: str, name: str, by: User | None) -> Campaign:
    """Create the closed campaign that holds imported labels."""
    if len(name) > _LONGEST_NAME:
        raise DomainError(
            "campaign_name_too_long",
            f"The name of the campaign is longer than {_LONGEST_NAME} characters.",
            fields={"name": "too long"},
        )
    now = timezone.now()
    stem = slugify(name)[:100] or "imported"
    taken = set(study.campaigns.values_list("slug", flat=True))
    slug = next(s for s in (stem, *(f"{stem}-{n}" for n in range(2, len(taken) + 3))) if s not in taken)
    return Campaign.objects.create(
        study=study,
        slug=slug,
        name=name,
        kind=kind,
        state=Campaign.State.CLOSED,
        imported=True,
        boxes_required=False,
        seed=study.seed,
        created_by=by,
        opened_at=now,
        closed_at=now,
    )


def load_marks(*, campaign: Campaign, marks: Marks, known: dict[tuple[str, str], KnownImage]) -> Loaded:
    """Write accepted marks: each row becomes one judgement, or one answer to 'none of the above'."""
    rows = np.flatnonzero(marks.reading.accepted)
    attributes = attribute_ids(texts={text for text in marks.attribute.of(_asked(rows, marks)) if text})
    annotators = imported_annotators(campaign, marks.annotator.of(rows))
    images, created = _images(campaign.study, marks, rows, known)
    key = _combined(marks.annotator.codes, marks.image.codes, marks.screen)
    screens = split(rows, key, marks.attribute.codes, marks.is_none)
    asked = ~marks.is_none[screens.order]
    task_rows, task_of_screen = _group_tasks(screens, marks.image.codes, marks.attribute.codes, asked)
    attribute_key = _keys_of(marks.attribute.values, attributes)
    tasks = _insert_tasks(
        campaign,
        images=[images[code] for code in marks.image.codes[screens.first[task_rows]]],
        asked=[attribute_key[_asked(_rows_of(screens, screen), marks, codes=True)] for screen in task_rows],
        wanted=np.bincount(task_of_screen, minlength=len(task_rows)),
    )
    first = screens.first
    has_none = np.zeros(len(screens), dtype=bool)
    says_none = np.zeros(len(screens), dtype=bool)
    of_row = screens.of_row
    has_none[of_row[~asked]] = True
    says_none[of_row[~asked & marks.present[screens.order]]] = True
    annotations = _insert_annotations(
        campaign,
        tasks,
        _Answers(
            screens=screens,
            task_of_screen=task_of_screen,
            annotator=[annotators[name] for name in marks.annotator.of(first)],
            none=[bool(says) if has else None for has, says in zip(has_none, says_none, strict=True)],
            justification=[""] * len(screens),
            seconds=marks.seconds.of(first),
            submitted_at=marks.submitted_at.of(first),
        ),
    )
    judged = screens.order[asked]
    judgements = _insert_judgements(
        annotations=annotations[of_row[asked]],
        attributes=attribute_key[marks.attribute.codes[judged]],
        present=marks.present[judged].tolist(),
        rating=None,
    )
    key_of_row = np.zeros(len(marks.reading.table), dtype=np.int64)
    key_of_row[judged] = judgements
    boxes = _insert_boxes(marks, key_of_row)
    _insert_planned(campaign, marks, judged, attribute_key)
    sizes = np.bincount(of_row[asked], minlength=len(screens))
    _describe(campaign, sizes, task_of_screen)
    return Loaded(
        campaign=campaign,
        annotators=len(annotators),
        images=created,
        tasks=len(task_rows),
        annotations=len(screens),
        judgements=len(judged),
        none_of_the_above=int((~asked).sum()),
        boxes=boxes,
    )


def load_ratings(*, campaign: Campaign, ratings: Ratings, regions: dict[str, str] | None = None) -> Loaded:
    """Write accepted ratings, an annotation each. `regions`: where annotators are from, as published."""
    rows = np.flatnonzero(ratings.reading.accepted)
    attributes = attribute_ids(texts=set(ratings.attribute.of(rows)))
    annotators = imported_annotators(campaign, ratings.annotator.of(rows), regions or {})
    screens = Screens(rows, np.arange(len(rows) + 1))
    attribute_key = _keys_of(ratings.attribute.values, attributes)
    task_of_screen, codes = pd.factorize(ratings.attribute.codes[rows])
    tasks = _insert_tasks(
        campaign,
        images=[None] * len(codes),
        asked=[attribute_key[code : code + 1] for code in codes],
        wanted=np.bincount(task_of_screen, minlength=len(codes)),
    )
    annotations = _insert_annotations(
        campaign,
        tasks,
        _Answers(
            screens=screens,
            task_of_screen=task_of_screen.astype(np.int64),
            annotator=[annotators[name] for name in ratings.annotator.of(rows)],
            none=[None] * len(rows),
            justification=ratings.justification.of(rows),
            seconds=ratings.seconds.of(rows),
            submitted_at=ratings.submitted_at.of(rows),
        ),
    )
    _insert_judgements(
        annotations=annotations,
        attributes=attribute_key[ratings.attribute.codes[rows]],
        present=None,
        rating=ratings.rating.of(rows),
    )
    _describe(campaign, np.ones(len(rows), dtype=np.int64), task_of_screen.astype(np.int64))
    return Loaded(campaign, len(annotators), 0, len(codes), len(rows), len(rows), 0, 0)


def _combined(*codes: Codes) -> Codes:
    together = codes[0]
    for further in codes[1:]:
        together = together * (int(further.max(initial=0)) + 1) + further
    return together


def _rows_of(screens: Screens, screen: int) -> Codes:
    return screens.order[screens.starts[screen] : screens.starts[screen + 1]]


def _asked(rows: Codes, marks: Marks, *, codes: bool = False) -> Codes:
    asked = rows[~marks.is_none[rows]]
    return marks.attribute.codes[asked] if codes else asked


def _keys_of(texts: Sequence[str], keys: dict[str, int]) -> Codes:
    return np.array([keys.get(text, -1) for text in texts], dtype=np.int64)


def _group_tasks(
    screens: Screens, images: Codes, attributes: Codes, asked: np.ndarray
) -> tuple[Codes, Codes]:
    """Screens with one image and the same attributes are one task: its first screen, and the task of each."""
    by_attribute = np.lexsort((attributes[screens.order], screens.of_row))
    codes = np.where(asked, attributes[screens.order], -1)[by_attribute]
    found: dict[tuple[int, bytes], int] = {}
    first: list[int] = []
    task_of_screen = np.empty(len(screens), dtype=np.int64)
    bounds = screens.starts.tolist()
    for screen, image in enumerate(images[screens.first].tolist()):
        key = image, codes[bounds[screen] : bounds[screen + 1]].tobytes()
        task = found.setdefault(key, len(found))
        if task == len(first):
            first.append(screen)
        task_of_screen[screen] = task
    return np.array(first, dtype=np.int64), task_of_screen


def _images(
    study: Study, marks: Marks, rows: Codes, known: dict[tuple[str, str], KnownImage]
) -> tuple[dict[int, int], int]:
    """Return the key of each image by its code, and how many had to be created (without a file)."""
    codes, first = np.unique(marks.image.codes[rows], return_index=True)
    in_order = np.argsort(first, kind="stable")
    groups = dict(study.groups.values_list("name", "pk"))
    keys: dict[int, int] = {}
    new: list[tuple[int, int]] = []  # (code, row)
    for code, row in zip(codes[in_order].tolist(), rows[first[in_order]].tolist(), strict=True):
        value = marks.image.values[code]
        if value in known:
            keys[code] = known[value].pk
        else:
            new.append((code, row))
    created = allocate_keys(Image, len(new))
    keys.update((code, key) for (code, _), key in zip(new, created, strict=True))
    at = np.array([row for _, row in new], dtype=np.int64)
    names = [marks.image.values[code] for code, _ in new]
    sizes = [marks.sizes.get(code, (None, None)) for code, _ in new]
    empty = [""] * len(new)
    insert(
        Image,
        {
            "id": created,
            "public_id": new_uuids(len(new)),
            "study_id": [study.pk] * len(new),
            "group_id": [groups[name] for name in marks.group.of(at)],
            "condition": marks.condition.of(at),
            "model_label": [model for _, model in names],
            "source_name": [name for name, _ in names],
            "width": [width for width, _ in sizes],
            "height": [height for _, height in sizes],
            "prompt": empty,
            "sha256": empty,
            "file": empty,
            "provenance": [{"imported": True}] * len(new),
            "retracted_reason": empty,
        },
    )
    return keys, len(new)


def _insert_tasks(
    campaign: Campaign, *, images: Sequence[int | None], asked: Sequence[Codes], wanted: Codes
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
            "wanted": wanted.tolist(),
            "withdrawn": [False] * count,
        },
    )
    lengths = [len(attributes) for attributes in asked]
    if sum(lengths):
        insert(
            TaskAttribute,
            {
                "task_id": np.repeat(keys, lengths).tolist(),
                "attribute_id": np.concatenate(asked).tolist(),
                "position": [position for length in lengths for position in range(length)],
            },
        )
    return np.array(keys, dtype=np.int64)


def _insert_annotations(campaign: Campaign, tasks: Codes, answers: _Answers) -> Codes:
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
    kept = [(key, box) for row, box in marks.boxes if (key := int(key_of_row[row]))]
    insert(
        Box,
        {
            "judgement_id": [key for key, _ in kept],
            "x": [box.x for _, box in kept],
            "y": [box.y for _, box in kept],
            "width": [box.width for _, box in kept],
            "height": [box.height for _, box in kept],
            "clipped": [box.clipped for _, box in kept],
        },
    )
    return len(kept)


def _insert_planned(campaign: Campaign, marks: Marks, judged: Codes, attribute_key: Codes) -> None:
    """Write what was asked of each group, as what: the frozen resource says which are stereotypes."""
    study = campaign.study
    groups = dict(study.groups.values_list("name", "pk"))
    listed = set(
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
                attribute_roles.STEREOTYPE if pair in listed else attribute_roles.RANDOM for pair in planned
            ],
        },
    )


def _describe(campaign: Campaign, sizes: Codes, task_of_screen: Codes) -> None:
    """Set the campaign's numbers to what the file shows: the usual screen and the usual number of answers."""
    if len(sizes):
        campaign.attributes_per_screen = min(max(int(np.max(sizes)), 1), _MOST_PER_SCREEN)
        answers = np.bincount(task_of_screen)
        campaign.annotators_per_task = min(max(int(np.median(answers)), 1), _MOST_PER_TASK)
        campaign.save(update_fields=["attributes_per_screen", "annotators_per_task"])
