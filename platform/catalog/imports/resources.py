"""Importing a resource of stereotypes from a file, completely or not at all."""

import logging
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.utils.crypto import get_random_string
from django.utils.text import slugify

from accounts.models import User
from catalog.attributes import normalise
from catalog.geography import Geography, Locality, own_geography, plain_name
from catalog.models import Association, Attribute, IdentityGroup, Resource, Stereotype
from foundation.errors import Conflict, DomainError
from foundation.tables.reader import Table, needs_columns, read_table
from foundation.tables.report import Rejection, RowsReport

logger = logging.getLogger(__name__)

NEEDED_COLUMNS = ("identity", "attribute")
# Column of the file (lower case) → field. In the names, `na` means North America, as opposed to the group's region.
COUNT_COLUMNS = {
    "region_stereo": "in_region_stereotype",
    "region_nonstereo": "in_region_not",
    "region_unsure": "in_region_unsure",
    "na_stereo": "out_region_stereotype",
    "na_nonstereo": "out_region_not",
    "na_unsure": "out_region_unsure",
}
RATING_COLUMNS = {"annotation1": "rating_1", "annotation2": "rating_2", "annotation3": "rating_3"}
MEAN_COLUMNS = (
    "mean offensiveness_score",
    "offensiveness_score",
    "mean_offensiveness_score",
    "offensiveness",
)
_MISSING = {"", "NA"}
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?")
_MAX_COUNT = 32_767
_MAX_NAME = 120
_ROUNDING = 1e-6  # the published means have nine decimals
_FIELDS = [field.name for field in Association._meta.get_fields()]
_BATCH = 900
_TAKEN_BY_PAGES = frozenset({"import"})


@dataclass(frozen=True)
class ListedPair:
    """One row of the file: a pair (identity, attribute) with raters' answers."""

    row: int
    identity: str
    attribute: str
    values: dict[str, float | int | None]  # by field of Association; None for columns that the file lacks

    @property
    def ratings(self) -> list[float]:
        return [value for field in RATING_COLUMNS.values() if (value := self.values[field]) is not None]

    @property
    def mean_disagrees(self) -> bool:
        """Whether the stored mean differs from the mean of the ratings; False for unrated pairs."""
        stored = self.values["offensiveness_stored"]
        if stored is None or not self.ratings:
            return False
        return abs(sum(self.ratings) / len(self.ratings) - stored) > _ROUNDING


@dataclass(frozen=True)
class ResourceImportReport:
    """The result of an import of a resource."""

    resource: Resource
    rows: RowsReport
    created: int  # pairs
    updated: int
    removed: int
    groups: int
    groups_changed: int
    without_place: tuple[str, ...]  # identities without an entry in the geography

    @property
    def changed(self) -> bool:
        return bool(self.created or self.updated or self.removed or self.groups_changed)

    @property
    def outcome(self) -> str:
        if not self.changed:
            return "nothing changed, because the resource already has the contents of the file"
        return f"{self.created:,} pairs new, {self.updated:,} changed, {self.removed:,} removed"

    def lines(self) -> list[str]:
        """Return the report as plain lines for a console."""
        pairs = self.rows.kept + self.rows.repaired
        size = f"{self.groups:,} groups, {pairs:,} pairs"
        lines = [*self.rows.lines(), f"{self.resource.name}: {size}; {self.outcome}"]
        if self.without_place:
            lines.append(f"  without an entry in the geography file: {', '.join(self.without_place)}")
        return lines


def import_resource(
    *,
    file: Path | BinaryIO,
    name: str,
    by: User | None,
    geography: Geography | None = None,
    file_name: str | None = None,
    invented: bool = False,
    update: bool = True,
) -> ResourceImportReport:
    """Replace the contents of the resource `name` by those of a SeeGULL-shaped CSV; create it if it does not exist.

    Columns: identity, attribute; optional rater counts, three ratings and a stored mean of offensiveness. Blank
    rows and repeated pairs are left out and reported; any other invalid cell refuses the whole file. Raises
    DomainError, naming file, row and column, for an invalid file, and Conflict if the resource has other contents
    and `update` is False.
    """
    name = resource_name(name)
    table = read_table(file, name=file_name, workbooks=False)
    pairs, rows = read_pairs(table)
    with transaction.atomic():
        if not update:
            _refuse_other(table, name)
        report = _store(table, pairs, rows, name=name, places=geography or own_geography(), invented=invented)
    # Resources belong to no study and have no audit trail.
    logger.info("resource %r imported from %s by %s: %s", name, table.name, by, report.outcome)
    return report


def resource_name(name: str) -> str:
    """Return the stripped name of a resource; raise DomainError if it is empty or too long."""
    name = name.strip()
    if not 0 < len(name) <= _MAX_NAME:
        raise DomainError(
            "resource_name",
            f"A resource needs a name of 1 to {_MAX_NAME} characters.",
            fields={"name": "length"},
        )
    return name


def _refuse_other(table: Table, name: str) -> None:
    resource = Resource.objects.filter(name=name).first()
    if resource is not None and resource.file_digest != table.digest:
        raise Conflict(
            "resource_exists",
            f"There is already a resource named “{name}”, and updating it was not requested.",
            fields={"name": "taken"},
        )


def read_pairs(table: Table) -> tuple[list[ListedPair], RowsReport]:
    """Return the pairs that a table lists, and a report of its rows."""
    columns = {column.lower(): column for column in table.columns}
    needs_columns(columns, name=table.name, needs=NEEDED_COLUMNS)
    pairs: list[ListedPair] = []
    rejected: list[Rejection] = []
    problems = {row: f"it has {why}" for row, why in table.unreadable}
    repairs: dict[int, str] = {}
    first_rows: dict[tuple[str, str], int] = {}
    for index, number in enumerate(table.rows):
        row = int(number)
        cells = {column: table.columns[columns[column]][index].strip() for column in columns}
        if not any(cells.values()):
            rejected.append(Rejection(table.name, row, "blank row"))
            continue
        try:
            pair = _pair(row, cells, columns)
        except DomainError as error:
            problems[row] = error.message.rstrip(".")
            continue
        key = pair.identity, pair.attribute
        if key in first_rows:
            rejected.append(Rejection(table.name, row, f"lists the pair of row {first_rows[key]} again"))
            continue
        first_rows[key] = row
        pairs.append(pair)
        if pair.attribute != table.columns[columns["attribute"]][index]:
            repairs[row] = "attribute normalised (case, spaces)"
    _refuse(table.name, problems)
    if not pairs:
        raise DomainError(
            "table_empty", f"“{table.name}” has a header but lists no pair.", fields={"file": "no rows"}
        )
    counts: dict[str, int] = {}
    for how in repairs.values():
        counts[how] = counts.get(how, 0) + 1
    return pairs, RowsReport(
        "stereotypes", table.name, table.read, len(repairs), counts, tuple(rejected), _notes(pairs)
    )


def _refuse(file: str, problems: Mapping[int, str]) -> None:
    if not problems:
        return
    row = min(problems)
    more = f" (rows with problems: {len(problems):,})" if len(problems) > 1 else ""
    raise DomainError(
        "row_bad",
        f"“{file}”, row {row}: {problems[row]}{more}.",
        fields={f"row {row}": problem for row, problem in sorted(problems.items())[:20]},
    )


def _notes(pairs: list[ListedPair]) -> tuple[str, ...]:
    notes = []
    disagreeing = [pair.row for pair in pairs if pair.mean_disagrees]
    if disagreeing:
        notes.append(
            f"{len(disagreeing):,} rows have a mean offensiveness that differs from the mean of their ratings"
            f" (the first is row {disagreeing[0]}); both values are kept"
        )
    unrated = sum(1 for pair in pairs if not pair.ratings and pair.values["offensiveness_stored"] is not None)
    if unrated and unrated < len(pairs):
        notes.append(f"{unrated:,} rows have a mean offensiveness but no ratings; they count as unrated")
    return tuple(notes)


def _pair(row: int, cells: Mapping[str, str], columns: Mapping[str, str]) -> ListedPair:
    identity = cells["identity"]
    if not identity:
        raise DomainError("identity_empty", "identity is empty")
    if len(identity) > _MAX_NAME:
        raise DomainError("identity_too_long", f"identity is longer than {_MAX_NAME} characters")
    if not identity.isprintable():
        raise DomainError("identity_unprintable", "identity contains a control character")
    values: dict[str, float | int | None] = dict.fromkeys(_FIELDS)
    for column, field in COUNT_COLUMNS.items():
        if column in cells:
            values[field] = _count(cells[column], columns[column])
    for column, field in RATING_COLUMNS.items():
        if column in cells:
            values[field] = _score(cells[column], columns[column])
    mean = next((column for column in MEAN_COLUMNS if column in cells), None)
    if mean is not None:
        values["offensiveness_stored"] = _score(cells[mean], columns[mean])
    return ListedPair(row, identity, normalise(cells["attribute"]), values)


def _number(cell: str, column: str) -> float | None:
    if cell in _MISSING:
        return None
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    if not math.isfinite(value):
        raise DomainError("not_a_number", f"{column} is “{cell[:40]}”, not a number")
    return value


def _count(cell: str, column: str) -> int | None:
    value = _number(cell, column)
    if value is None:
        return None
    if value != int(value) or not 0 <= value <= _MAX_COUNT:
        raise DomainError(
            "count_bad", f"{column} is {cell[:40]}, not a whole number from 0 to {_MAX_COUNT:,}"
        )
    return int(value)


def _score(cell: str, column: str) -> float | None:
    value = _number(cell, column)
    if value is not None and value < -1:
        raise DomainError("score_bad", f"{column} is {cell[:40]}; the lowest score is -1 (not offensive)")
    return value


def _store(
    table: Table, pairs: list[ListedPair], rows: RowsReport, *, name: str, places: Geography, invented: bool
) -> ResourceImportReport:
    resource = Resource.objects.select_for_update().filter(name=name).first()
    if resource is None:
        resource = Resource.objects.create(name=name, slug=free_slug(name), invented=invented)
    identities = list(dict.fromkeys(pair.identity for pair in pairs))
    located = places.places(identities)
    groups, groups_changed = _store_groups(resource, identities, located)
    attributes = attribute_ids(texts={pair.attribute for pair in pairs})
    listed = {(groups[pair.identity], attributes[pair.attribute]): pair.values for pair in pairs}
    created, updated, removed = _store_pairs(resource, listed)
    groups_changed += _remove_groups(resource, identities)
    columns = {column.lower() for column in table.columns}
    facts = {"file_digest": table.digest, "has_rater_counts": not columns.isdisjoint(COUNT_COLUMNS)}
    if any(getattr(resource, field) != value for field, value in facts.items()):
        for field, value in facts.items():
            setattr(resource, field, value)
        resource.save(update_fields=[*facts, "updated_at"])
    return ResourceImportReport(
        resource=resource,
        rows=rows,
        created=created,
        updated=updated,
        removed=removed,
        groups=len(identities),
        groups_changed=groups_changed,
        without_place=tuple(identity for identity in identities if identity not in located),
    )


def free_slug(name: str) -> str:
    """Return a slug that no resource or page uses."""
    slug = slugify(name)[:100] or f"resource-{get_random_string(6).lower()}"
    while slug in _TAKEN_BY_PAGES or Resource.objects.filter(slug=slug).exists():
        slug = f"{slug[:100]}-{get_random_string(4).lower()}"
    return slug


def _store_groups(
    resource: Resource, identities: list[str], places: Mapping[str, Locality]
) -> tuple[dict[str, int], int]:
    existing = {group.name: group for group in resource.groups.all()}
    new, changed = [], []
    for identity in identities:
        facts = vars(places.get(identity) or Locality(plain_name(identity)))
        group = existing.get(identity)
        if group is None:
            new.append(IdentityGroup(resource=resource, name=identity, **facts))
        elif any(getattr(group, field) != value for field, value in facts.items()):
            for field, value in facts.items():
                setattr(group, field, value)
            changed.append(group)
    IdentityGroup.objects.bulk_create(new, batch_size=_BATCH)
    IdentityGroup.objects.bulk_update(changed, list(Locality.__dataclass_fields__), batch_size=100)
    ids = dict(resource.groups.values_list("name", "pk"))
    return ids, len(new) + len(changed)


def _remove_groups(resource: Resource, identities: list[str]) -> int:
    """Remove groups that the file no longer names, except those used by studies, which remain without pairs."""
    names = set(identities)
    unused = resource.groups.filter(study_groups=None).values_list("pk", "name")
    unlisted_ids = [pk for pk, name in unused if name not in names]
    resource.groups.filter(pk__in=unlisted_ids).delete()
    return len(unlisted_ids)


def attribute_ids(*, texts: Iterable[str]) -> dict[str, int]:
    """Return normalised attribute → key, creating missing attributes."""
    sorted_texts = sorted(texts)
    id_of: dict[str, int] = {}

    def look_up(texts: list[str]) -> None:
        for start in range(0, len(texts), _BATCH):
            stored = Attribute.objects.filter(text__in=texts[start : start + _BATCH]).order_by()
            id_of.update(stored.values_list("text", "pk"))

    look_up(sorted_texts)
    missing = [text for text in sorted_texts if text not in id_of]
    # If two imports create the same attribute, the second uses the row of the first.
    new = (Attribute(text=text) for text in missing)
    Attribute.objects.bulk_create(new, batch_size=_BATCH, ignore_conflicts=True)
    look_up(missing)
    return id_of


def _store_pairs(resource: Resource, listed: dict[tuple[int, int], dict[str, Any]]) -> tuple[int, int, int]:
    existing = {
        (pair.group_id, pair.attribute_id): pair
        for pair in Stereotype.objects.filter(group__resource=resource)
    }
    new, changed = [], []
    for key, values in listed.items():
        pair = existing.pop(key, None)
        if pair is None:
            new.append(Stereotype(group_id=key[0], attribute_id=key[1], **values))
        elif any(getattr(pair, field) != value for field, value in values.items()):
            for field, value in values.items():
                setattr(pair, field, value)
            changed.append(pair)
    unlisted_ids = [pair.pk for pair in existing.values()]
    for start in range(0, len(unlisted_ids), _BATCH):
        Stereotype.objects.filter(pk__in=unlisted_ids[start : start + _BATCH]).delete()
    Stereotype.objects.bulk_create(new, batch_size=_BATCH)
    Stereotype.objects.bulk_update(changed, _FIELDS, batch_size=50)
    return len(new), len(changed), len(unlisted_ids)
