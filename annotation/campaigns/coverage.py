"""Coverage: how many labels each annotator gave by identity group or region, or by rating."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from annotation.campaigns import snapshots
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Campaign, Enrolment, Judgement
from studies.protocol.groups import NO_REGION

# More groups than this are shown by their regions.
GROUPS_AS_COLUMNS = 20


@dataclass(frozen=True)
class Coverage:
    """One page of the matrix: a row of counts for each annotator, under the columns."""

    what: str  # the type of the columns, such as “identity group”
    columns: list[str]
    rows: list[tuple[Enrolment, list[int], int]]  # annotator, counts, their sum


def shown_coverage(
    campaign: Campaign, enrolments: Iterable[Enrolment]
) -> tuple[Coverage | None, datetime | None]:
    """Return the matrix of a page and the time of counting (None: now); no matrix while a large one is being
    counted."""
    enrolments = list(enrolments)
    if not snapshots.is_large(campaign):
        return coverage(campaign, enrolments), None
    counted = snapshots.read(campaign, "coverage")
    if counted.pending:
        return None, None
    columns, rows = counted.value["columns"], counted.value["rows"]
    counts = ((enrolment, rows.get(str(enrolment.pk), [0] * len(columns))) for enrolment in enrolments)
    lines = [(enrolment, numbers, sum(numbers)) for enrolment, numbers in counts]
    return Coverage(counted.value["what"], columns, lines), counted.counted_at


@snapshots.register("coverage")
def _count(campaign: Campaign, _: str) -> dict[str, Any]:
    matrix = coverage(campaign, campaign.enrolments.order_by("pk"))
    rows = {str(enrolment.pk): numbers for enrolment, numbers, _ in matrix.rows}
    return {"what": matrix.what, "columns": matrix.columns, "rows": rows}


def coverage(campaign: Campaign, enrolments: Iterable[Enrolment]) -> Coverage:
    """Return the counts of these annotators in two queries."""
    enrolments = list(enrolments)
    people = [enrolment.annotator_id for enrolment in enrolments]
    latest = Annotation.objects.filter(
        campaign=campaign, is_latest=True, status__in=Annotation.LABELS, annotator__in=people
    )
    kind = kind_of(campaign)
    if kind.rates_attributes:
        return _ratings(campaign, enrolments, latest)
    if kind.stimuli.medium == "text":
        counts = _table(latest.order_by().values_list("annotator", "campaign").annotate(n=Count("pk")))
        return Coverage("medium", ["Texts"], _rows(enrolments, counts, [campaign.pk]))
    return _groups(campaign, enrolments, latest)


def _ratings(campaign: Campaign, enrolments: list[Enrolment], latest: QuerySet[Annotation]) -> Coverage:
    instrument = campaign.instruments.first()
    labels = instrument.labels if instrument else {}
    values = [5, 4, 3, 2, 1]
    counts = _table(
        Judgement.objects.filter(annotation__in=latest)
        .order_by()
        .values_list("annotation__annotator", "rating")
        .annotate(n=Count("pk"))
    )
    columns = [labels.get(str(value), str(value)) for value in values]
    return Coverage("answer", columns, _rows(enrolments, counts, values))


def _groups(campaign: Campaign, enrolments: list[Enrolment], latest: QuerySet[Annotation]) -> Coverage:
    groups = campaign.study.groups
    names = list(groups.order_by("display_name").values_list("display_name", flat=True))
    image = "task__image" if kind_of(campaign).about_attributes else "task__stimuli__image"
    field, column_kind = (f"{image}__group__display_name", "identity group")
    if len(names) > GROUPS_AS_COLUMNS:
        field, column_kind = (f"{image}__group__region", "region")
        names = sorted(set(groups.values_list("region", flat=True)))
    shown = latest.filter(**{f"{image}__isnull": False})  # a prompt that is shown is no image
    # A screen counts once for each group that it shows.
    counts = _table(shown.order_by().values_list("annotator", field).annotate(n=Count("pk", distinct=True)))
    columns = [name or NO_REGION for name in names]
    return Coverage(column_kind, columns, _rows(enrolments, counts, names))


def _table(rows: Iterable[tuple[int, object, int]]) -> dict[int, dict[object, int]]:
    counts: dict[int, dict[object, int]] = defaultdict(dict)
    for person, column, number in rows:
        counts[person][column] = number
    return counts


def _rows(
    enrolments: list[Enrolment], counts: dict[int, dict[object, int]], columns: Sequence[object]
) -> list[tuple[Enrolment, list[int], int]]:
    rows = []
    for enrolment in enrolments:
        enrolment_counts = counts.get(enrolment.annotator_id, {})
        row = [enrolment_counts.get(column, 0) for column in columns]
        rows.append((enrolment, row, sum(enrolment_counts.values())))
    return rows
